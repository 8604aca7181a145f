"""Decode swipes whose words are known, and measure the accuracy."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np

from glissando.corpus.filters import measured
from glissando.corpus.layouts import LayoutShelf
from glissando.corpus.lines import LineError, read_objects
from glissando.corpus.records import Swipe, swipe_from_dict
from glissando.corpus.sources import all_files, shown
from glissando.errors import CorpusError, LexiconError
from glissando.evaluation.metrics import Outcome
from glissando.evaluation.people import People
from glissando.evaluation.people import finalists as finalists_of
from glissando.evaluation.prompts import MODES, Mode, Writing
from glissando.evaluation.result import Evaluation, Tallies
from glissando.evaluation.survey import Survey, with_median_aspect
from glissando.gesture import Gesture
from glissando.keyboard import METHODS as KEYBOARD_METHODS
from glissando.keyboard import Keyboard
from glissando.keyboard import Method as KeyboardMethod
from glissando.layout import Layout
from glissando.lexicon import Lexicon, join_lexicons, load_lexicon, typed_letters
from glissando.loading import load
from glissando.scoring import Candidate, Scoring
from glissando.shark2 import Shark2, load_shark2
from glissando.stages import Finalists, Readings
from glissando.threads import map_on_cores
from glissando.trie import Affixes
from glissando.vocabulary import Vocabulary
from glissando.words import PackedWords

Method = KeyboardMethod | Literal["shark2"]
METHODS: tuple[Method, ...] = (*KEYBOARD_METHODS, "shark2")

CHUNK = 256  # swipes decoded between two calls of the progress function
FEWEST_LEVELS = 20  # different bytes of shared words that say how two lists' scales compare
TIMED = 100  # swipes per layout decoded one at a time for the latency


@dataclass(frozen=True)
class EvaluationOptions:
    """How to decode and what to count.

    Attributes:
        method: "encoder", "matcher" (asked where the encoder is in doubt), "decoder" (an error on layouts it was not
            made for), "auto" (the matcher, unless the constants know none) or "shark2".
        language: the language of the word list, by default the layout's; several are "de,en", the main one first.
        lexicon: a word list instead of the language's. With several languages it takes the place of one list: that of
            its own language, or of the first named where it states none.
        layouts: a directory of layout files, searched before the built-in ones.
        scoring: "auto", a packaged name, a file, or constants.
        weights: a packaged encoder or an ``.onnx`` file.
        decoder: a packaged decoder or an ``.onnx`` file.
        matcher: a packaged matcher or an ``.onnx`` file.
        add_targets: add the words meant to the lexicon, which then has every word: no literals are read. Otherwise
            words that it lacks can only be read letter by letter.
        max_key_distance: leave out swipes that are further than this from their word's keys, in key widths.
        beam: hypotheses kept.
        limit: the most swipes to read of each file.
        context: what stands before a swipe: "none", "prompt" (the true words of its prompt) or "decoded" (those decoded
            before it, for the same person and prompt in the order of the file).
        revise: count the answer after the next word of the prompt has been seen.
        prompts: other sources of the same study, read only to see which prompts several people were given.
        vocabulary: a file of own words, which every person begins with.
        learn: make each word an own word of its person after it was judged.
        adapt: fit the ranking constants to each person, to the words judged so far.
        letters: how many of the first letters of each word are given, as if they were tapped.
    """

    method: Method = "encoder"
    language: str | None = None
    lexicon: str | Path | Mapping[str, float] | Lexicon | None = None
    layouts: Path | None = None
    scoring: str | Path | Mapping[str, Any] | Scoring = "auto"
    weights: str | Path = "encoder"
    decoder: str | Path = "decoder"
    matcher: str | Path = "matcher"
    add_targets: bool = False
    max_key_distance: float | None = None
    beam: int = 100
    limit: int | None = None
    context: Mode = "none"
    revise: bool = False
    prompts: tuple[str | Path, ...] = ()
    vocabulary: str | Path | None = None
    learn: bool = False
    adapt: bool = False
    letters: int = 0

    def __post_init__(self) -> None:
        if self.context not in MODES:
            raise CorpusError(f"no context {self.context!r} to evaluate with; there are {', '.join(MODES)}")
        if self.revise and self.context == "none":
            raise CorpusError("to revise, the words around a swipe must be known: choose context prompt or decoded")
        if self.context != "none" and self.method == "shark2":
            raise CorpusError("shark2 decodes words alone: it has no context")
        personal = {"vocabulary": self.vocabulary, "learn": self.learn, "adapt": self.adapt, "letters": self.letters}
        if self.method == "shark2" and (asked := [name for name, value in personal.items() if value]):
            raise CorpusError(f"shark2 has no {asked[0]}: own words, habits and tapped letters need the encoder")
        if self.revise and (self.learn or self.adapt):
            raise CorpusError("to revise, a word is judged after the next one: it cannot be learned in between")
        if self.letters < 0:
            raise CorpusError(f"the letters given are a number from 0, got {self.letters}")


def evaluate(
    sources: Iterable[str | Path], options: EvaluationOptions, progress: Callable[[int, int], None] | None = None
) -> Evaluation:
    """Decode every swipe of some sources and measure the accuracy.

    Args:
        sources: what ``find_files`` takes, in our schema.
        options: how to decode and what to count.
        progress: called with (swipes done, swipes in all).
    """
    groups: dict[str, list[Swipe]] = defaultdict(list)
    shelf, survey, tallies = LayoutShelf(options.layouts), Survey(), Tallies()
    for file in all_files(sources):
        for swipe in read_targets(file, shelf, options):
            groups[swipe.layout].append(swipe)
            survey.count(swipe)
    survey.read_prompts(options.prompts)
    outcomes: dict[str, list[Outcome]] = {}
    latencies: dict[str, list[float]] = {}
    for name, swipes in groups.items():
        before = sum(len(done) for done in outcomes.values())
        report = (lambda done, before=before: progress(before + done, survey.swipes.total())) if progress else None
        judge = surveyed_board(name, shelf, survey, options)
        outcomes[name] = decode_swipes(judge, swipes, options, report)
        tallies.count(name, swipes, outcomes[name], survey)
        latencies[name] = time_decoding(judge[0], [swipe.gesture for swipe in swipes[:TIMED]])
    return tallies.evaluation(latencies, outcomes)


def surveyed_board(
    name: str, shelf: LayoutShelf, survey: Survey, options: EvaluationOptions
) -> tuple[Keyboard | Shark2, frozenset[str]]:
    """The keyboard that the swipes of a corpus on one layout are judged with, and the spellings its lexicon had."""
    board, known = keyboard_for(survey.seen(shelf[name], name), survey.words.get(name, ()), options)
    return judged_board(board, options), known


def read_targets(path: str | Path, shelf: LayoutShelf, options: EvaluationOptions) -> Iterator[Swipe]:
    """The swipes of a file that can be evaluated, at most ``options.limit``; an error names file and line."""
    return islice(targets(read_objects(path), path, shelf, options), options.limit)


def targets(
    objects: Iterable[tuple[int, dict[str, Any]]], file: str | Path, shelf: LayoutShelf, options: EvaluationOptions
) -> Iterator[Swipe]:
    """The swipes of numbered objects of a file that can be evaluated, as ``read_targets``, without its limit."""
    for number, data in objects:
        try:
            swipe = swipe_from_dict(data)
            layout = shelf[swipe.layout]
            if not typed_letters(swipe.word, frozenset(layout.letters)):
                raise LineError(f"the word {swipe.word!r} has no letter that layout {layout.name} can type")
            if options.max_key_distance is not None and _key_distance(swipe, layout) > options.max_key_distance:
                continue
        except CorpusError as error:
            raise CorpusError(f"{shown(file)}:{number}: {error}") from None
        yield swipe


def with_aspect(layout: Layout, swipes: Iterable[Swipe]) -> Layout:
    """The layout with the median aspect of the letter areas it was swiped on, where those are known."""
    return with_median_aspect(layout, Counter(swipe.aspect for swipe in swipes if swipe.aspect))


def keyboard_for(
    layout: Layout, targets: Iterable[str], options: EvaluationOptions
) -> tuple[Keyboard | Shark2, frozenset[str]]:
    """The keyboard that some options describe, and the spellings its lexicon had before targets were added."""
    lexicon = words_for(layout, options)
    letters = frozenset(layout.letters)
    known = frozenset(lexicon.spell(letters))
    if options.add_targets:
        missing = (word for word in set(targets) if "".join(typed_letters(word, letters)) not in known)
        lexicon = lexicon.with_words(sorted(missing))  # the order of the corpus does not matter
    if options.method == "shark2":
        return Shark2(layout, lexicon, load_shark2(options.scoring)), known
    board = load(
        layout, None if len(languages_of(options)) > 1 else options.language, lexicon=lexicon, scoring=options.scoring,
        weights=options.weights, decoder=options.decoder, matcher=options.matcher, method=options.method,
        vocabulary=Vocabulary.load(options.vocabulary) if options.vocabulary else None, width=options.beam,
    )  # fmt: skip
    return board, known


def follows_people(options: EvaluationOptions) -> bool:
    """Whether what is read of a swipe depends on the swipes of the same person before it."""
    several = len(languages_of(options)) > 1 or (
        options.lexicon is not None and len(load_lexicon(options.lexicon).languages) > 1
    )
    return several or options.context != "none" or options.learn or options.adapt


def languages_of(options: EvaluationOptions) -> list[str]:
    """The codes of the languages that are asked for; none where it is the layout's."""
    return [code.strip() for code in options.language.split(",")] if options.language else []


def words_for(layout: Layout, options: EvaluationOptions) -> Lexicon:
    """The word list that some options describe: one list, or the lists of several languages joined."""
    codes = languages_of(options)
    if options.lexicon is None:
        return load_lexicon(",".join(codes) or layout.language or "en")
    lexicon = load_lexicon(options.lexicon)
    if len(codes) < 2 or len(lexicon.languages) > 1:
        return lexicon
    own = lexicon.language or codes[0]
    if own not in codes:
        raise LexiconError(f"lexicon {lexicon.name} is of language {own!r}, not of {', '.join(codes)}")
    given, listed = replace(lexicon, language=own, languages=(own,)), load_lexicon(own)
    return join_lexicons([given if code == own else on_scale(load_lexicon(code), listed, given) for code in codes])


def on_scale(lexicon: Lexicon, listed: Lexicon, given: Lexicon) -> Lexicon:
    """A lexicon whose bytes are brought to the scale of another, by a line through words that two lists share.

    Lists count differently: "have" has 178 in Android's list and 219 in wordfreq's, so "habe" of wordfreq's German list
    would displace it.

    Args:
        lexicon: of another language than the lists.
        listed: a list of the same source as ``lexicon``.
        given: a list of the same language as ``listed``, whose scale is wanted.
    """
    places = PackedWords.of(given.words).find(listed.words)
    shared = places >= 0
    before, after = listed.frequencies[shared].astype(np.float64), given.frequencies[places[shared]].astype(np.float64)
    if len(np.unique(before)) < FEWEST_LEVELS:
        return lexicon
    slope, level = np.polyfit(before, after, 1)
    if slope <= 0:
        return lexicon
    bytes_ = np.clip(np.rint(level + slope * lexicon.frequencies), 1, 255).astype(np.uint8)
    return replace(lexicon, frequencies=bytes_)


def judged_board(board: Keyboard | Shark2, options: EvaluationOptions) -> Keyboard | Shark2:
    """A keyboard as it is evaluated: with added targets its lexicon has every word, so it reads no literals."""
    if isinstance(board, Shark2) or not options.add_targets:
        return board
    return board.replace(scoring=board.scoring.closed())


def decode_swipes(
    judge: tuple[Keyboard | Shark2, frozenset[str]],
    swipes: Sequence[Swipe],
    options: EvaluationOptions,
    progress: Callable[[int], None] | None = None,
    numbers: Sequence[int] = (),
) -> list[Outcome]:
    """Decode swipes on one layout, in chunks on all cores.

    Args:
        judge: what decodes them, and the spellings that its lexicon had before targets were added.
        swipes: in the order of the corpus.
        options: how to decode.
        progress: called with the number of swipes done.
        numbers: the place of each swipe in the corpus, where these are not all of its swipes on this layout.
    """
    board, known = judged_board(judge[0], options), judge[1]
    letters = frozenset(board.layout.letters)
    outcomes: list[Outcome] = []
    for row, candidates, literal in _decode_rows(board, swipes, options, numbers):
        target = "".join(typed_letters(swipes[row].word, letters))
        ranking = tuple(dict.fromkeys(one.letters for one in candidates))
        best = [one.probability for one in candidates if one.letters == ranking[0]]
        outcome = Outcome(target, ranking, target in known, literal, sum(best) if best else None)
        outcomes[row : row + 1] = [outcome]  # the next row, or one that is revised
        if progress and (len(outcomes) % CHUNK == 0 or len(outcomes) == len(swipes)):
            progress(len(outcomes))
    return outcomes


def time_decoding(board: Keyboard | Shark2, gestures: Sequence[Gesture]) -> list[float]:
    """Milliseconds per swipe, each decoded alone after a first one that does not count."""
    board.decode(gestures[0])
    spent = []
    for gesture in gestures:
        start = time.perf_counter()
        board.decode(gesture)
        spent.append(1000 * (time.perf_counter() - start))
    return spent


def _decode_rows(
    board: Keyboard | Shark2, swipes: Sequence[Swipe], options: EvaluationOptions, numbers: Sequence[int]
) -> Iterator[tuple[int, list[Candidate], str | None]]:
    """Every row's candidates, best first, and the letters read without a lexicon; a row can come again, revised."""
    chunks = [swipes[start : start + CHUNK] for start in range(0, len(swipes), CHUNK)]
    if isinstance(board, Shark2):
        ranked = (one for chunk in chunks for one in board.decode_batch([s.gesture for s in chunk], k=options.beam))
        yield from ((row, candidates, None) for row, candidates in enumerate(ranked))
        return
    # A spelling can have several surface forms; all of them are ranked, so that each spelling has its place.
    writing = Writing(board, swipes, options.context, options.revise, 4 * options.beam, numbers)
    people = People(board, options.learn, options.adapt) if options.learn or options.adapt else None
    literals: list[str] = []
    for chunk in chunks:
        readings = board.read([swipe.gesture for swipe in chunk])
        literals += board.greedy(readings.log_probs)
        for finalists in _finalists(people or board, chunk, readings, _given_letters(board, chunk, options.letters)):
            yield from ((row, candidates, literals[row]) for row, candidates in writing.rank(finalists))


def _finalists(
    board: Keyboard | People, swipes: Sequence[Swipe], readings: Readings, affixes: Sequence[Affixes]
) -> Iterator[Finalists]:
    """What swipes may mean, in their order. People learn a swipe's word when the next is asked for."""
    if isinstance(board, Keyboard):
        yield from map_on_cores(
            lambda row: finalists_of(board, swipes[row], readings, row, affixes[row]), range(len(swipes))
        )
        return
    for row, swipe in enumerate(swipes):
        yield board.finalists(swipe, readings, row, affixes[row])
        board.teach(swipe, readings, row)


def _given_letters(board: Keyboard, swipes: Sequence[Swipe], count: int) -> list[Affixes]:
    """The first letters of each word, as if they were tapped."""
    letters = frozenset(board.layout.letters)
    spelled = ("".join(typed_letters(swipe.word, letters)) for swipe in swipes)
    return [board.dictionary.affixes(word[:count], "") for word in spelled]


def _key_distance(swipe: Swipe, layout: Layout) -> float:
    """The distance from the swipe to its word's keys: as stored in the file, else measured."""
    if swipe.key_distance is not None:
        return swipe.key_distance
    return measured(swipe, layout).key_distance or 0.0
