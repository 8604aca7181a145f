// Donating swipes: consent, a sentence word by word, what was read, thanks; and a way to take it all back.

import { call } from "./api.js";
import { bindAbout } from "./collect-about.js";
import { Choices, showTerms } from "./collect-choices.js";
import { showPhone } from "./collect-qr.js";
import { prepare, readHere } from "./collect-reading.js";
import { GOAL, Round } from "./collect-round.js";
import * as sessions from "./collect-sessions.js";
import { Supply } from "./collect-supply.js";
import { Walk } from "./collect-walk.js";
import { Withdrawal, counted, receiptOf, showReceipts } from "./collect-withdraw.js";
import { Outbox } from "./outbox.js";
import { $, languageName, layoutName, make, themeButton, toast } from "./page.js";
import { Pad } from "./pad.js";

const PATIENCE = 1500; // ms that a donor waits to hear whether a word is asked for again; then it is asked for later

// busy: a word was swiped, and what comes next is not known yet. secret: of the session that swipes go into.
const state = { layouts: new Map(), collection: null, layout: null, language: "", secret: "", busy: false, supply: null, walk: null, shownAt: 0 };
const round = new Round();
const outbox = new Outbox({
  changed: () => { showStatus(); if (outbox.trouble) withdrawal.show(); },
  lost: (secret) => {
    sessions.end(secret);
    if (secret === state.secret) renew();
    else say(`${counted(outbox.waiting, "swipe")} of an earlier visit could not be sent. They are sent when you go on.`);
  },
  withdrawn: (secret) => {
    sessions.forget(secret);
    if (secret === state.secret) leave("Your session was deleted from another device. Nothing more is stored of it.");
  },
  removed: (answer) => withdrawal.done(answer),
});
const withdrawal = new Withdrawal($("#withdraw"), outbox, { say, gone: (secrets) => { if (secrets.length) { round.clear(); leave(); } } });
const about = bindAbout($("#about"));
const choices = new Choices(document);
const pad = new Pad($("#pad"), {
  allows: (pointer) => {
    const fine = pointer === "touch" || state.collection.any_pointer;
    if (!fine) toast("Only swipes by a finger are collected here.");
    return fine;
  },
  start: () => { state.began = { at: state.walk?.at, busy: state.busy }; },
  end: (points, how) => swiped(points, how),
});

async function start() {
  show("");
  try {
    const [{ layouts }, collection] = await Promise.all([call("api/layouts"), call("api/collection")]);
    state.layouts = new Map(layouts.map((layout) => [layout.name, layout]));
    state.collection = collection;
  } catch (error) {
    $("#failed-text").textContent = error.message;
    show("failed");
    return;
  }
  if (state.collection.consent) showConsent();
  const touch = matchMedia("(any-pointer: coarse)").matches;
  const screen = touch || state.collection.any_pointer ? "consent" : "desktop";
  if (!touch) showPhone(state.collection, screen);
  if (!state.collection.consent) show("closed");
  else if (!state.collection.languages.length) { $("#failed-text").textContent = "There are no sentences here that a keyboard can type."; show("failed"); }
  else show(screen);
}

function bind() {
  themeButton($("#theme"));
  sessions.adoptOld();
  $("#goal").textContent = $("#progress").max = GOAL;
  $("#tick").addEventListener("change", ({ target }) => { $("#agree").disabled = !target.checked; });
  const actions = {
    agree: () => begin(), "resume-go": () => begin(), more: () => begin(), skip: () => give([], "touch"), back: stepBack, finish: thank,
    change: () => { showConsent(); show("consent"); }, delete: () => withdrawal.open(), retry: start,
  };
  for (const [id, act] of Object.entries(actions)) $(`#${id}`).addEventListener("click", act);
  window.addEventListener("storage", () => { if (state.secret && !sessions.find(state.secret)) leave("What you gave was deleted in another tab."); });
  new ResizeObserver(() => seeWord()).observe($(".asked"));
  if (outbox.withdrawing) withdrawal.show();
  outbox.flush();
  window.addEventListener("hashchange", askForReceipt);
  askForReceipt();
}

// Somebody has scanned a receipt.
function askForReceipt() {
  const receipt = new URLSearchParams(location.hash.slice(1)).get("withdraw");
  if (receipt === null) return;
  history.replaceState(null, "", location.pathname);
  withdrawal.open(receiptOf(receipt) ?? receipt.slice(0, 40));
}

const isShown = (screen) => !$(`[data-screen=${screen}]`).hidden;

function say(message) {
  $("#message").textContent = message;
  $("#message").hidden = !message;
}

function show(screen) {
  for (const one of document.querySelectorAll("[data-screen]")) one.hidden = one.dataset.screen !== screen;
  document.body.classList.toggle("tasking", screen === "task");
  scrollTo(0, 0);
}

function showConsent() {
  const { consent } = state.collection;
  const agreed = sessions.running(consent.version);
  showTerms(document, consent);
  choices.fill(state.collection, [...state.layouts.keys()]);
  $("#resume").hidden = !agreed;
  $("#agreement").hidden = Boolean(agreed);
  $("#resume-text").textContent = `You have agreed to the text below. ${round.result.sentences} of ${GOAL} sentences are done.`;
  $("#tick").checked = false;
  $("#agree").disabled = true;
}

// Begins or goes on, in a session that runs; opens one where there is none, with the consent that is shown and ticked.
async function begin() {
  const { version } = state.collection.consent;
  const agreed = sessions.running(version);
  if (!agreed && !$("#tick").checked) { showConsent(); show("consent"); return; }
  $("#agree").disabled = true;
  try {
    state.secret = (agreed ?? await sessions.open(version)).session;
  } catch (error) {
    $("#agree").disabled = false;
    if (error.kind === "ConsentChangedError") { await start(); say(`${error.message}.`); } else toast(error.message);
    return;
  }
  outbox.adopt(stamp);
  say("");
  if (round.result.sentences >= GOAL) round.clear();
  const layout = state.layouts.get(choices.layout);
  if (!state.walk || choices.language !== state.language || layout !== state.layout) walkOn(choices.language, layout);
  show("task");
  showRead(null);
  state.walk.begin();
  showTask();
}

// Sentences of a language on a layout.
function walkOn(language, layout) {
  state.supply?.close();
  Object.assign(state, { language, layout, busy: false, early: null });
  const supply = new Supply(loadSentences, sessions.find(state.secret).done, () => {
    if (state.supply !== supply) return;
    state.walk.begin();
    showTask();
  });
  Object.assign(state, { supply, walk: new Walk(() => supply.take(), sentenceDone) });
  $("#change").textContent = `${languageName(language)}, ${layoutName(layout.name)}`;
  pad.setLayout(layout);
  prepare(layout, language);
}

const loadSentences = (count) => call(`api/sentences?${new URLSearchParams({ language: state.language, layout: state.layout.name, count })}`);

// The number of the next attempt in the running session.
const stamp = () => ({ session: state.secret, attempt: sessions.nextAttempt(state.secret) });

// The session has ended while its donor goes on: what follows goes into a new one, under the text that was agreed to.
function renew() {
  state.renewing ??= sessions.open(state.collection.consent.version).then(({ session }) => {
    state.secret = session;
    outbox.adopt(stamp);
  }).catch(async (error) => {
    if (error.temporary) return; // without a network the old one will do
    leave();
    await start();
    say(`${error.message}.`);
  }).finally(() => { state.renewing = null; });
}

// The session is no more.
function leave(message) {
  if (message) say(message);
  state.supply?.close();
  Object.assign(state, { secret: "", busy: false, early: null, supply: null, walk: null });
  if (!state.collection?.consent) return;
  showConsent();
  if (isShown("task") || isShown("thanks")) show("consent");
}

function sentenceDone(sentence) {
  sessions.sentenceDone(state.secret, sentence.id);
  round.sentence(sentence.id);
}

function stepBack() {
  if (state.busy || !state.walk) return;
  if (!state.walk.back()) { toast("This is the first word."); return; }
  showRead(null);
  showTask();
}

// A quick donor swipes the next word before it is known whether the last one is asked for again. That swipe waits for it.
function swiped(points, how, began = state.began) {
  const at = state.walk?.at;
  if (!at) return;
  if (state.busy) { state.early = { points, how, began }; return; }
  const { sentence, index } = at;
  const meant = !began.busy || (at !== began.at && !at.alone && sentence === began.at?.sentence); // the word that the donor had in mind
  if (!meant) toast("Please swipe the marked word.");
  else if (new Set(sentence.words[index].typed).size > 1 && (how.tap || points.length < 5)) toast("Slide across the letters of the word without lifting.");
  else give(points, how.pointer);
}

// Gives a swipe of the marked word, or no points for a word that is skipped.
async function give(points, pointer) {
  if (state.busy || !state.walk?.at) return;
  const { walk, secret } = state;
  const { sentence, index } = walk.at;
  const { attempt } = stamp();
  if (!attempt) { leave(); return; } // deleted in another tab
  const { text, typed } = sentence.words[index];
  const { width, height } = pad.size;
  const step = { sentence, index, skipped: !points.length, read: null, right: null };
  if (points.length) round.word(sentence.id, index, { right: null, characters: [...typed].length + 1, milliseconds: Math.max(performance.now() - state.shownAt, points.at(-1)[2]) });
  const answer = outbox.add({
    session: secret, sentence: sentence.id, word_index: index, word: text, layout: state.layout.name, points,
    canvas_width: Math.round(width * 10) / 10, canvas_height: Math.round(height * 10) / 10, pointer, attempt, ...about.of(state.layout, width),
  });
  const reading = points.length ? readHere(points, sentence.words[index]) : Promise.resolve(null);
  reading.then((found) => learn(step, found));
  answer.then((found) => learn(step, found?.check));
  setBusy(true);
  const known = points.length ? await verdict(reading, answer) : null;
  if (state.walk !== walk) return; // the donor has left meanwhile
  setBusy(false);
  if (known?.again) {
    walk.askAgain(step);
    state.shown = null; // its time begins anew
  } else {
    answer.then((found) => { if (found?.again && state.walk === walk) { walk.askAgain(step); if (!walk.at) walk.begin(); showTask(); } });
    walk.forward(step);
  }
  showRead(step, known?.again);
  showTask();
  if (round.result.sentences >= GOAL && !walk.at?.alone && walk.at?.sentence !== sentence) thank();
  takeEarly();
  if (sessions.isOver(sessions.find(state.secret) ?? { expires: 0 })) renew();
}

// The server's answer, or null where the donor need not wait for it: the word was read right here, or the network is slow or gone.
function verdict(reading, answer) {
  return new Promise((resolve) => {
    answer.then(resolve);
    reading.then((found) => { if (found?.right || !outbox.reachable) resolve(null); });
    setTimeout(() => resolve(null), PATIENCE);
  });
}

// What was read, here or by the server; the first to say it counts.
function learn(step, found) {
  if (!found || step.right !== null) return;
  Object.assign(step, { read: found.read, right: found.right });
  round.reading(step.sentence.id, step.index, step.right);
  if (state.shownStep === step) showRead(step, $("#read").classList.contains("again"));
  if (state.walk) showTask();
}

function setBusy(busy) {
  state.busy = busy;
  $("#sentence .now")?.classList.toggle("busy", busy);
}

// The swipe that was made too early, where the donor is still at it.
function takeEarly() {
  const { early } = state;
  state.early = null;
  if (early && isShown("task")) swiped(early.points, early.how, early.began);
}

// One line about the last word: what was read, or a request to swipe it again.
function showRead(step, again = false) {
  state.shownStep = step;
  const word = step && step.sentence.words[step.index].text;
  const read = step?.read ? ["I read ", make("b", { text: step.read, lang: state.language, class: step.right ? "right" : "" }), step.right ? " ✓" : "."] : step?.right === false ? ["I could read no word."] : [];
  $("#read").classList.toggle("again", again);
  $("#read").replaceChildren(...(again ? [`That did not follow “${word}”. `, ...read, " Please swipe it once more."] : read));
}

function showTask() {
  const { at } = state.walk;
  showStuck();
  showStatus();
  $("#sentence").lang = state.language;
  if (at !== state.shown) [state.shown, state.shownAt] = [at, performance.now()];
  const steps = at ? state.walk.steps(at.sentence) : new Map();
  if (at?.alone && at.again) $("#read").replaceChildren(`An earlier swipe did not follow “${at.sentence.words[at.index].text}”. Please swipe it once more.`);
  $("#sentence").replaceChildren(...(at?.sentence.words ?? []).flatMap((word, i) => [make("span", { class: i === at.index ? (state.busy ? "now busy" : "now") : classOf(steps.get(i)), "aria-current": i === at.index ? "true" : null, text: word.text }), " "]));
  seeWord();
}

const classOf = (step) => (!step ? "" : step.skipped ? "skipped" : step.right ? "right" : step.right === false ? "misread" : "done");

const seeWord = () => $("#sentence .now")?.scrollIntoView({ block: "nearest" });

function showStuck() {
  const { supply, walk } = state;
  const stuck = !walk.at && !supply.loading;
  $("#stuck").hidden = !stuck;
  if (!stuck || !isShown("task")) return;
  if (supply.over === "none") { leave(); choices.refuse(`${supply.why}.`); }
  else if (supply.over === "all") thank();
  else $("#stuck").textContent = "No more sentences here until the network is back. What you gave is kept and will be sent.";
}

function showStatus() {
  const { waiting, refused, sent } = outbox;
  for (const [id, count] of Object.entries({ waiting, refused })) {
    $(`#${id}`).textContent = count;
    $(`#${id}-part`).hidden = !count;
  }
  $("#sent").textContent = sent;
  $("#sentences-done").textContent = $("#progress").value = round.result.sentences;
  $("#thanks-waiting").hidden = !waiting;
  $("#thanks-waiting").textContent = `${counted(waiting, "swipe")} still ${waiting === 1 ? "waits" : "wait"} for the network. Leave this page open, or come back later.`;
}

// The end of a round, or of the donor's time.
function thank() {
  const { sentences, words, read, right, speed } = round.result;
  const all = state.supply?.over === "all" && !state.walk.at;
  $("#thanks-text").textContent = all ? "You have given every sentence that there is here."
    : sentences >= GOAL ? `You have reached the goal: ${counted(sentences, "sentence")}.` : `${sentences} of ${GOAL} sentences are done. You can go on at any time.`;
  $("#result-words").textContent = words;
  $("#result-speed").textContent = speed || "–";
  $("#result-right").textContent = read ? `${Math.round((100 * right) / read)}%` : "–";
  $("#result-right-text").textContent = read ? `read right: ${right} of ${read}` : "read right";
  $("#more").hidden = all;
  $("#more").textContent = sentences >= GOAL ? `Swipe ${GOAL} more` : "Go on";
  showReceipts($("#receipts"));
  show("thanks");
}

bind();
start();
