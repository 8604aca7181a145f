// Layouts of one's own, kept in this browser by name.

import { pack, unpack } from "./layouts.js";
import { recall, remember } from "./store.js";

const NAME = "layouts";
const MOST = 40;

export class OwnLayouts {
  constructor() { this.all = read(); }

  /** The kept layout of a name, or undefined. */
  get(name) { return this.all.find((one) => one.name === name); }

  /** Whether a layout is kept just as it is. */
  has(layout) { return JSON.stringify(pack(layout)) === JSON.stringify(this.get(layout.name) && pack(this.get(layout.name))); }

  /**
   * Keeps a layout in the place of an older one, or as a new one. A name that another layout has gets a number.
   * @returns {{layout: object, kept: boolean}} the layout with its name, and whether the browser could keep it.
   */
  keep(layout, older = null) {
    const others = this.all.filter((one) => one.name !== older?.name);
    const named = { ...layout, custom: true, name: freeName(layout.name, new Set(others.map((one) => one.name))) };
    if (others.length >= MOST) return { layout: named, kept: false };
    const place = older ? this.all.findIndex((one) => one.name === older.name) : -1;
    this.all = place < 0 ? [...others, named] : this.all.map((one, i) => (i === place ? named : one));
    return { layout: named, kept: this.#save() };
  }

  forget(name) {
    this.all = this.all.filter((one) => one.name !== name);
    return this.#save();
  }

  #save() { return remember(NAME, JSON.stringify(this.all.map(pack))); }
}

function freeName(name, taken) {
  if (!taken.has(name)) return name;
  for (let number = 2; ; number += 1) {
    const next = `${[...name].slice(0, 60).join("")} ${number}`;
    if (!taken.has(next)) return next;
  }
}

// A layout that is damaged is left out; the whole text is put aside first, so that nothing is overwritten.
function read() {
  const text = recall(NAME);
  if (text === null) return [];
  let [entries, found] = [[], []];
  try { entries = JSON.parse(text); } catch { /* put aside below */ }
  if (Array.isArray(entries)) found = entries.flatMap((one) => { try { return [unpack(one)]; } catch { return []; } });
  const names = new Set();
  const kept = found.filter(({ name }) => !names.has(name) && names.add(name)).slice(0, MOST);
  if (kept.length !== entries?.length) remember(`${NAME}:damaged`, text);
  return kept;
}
