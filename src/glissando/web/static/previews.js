// The word that a swipe would be, while the finger is still down. A courtesy: without it the swipe goes on.

const EVERY_MS = 110; // at most one preview in so many milliseconds, and one at a time
const ENOUGH = 6; // points that are worth a preview

export class Previews {
  // decode: see decoder.js. show(word): called while the same swipe goes on.
  constructor(decode, show) {
    Object.assign(this, { decode, show });
    [this.asking, this.asked, this.stroke] = [false, 0, 0];
  }

  begin() { this.stroke += 1; }

  async ask(points, asking) {
    const now = performance.now();
    if (this.asking || now - this.asked < EVERY_MS || points.length < ENOUGH) return;
    [this.asking, this.asked] = [true, now];
    const { stroke } = this;
    try {
      const { candidates } = await this.decode(points.slice(), asking, { k: 1, preview: true });
      if (stroke === this.stroke) this.show(candidates[0]?.word);
    } catch { /* the next one may succeed */ }
    this.asking = false;
  }
}
