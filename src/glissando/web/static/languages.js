// Which languages a layout can type, and which letters a long press on a key offers.

const LATIN = "abcdefghijklmnopqrstuvwxyz";
const ENOUGH = 0.95; // of an alphabet must be on the keys: Russian without ъ will do, without ы and э it will not

// Alphabets that are not the 26 Latin letters. Letters with accents need no key of their own.
const ALPHABETS = {
  bg: "абвгдежзийклмнопрстуфхцчшщъьюя", el: "αβγδεζηθικλμνξοπρσςτυφχψω", mk: "абвгдѓежзѕијклљмнњопрстќуфхцчџш",
  ru: "абвгдеёжзийклмнопрстуфхцчшщъыьэюя", tok: "aeijklmnopstuw", uk: "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя",
};

// Letters beside the plain ones, those used most first.
const ACCENTED = {
  bg: "ѝ", ca: "àéèíóòúçïü", cs: "áčďéěíňóřšťúůýž", da: "æøåéáóöäü", de: "äöüßéàè", el: "άέήίόύώϊϋΐΰ", en: "éèêëáàâäæçñïîíöôóœüûúß",
  es: "áéíóúñü", fi: "äöåšž", fil: "ñáéíóú", fr: "éèêëàâæçîïôœùûüÿ", hu: "áéíóöőúüű", is: "áðéíóúýþæö", it: "àèéìíîòóùú",
  lt: "ąčęėįšųūž", lv: "āčēģīķļņšūž", nb: "æøåéèêóòôàä", nl: "éëèïöüáíóúê", pl: "ąćęłńóśźż", pt: "áâãàçéêíóôõúü", ro: "ăâîșțşţ",
  ru: "ёъ", sh: "čćđšž", sk: "áäčďéíĺľňóôŕšťúýž", sl: "čšžćđ", sv: "åäöéàüæø", tr: "çğıöşüâîû", uk: "ґїє",
  vi: "ăâđêôơưáàảãạắằẳẵặấầẩẫậéèẻẽẹếềểễệíìỉĩịóòỏõọốồổỗộớờởỡợúùủũụứừửữựýỳỷỹỵ",
};

// Letters that Unicode does not take apart.
const BASES = { ß: "s", ø: "o", æ: "a", œ: "o", ł: "l", đ: "d", ð: "d", þ: "t", ı: "i", ъ: "ь", ґ: "г", є: "е" };

// The plain letter under an accented one.
const base = (letter) => BASES[letter] ?? letter.normalize("NFD")[0];

/** The keys that a word is swiped on, in order, or null where the layout lacks one. */
export function typedKeys(word, layout) {
  const letters = [...word.toLowerCase().normalize("NFC")].filter((letter) => /[\p{L}\p{M}]/u.test(letter));
  const keys = letters.map((letter) => layout.keys.find((key) => key.letter === letter) ?? layout.keys.find((key) => key.letter === base(letter)));
  return keys.length && keys.every(Boolean) ? keys : null;
}

function script(code) {
  try { return new Intl.Locale(code).maximize().script; } catch { return undefined; }
}

export function canType(code, layout) {
  if (code === layout.language) return true;
  const alphabet = ALPHABETS[code] ?? (script(code) === "Latn" ? LATIN : "");
  if (!alphabet) return false;
  const keys = new Set(layout.keys.map((key) => key.letter));
  const typed = [...alphabet].filter((letter) => keys.has(letter) || keys.has(base(letter)));
  return typed.length >= ENOUGH * [...alphabet].length;
}

// The languages to offer for a layout. A layout of one's own may lack letters: then it gets the languages of its script.
export function languagesFor(layout, codes) {
  const found = codes.filter((code) => canType(code, layout));
  if (found.length || !layout.custom) return found;
  const scripts = [["Latn", /\p{Script=Latin}/u], ["Cyrl", /\p{Script=Cyrillic}/u], ["Grek", /\p{Script=Greek}/u]];
  const own = scripts.find(([, letters]) => layout.keys.some((key) => letters.test(key.letter)))?.[0];
  const same = codes.filter((code) => script(code) === own);
  return same.length ? same : codes;
}

// The letters of the languages ("de" or "de,en") that a long press on a key offers: those with this letter under their
// accent that have no key of their own.
export function accentsOf(letter, languages, layout) {
  const keys = new Set(layout.keys.map((key) => key.letter));
  const letters = languages.split(",").flatMap((code) => [...(ACCENTED[code] ?? (script(code) === "Latn" ? ACCENTED.en : ""))]);
  return [...new Set(letters)].filter((one) => base(one) === letter && one !== letter && !keys.has(one));
}
