// Touches act in the order in which they began, however their ends cross: r then h, rolled with two thumbs, is "rh",
// and a tap that a second finger makes during a swipe comes after the swiped word.

export class Turns {
  constructor() { this.waiting = []; }

  // A touch begins. Its turn ends with end(action) or drop().
  begin() {
    const turn = { action: null, over: false };
    this.waiting.push(turn);
    return {
      end: (action) => { if (!turn.over) Object.assign(turn, { action, over: true }); this.#run(); },
      drop: () => { turn.over = true; this.#run(); },
    };
  }

  #run() {
    while (this.waiting[0]?.over) this.waiting.shift().action?.();
  }
}
