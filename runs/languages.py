"""What do other languages cost? English swipes with the words of one language, and of three joined.

    python runs/languages.py [--data DIR] [--languages en,de,es] [--switch 0.05]

Prints how well the last words of a text tell its language, on the sentences of the data's text folder. Then it prints
top-1 / 3 of how_we_swipe_val: English alone; all languages with no text; all languages after the last words that the
person's swipes were decoded to. wordfreq's lists, and Android's for English. No targets are added. Cost: three minutes
on two cores.
"""

import gzip
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sets import arguments, keyboard_and_swipes, mcnemar, word_list

from glissando import languages as settings
from glissando.corpus.records import Swipe
from glissando.keyboard import Keyboard
from glissando.languages import Languages
from glissando.lexicon import Lexicon, join_lexicons, load_lexicon, typed_letters
from glissando.loading import load
from glissando.stages import Finalists

CHUNK = 256
BEFORE = 5  # words of the person


def all_finalists(board: Keyboard, swipes: Sequence[Swipe]) -> list[Finalists]:
    """The finalists of every swipe."""
    gestures = [swipe.gesture for swipe in swipes]
    return [
        one for at in range(0, len(gestures), CHUNK) for one in board.stages(gestures[at : at + CHUNK], 1).finalists
    ]


class Board(NamedTuple):
    """A keyboard and what it finds in every swipe."""

    keyboard: Keyboard
    finalists: list[Finalists]


def rank_all(
    board: Board, swipes: Sequence[Swipe], known: bool = False, context: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """The rank of each swipe's word, 0 where it is not among the best, and how many words stood before.

    Args:
        board: with the words of one language or of several.
        swipes: in the order that each person made them.
        known: whether the person's decoded words tell the language.
        context: whether they also say which words follow.
    """
    keyboard = board.keyboard if context else board.keyboard.replace(context=None)
    letters = frozenset(keyboard.layout.letters)
    texts: dict[str | None, list[str]] = defaultdict(list)
    ranks, before = np.zeros(len(swipes), int), np.zeros(len(swipes), int)
    for row, (swipe, one) in enumerate(zip(swipes, board.finalists, strict=True)):
        words = texts[swipe.session]
        before[row] = len(words)
        text = " ".join(words[-settings.MEMORY :]) if known else None
        candidates = keyboard.choose(one, 40, text)
        spelled = list(dict.fromkeys(candidate.letters for candidate in candidates))
        target = "".join(typed_letters(swipe.word, letters))
        ranks[row] = spelled.index(target) + 1 if target in spelled else 0
        words.append(candidates[0].word if candidates else "")
    return ranks, before


def tell_languages(languages: Languages, data: Path) -> None:
    """Print how likely the right language is after the first words of sentences, and after a change of language."""
    sentences = {}
    for name in languages.names:
        with gzip.open(data / "text" / f"{name}.txt.gz", "rt", encoding="utf-8") as file:
            every = [line.split() for line in file]
        sentences[name] = [words for words in every[:: max(len(every) // 2000, 1)] if len(words) >= 5]
    for count in (1, 2, 3, 5):
        shown = []
        for at, name in enumerate(languages.names):
            found = np.array([languages.posterior(" ".join(words[:count])) for words in sentences[name]])
            right = 100 * np.mean(found.argmax(axis=1) == at)
            shown.append(f"{name} {right:.1f} % right, {-np.log(found[:, at]).mean():.3f} nats")
        print(f"after {count} words: {'; '.join(shown)}")
    other = (*languages.names[1:], languages.names[0])
    for count in (1, 2, 3):
        shown = []
        for at, (name, before) in enumerate(zip(languages.names, other, strict=True)):
            pairs = zip(sentences[before], sentences[name], strict=False)
            found = np.array([languages.posterior(" ".join([*old, *new[:count]])) for old, new in pairs])
            shown.append(f"{before} to {name} {100 * np.mean(found.argmax(axis=1) == at):.1f} % right")
        print(f"{count} words after a change: {'; '.join(shown)}")
    texts = [" ".join(words[:12]) for words in sentences[languages.names[0]][:300]]
    start = time.perf_counter()
    for text in texts:
        languages.posterior(text)
    print(f"a posterior takes {1e3 * (time.perf_counter() - start) / len(texts):.3f} ms", flush=True)


def show(name: str, ranks: np.ndarray, alone: np.ndarray | None = None) -> None:
    """Print what some ranks reach, and the difference to English alone."""
    figures = f"{100 * np.mean(ranks == 1):.2f} / {100 * np.mean((ranks > 0) & (ranks <= 3)):.2f}"
    if alone is None:
        print(f"  {name}: {figures}", flush=True)
        return
    test = mcnemar(alone == 1, ranks == 1)
    change = 100 * (np.mean(ranks == 1) - np.mean(alone == 1))
    print(f"  {name}: {figures}, {change:+.2f} (gained {test.gained}, lost {test.lost}, p = {test.p:.2g})", flush=True)


def compare(data: Path, english: Lexicon, others: Sequence[Lexicon], scoring: str) -> None:
    """Print top-1 / 3 of val with English alone and among others."""
    first, swipes = keyboard_and_swipes(data, "val", english)

    def board(lexicon: Lexicon) -> Board:
        made = load(first.layout, lexicon=lexicon, scoring=scoring)
        return Board(made, all_finalists(made, swipes))

    one, many = board(english), board(join_lexicons([english, *others]))
    print(f"{english.name.split('/')[-1]}: {len(english):,} words, joined {len(many.keyboard.lexicon):,}; {scoring}")
    alone, before = rank_all(one, swipes)
    enough = before >= BEFORE
    show("English alone", alone)
    second = board(join_lexicons([others[0], english, *others[1:]]))
    for name, joined in (("first", many), ("second", second)):
        show(f"joined, no text, English named {name}", rank_all(joined, swipes)[0], alone)
        ranks = rank_all(joined, swipes, known=True)[0]
        show(f"joined, English named {name}, after the person's words", ranks, alone)
        show(f"  of these at least {BEFORE} words", ranks[enough], alone[enough])
    alone = rank_all(one, swipes, known=True, context=True)[0]
    show("English alone, with context", alone)
    show("joined, English named first, with contexts", rank_all(many, swipes, known=True, context=True)[0], alone)


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--languages", default="en,de,es")
    parser.add_argument("--switch", type=float, default=settings.SWITCH)
    given = parser.parse_args()
    settings.SWITCH = given.switch
    lists = [load_lexicon(code) for code in given.languages.split(",")]
    tell_languages(Languages(join_lexicons(lists)), given.data)
    for constants in ("general-matcher", "auto"):
        compare(given.data, lists[0], lists[1:], constants)
    compare(given.data, load_lexicon(word_list(given.data, "val")), lists[1:], "general-matcher")
