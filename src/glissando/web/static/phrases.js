// What a visitor is asked to write: everyday sentences, and words for the trial of a layout. No word needs an accent to be told
// from another one.

/** A sentence without marks, by language. Its first word is shown by the ghost finger. */
const SENTENCES = {
  en: ["Thanks for your help last week", "Please bring some bread and milk", "Dinner is ready when you are"],
  de: ["Danke für deine Hilfe gestern", "Morgen gehen wir wieder schwimmen", "Heute kommt meine Schwester zum Essen"],
  es: ["Gracias por la cena de ayer", "Puedes traer pan para la cena", "Nuestro tren llega esta noche"],
  fr: ["Merci pour ton aide hier soir", "Demain nous allons tous au marché", "Bonsoir nous serons en retard"],
  ru: ["Спасибо за помощь вчера вечером", "Завтра поедем вместе на дачу", "Сегодня будет очень вкусный ужин"],
};

// A word of greeting or thanks for the ghost finger where there is no sentence.
const GREETINGS = {
  bg: "благодаря", ca: "gràcies", cs: "děkuji", da: "velkommen", el: "καλημέρα", fi: "kiitos", fil: "salamat", hi: "नमस्ते", hu: "köszönöm",
  id: "terima", is: "velkomin", it: "grazie", lt: "labas", lv: "paldies", mk: "благодарам", ms: "terima", nb: "velkommen", nl: "bedankt",
  pl: "dziękuję", pt: "obrigado", ro: "mulțumesc", sh: "hvala", sk: "ďakujem", sl: "hvala", sv: "välkommen", tok: "toki", tr: "merhaba",
  uk: "дякую", vi: "chào",
};

const WORDS = {
  en: "people water house because friend summer garden window school travel market letter yellow kitchen music number winter family " +
    "question morning evening always picture country station weather",
  de: "Wasser Garten Sommer Freund Schule Winter Fenster Morgen Arbeit Kaffee Kinder Familie Wetter danke heute immer machen wieder " +
    "schnell Musik Nummer Abend zusammen Wochenende",
  es: "tiempo mundo amigo ciudad verano escuela ventana trabajo familia comida noche siempre gracias cuando mucho puerta mercado " +
    "invierno hermano camino semana viaje dinero cocina",
  fr: "maison jardin travail famille monde toujours bonjour semaine cuisine matin soleil voiture argent merci demain ensemble musique " +
    "rouge chemin montagne voyage table pomme amour",
  ru: "спасибо погода хорошо завтра работа школа город семья музыка письмо машина дорога вечер сегодня вместе молоко солнце книга " +
    "праздник кухня всегда зима месяц вопрос",
};

/** @returns {string[]} the sentences of a language; none where there are none */
export const sentencesOf = (language) => SENTENCES[language] ?? [];

/** @returns {string} a word that the ghost finger can show, or "" */
export const greetingOf = (language) => GREETINGS[language] ?? "";

/** @returns {string[]} common words of a language */
export const wordsOf = (language) => WORDS[language]?.split(" ") ?? [];
