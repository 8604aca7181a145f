// The picker: a gallery of layouts, and one or two of the languages that the chosen layout can type.

import { closes } from "./dialogs.js";
import { languagesFor } from "./languages.js";
import { linkTo } from "./layouts.js";
import { copy } from "./output.js";
import { $, RESEARCH, languageName, make, titleOf, toast } from "./page.js";
import { layoutPicture } from "./picture.js";

const MOST_LANGUAGES = 2;

export class Picker {
  /**
   * @param {HTMLDialogElement} dialog
   * @param {import("./ownlayouts.js").OwnLayouts} own
   * @param {object} on use(layout, language): something was picked. edit(layout, older): opens the layout editor,
   *   for a new layout or for an older one of one's own. trial(): opens the ten words.
   */
  constructor(dialog, own, { use, edit, trial }) {
    Object.assign(this, { dialog: closes(dialog), own, use });
    const press = (id, act) => $(id, dialog).addEventListener("click", act);
    press("#edit", () => { dialog.close(); edit(this.layout, null); });
    press("#own-edit", () => { dialog.close(); edit(this.layout, this.layout); });
    press("#own-share", () => this.#share());
    press("#own-delete", () => this.#forget());
    press("#own-keep", () => this.#keep());
    press("#try", () => { dialog.close(); trial(); });
    dialog.addEventListener("change", ({ target }) => {
      if (target.name === "layout") this.#pick(this.shown.get(target.value), this.language);
      else this.#pick(this.layout, [$("#language", dialog).value, $("#second", dialog).value].filter(Boolean).join(","));
    });
  }

  // layouts: those that come with the page, by name. codes: the languages that have words.
  setChoices(layouts, codes) { Object.assign(this, { layouts, codes }); }

  // The layouts to offer: those with a language that they can type.
  get offered() { return [...this.layouts.values()].filter((one) => !RESEARCH.has(one.name) && languagesFor(one, this.codes).length); }

  /** The languages to write on a layout: of the wanted ones ("de,en") those that it can type, else the layout's own. */
  languageFor(layout, wanted) {
    const codes = languagesFor(layout, this.codes);
    const found = [...new Set((wanted ?? "").split(","))].filter((code) => codes.includes(code)).slice(0, MOST_LANGUAGES);
    if (found.length) return found.join(",");
    return codes.includes(layout.language) ? layout.language : codes.includes("en") ? "en" : codes[0] ?? "en";
  }

  /** Shows what is used now. */
  show(layout, language) {
    Object.assign(this, { layout: layout.custom && this.own.has(layout) ? this.own.get(layout.name) : layout, language });
    this.#draw();
  }

  open(layout, language) {
    this.show(layout, language);
    this.dialog.showModal();
    // On a short screen the languages, at the top, are not scrolled away.
    $("input:checked", this.dialog)?.focus({ preventScroll: matchMedia("(max-height: 600px)").matches });
  }

  // A layout with its own language brings it along, where the language of before was that of the layout of before.
  #pick(layout, language) {
    const follows = layout !== this.layout && this.language === this.layout.language && layout.language;
    this.language = this.languageFor(layout, follows ? layout.language : language);
    this.layout = layout;
    this.use(layout, this.language);
    this.#update();
  }

  #draw() {
    const loose = this.layout.custom && !this.own.has(this.layout) ? [this.layout] : []; // from a link
    const ours = [...this.own.all, ...loose];
    this.shown = new Map([...this.offered.map((one) => [one.name, one]), ...ours.map((one, i) => [` ${i}`, one])]); // no name begins so
    const cards = [...this.shown].map(([value, one]) => card(value, one, loose.includes(one)));
    $("#layouts > div", this.dialog).replaceChildren(...cards.slice(0, cards.length - ours.length));
    $("#own > div", this.dialog).replaceChildren(...cards.slice(cards.length - ours.length), $("#edit", this.dialog));
    this.#update();
  }

  // Everything that depends on what is chosen.
  #update() {
    const { dialog, layout } = this;
    for (const input of dialog.querySelectorAll("input[name=layout]")) input.checked = this.shown.get(input.value) === layout;
    const kept = layout.custom && this.own.has(layout);
    $("#own-actions", dialog).hidden = !layout.custom;
    $("#own-delete", dialog).hidden = !kept;
    $("#own-keep", dialog).hidden = kept;
    const [main, second = ""] = this.language.split(",");
    const names = languagesFor(layout, this.codes).map((code) => [code, languageName(code)]).sort(([, a], [, b]) => a.localeCompare(b));
    options($("#language", dialog), names, main);
    options($("#second", dialog), [["", "none"], ...names.filter(([code]) => code !== main)], second);
    $("#second", dialog).disabled = names.length < 2;
  }

  async #share() {
    const link = linkTo(this.layout, this.language);
    toast(await copy(link) ? "The link is copied." : link, 8000);
  }

  #forget() {
    this.own.forget(this.layout.name);
    this.#draw();
    $("#own-keep", this.dialog).focus();
    toast(`“${this.layout.name}” is deleted. It stays until you choose another layout.`, 6000);
  }

  #keep() {
    const { layout, kept } = this.own.keep(this.layout);
    this.#pick(layout, this.language);
    this.#draw();
    $("input:checked", this.dialog)?.focus();
    if (!kept) toast(NO_ROOM, 8000);
  }
}

export const NO_ROOM = "This browser has no room to keep the layout. It can be used until you choose another; its link keeps it for good.";

function card(value, layout, loose) {
  return make("label", { class: "choice" },
    make("input", { type: "radio", name: "layout", value }),
    layoutPicture(layout), make("span", { text: titleOf(layout) }), loose ? make("small", { class: "muted", text: "not kept" }) : null);
}

// The options of a select. Where they are the same as before they stay, so that an open list is not disturbed.
function options(select, names, chosen) {
  if (JSON.stringify(names) !== JSON.stringify([...select.options].map((one) => [one.value, one.text]))) {
    select.replaceChildren(...names.map(([value, text]) => make("option", { value, text })));
  }
  select.value = chosen;
}
