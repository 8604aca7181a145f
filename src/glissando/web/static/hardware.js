// A hardware keyboard types what it says, and moves the cursor.

const FIELDS = "input, textarea, select, dialog, [role=tab]"; // these have keys of their own
const MOVES = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

export function bindHardware(draft, type) {
  document.addEventListener("keydown", (event) => {
    if (event.target.closest(FIELDS) || event.isComposing || event.defaultPrevented) return;
    if (act(draft, type, event)) event.preventDefault();
  });
  document.addEventListener("paste", (event) => {
    if (event.target.closest(FIELDS)) return;
    const text = event.clipboardData?.getData("text/plain").replaceAll("\r\n", "\n");
    if (text) draft.tap(text, "none");
    event.preventDefault();
  });
}

// A button that was pressed with a finger or a mouse does not take the focus, so that the next space is typed.
export function keepFocus(...elements) {
  for (const element of elements) element.addEventListener("mousedown", (event) => event.preventDefault());
}

// Whether the key did something.
function act(draft, type, { key, target, ctrlKey, metaKey, altKey, shiftKey }) {
  const command = (ctrlKey || metaKey) && !altKey;
  if (command && key.toLowerCase() === "z") return shiftKey ? draft.redo() : draft.undo();
  if (command && key.toLowerCase() === "y") return draft.redo();
  if (command && key === "Backspace") return draft.deleteWord();
  if (command || metaKey) return false;
  if (key === "Backspace") draft.backspace();
  else if (key in MOVES) draft.moveBy(MOVES[key]);
  // Enter and space press the button that has the focus.
  else if (target.closest("button, a, summary, [role=button]") && (key === "Enter" || key === " ")) return false;
  else if (key === "Enter") type("\n");
  // One character, not the name of a key; with Alt and AltGr some keyboards type characters too.
  else if ([...key].length === 1 && (!altKey || key > "~")) type(key);
  else return false;
  return true;
}
