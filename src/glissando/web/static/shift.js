// The shift key: a capital for the next letter or word, capitals for all (two quick taps), or none where one would come.

const DOUBLE_MS = 350;

export class Shift {
  // begins(): whether a sentence begins at the cursor, so that a capital comes by itself.
  constructor(begins) {
    this.begins = begins;
    this.state = "auto"; // "auto", "on", "off" or "lock"
    this.tapped = -Infinity;
  }

  // What the next letter or word gets, in the draft's words.
  get capital() { return { auto: "auto", on: "first", off: "none", lock: "all" }[this.state]; }

  // Whether the keys show capitals.
  get shown() { return this.state === "on" || this.state === "lock" || (this.state === "auto" && this.begins()); }

  press(moment) {
    const again = moment - this.tapped < DOUBLE_MS;
    this.tapped = again ? -Infinity : moment;
    if (this.state === "lock") this.state = "auto";
    else if (again) this.state = "lock";
    else this.state = this.shown ? "off" : "on";
  }

  // A letter or a word was written.
  used() { if (this.state !== "lock") this.state = "auto"; }
}
