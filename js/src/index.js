// What the package offers.

export { BundleError, fromAddress } from "./bundle.js";
export { Keyboard } from "./keyboard.js";
export { Kit, KitError, openKit } from "./kit.js";
export { Vocabulary, VocabularyError } from "./vocabulary.js";
