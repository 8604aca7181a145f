// The picker: layouts, and the languages that the chosen layout can type.

import { languagesFor } from "./languages.js";
import { $, languageName, layoutName, make } from "./page.js";
import { toRows } from "./layouts.js";

export const CUSTOM = " custom"; // stands for a layout of one's own; no layout is called so
const RESEARCH = new Set(["qwerty_z15"]); // not for the public; a link to one still works

export class Picker {
  // use(layout, language): called with what was picked. edit(): opens the layout editor.
  constructor(dialog, { use, edit }) {
    Object.assign(this, { dialog, use });
    $("#picker-close", dialog).addEventListener("click", () => dialog.close());
    $("#edit", dialog).addEventListener("click", () => { dialog.close(); edit(); });
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    $("#layouts", dialog).addEventListener("change", ({ target }) => this.#pick(this.#layout(target.value), this.language));
    $("#languages", dialog).addEventListener("change", ({ target }) => this.#pick(this.layout, target.value));
  }

  // layouts: those of the server by name. codes: its languages.
  setChoices(layouts, codes) { Object.assign(this, { layouts, codes }); }

  // The layouts to offer: those with a language that they can type.
  get offered() { return [...this.layouts.values()].filter((one) => !RESEARCH.has(one.name) && languagesFor(one, this.codes).length); }

  // The language to write on a layout: the wanted one if it can be typed there, else the layout's own.
  languageFor(layout, wanted) {
    const codes = languagesFor(layout, this.codes);
    return codes.includes(wanted) ? wanted : codes.includes(layout.language) ? layout.language : codes.includes("en") ? "en" : codes[0] ?? "en";
  }

  open(layout, language, custom) {
    Object.assign(this, { layout, language, custom });
    this.#draw();
    this.dialog.showModal();
    $("input:checked", this.dialog)?.focus();
  }

  #layout(value) { return value === CUSTOM ? this.custom : this.layouts.get(value); }

  // A layout with its own language brings it along, where the language of before was that of the layout of before.
  #pick(layout, language) {
    const follows = layout !== this.layout && this.language === this.layout.language && layout.language;
    this.language = this.languageFor(layout, follows ? layout.language : language);
    this.layout = layout;
    this.use(layout, this.language);
    this.#draw();
  }

  #draw() {
    const layouts = this.offered.map((one) => [one.name, layoutName(one.name), one]);
    if (this.custom) layouts.push([CUSTOM, this.custom.name, this.custom]);
    const chosen = this.layout.custom ? CUSTOM : this.layout.name;
    fill($("#layouts", this.dialog), "layout", chosen, layouts.map(([value, name, one]) => [value, name, toRows(one).split("\n")[0]]));
    const codes = languagesFor(this.layout, this.codes).map((code) => [code, languageName(code)]).sort(([, a], [, b]) => a.localeCompare(b));
    fill($("#languages", this.dialog), "language", this.language, codes);
  }
}

// Radio buttons: [value, name, what is said of it]. The focus stays on the chosen one.
function fill(root, group, chosen, choices) {
  const focused = root.contains(document.activeElement);
  const options = choices.map(([value, name, more]) => make("label", { class: "choice" },
    make("input", { type: "radio", name: group, value, checked: value === chosen }),
    make("span", { text: name }), more ? make("small", { class: "muted", text: more, "aria-hidden": "true" }) : null));
  $("div", root).replaceChildren(...options);
  if (focused) $("input:checked", root)?.focus();
}
