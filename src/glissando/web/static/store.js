// What the browser remembers. Storage may be full or forbidden: then nothing is remembered, and the page works on.

export function recall(name) {
  try { return localStorage.getItem(`glissando:${name}`); } catch { return null; }
}

// Whether it could be kept.
export function remember(name, text) {
  try { localStorage.setItem(`glissando:${name}`, text); return true; } catch { return false; }
}
