// How fast and how well somebody writes.

/** Words per minute as text entry counts them: five characters, spaces included, are a word. */
export const wordsPerMinute = (characters, milliseconds) => (milliseconds > 0 ? Math.round((characters / 5) * (60000 / milliseconds)) : 0);

/** Whether two words are the same but for capitals. */
export const sameWord = (one, other) => one.normalize("NFC").toLowerCase() === other.normalize("NFC").toLowerCase();
