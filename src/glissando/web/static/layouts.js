// Layouts made in the page: from rows of letters, and to and from a link. The bounds are those of the library's layout.py.

const ROW_HEIGHT = 0.4 / 3; // of the width, as on phones
const MAX_KEYS = 64;
const MAX_NAME = 64; // characters
const SAME_PLACE = 1e-4; // of the letter area: no finger can tell keys apart that are nearer
const PHONE = { width: 390, height: 422 }; // pixels that the keys of a phone may take
const SMALLEST = 4; // pixels of a phone: keys that are smaller cannot be touched

/** A letter as layouts write it: in lower case and composed. */
export const fold = (letter) => letter.toLowerCase().normalize("NFC");

/**
 * Lays out rows of letters as Layout.from_rows does: the widest row fills the width, the others are centred; _ or space is a gap.
 * @param {string} name
 * @param {string} text rows, one a line
 */
export function fromRows(name, text) {
  const rows = text.split("\n").map((row) => [...row.replace(/\s+$/u, "").normalize("NFC")].map(fold)).filter((row) => row.length);
  if (!rows.length) throw new Error("Type at least one row of letters.");
  const widest = Math.max(...rows.map((row) => row.length));
  const keys = [];
  rows.forEach((row, r) => {
    const start = (widest - row.length) / 2;
    row.forEach((letter, column) => {
      if (letter === "_" || letter === " ") return;
      keys.push({ letter, cx: (start + column + 0.5) / widest, cy: (r + 0.5) / rows.length, rx: 0.5 / widest, ry: 0.5 / rows.length });
    });
  });
  return check({ name, aspect: ROW_HEIGHT * rows.length, language: "", keys });
}

/** The letters of a layout as rows of text. */
export function toRows(layout) {
  const rows = [];
  for (const key of [...layout.keys].sort((a, b) => a.cy - b.cy)) {
    const row = rows.at(-1);
    if (row && Math.abs(row[0].cy - key.cy) < key.ry) row.push(key);
    else rows.push([key]);
  }
  return rows.map((row) => row.sort((a, b) => a.cx - b.cx).map((key) => key.letter).join("")).join("\n");
}

/** A layout within the bounds, its name cleaned; an error in plain words where it cannot be used. */
export function check(layout) {
  const { keys, aspect } = layout;
  if (!keys.length) throw new Error("A keyboard needs at least one letter.");
  if (keys.length > MAX_KEYS) throw new Error(`A keyboard has at most ${MAX_KEYS} keys; this one has ${keys.length.toLocaleString("en")}.`);
  if (!(aspect >= 0.05 && aspect <= 20)) throw new Error("A keyboard may be up to 20 times as high as wide, or as wide as high.");
  const folded = keys.map(checkKey);
  if (!folded.some(({ letter }) => /\p{L}/u.test(letter))) throw new Error("A keyboard needs at least one letter.");
  folded.forEach((key, i) => folded.slice(0, i).forEach((other) => {
    if (Math.abs(key.cx - other.cx) < SAME_PLACE && Math.abs(key.cy - other.cy) < SAME_PLACE) throw new Error(`“${other.letter}” and “${key.letter}” lie at the same place.`);
  }));
  const width = Math.min(PHONE.width, PHONE.height / aspect);
  const small = folded.find(({ rx, ry }) => Math.min(2 * rx * width, 2 * ry * width * aspect) < SMALLEST);
  if (small) throw new Error(`The key “${small.letter}” would be too small to touch.`);
  return { ...layout, name: cleanName(layout.name), keys: folded };
}

function checkKey(key) {
  const letter = typeof key.letter === "string" ? fold(key.letter) : "";
  if (!/^[^\p{C}\p{Z}]$/u.test(letter)) throw new Error(`A key carries one visible character${letter ? `, not “${[...letter].slice(0, 8).join("")}”` : ""}.`);
  const { cx, cy, rx, ry } = key;
  if (![cx, cy, rx, ry].every(Number.isFinite)) throw new Error(`The key “${letter}” has no place or no size.`);
  if (!(cx >= 0 && cx <= 1 && cy >= 0 && cy <= 1)) throw new Error(`The key “${letter}” lies outside the keyboard.`);
  if (!(rx > 0 && rx <= 1 && ry > 0 && ry <= 1)) throw new Error(`The key “${letter}” has no size, or is larger than the keyboard.`);
  return { letter, cx, cy, rx, ry };
}

/** A name without what cannot be seen, at most 64 characters long; "mine" where nothing is left. */
export function cleanName(name) {
  const seen = typeof name === "string" ? name.normalize("NFC").replace(/\p{Z}/gu, " ").replace(/\p{C}/gu, "").trim() : "";
  return [...seen].slice(0, MAX_NAME).join("").trim() || "mine";
}

/** What the API takes: a name, or the layout itself. */
export const asked = (layout) => (layout.custom
  ? { name: layout.name, aspect: layout.aspect, keys: layout.keys.map(({ letter, cx, cy, rx, ry }) => ({ letter, cx, cy, rx, ry })) }
  : layout.name);

/** The short form of a layout of one's own, for links and for the browser's storage. */
export function pack({ name, aspect, keys }) {
  const short = (value) => Math.round(value * 1e4) / 1e4;
  return { n: name, a: short(aspect), k: keys.map((key) => [key.letter, short(key.cx), short(key.cy), short(key.rx), short(key.ry)]) };
}

/** The layout of a short form; an error in plain words where it cannot be used. */
export function unpack(short) {
  if (!Array.isArray(short?.k) || typeof short.a !== "number") throw new Error("It is damaged.");
  const keys = short.k.slice(0, MAX_KEYS + 1).map((key) => {
    if (!Array.isArray(key)) throw new Error("It is damaged.");
    const [letter, cx, cy, rx, ry] = key;
    return { letter, cx, cy, rx, ry };
  });
  if (short.k.length > keys.length) keys.length = short.k.length; // counted, not read
  return check({ custom: true, name: short.n, aspect: short.a, language: "", keys });
}

/** The part of an address that asks for a layout and a language. */
export function toFragment(layout, language) {
  const parts = new URLSearchParams();
  if (layout.custom) parts.set("custom", encode(JSON.stringify(pack(layout))));
  else parts.set("layout", layout.name);
  parts.set("language", language);
  return `#${parts}`;
}

/** The address of the page with a layout and a language. */
export const linkTo = (layout, language) => `${location.origin}${location.pathname}${toFragment(layout, language)}`;

/** {layout: name or layout, language}, with nothing where the fragment says nothing; throws where it is damaged. */
export function fromFragment(fragment) {
  const parts = new URLSearchParams(fragment.replace(/^#/u, ""));
  const found = { layout: parts.get("layout"), language: parts.get("language") };
  if (parts.has("custom")) found.layout = readCustom(parts.get("custom"));
  return found;
}

function readCustom(code) {
  let short;
  try { short = JSON.parse(decode(code)); } catch { throw new Error("The layout in this link is damaged."); }
  try { return unpack(short); } catch (error) { throw new Error(`The layout in this link cannot be used. ${error.message}`); }
}

// One character at a time: a function takes only so many arguments.
const encode = (text) => btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(""))
  .replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/u, "");
const decode = (code) => new TextDecoder("utf-8", { fatal: true }).decode(
  Uint8Array.from(atob(code.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0)),
);
