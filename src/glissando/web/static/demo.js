// The demo keyboard: swipe, see the word, change it, and look into the network.

import { call } from "./api.js";
import { Editor } from "./editor.js";
import { showSeen, showWhy } from "./insight.js";
import { asked, fromFragment, toFragment } from "./layouts.js";
import { $, languageName, layoutName, make, percent, themeButton, toast } from "./page.js";
import { Pad } from "./pad.js";
import { TextLine, capitalise } from "./text.js";

const PREVIEW_MS = 110; // at most one preview in so many milliseconds, and one at a time
const MARKS = [".", "?", "!", ","]; // what the key for marks writes, one after the other
const CONTEXT = 300; // characters of the text before that are sent; the server looks at 256, and sees that there were more
const CUSTOM = " custom"; // value of the picker's entry for a layout of one's own; no layout is called so

const state = { layouts: new Map(), languages: [], layout: null, language: "en", custom: null, stroke: 0 };

const line = new TextLine($("#text"), () => showWord());
const pad = new Pad($("#pad"), {
  start: () => { state.stroke += 1; },
  move: (points) => preview(points),
  end: (points, { tap }) => (tap ? typeLetter(pad.letterAt(points[0][0], points[0][1])) : decode(points)),
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
  $("#space").addEventListener("click", () => closeWord());
  $("#mark").addEventListener("click", () => typeMark());
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

// The text before the cursor, cut between characters: half of one is no JSON.
const before = () => [...line.text].slice(-CONTEXT).join("");

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
    const answer = await call("/api/decode", { method: "POST", body: request(points.slice(), { k: 1, context: before() }) });
    if (stroke === state.stroke && pad.points) showPreview(answer.candidates[0]?.word);
  } catch { /* a preview is a courtesy: without it the swipe goes on */ }
  previewing = false;
}

// One swipe after the other, so that words stand in their order and each has the one before as context.
let writing = Promise.resolve();
function decode(points) {
  const [body, { layout, language }] = [request(points), state];
  writing = writing.then(() => write(body, layout, language));
}

async function write(body, layout, language) {
  closeWord();
  const context = before();
  try {
    const { candidates } = await call("/api/decode", { method: "POST", body: { ...body, k: 6, context } });
    if (!candidates.length) { toast("No word found."); showWord(); return; }
    const written = merged(candidates.map((one) => ({ ...one, word: capitalise(one.word, context, language) })));
    line.addWord({ text: written[0].word, candidates: written, points: body.points, layout, language, context });
  } catch (error) {
    toast(error.message);
    showWord();
  }
}

// Candidates that are written alike, such as "will" and "Will" at the beginning of a sentence, are one.
function merged(candidates) {
  const found = new Map();
  for (const one of candidates) {
    const same = found.get(one.word);
    if (same) same.probability += one.probability;
    else found.set(one.word, { ...one });
  }
  return [...found.values()];
}

function typeLetter(letter) {
  line.addLetter(line.words.at(-1)?.open ? letter : capitalise(letter, line.text, ""));
}

function typeMark() {
  closeWord();
  const at = MARKS.indexOf(line.words.at(-1)?.mark);
  line.addMark(MARKS[(at + 1) % MARKS.length]);
}

// A tapped word ends; a lone i is written as English writes it.
function closeWord() {
  const last = line.words.at(-1);
  if (last?.open && state.language === "en" && last.text === "i") last.text = "I";
  line.space();
}

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

const question = ({ points, layout, language, context }) => ({ points, layout: asked(layout), language, context });

async function explain(word) {
  if (!word.explained) {
    const body = { ...question(word), k: 1 };
    try { word.explained = await call("/api/explain", { method: "POST", body }); } catch { return; }
  }
  if (word === line.current) showSeen($("#seen"), word.explained, word.layout, word.points);
}

async function why() {
  const word = line.current;
  const meant = $("#why-word").value.trim();
  if (!word?.points || !meant) return;
  try {
    showWhy($("#why-answer"), await call("/api/explain", { method: "POST", body: { ...question(word), word: meant, k: 1 } }));
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
  else if (event.key === " ") closeWord();
  else if (state.layout?.keys.some((key) => key.letter === event.key.toLowerCase())) typeLetter(event.key.toLowerCase());
  else if (".,!?;:".includes(event.key)) { closeWord(); line.addMark(event.key); }
  else return;
  event.preventDefault();
}

start().catch((error) => toast(error.message, 60000));
