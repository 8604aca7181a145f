"""The page's text model: the library's draft.py where both can do it, and a cursor, holes and undo beside."""

import random
from types import SimpleNamespace

import numpy as np
import pytest
from web.serving import opened

from glissando.draft import Draft
from glissando.scoring import Candidate

WORDS = ["hello", "i", "i'm", "Berlin", "you", "e-mail", "ёж", "iPhone", "ß"]
TAPS = ["a", "i", " ", ".", ",", "?", "'", "-", "(", ")", "“", "5", "\n", "ab c", "i!", "x.Y", "…", "é", "\U0001f600"]

# Words that the swipe after them changes.
CHANGES = {"hello you": "yellow", "i Berlin": "in", "you e-mail": "your", "ёж ёж": "ёлка", "Berlin iPhone": "bear"}

PLAY = """async ([language, events, changes]) => {
    const { Draft } = await import('/static/draft.js');
    const draft = new Draft({ language: () => language });
    const one = (word) => ({ candidates: [{ word, probability: 1 }] });
    const settle = (id, word) => draft.settle(id, one(word));
    const swipe = (word) => {
        const id = draft.begin({ language, points: word });
        const window = draft.windowOf(id);
        const next = (i) => window[i + 1]?.points ?? word;
        const earlier = window.map(({ id, points }, i) => ({ id, ...one(changes[`${points} ${next(i)}`] ?? points) }));
        draft.settle(id, { ...one(word), earlier });
    };
    const seen = [];
    for (const [kind, what, more] of events) {
        if (kind === 'swipe') swipe(what);
        else if (kind === 'begin') draft.begin({ language, ...more });
        else if (kind === 'settle') settle(what, more);
        else if (kind === 'none') draft.settle(what, { candidates: [] });
        else if (kind === 'choose') { if (draft.words.length) draft.choose(draft.words.at(-1).id, what); }
        else draft[kind](...(what === undefined ? [] : [what, ...(more === undefined ? [] : [more])]));
        const text = draft.state.text.replaceAll('\\uFFFC', '_');
        seen.push([text, draft.words.map(one => draft.written(one)), draft.cursor]);
    }
    return seen;
}"""


@pytest.fixture(scope="module")
def page(browser, keyboard_site):
    with opened(browser, keyboard_site) as page:
        yield page


class Sure:
    """A keyboard whose swipes are words."""

    def __init__(self, language):
        self.language = language
        languages = SimpleNamespace(names=(language,), posterior=lambda text: np.ones(1))
        self.dictionary = SimpleNamespace(languages=languages, word=lambda finalists, place: finalists.word)

    def finalists(self, word, prefix, suffix):
        return SimpleNamespace(word=word, words=[0])

    def join(self, swipes, k, before):
        swiped = [one.word for one in swipes]
        after = [*swiped[1:], ""]
        words = [CHANGES.get(f"{word} {following}", word) for word, following in zip(swiped, after, strict=True)]
        one = [[Candidate(word, 0.0, 0.0, 1.0, word, 0, language=self.language)] for word in words]
        return SimpleNamespace(candidates=one)


def played(language, events):
    """What the library writes for the same events."""
    draft, seen = Draft(Sure(language)), []
    for kind, *what in events:
        if kind != "choose" or draft.words:
            answer = getattr(draft, kind)(*what)
        if kind == "swipe":
            for revision in answer.revisions:
                draft.choose(revision.word, revision.place)
        seen.append([draft.text, list(draft.words)])
    return seen


def drawn_events(rng):
    """Events at random. Chosen words are such that a capital changes nothing."""
    kinds = {"swipe": WORDS, "tap": TAPS, "choose": ["Rome", "X-ray"], "backspace": None}
    names = rng.choices(list(kinds), weights=[8, 5, 1, 2], k=14)
    return [[name, rng.choice(kinds[name])] if kinds[name] else [name] for name in names]


@pytest.mark.parametrize("language", ["en", "de"])
def test_the_page_writes_what_the_library_writes(page, language):
    rng, revised = random.Random(19), 0
    for _ in range(100):
        events = drawn_events(rng)
        seen = [row[:2] for row in page.evaluate(PLAY, [language, events, CHANGES])]
        assert seen == played(language, events), events
        revised += any(word in ("yellow", "in", "your", "ёлка", "bear") for word in seen[-1][1])
    assert revised > 10


def written(page, *events, language="en"):
    return page.evaluate(PLAY, [language, list(events), CHANGES])[-1]


@pytest.mark.parametrize(
    ("events", "text", "cursor"),
    [
        ([["tap", "one three"], ["moveTo", 3], ["swipe", "two"]], "One two three", 7),
        ([["tap", "three"], ["moveTo", 0], ["swipe", "two"]], "Two Three", 3),
        ([["swipe", "cat"], ["moveTo", 3], ["tap", "s"]], "Cats", 4),
        ([["tap", "abc"], ["moveTo", 1], ["backspace"]], "bc", 0),
        ([["tap", "a\U0001f600b"], ["moveTo", 2], ["tap", "x"]], "Ax\U0001f600b", 2),
        ([["tap", "a\U0001f600b"], ["moveBy", -2], ["moveBy", 1], ["backspace"]], "Ab", 1),
        ([["tap", "ab"], ["moveBy", -9], ["moveBy", 99], ["tap", "c"]], "Abc", 3),
        ([["tap", "one two"], ["deleteWord"], ["deleteWord"], ["deleteWord"]], "", 0),
        ([["tap", "one two, "], ["deleteWord"]], "One two", 7),
        ([["tap", "Hello, World! i 5", "none"]], "Hello, World! i 5", 17),
        ([["tap", "abc", "all"]], "ABC", 3),
        ([["tap", "ab"], ["clear"], ["backspace"]], "", 0),
    ],
)
def test_the_cursor_may_stand_anywhere(page, events, text, cursor):
    seen = written(page, *events)
    assert [seen[0], seen[2]] == [text, cursor]


@pytest.mark.parametrize(
    ("events", "text"),
    [
        ([["begin"], ["begin"], ["settle", 2, "two"], ["settle", 1, "one"]], "One two"),
        ([["begin"], ["tap", "s"], ["settle", 1, "hello"]], "Hello s"),
        ([["begin"], ["begin"], ["none", 1]], "_"),
        ([["begin"], ["begin"], ["none", 2], ["settle", 1, "one"]], "One"),
        ([["tap", "a"], ["begin"], ["backspace"], ["settle", 2, "two"]], "A"),
        ([["tap", "a"], ["begin"], ["undo"], ["settle", 1, "two"], ["redo"]], "A two"),
        ([["begin"], ["backspace"], ["settle", 1, "two"], ["undo"]], "Two"),
        ([["begin", None, {"capital": "all"}], ["settle", 1, "nato"]], "NATO"),
        ([["begin", None, {"capital": "none"}], ["settle", 1, "ebay"]], "ebay"),
        ([["tap", "in "], ["begin", None, {"capital": "first"}], ["settle", 1, "rome"]], "In Rome"),
        ([["tap", "\ufffcx"]], "X"),
    ],
)
def test_holes_become_words_in_their_places(page, events, text):
    assert written(page, *events)[0] == text


@pytest.mark.parametrize(
    ("events", "text"),
    [
        ([["tap", "abc"], ["undo"]], ""),
        ([["tap", "a"], ["tap", "b"], ["undo"], ["redo"]], "Ab"),
        ([["tap", "a"], ["tap", "b"], ["undo"]], ""),  # letters in a row are one step
        ([["swipe", "one"], ["swipe", "two"], ["undo"]], "One"),
        ([["swipe", "one"], ["choose", "Won"], ["undo"]], "One"),
        ([["swipe", "one"], ["clear"], ["undo"]], "One"),
        ([["swipe", "one"], ["undo"], ["undo"], ["redo"], ["redo"]], "One"),
        ([["swipe", "one"], ["undo"], ["tap", "x"], ["redo"]], "X"),
    ],
)
def test_undo_and_redo(page, events, text):
    assert written(page, *events)[0] == text


@pytest.mark.parametrize(
    ("events", "text"),
    [
        ([["swipe", "hello"], ["swipe", "you"]], "Yellow you"),
        ([["swipe", "hello"], ["swipe", "you"], ["undo"]], "Hello you"),
        ([["swipe", "hello"], ["swipe", "you"], ["undo"], ["redo"]], "Yellow you"),
        ([["swipe", "hello"], ["swipe", "you"], ["undo"], ["undo"]], "Hello"),
        # Taken back once, the word is not questioned again.
        ([["swipe", "hello"], ["swipe", "you"], ["undo"], ["backspace"], ["swipe", "you"]], "Hello you"),
        ([["swipe", "hello"], ["choose", "Hello"], ["swipe", "you"]], "Hello you"),
        ([["swipe", "hello"], ["tap", ","], ["swipe", "you"]], "Hello, you"),
        ([["tap", "end"], ["moveTo", 0], ["swipe", "hello"], ["swipe", "you"]], "Yellow you End"),
        ([["swipe", "you"], ["swipe", "hello"], ["swipe", "you"], ["swipe", "e-mail"]], "You yellow your e-mail"),
    ],
)
def test_a_swipe_changes_the_words_before_it_and_undo_brings_them_back(page, events, text):
    assert written(page, *events)[0] == text


def test_words_that_stand_are_learned_once_as_the_dictionary_writes_them(page):
    learned = page.evaluate(
        """async () => {
            const { Draft } = await import('/static/draft.js');
            const draft = new Draft();
            const candidates = (words) => words.map((word) => ({ word, probability: 0.1 }));
            const swipe = (...words) => draft.settle(draft.begin({}), { candidates: candidates(words) });
            swipe('taigang', 'tagging');
            swipe('one');
            const seen = [draft.learn(), draft.learn()];
            draft.choose(1, 'Tagging');
            swipe('two');
            draft.backspace();
            draft.begin({});
            return [...seen, draft.learn(), draft.text.trim()];
        }"""
    )
    assert learned == [["taigang", "one"], [], ["tagging"], "Tagging one"]


def test_a_thousand_steps_keep_three_hundred(page):
    events = [["swipe", "a"], *[["tap", "."]] * 1000, *[["undo"]] * 1000]
    assert written(page, *events)[0] == "A" + "." * 700
