// What the package offers.

export { BundleError, fromAddress } from "./bundle.js";
export { Keyboard } from "./keyboard.js";
export { Vocabulary, VocabularyError } from "./vocabulary.js";
