// Donating swipes: consent, a sentence word by word, skip, step back, and delete.

import { call } from "./api.js";
import { Outbox } from "./outbox.js";
import { $, languageName, layoutName, make, themeButton, toast } from "./page.js";
import { Pad } from "./pad.js";

const USUAL = { en: "qwerty", ru: "jcuken", es: "spanish", de: "german", fr: "azerty" };
const SESSION = "glissando:session"; // {session, expires, attempt}
const AHEAD = 20; // sentences fetched at a time, so that a donor can go on without a network

const state = { layouts: new Map(), collection: null, layout: null, language: "en", ahead: [], history: [], sentence: null, index: 0, done: 0 };

const outbox = new Outbox({ changed: () => showStatus(), renew: (lost) => renewSession(lost) });
const pad = new Pad($("#pad"), {
  allows: (pointer) => {
    const fine = pointer === "touch" || state.collection.any_pointer;
    if (!fine) toast("Only swipes by a finger are collected here.");
    return fine;
  },
  end: (points, how) => swiped(points, how),
});

async function start() {
  themeButton($("#theme"));
  const [{ layouts }, collection] = await Promise.all([call("/api/layouts"), call("/api/collection")]);
  state.layouts = new Map(layouts.map((layout) => [layout.name, layout]));
  state.collection = collection;
  if (!collection.any_pointer && !matchMedia("(any-pointer: coarse)").matches) {
    $("#desktop-address").textContent = location.href;
    show("desktop");
    return;
  }
  if (!collection.consent) {
    show("closed");
    return;
  }
  $("#language").replaceChildren(...collection.languages.map((code) => make("option", { value: code, text: languageName(code) })));
  $("#layout").replaceChildren(...layouts.map(({ name }) => make("option", { value: name, text: layoutName(name) })));
  $("#language").addEventListener("change", (event) => { $("#layout").value = usualLayout(event.target.value); });
  $("#language").value = collection.languages.includes("en") ? "en" : collection.languages[0];
  $("#layout").value = usualLayout($("#language").value);
  $("#agree").addEventListener("click", () => begin().catch((error) => toast(error.message)));
  $("#skip").addEventListener("click", () => skip());
  $("#del").addEventListener("click", () => stepBack());
  $("#delete").addEventListener("click", () => $("#confirm").showModal());
  $("#confirm-no").addEventListener("click", () => $("#confirm").close());
  $("#confirm-yes").addEventListener("click", () => deleteAll());
  show("consent");
  showStatus();
  outbox.flush();
}

const usualLayout = (language) => (state.layouts.has(USUAL[language]) ? USUAL[language]
  : [...state.layouts.values()].find((layout) => layout.language === language)?.name ?? "qwerty");

function show(screen) {
  for (const one of document.querySelectorAll("[data-screen]")) one.hidden = one.dataset.screen !== screen;
  document.body.classList.toggle("tasking", screen === "task");
}

async function begin() {
  state.language = $("#language").value;
  state.layout = state.layouts.get($("#layout").value);
  state.ahead = [];
  state.history = [];
  await session();
  await fetchAhead();
  show("task");
  pad.setLayout(state.layout);
  nextSentence();
}

function readSession() {
  try { return JSON.parse(localStorage.getItem(SESSION)); } catch { return null; }
}

// The running session, or a new one where there is none or it has ended.
async function session() {
  const kept = readSession();
  if (kept && kept.expires * 1000 > Date.now()) return kept;
  const fresh = { ...await call("/api/sessions", { method: "POST", body: { consent: true, version: state.collection.consent.version } }), attempt: 0 };
  localStorage.setItem(SESSION, JSON.stringify(fresh));
  return fresh;
}

// The server has lost a session that its donor did not delete: what waits goes into a new one.
async function renewSession(lost) {
  if (readSession()?.session === lost) localStorage.removeItem(SESSION);
  return readSession() || !state.sentence ? readSession()?.session : (await session()).session;
}

async function fetchAhead() {
  const query = new URLSearchParams({ language: state.language, layout: state.layout.name, count: AHEAD });
  const { sentences } = await call(`/api/sentences?${query}`);
  const seen = new Set([...state.history.map((step) => step.sentence.id), ...state.ahead.map((one) => one.id)]);
  const fresh = sentences.filter((one) => !seen.has(one.id) && one.words.some((word) => word.typed));
  state.ahead.push(...(fresh.length || state.ahead.length ? fresh : sentences));
}

function nextSentence() {
  if (state.ahead.length < 5) fetchAhead().then(() => { if (!state.sentence) nextSentence(); }, () => {});
  state.sentence = state.ahead.shift() ?? null;
  state.index = -1;
  if (state.sentence) forward();
  else showTask();
}

// Goes to the next word that can be typed; past the last one, to the next sentence.
function forward() {
  const { words } = state.sentence;
  do { state.index += 1; } while (state.index < words.length && !words[state.index].typed);
  if (state.index < words.length) { showTask(); return; }
  state.done += 1;
  nextSentence();
}

function stepBack() {
  const step = state.history.pop();
  if (!step) { toast("This is the first word."); return; }
  if (step.sentence !== state.sentence) {
    if (state.sentence) state.ahead.unshift(state.sentence);
    state.done -= 1;
  }
  [state.sentence, state.index] = [step.sentence, step.index];
  showTask();
}

function swiped(points, { tap, pointer }) {
  if (!state.sentence) return;
  const { typed } = state.sentence.words[state.index];
  if ([...new Set(typed)].length > 1 && (tap || points.length < 5)) {
    toast("Slide across the letters of the word without lifting.");
    return;
  }
  give(points, pointer);
}

function skip() { if (state.sentence) give([], "touch"); }

function give(points, pointer) {
  const { width, height } = pad.size;
  const kept = readSession();
  if (!kept) { // deleted in another tab
    session().then(() => give(points, pointer), (error) => toast(error.message));
    return;
  }
  localStorage.setItem(SESSION, JSON.stringify({ ...kept, attempt: kept.attempt + 1 }));
  outbox.add({
    session: kept.session, sentence: state.sentence.id, word_index: state.index, word: state.sentence.words[state.index].text,
    layout: state.layout.name, points, canvas_width: Math.round(width * 10) / 10, canvas_height: Math.round(height * 10) / 10,
    orientation: orientation(), pointer, attempt: kept.attempt + 1,
  });
  state.history.push({ sentence: state.sentence, index: state.index, skipped: !points.length });
  forward();
  session().catch(() => {}); // past its end, the next swipe goes into a new one; without a network the old one will do
}

const orientation = () => ((screen.orientation?.type ?? (innerWidth > innerHeight ? "landscape" : "portrait")).startsWith("landscape") ? "landscape" : "portrait");

function showTask() {
  const { sentence, index } = state;
  $("#stuck").hidden = Boolean(sentence);
  $("#sentence").lang = state.language;
  const steps = new Map(state.history.filter((step) => step.sentence === sentence).map((step) => [step.index, step]));
  $("#sentence").replaceChildren(...(sentence?.words ?? []).flatMap((word, i) => {
    const past = i < index ? (steps.get(i)?.skipped ? "skipped" : "done") : "";
    return [make("span", { class: i === index ? "now" : past, "aria-current": i === index ? "true" : null, text: word.text }), " "];
  }));
  $("#sentence .now")?.scrollIntoView({ block: "nearest" });
  showStatus();
}

function showStatus() {
  $("#sent").textContent = outbox.sent;
  $("#waiting").textContent = outbox.waiting;
  $("#waiting-part").hidden = !outbox.waiting;
  $("#refused").textContent = outbox.refused;
  $("#refused-part").hidden = !outbox.refused;
  $("#sentences-done").textContent = state.done;
  if (outbox.deleted !== null) {
    $("#deleted").textContent = `Your session is deleted: ${outbox.deleted} ${outbox.deleted === 1 ? "entry" : "entries"} removed from the server.`;
  }
}

function deleteAll() {
  $("#confirm").close();
  const kept = readSession();
  localStorage.removeItem(SESSION);
  state.sentence = null;
  outbox.sent = 0;
  state.done = 0;
  $("#deleted").textContent = "Your session is being deleted; this happens as soon as the server can be reached.";
  $("#deleted").hidden = false;
  show("consent");
  if (kept) outbox.deleteSession(kept.session);
}

start().catch((error) => toast(error.message, 60000));
