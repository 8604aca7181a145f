// What all dialogs have in common. The browser itself holds the focus inside and gives it back when a dialog closes.

/**
 * A dialog closes by its buttons with data-close and by Escape, and, where nothing is lost by it, by a press beside it.
 * @param {HTMLDialogElement} dialog
 */
export function closes(dialog, { beside = true } = {}) {
  dialog.addEventListener("click", ({ target }) => { if ((beside && target === dialog) || target.closest("[data-close]")) dialog.close(); });
  return dialog;
}
