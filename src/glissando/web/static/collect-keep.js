// What a donor's browser must not lose: secrets, swipes that wait, withdrawals that wait. Each has a name of its own, so that a
// damaged one harms no other. Where storage is full or forbidden they last until the page is closed.

const START = "glissando:";
const memory = new Map();

function storage() {
  try { return globalThis.localStorage; } catch { return null; }
}

/** What is kept under a name, as text; null where there is nothing. */
export const get = (name) => memory.get(name) ?? storage()?.getItem(START + name) ?? null;

/** What is kept under a name, as a value; null where there is nothing, or nothing that can be read. */
export function getValue(name) {
  try { return JSON.parse(get(name)); } catch { return null; }
}

/** Keeps a text; says whether it outlives the page. */
export function put(name, text) {
  try {
    storage().setItem(START + name, text);
    memory.delete(name);
    return true;
  } catch {
    memory.set(name, text);
    return false;
  }
}

/** Forgets a name. */
export function remove(name) {
  memory.delete(name);
  storage()?.removeItem(START + name);
}

/** All names that begin so, in order. */
export function names(start) {
  const kept = Object.keys(storage() ?? {}).filter((key) => key.startsWith(START)).map((key) => key.slice(START.length));
  return [...new Set([...kept, ...memory.keys()])].filter((name) => name.startsWith(start)).sort();
}
