// What the package offers.

export { BundleError, fromAddress } from "./bundle.js";
export { Habits, HabitsError } from "./habits.js";
export { Keyboard } from "./keyboard.js";
export { Kit, KitError, openKit } from "./kit.js";
export { Vocabulary, VocabularyError } from "./vocabulary.js";
