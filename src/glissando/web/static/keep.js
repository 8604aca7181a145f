// Keeps the text over a reload, in this browser.

import { recall, remember } from "./store.js";

const NAME = "text";
const SOON_MS = 400; // after the last change

/** Brings the text of the last time back into a draft. */
export function restoreText(draft) {
  try { draft.restore(JSON.parse(recall(NAME) ?? "null")); } catch { /* what is damaged is not used */ }
}

/** Keeps the text of a draft from now on: call changed() after every change. */
export function textKeeper(draft) {
  let timer = 0;
  const save = () => { clearTimeout(timer); timer = 0; remember(NAME, JSON.stringify(draft.saved)); };
  window.addEventListener("pagehide", save);
  document.addEventListener("visibilitychange", () => { if (document.hidden) save(); });
  return { changed: () => { timer ||= setTimeout(save, SOON_MS); } };
}
