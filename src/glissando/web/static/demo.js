// The keyboard page: binds keys, text, decoding and panels together.

import { Accents } from "./accents.js";
import { CandidateRow } from "./candidates.js";
import { choices, decode, known, use, warm, watch } from "./decoder.js";
import { closes } from "./dialogs.js";
import { Draft } from "./draft.js";
import { Editor } from "./editor.js";
import { bindHardware, keepFocus } from "./hardware.js";
import { restoreText, textKeeper } from "./keep.js";
import { bindKeys } from "./keys.js";
import { accentsOf } from "./languages.js";
import { fromFragment, toFragment } from "./layouts.js";
import { bindOutput } from "./output.js";
import { OwnLayouts } from "./ownlayouts.js";
import { Pad } from "./pad.js";
import { $, languageName, themeButton, titleOf, toast } from "./page.js";
import { Panels } from "./panels.js";
import { NO_ROOM, Picker } from "./picker.js";
import { Previews } from "./previews.js";
import { describe } from "./reader.js";
import { Shift } from "./shift.js";
import { recall, remember } from "./store.js";
import { Swipes } from "./swipes.js";
import { TextView } from "./textview.js";
import { Trial } from "./trial.js";
import { Turns } from "./turns.js";
import { keepPage } from "./updates.js";
import { Visit } from "./visit.js";
import { WordList } from "./wordlist.js";
import { Words } from "./words.js";

const keyboard = { layout: null, language: "en" };
let offer = ""; // a word that may be added to one's own
let made = null; // {layout, language} of the last keyboard that could be made
let resume = false; // whether writing goes on at the end after a word further back was changed

const turns = new Turns();
const words = new Words(useWords);
const own = new OwnLayouts();
const draft = new Draft({ changed, revised, language: () => keyboard.language });
const keeper = textKeeper(draft);
const swipes = new Swipes(draft, { decode, say: toast });
const shift = new Shift(() => draft.begins);
const view = new TextView($("#text"), draft, { place, retry: (id) => draft.retry(id) });
const row = new CandidateRow($("#candidates"), { choose, learn });
const panels = new Panels($("#inside"), () => draft.current, { learn, isOwn: (word) => words.has(word) });
const accents = new Accents($("#accents"));
const previews = new Previews(decode, (word) => { if (pad.points) row.preview(word); });
const pad = new Pad($("#pad"), {
  start: () => { previews.begin(); visit.touched(); },
  move: (points) => previews.ask(points, { ...keyboard, context: draft.before }),
  end: (points, { tap }) => (tap ? type(pad.letterAt(points[0][0], points[0][1])) : swipe(points)),
  cancel: () => showWord(),
  hold: (key, box) => accents.open(accentsOf(key.letter, keyboard.language, keyboard.layout), box),
  steer: (x, y) => accents.steer(x, y),
  release: (take = true) => { const letter = accents.close(); if (take) type(letter); return take; },
  type,
}, { fingers: 4, turns });
const visit = new Visit($("#visit"), $("#pad"), draft, () => keyboard);
const editor = new Editor($("#editor"), { use: useOwn, language: () => keyboard.language });
const picker = new Picker($("#picker"), own, { use: (layout, language) => setKeyboard(layout, language), edit: (layout, older) => editor.open(layout, older), trial: tryLayout });
const wordList = new WordList($("#words"), words, () => showWord());
const trial = new Trial($("#trial"), { decode, warm });

async function start() {
  themeButton($("#theme"));
  bindKeys($(".keyboard"), turns, {
    type, move: (steps) => draft.moveBy(steps), picker: () => picker.open(keyboard.layout, keyboard.language),
    shift: (moment) => { shift.press(moment); showShift(); },
    backspace: () => draft.backspace(), deleteWord: () => draft.deleteWord(), restoreWord: () => draft.undo(),
  });
  bindOutput(draft, countWords);
  bindHelp();
  keepFocus($("#theme"), $("#visit"), $(".tools"), $("#text"), $("#candidates"));
  bindHardware(draft, (character) => type(character, "none"));
  restoreText(draft);
  changed();
  watch((status) => { $("#reader").textContent = describe(status); }, sayNewer);
  useWords(words.json);
  const { layouts, languages, server } = await choices();
  for (const link of server ? document.querySelectorAll("a[data-href]") : []) Object.assign(link, { href: link.dataset.href, hidden: false });
  picker.setChoices(new Map(layouts.map((layout) => [layout.name, layout])), languages);
  readFragment();
  window.addEventListener("hashchange", () => readFragment());
  window.addEventListener("online", () => { if (!("ready" in $("#pad").dataset)) prepare(keyboard.layout, keyboard.language); });
  keepPage(sayNewer);
  visit.welcome();
}

function bindHelp() {
  const help = closes($("#help"));
  $("#help-open").addEventListener("click", () => help.showModal());
  $("#help-visit").addEventListener("click", () => { help.close(); visit.begin(); $("#visit .visit-buttons button:last-child").focus(); });
  $("#help-trial").addEventListener("click", () => { help.close(); tryLayout(); });
  $("#words-open").addEventListener("click", () => wordList.open());
}

const sayNewer = () => toast("A newer version was downloaded. It is used the next time you open the keyboard.", 8000);
function tryLayout() { trial.open(keyboard, picker.layouts.get("qwerty")); }

// What a link asks for, else what was used last, else QWERTY.
function readFragment() {
  let wanted = {};
  try { wanted = fromFragment(location.hash); } catch (error) { toast(error.message, 10000); }
  if (!wanted.layout && !wanted.language) try { wanted = fromFragment(recall("keyboard") ?? ""); } catch { /* what is damaged is not used */ }
  let layout = wanted.layout?.custom ? wanted.layout : picker.layouts.get(wanted.layout);
  if (wanted.layout && !layout) toast(`There is no layout “${wanted.layout}” here.`);
  layout ??= picker.layouts.get("qwerty");
  setKeyboard(layout, picker.languageFor(layout, wanted.language ?? layout.language), false);
}

// A layout of one's own was made, or made anew from an older one.
function useOwn(made, older) {
  const { layout, kept } = own.keep(made, older && own.has(older) ? older : null);
  if (!kept) toast(NO_ROOM, 8000);
  setKeyboard(layout, picker.languageFor(layout, keyboard.language));
}

function setKeyboard(layout, language, chosen = true) {
  Object.assign(keyboard, { layout, language });
  pad.setLayout(layout);
  $("#space").textContent = languageName(language);
  $("#pick").setAttribute("aria-label", `Layout and language: ${titleOf(layout)}, ${languageName(language)}`);
  $("#text").lang = language.split(",")[0];
  if (chosen) {
    history.replaceState(null, "", toFragment(layout, language));
    remember("keyboard", toFragment(layout, language));
  }
  visit.keyboardChanged();
  prepare(layout, language);
}

// The first swipe on a keyboard should not wait for it to be made.
async function prepare(layout, language) {
  delete $("#pad").dataset.ready;
  try {
    await warm(layout, language);
    if (isUsed(layout, language)) $("#pad").dataset.ready = "";
    made = { layout, language };
  } catch (error) {
    toast(error.message, 8000);
    if (error.kind !== "missing" || !made || !isUsed(layout, language)) return;
    setKeyboard(made.layout, made.language);
    picker.show(made.layout, made.language);
  }
}

const isUsed = (layout, language) => layout === keyboard.layout && language === keyboard.language;

function swipe(points) {
  offer = "";
  const { capital } = shift;
  shift.used();
  draft.begin({ points, layout: keyboard.layout, language: keyboard.language, capital });
}

function type(characters, capital = shift.capital) {
  const tapped = /[\s\p{P}]/u.test(characters) ? tappedWord() : "";
  offer = "";
  shift.used();
  draft.tap(characters, capital);
  if (tapped) ask(tapped);
}

// The word before the cursor, if it was tapped and ends there.
function tappedWord() {
  const word = draft.before.match(/[\p{L}\p{M}]{2,}$/u)?.[0] ?? "";
  return draft.words.some((one) => one.end === draft.cursor) ? "" : word;
}

// A tapped word that is in no dictionary may be added to one's own.
async function ask(word) {
  try { if (words.has(word) || await known(word, keyboard)) return; } catch { return; }
  if (!draft.before.trimEnd().replace(/\p{P}+$/u, "").endsWith(word)) return;
  offer = word;
  showWord();
}

function learn(word) {
  toast(words.learn(word) ? `“${word}” is one of your words now.` : `This browser has no room to keep “${word}”.`);
  offer = "";
  showWord();
}

// A person's own words count up when a text with them is done.
function countWords() {
  for (const word of draft.learn()) if (words.has(word)) words.learn(word);
}

async function useWords(json) {
  try { await use(json); } catch (error) { toast(`Your own words cannot be used: ${error.message}.`, 8000); }
}

function choose(word) {
  const { current } = draft;
  if (!current) return;
  draft.choose(current.id, word);
  if (resume && !offered(draft.current)) draft.moveTo(Infinity, true);
  else showWord();
  resume = false;
}

// A literal that was chosen may be added to one's own words.
function offered(current) {
  const word = current?.chosen ? draft.written(current) : "";
  return current?.candidates.some((one) => one.word === word && one.literal) && !words.has(word) ? word : "";
}

function place(offset) {
  resume = resume || draft.atEnd;
  offer = "";
  draft.moveTo(offset);
}

// Words that a later swipe has changed are shown and said.
function revised(changes) {
  view.light(changes.map(({ id }) => id));
  $("#said").textContent = [$("#said").textContent, ...changes.map(({ before, word }) => `“${before}” is now “${word}”.`)].join(" ");
}

function changed() {
  keeper.changed();
  view.draw();
  showShift();
  showWord();
  $("#undo").disabled = !draft.past.length;
  $("#redo").disabled = !draft.future.length;
  visit.changed();
  swipes.pump();
}

// What belongs to the word at the cursor: its candidates and the panels.
let shown;
function showWord() {
  const { current } = draft;
  // The preview stays until the word is read.
  if (current?.status !== "pending") row.show(current?.candidates ?? [], current && draft.written(current), offer || offered(current), (word) => words.has(word));
  if (shown !== current) panels.show();
  if (current?.status === "read" && (shown?.id !== current.id || shown.status !== "read")) $("#said").textContent = draft.written(current);
  shown = current;
}

function showShift() {
  $("#pad").classList.toggle("capitals", shift.shown);
  $("#shift").setAttribute("aria-pressed", String(shift.shown));
  $("#shift").classList.toggle("lock", shift.state === "lock");
  $("#shift").setAttribute("aria-label", shift.state === "lock" ? "Caps lock" : "Shift");
}

window.glissando = { draft }; // for tests and the curious
start().catch((error) => {
  toast(error.message, 60000);
  window.addEventListener("online", () => location.reload(), { once: true });
});
