// The demo keyboard: swipe, see the word, change it, and look into the network.

import { call } from "./api.js";
import { Editor } from "./editor.js";
import { showSeen, showWhy } from "./insight.js";
import { asked, fromFragment, toFragment } from "./layouts.js";
import { $, languageName, layoutName, make, percent, themeButton, toast } from "./page.js";
import { Pad } from "./pad.js";
import { TextLine } from "./text.js";

const PREVIEW_MS = 110; // at most one preview in so many milliseconds, and one at a time
const CUSTOM = " custom"; // value of the picker's entry for a layout of one's own; no layout is called so

const state = { layouts: new Map(), languages: [], layout: null, language: "en", custom: null, stroke: 0 };

const line = new TextLine($("#text"), () => showWord());
const pad = new Pad($("#pad"), {
  start: () => { state.stroke += 1; },
  move: (points) => preview(points),
  end: (points, { tap }) => (tap ? typeLetter(points[0]) : decode(points)),
});
const editor = new Editor($("#editor"), { use: (layout) => useCustom(layout), language: () => state.language });

async function start() {
  themeButton($("#theme"));
  const { layouts, languages } = await call("/api/layouts");
  state.layouts = new Map(layouts.map((layout) => [layout.name, layout]));
  state.languages = languages;
  $("#language").replaceChildren(...languages
    .map((code) => [languageName(code), code]).sort(([a], [b]) => a.localeCompare(b))
    .map(([name, code]) => make("option", { value: code, text: name })));
  readFragment();
  window.addEventListener("hashchange", () => readFragment());
  $("#layout").addEventListener("change", (event) => {
    const layout = event.target.value === CUSTOM ? state.custom : state.layouts.get(event.target.value);
    setKeyboard(layout, layout.language || state.language);
  });
  $("#language").addEventListener("change", (event) => setKeyboard(state.layout, event.target.value));
  $("#edit").addEventListener("click", () => editor.open(state.layout));
  $("#space").addEventListener("click", () => line.space());
  $("#backspace").addEventListener("click", () => line.backspace());
  $("#clear").addEventListener("click", () => line.clear());
  $("#why-form").addEventListener("submit", (event) => { event.preventDefault(); why(); });
  for (const tab of document.querySelectorAll("[role=tab]")) tab.addEventListener("click", () => openTab(tab));
  $("[role=tablist]").addEventListener("keydown", tabKeys);
  document.addEventListener("keydown", typeKey);
}

function readFragment() {
  let wanted = {};
  try { wanted = fromFragment(location.hash); } catch (error) { toast(error.message); }
  let layout = wanted.layout?.custom ? wanted.layout : state.layouts.get(wanted.layout);
  if (wanted.layout && !layout) toast(`There is no layout “${wanted.layout}” here.`);
  layout ??= state.layouts.get("qwerty");
  if (layout.custom) state.custom = layout;
  const language = state.languages.includes(wanted.language) ? wanted.language : layout.language || "en";
  setKeyboard(layout, language, false);
}

function useCustom(layout) {
  state.custom = layout;
  setKeyboard(layout, state.language);
}

function setKeyboard(layout, language, remember = true) {
  state.layout = layout;
  state.language = language;
  pad.setLayout(layout);
  const names = [...state.layouts.keys()].map((name) => make("option", { value: name, text: layoutName(name) }));
  if (state.custom) names.push(make("option", { value: CUSTOM, text: state.custom.name }));
  $("#layout").replaceChildren(...names);
  $("#layout").value = layout.custom ? CUSTOM : layout.name;
  $("#language").value = language;
  document.documentElement.lang = "en";
  $("#text").lang = language;
  if (remember) history.replaceState(null, "", toFragment(layout, language));
  warm();
}

const request = (points, more = {}) => ({ points, layout: asked(state.layout), language: state.language, ...more });

// The first swipe on a keyboard should not wait for it to be made.
async function warm() {
  const { layout, language } = state;
  delete $("#pad").dataset.ready;
  try {
    await call("/api/decode", { method: "POST", body: request([[0.5, 0.5, 0]], { k: 1 }), timeout: 60000 });
    if (layout === state.layout && language === state.language) $("#pad").dataset.ready = "";
  } catch (error) { toast(error.message); }
}

let previewing = false;
let previewed = 0;
async function preview(points) {
  const now = performance.now();
  if (previewing || now - previewed < PREVIEW_MS || points.length < 6) return;
  [previewing, previewed] = [true, now];
  const stroke = state.stroke;
  try {
    const answer = await call("/api/decode", { method: "POST", body: request(points.slice(), { k: 1 }) });
    if (stroke === state.stroke && pad.points) showPreview(answer.candidates[0]?.word);
  } catch { /* a preview is a courtesy: without it the swipe goes on */ }
  previewing = false;
}

async function decode(points) {
  const word = { text: "…", candidates: [], points, layout: state.layout, language: state.language };
  const body = request(points);
  try {
    const answer = await call("/api/decode", { method: "POST", body: { ...body, k: 6 } });
    if (!answer.candidates.length) { toast("No word found."); showWord(); return; }
    word.candidates = answer.candidates;
    word.text = answer.candidates[0].word;
    line.space();
    line.addWord(word);
  } catch (error) {
    toast(error.message);
    showWord();
  }
}

function typeLetter([x, y]) { line.addLetter(pad.letterAt(x, y)); }

function showPreview(word) {
  if (!word) return;
  $("#candidates").replaceChildren(make("span", { class: "preview", text: word }));
}

// What belongs to the chosen word: its candidates and the panels.
function showWord() {
  const word = line.current;
  const chips = (word?.candidates ?? []).map((one) => {
    const bar = make("i");
    bar.style.width = `${Math.max(2, one.probability * 100)}%`;
    return make("button", { class: "candidate", type: "button", "aria-pressed": String(one.word === word.text), onclick: () => { line.replace(one.word); showWord(); } },
      make("span", { text: one.word }), make("small", { text: percent(one.probability) }), bar);
  });
  $("#candidates").replaceChildren(...chips);
  $("#why-answer").replaceChildren();
  $("#why-form button").disabled = !word?.points;
  if (word?.points) explain(word);
}

async function explain(word) {
  if (!word.explained) {
    const body = { points: word.points, layout: asked(word.layout), language: word.language, k: 1 };
    try { word.explained = await call("/api/explain", { method: "POST", body }); } catch { return; }
  }
  if (word === line.current) showSeen($("#seen"), word.explained, word.layout, word.points);
}

async function why() {
  const word = line.current;
  const meant = $("#why-word").value.trim();
  if (!word?.points || !meant) return;
  try {
    const body = { points: word.points, layout: asked(word.layout), language: word.language, word: meant, k: 1 };
    showWhy($("#why-answer"), await call("/api/explain", { method: "POST", body }));
  } catch (error) { toast(error.message); }
}

function openTab(tab) {
  for (const one of document.querySelectorAll("[role=tab]")) {
    const open = one === tab;
    one.setAttribute("aria-selected", String(open));
    one.tabIndex = open ? 0 : -1;
    $(`#${one.getAttribute("aria-controls")}`).hidden = !open;
  }
}

function tabKeys(event) {
  if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
  const other = [...document.querySelectorAll("[role=tab]")].find((tab) => tab !== document.activeElement);
  other.focus();
  openTab(other);
}

// A hardware keyboard types too.
function typeKey(event) {
  const busy = event.target.closest("input, textarea, select, dialog, button, a, [role=tab]");
  if (event.ctrlKey || event.metaKey || event.altKey || (busy && event.key !== "Backspace")) return;
  if (event.target.closest("input, textarea, dialog")) return;
  if (event.key === "Backspace") line.backspace();
  else if (event.key === " ") line.space();
  else if (state.layout?.keys.some((key) => key.letter === event.key.toLowerCase())) line.addLetter(event.key.toLowerCase());
  else return;
  event.preventDefault();
}

start().catch((error) => toast(error.message, 60000));
