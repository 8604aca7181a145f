// A text being written, without a page: characters, a cursor, swiped words with their candidates, undo and redo.
//
// The library's draft.py gives the same text for the same swipes, taps and deletions at the end of a text. Here the cursor
// may stand anywhere, and a word may still be on its way: a hole stands for it until its candidates come. A later swipe can
// show that an earlier word was read wrongly: that word is changed, and undo brings it back.
// A state is never changed, only replaced, so that undo keeps the old ones. Offsets count UTF-16 code units.

import { JOINING, OPENING, beginsSentence, capitalise, isAlnum, isSpace, lastOf, needsSpace, upper } from "./rules.js";
import { EMPTY, HOLE, marked, pack, removeWord, rewrite, splice, textBefore, unpack, withHolesAsWords, withoutHoles, writable } from "./states.js";

export { HOLE } from "./states.js";

const STEPS = 300; // that can be undone
const WINDOW = 3; // swiped words in a row that are decoded together, as in the library

export class Draft {
  // changed(): called after every change. language(): the language that is written now.
  // revised([{id, before, word}, ...]): earlier words were changed because of a swipe after them.
  constructor({ changed = () => {}, language = () => "en", revised = () => {} } = {}) {
    Object.assign(this, { changed, language, revised });
    this.state = EMPTY;
    this.past = [];
    this.future = [];
    this.kind = ""; // of the last change; letters in a row are undone together
    this.next = 1; // the number of the next swiped word
  }

  // The text without holes: what is copied, shared and sent as context.
  get text() { return withoutHoles(this.state.text); }
  get before() { return withoutHoles(this.#left); }
  get words() { return this.state.words; }
  get cursor() { return this.state.cursor; }
  get atEnd() { return this.state.cursor === this.state.text.length; }
  get begins() { return beginsSentence(withHolesAsWords(this.#left)); } // whether a sentence begins at the cursor
  get #left() { return this.state.text.slice(0, this.state.cursor); }
  get #right() { return this.state.text.slice(this.state.cursor); }

  // The text and its last swiped words, for another page.
  get saved() { return pack(this.state); }

  // Takes what was saved; throws where it is damaged.
  restore(saved) {
    if (!saved) return;
    this.state = unpack(saved);
    this.next = Math.max(0, ...this.words.map((one) => one.id)) + 1;
    this.changed();
  }

  // The swiped word at the cursor, if any: the one before it first.
  get current() {
    const { words, cursor } = this.state;
    return words.find((one) => one.start < cursor && cursor <= one.end) ?? words.find((one) => one.start === cursor);
  }

  word(id) { return this.state.words.find((one) => one.id === id); }
  written({ start, end }) { return this.state.text.slice(start, end); }

  // Makes room for a swiped word and returns its number. swipe: {points, layout, language, capital}, kept with the word.
  // capital: "auto" as the library does, "first", "all" or "none".
  begin(swipe) {
    const state = this.#finishTapped(this.state);
    const lead = needsSpace(withHolesAsWords(state.text.slice(0, state.cursor))) ? " " : "";
    const trail = isAlnum([...this.#right][0] ?? "") || this.#right.startsWith(HOLE) ? " " : "";
    const start = state.cursor + lead.length;
    const spliced = splice(state, state.cursor, state.cursor, lead + HOLE + trail);
    const word = Object.freeze({ capital: "auto", ...swipe, id: this.next, start, end: start + 1, lead: lead.length, status: "pending", candidates: [] });
    this.next += 1;
    const words = [...spliced.words, word].sort((a, b) => a.start - b.start);
    this.#commit({ ...spliced, words, cursor: start + 1, space: true }, "swipe");
    return word.id;
  }

  // The text before a swiped word: the context of its decoding.
  contextOf(id) { return textBefore(this.state, this.word(id)); }

  // The swiped words before a swipe that nothing but a space divides from it and that nobody chose: the swipe may change
  // them. They were made on the same keyboard, and their points are known.
  windowOf(id) {
    const { text, words } = this.state;
    const at = words.findIndex((one) => one.id === id);
    const found = [];
    let end = words[at].start;
    for (const one of words.slice(Math.max(at + 1 - WINDOW, 0), at).reverse()) {
      end = text.slice(0, end).replace(/ +$/u, "").length;
      const same = one.layout === words[at].layout && one.language === words[at].language;
      if (one.end !== end || one.status !== "read" || one.chosen || !one.points || !same) break;
      found.unshift(one);
      end = one.start;
    }
    return found;
  }

  // Writes the first of a swipe's candidates in its place; where there is none, the place goes.
  // answer: {candidates, none, earlier: [{id, candidates, none}, ...]}; earlier is what the words of its window may mean now.
  settle(id, answer) {
    const earlier = answer.candidates.length && this.word(id)?.status !== "read" ? answer.earlier ?? [] : [];
    this.#everywhere((state) => {
      const word = state.words.find((one) => one.id === id);
      if (!word || word.status === "read") return state;
      if (!answer.candidates.length) return removeWord(state, word);
      const candidates = writable(answer.candidates, word, state);
      const context = textBefore(state, word);
      return rewrite(state, word, candidates[0].word, { status: "read", candidates, none: answer.none ?? null, context });
    });
    this.#revise(earlier);
  }

  // The swiped words that stand in the text and were not asked for before, as the dictionary writes them. To be called when
  // the writer is done: what stands there then is what was meant.
  learn() {
    const found = this.words.filter((one) => one.status === "read" && !one.taught);
    if (found.length) this.#everywhere((state) => marked(state, found.map((one) => one.id), { taught: true }));
    return found.map((one) => one.candidates.find(({ word }) => word === this.written(one))?.listed ?? this.written(one));
  }

  // A swipe that could not be decoded stays, to be tried again.
  fail(id) { this.#mark(id, "failed"); }
  retry(id) { this.#mark(id, "pending"); }

  // Writes another word in place of a swiped one. The word that stands there may be chosen too: that is no step to undo.
  choose(id, text) {
    const word = this.word(id);
    if (!word) return;
    const next = rewrite(this.state, word, text, { chosen: true, taught: false });
    if (this.written(word) !== text) this.#commit(next, "choose");
    else {
      this.state = next;
      this.changed();
    }
  }

  // Writes characters as they are, but for a space before a new word and a capital where a sentence begins.
  // capital: as for begin; "none" is for a hardware keyboard, which types what it says.
  tap(characters, capital = "auto") {
    let state = this.state;
    for (let character of characters.replaceAll(HOLE, "")) {
      const starts = isAlnum(character) || OPENING.includes(character);
      const left = () => state.text.slice(0, state.cursor);
      if (starts && state.space && needsSpace(withHolesAsWords(left()))) state = splice(state, state.cursor, state.cursor, " ");
      const last = lastOf(left());
      if (!isAlnum(character)) state = capital === "none" ? state : this.#finishTapped(state);
      else if (capital === "first" || capital === "all") character = upper(character, this.language());
      else if (capital === "auto" && (!last || isSpace(last) || OPENING.includes(last))) character = capitalise(character, withHolesAsWords(left()), "");
      const space = state.space && !starts && !isSpace(character) && !JOINING.includes(character);
      state = { ...splice(state, state.cursor, state.cursor, character), space };
    }
    if (state !== this.state) this.#commit(state, [...characters].every(isAlnum) && !this.state.space ? "letters" : "characters");
  }

  // Removes the character before the cursor, or the whole word if it was just swiped or is on its way.
  backspace() {
    const { state } = this;
    const word = state.words.find((one) => one.end === state.cursor && (state.space || one.status !== "read"));
    if (!word && !state.cursor) return;
    const start = state.cursor - lastOf(this.#left).length;
    const next = word ? removeWord(state, word) : splice(state, start, state.cursor, "");
    this.#commit({ ...next, space: next.words.some((one) => one.end === next.cursor) }, word ? "word" : "delete");
  }

  // Removes the word before the cursor and the space around it, or the marks before the cursor.
  deleteWord() {
    const left = this.#left;
    if (!left) return false;
    const kept = left.replace(/([\p{L}\p{N}\p{M}'’\uFFFC]+|[^\p{L}\p{N}\p{M}\uFFFC]+?)\s*$/u, "");
    const next = splice(this.state, kept.length, this.state.cursor, "");
    this.#commit({ ...next, space: false }, "word");
    return true;
  }

  clear() { if (this.state.text) this.#commit(EMPTY, "clear"); }

  // Puts the cursor somewhere; a letter that is tapped there joins what it touches.
  moveTo(cursor, space = false) {
    const { text } = this.state;
    let place = Math.min(Math.max(cursor, 0), text.length);
    if (/[\uDC00-\uDFFF]/u.test(text[place] ?? "") && /[\uD800-\uDBFF]/u.test(text[place - 1] ?? "")) place -= 1;
    this.state = { ...this.state, cursor: place, space: space && this.state.words.some((one) => one.end === place) };
    this.kind = "move";
    this.changed();
  }

  // Moves the cursor by whole characters.
  moveBy(count) {
    const [left, right] = [[...this.#left], [...this.#right]];
    this.moveTo(count < 0 ? left.slice(0, count).join("").length : this.cursor + right.slice(0, count).join("").length);
  }

  undo() { return this.#step(this.past, this.future); }
  redo() { return this.#step(this.future, this.past); }

  #step(from, to) {
    if (!from.length) return false;
    to.push(this.state);
    this.state = from.pop();
    this.kind = "step";
    this.changed();
    return true;
  }

  #commit(state, kind) {
    const joined = kind === this.kind && (kind === "letters" || kind === "delete");
    if (!joined) this.#keep(this.state);
    this.future = [];
    [this.state, this.kind] = [state, kind];
    this.changed();
  }

  // A state that undo brings back.
  #keep(state) {
    this.past.push(state);
    if (this.past.length > STEPS) this.past.shift();
  }

  // A word that was read is read in every state that undo and redo can bring back.
  #everywhere(change) {
    this.past = this.past.map(change);
    this.future = this.future.map(change);
    this.state = change(this.state);
    this.changed();
  }

  // Changes earlier words that are no longer the best reading. Who takes that back has chosen the words of before.
  #revise(earlier) {
    let { state } = this;
    const changes = [];
    for (const { id, candidates: found, none = null } of earlier) {
      const word = state.words.find((one) => one.id === id);
      if (!word || word.chosen || !found.length) continue;
      const candidates = writable(found, word, state);
      const [before, best] = [state.text.slice(word.start, word.end), candidates[0].word];
      if (best !== before) changes.push({ id, before, word: best });
      state = rewrite(state, word, best, { candidates, none, ...(best === before ? {} : { chosen: true, taught: false }) });
    }
    if (changes.length) {
      this.#keep(marked(this.state, changes.map(({ id }) => id), { chosen: true }));
      this.kind = "revise";
    }
    this.state = state;
    if (earlier.length) this.changed();
    if (changes.length) this.revised(changes);
  }

  #mark(id, status) {
    if (this.word(id)?.status !== "read") this.#everywhere((state) => marked(state, [id], { status }));
  }

  // A lone i that was tapped is written as English writes it.
  #finishTapped(state) {
    const left = state.text.slice(0, state.cursor);
    if (this.language().split(",")[0] !== "en" || !/(^|[^\p{L}\p{N}])i$/u.test(left)) return state;
    return { ...splice(state, state.cursor - 1, state.cursor, "I"), space: state.space };
  }
}
