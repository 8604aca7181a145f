// Words and how frequent each is: reads a kit's list of one language, and joins the lists of several.

const MAGIC = "glswords";
const VERSION = 1;
const HEADER = 16; // bytes

export class LexiconError extends Error {}

/** A word list. A word is called by its index; the words are kept end to end in UTF-8. */
export class Lexicon {
  /**
   * @param {object} parts
   * @param {string[]} parts.languages codes, of which a joined list has several
   * @param {Uint8Array} parts.text the words end to end
   * @param {Uint32Array} parts.offsets [W + 1] where each begins
   * @param {Uint8Array} parts.frequencies [W] proportional to the logarithm of the frequency; of several languages the highest
   * @param {Uint8Array[] | null} [parts.byLanguage] for each language the byte of each word, 0 where it lacks the word;
   *   null where there is one language
   * @param {Uint32Array | null} [parts.sorted] the words in the order of their bytes; null where that is not known yet
   */
  constructor({ languages, text, offsets, frequencies, byLanguage = null, sorted = null }) {
    this.languages = languages;
    this.text = text;
    this.offsets = offsets;
    this.frequencies = frequencies;
    this.byLanguage = byLanguage;
    /** @private */
    this.ranked = sorted;
    /** @private */
    this.decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    /** @private */
    this.encoder = new TextEncoder();
  }

  /** How many words there are. */
  get length() {
    return this.frequencies.length;
  }

  /**
   * A word as it is written.
   * @param {number} index
   * @returns {string}
   */
  word(index) {
    return this.decoder.decode(this.text.subarray(this.offsets[index], this.offsets[index + 1]));
  }

  /**
   * The index of a word as it is written, or -1.
   * @param {string} word
   * @returns {number}
   */
  find(word) {
    const { sorted, text, offsets } = this;
    const wanted = this.encoder.encode(word);
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const index = sorted[middle];
      const order = compare(text, offsets[index], offsets[index + 1], wanted, 0, wanted.length);
      if (order === 0) return index;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return -1;
  }

  /** The indices of the words in the order of their bytes. */
  get sorted() {
    const { text, offsets } = this;
    this.ranked ??= Uint32Array.from(this.frequencies, (_, index) => index)
      .sort((a, b) => compare(text, offsets[a], offsets[a + 1], text, offsets[b], offsets[b + 1]));
    return this.ranked;
  }
}

/**
 * @param {ArrayBuffer} buffer a whole list, decompressed
 * @param {string} language its code
 * @returns {Lexicon} the words in the order of their frequencies, equal ones in the order of their bytes
 */
export function readLexicon(buffer, language) {
  const bytes = new Uint8Array(buffer);
  if (bytes.length < HEADER || String.fromCharCode(...bytes.subarray(0, 8)) !== MAGIC) throw new LexiconError(`the words of "${language}" are no word list`);
  const view = new DataView(buffer);
  const version = view.getUint32(8, true);
  if (version !== VERSION) throw new LexiconError(`the words of "${language}" have version ${version}; this reads ${VERSION}`);
  const count = view.getUint32(12, true);
  if (!count || HEADER + count > bytes.length) throw new LexiconError(`the words of "${language}" are damaged: they are cut short`);
  const found = bytes.subarray(HEADER, HEADER + count);
  const order = byFrequency(found); // which word of the file is each
  const sorted = inverse(order);
  const { text, offsets } = unfold(bytes, HEADER + count, sorted, language);
  return new Lexicon({ languages: [language], text, offsets, frequencies: Uint8Array.from(order, (place) => found[place]), sorted });
}

/**
 * One list of the words of several, each once. Those of the first come first, then what the second adds, and so on.
 * @param {Lexicon[]} lexicons of different languages
 * @returns {Lexicon}
 */
export function joinLexicons(lexicons) {
  if (lexicons.length === 1) return lexicons[0];
  const [{ sorted: first, text: start, offsets: begin, frequencies: bytesOfFirst }] = lexicons;
  const alone = { sorted: first, text: start, offsets: begin, places: [Uint32Array.from(bytesOfFirst, (_, index) => index)] };
  const { text, offsets, sorted, places } = lexicons.slice(1).reduce(merge, alone);
  const byLanguage = lexicons.map(({ frequencies }, row) => {
    const bytes = new Uint8Array(sorted.length);
    places[row].forEach((place, index) => { bytes[place] = Math.max(frequencies[index], 1); });
    return bytes;
  });
  const frequencies = new Uint8Array(sorted.length);
  for (const row of byLanguage) for (let i = 0; i < row.length; i += 1) if (row[i] > frequencies[i]) frequencies[i] = row[i];
  return new Lexicon({ languages: lexicons.flatMap((one) => one.languages), text, offsets, frequencies, byLanguage, sorted });
}

/**
 * The words by their frequencies, the most frequent first, equal ones in their order.
 * @param {Uint8Array | number[]} frequencies
 * @returns {Uint32Array}
 */
export function byFrequency(frequencies) {
  const starts = new Uint32Array(257);
  for (let i = 0; i < frequencies.length; i += 1) starts[256 - frequencies[i]] += 1;
  for (let byte = 1; byte < 257; byte += 1) starts[byte] += starts[byte - 1];
  const order = new Uint32Array(frequencies.length);
  for (let i = 0; i < frequencies.length; i += 1) order[starts[255 - frequencies[i]]++] = i;
  return order;
}

/** @param {Uint32Array} order */
function inverse(order) {
  const places = new Uint32Array(order.length);
  for (let i = 0; i < order.length; i += 1) places[order[i]] = i;
  return places;
}

/**
 * Unfolds the words of a file, of which each gives only what differs from the one before, to their places.
 * @param {Uint8Array} bytes the file
 * @param {number} start of the words in it
 * @param {Uint32Array} places of the words, in the order of the file
 * @param {string} language
 */
function unfold(bytes, start, places, language) {
  const starts = new Uint32Array(places.length + 1); // where the own bytes of each word begin in the file, after the shared count
  const offsets = new Uint32Array(places.length + 1);
  let [at, before] = [start, 0];
  for (let word = 0; word < places.length; word += 1) {
    const shared = bytes[at];
    const end = bytes.indexOf(0, at + 1);
    if (end < 0 || shared > before) throw new LexiconError(`the words of "${language}" are damaged at word ${word}`);
    starts[word] = at + 1;
    before = shared + end - at - 1;
    offsets[places[word] + 1] = before;
    at = end + 1;
  }
  starts[places.length] = at + 1;
  if (at !== bytes.length) throw new LexiconError(`the words of "${language}" are damaged: bytes follow the last word`);
  for (let i = 0; i < places.length; i += 1) offsets[i + 1] += offsets[i];
  const text = new Uint8Array(offsets[places.length]);
  let last = 0; // where the word before begins in the text
  for (let word = 0; word < places.length; word += 1) {
    const to = offsets[places[word]];
    const shared = bytes[starts[word] - 1];
    text.copyWithin(to, last, last + shared);
    for (let from = starts[word], i = to + shared; from < starts[word + 1] - 2; from += 1, i += 1) text[i] = bytes[from];
    last = to;
  }
  return { text, offsets };
}

/**
 * @typedef {{sorted: Uint32Array, text: Uint8Array, offsets: Uint32Array, places: Uint32Array[]}} Joined the places are those
 *   of the words of each list
 */

/**
 * Adds the words of a list to those that are known.
 * @param {Joined} known
 * @param {Lexicon} more
 * @returns {Joined}
 */
function merge(known, more) {
  const { same, order } = align(known, more);
  const places = new Uint32Array(more.length);
  let [count, size] = [known.sorted.length, known.text.length];
  for (let index = 0; index < more.length; index += 1) {
    places[index] = same[index] >= 0 ? same[index] : count++;
    if (same[index] < 0) size += more.offsets[index + 1] - more.offsets[index];
  }
  const [text, offsets] = [new Uint8Array(size), new Uint32Array(count + 1)];
  text.set(known.text);
  offsets.set(known.offsets);
  for (let index = 0; index < more.length; index += 1) {
    if (same[index] >= 0) continue;
    text.set(more.text.subarray(more.offsets[index], more.offsets[index + 1]), offsets[places[index]]);
    offsets[places[index] + 1] = offsets[places[index]] + more.offsets[index + 1] - more.offsets[index];
  }
  const sorted = Uint32Array.from(order.subarray(0, count), (one) => (one >= 0 ? one : places[-1 - one]));
  return { sorted, text, offsets, places: [...known.places, places] };
}

/**
 * Reads the known words and those of a list side by side, in the order of their bytes.
 * @param {Joined} known
 * @param {Lexicon} more
 * @returns {{same: Int32Array, order: Int32Array}} for each word of the list the known one, or -1; and all words in order,
 *   a new one as -1 - its index in the list
 */
function align(known, more) {
  const same = new Int32Array(more.length).fill(-1);
  const order = new Int32Array(known.sorted.length + more.length);
  let [i, filled] = [0, 0];
  for (const index of more.sorted) {
    let gap = 1;
    for (; i < known.sorted.length; i += 1) {
      const other = known.sorted[i];
      gap = compare(known.text, known.offsets[other], known.offsets[other + 1], more.text, more.offsets[index], more.offsets[index + 1]);
      if (gap >= 0) break;
      order[filled++] = other;
    }
    if (gap === 0) same[index] = known.sorted[i];
    else order[filled++] = -1 - index;
  }
  order.set(known.sorted.subarray(i), filled);
  return { same, order };
}

/**
 * Which of two strings of bytes comes first: negative, 0 or positive.
 * @param {Uint8Array} a
 * @param {number} start
 * @param {number} end
 * @param {Uint8Array} b
 * @param {number} first
 * @param {number} last
 */
function compare(a, start, end, b, first, last) {
  const shorter = Math.min(end - start, last - first);
  for (let i = 0; i < shorter; i += 1) {
    const gap = a[start + i] - b[first + i];
    if (gap) return gap;
  }
  return end - start - (last - first);
}
