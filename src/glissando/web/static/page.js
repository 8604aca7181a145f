// Small things every page needs.

export const $ = (selector, root = document) => root.querySelector(selector);

// Makes an element; text is set as text, never as HTML, so a layout may be called <script>.
export function make(tag, { text, ...attributes } = {}, ...children) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

export function makeSvg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

let hiding;
export function toast(message, ms = 3200) {
  const box = $("#toast");
  // An open dialog lies over the page, so the message is shown in it.
  const host = [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
  if (box.parentElement !== host) host.prepend(box);
  box.textContent = message;
  box.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => { box.hidden = true; }, ms);
}

export const percent = (share) => (share >= 0.995 ? "100%" : share < 0.01 ? "<1%" : `${Math.round(share * 100)}%`);

const NAMES = {
  qwerty: "QWERTY", qwertz: "QWERTZ", azerty: "AZERTY", clearflow: "ClearFlow", kasroz: "KASROZ", jcuken: "ЙЦУКЕН",
  jcuken33: "ЙЦУКЕН 33", qwerty_z15: "QWERTY z15", toki_pona: "toki pona",
};
export const layoutName = (name) => NAMES[name] ?? name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");

/** Layouts that are not for the public; a link to one still works. */
export const RESEARCH = new Set(["qwerty_z15"]);

/** The name of a layout as people read it; that of one's own stays as it was given. */
export const titleOf = (layout) => (layout.custom ? layout.name : layoutName(layout.name));

const languages = new Intl.DisplayNames(["en"], { type: "language" });
const OTHERS = { tok: "toki pona" }; // languages that browsers may not know

/** The name of a language, or of several: "de,en" is German + English. */
export function languageName(codes) {
  const name = (code) => { try { return OTHERS[code] ?? languages.of(code); } catch { return code; } };
  return codes.split(",").map(name).join(" + ");
}

export function themeButton(button) {
  const dark = () => {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  };
  const label = () => button.setAttribute("aria-label", dark() ? "Light colours" : "Dark colours");
  button.addEventListener("click", () => {
    const theme = dark() ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    try { localStorage.setItem("theme", theme); } catch { /* it lasts until the page is closed */ }
    label();
  });
  label();
}
