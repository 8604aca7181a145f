// Decodes the swipes of a draft, one after the other, so that each has the words before as context.
//
// The draft itself is the queue: a pending word is decoded when its turn comes, and one that was deleted is not.

export class Swipes {
  // decode(points, asking, options): see decoder.js. say(message): tells the writer what went wrong.
  constructor(draft, { decode, say }) {
    Object.assign(this, { draft, decode, say });
    this.now = null; // {id, abort} of the swipe that is being decoded
    window.addEventListener("online", () => this.retryAll());
  }

  // Call after every change of the draft: decodes what is pending, and gives up what was deleted.
  pump() {
    if (this.now && !this.draft.word(this.now.id)) this.now.abort.abort();
    if (this.now) return;
    const next = this.draft.words.filter((one) => one.status === "pending").reduce((first, one) => (first && first.id < one.id ? first : one), null);
    if (next) this.#read(next);
  }

  retryAll() {
    for (const one of this.draft.words) if (one.status === "failed") this.draft.retry(one.id);
    this.pump();
  }

  async #read({ id, points, layout, language, prefix }) {
    const { draft } = this;
    const abort = new AbortController();
    this.now = { id, abort };
    let again = false;
    try {
      const window = draft.windowOf(id).map((one) => ({ id: one.id, points: one.points }));
      const [context, before] = [id, window[0]?.id ?? id].map((one) => draft.contextOf(one));
      const answer = await this.decode(points, { id, layout, language, prefix, context, window, before }, { signal: abort.signal });
      if (!answer.candidates.length) this.say("No word found.");
      draft.settle(id, answer);
      again = draft.words.some((one) => one.status === "failed");
    } catch (error) {
      if (!abort.signal.aborted) this.#failed(id, error);
    }
    this.now = null;
    if (again) this.retryAll(); // it can be read again: what failed before is tried once more
    else this.pump();
  }

  // A swipe that is refused for good goes; any other stays until it can be decoded.
  #failed(id, error) {
    this.say(error.temporary ? `${error.message} Your swipe is kept: tap it to try again.` : error.message);
    if (error.temporary) this.draft.fail(id);
    else this.draft.settle(id, { candidates: [] });
  }
}
