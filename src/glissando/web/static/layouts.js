// Layouts made in the page: from rows of letters, and to and from a link.

const ROW_HEIGHT = 0.4 / 3; // of the width, as on phones

// The same geometry as Layout.from_rows: the widest row fills the width, the others are centred; _ or space is a gap.
export function fromRows(name, text) {
  const rows = text.split("\n").map((row) => [...row.replace(/\s+$/u, "").toLowerCase().normalize("NFC")]).filter((row) => row.length);
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
  return check({ name: name || "mine", aspect: ROW_HEIGHT * rows.length, language: "", keys });
}

export function toRows(layout) {
  const rows = [];
  for (const key of [...layout.keys].sort((a, b) => a.cy - b.cy)) {
    const row = rows.at(-1);
    if (row && Math.abs(row[0].cy - key.cy) < key.ry) row.push(key);
    else rows.push([key]);
  }
  return rows.map((row) => row.sort((a, b) => a.cx - b.cx).map((key) => key.letter).join("")).join("\n");
}

export function check(layout) {
  if (!layout.keys.length) throw new Error("A keyboard needs at least one letter.");
  if (layout.keys.length > 64) throw new Error(`A keyboard has at most 64 keys; this one has ${layout.keys.length}.`);
  return layout;
}

// What the API takes: a name, or the layout itself.
export const asked = (layout) => (layout.custom
  ? { name: layout.name, aspect: layout.aspect, keys: layout.keys.map(({ letter, cx, cy, rx, ry }) => ({ letter, cx, cy, rx, ry })) }
  : layout.name);

export function toFragment(layout, language) {
  const parts = new URLSearchParams();
  if (layout.custom) {
    const short = (value) => Math.round(value * 1e4) / 1e4;
    const keys = layout.keys.map((key) => [key.letter, short(key.cx), short(key.cy), short(key.rx), short(key.ry)]);
    parts.set("custom", encode(JSON.stringify({ n: layout.name, a: short(layout.aspect), k: keys })));
  } else {
    parts.set("layout", layout.name);
  }
  parts.set("language", language);
  return `#${parts}`;
}

// {layout: name or layout, language}, with nothing where the fragment says nothing; throws where it is damaged.
export function fromFragment(fragment) {
  const parts = new URLSearchParams(fragment.replace(/^#/u, ""));
  const found = { layout: parts.get("layout"), language: parts.get("language") };
  if (parts.has("custom")) found.layout = readCustom(parts.get("custom"));
  return found;
}

function readCustom(code) {
  try {
    const { n, a, k } = JSON.parse(decode(code));
    const keys = k.map(([letter, ...place]) => {
      if (typeof letter !== "string" || place.length !== 4 || !place.every(Number.isFinite)) throw new Error("key");
      const [cx, cy, rx, ry] = place;
      return { letter, cx, cy, rx, ry };
    });
    if (typeof n !== "string" || !(a >= 0.05 && a <= 20)) throw new Error("name");
    return check({ custom: true, name: n.slice(0, 64) || "shared", aspect: a, language: "", keys });
  } catch {
    throw new Error("The layout in this link is damaged.");
  }
}

const encode = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/u, "");
const decode = (code) => new TextDecoder("utf-8", { fatal: true }).decode(
  Uint8Array.from(atob(code.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0)),
);
