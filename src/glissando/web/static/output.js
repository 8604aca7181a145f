// The buttons beside the text: undo, redo, copy, share, clear.

import { $, make, toast } from "./page.js";

// done(): the writer is done with the text as it stands.
export function bindOutput(draft, done) {
  $("#undo").addEventListener("click", () => draft.undo());
  $("#redo").addEventListener("click", () => draft.redo());
  $("#clear").addEventListener("click", () => { done(); draft.clear(); });
  $("#copy").addEventListener("click", async () => {
    done();
    toast(await copy(draft.text.trim()) ? "Copied." : "The browser does not let this page copy.");
  });
  $("#share").hidden = !navigator.share;
  $("#share").addEventListener("click", async () => {
    done();
    try { await navigator.share({ text: draft.text.trim() }); } catch (error) {
      if (error.name !== "AbortError") toast("The text could not be shared.");
    }
  });
}

/** Copies a text; says whether that was possible. On plain HTTP there is no clipboard; the old way works there. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { /* the old way, then */ }
  const field = make("textarea", { class: "visually-hidden", readonly: true });
  field.value = text;
  const focused = document.activeElement;
  (document.querySelector("dialog[open]") ?? document.body).append(field); // outside of an open dialog nothing can be selected
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  focused?.focus();
  return done;
}
