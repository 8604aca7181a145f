// The donor's way through sentences, word by word: on, back, and once more to a word whose swipe did not follow it.

export class Walk {
  /**
   * @param {() => object | null} take gives the next sentence, or null where there is none now
   * @param {(sentence: object) => void} finished a sentence is done
   */
  constructor(take, finished) {
    Object.assign(this, { take, finished, history: [], later: [] });
    // The word to swipe; null while there is none. alone: only this word of its sentence. again: it is asked for once more.
    this.at = null; // {sentence, index, alone, again}
  }

  /** Goes to the next sentence, where the donor stands at none. */
  begin() { if (!this.at) this.#next(); }

  /** The word is done. step: what is known of it; more may be learned later. */
  forward(step) {
    const { sentence, index, alone } = this.at;
    this.history.push(Object.assign(step, { sentence, index, alone }));
    const after = sentence.words.findIndex((word, i) => i > index && word.typed);
    if (alone) this.#next();
    else if (after >= 0) this.at = { sentence, index: after };
    else { this.finished(sentence); this.#next(); }
  }

  /** Goes back to the last word; says whether there is one. */
  back() {
    const step = this.history.pop();
    if (!step) return false;
    const { sentence, index, alone } = step;
    if (this.at && (this.at.alone || alone || this.at.sentence !== sentence)) this.later.unshift(this.at);
    this.at = { sentence, index, alone };
    return true;
  }

  /** Asks for a word once more: at once where the donor is still at it, else before the next sentence. */
  askAgain({ sentence, index }) {
    if (this.at?.sentence === sentence && this.at.index === index) this.at.again = true;
    else this.later.push({ sentence, index, alone: true, again: true });
  }

  /** What is known of the words of a sentence, by their index. */
  steps(sentence) { return new Map(this.history.filter((step) => step.sentence === sentence).map((step) => [step.index, step])); }

  #next() {
    const sentence = this.later.length ? null : this.take();
    this.at = this.later.shift() ?? (sentence && { sentence, index: sentence.words.findIndex((word) => word.typed) });
  }
}
