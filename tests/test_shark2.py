import gzip
import json

import numpy as np
import pytest

from glissando.errors import LexiconError, ScoringError
from glissando.gesture import Gesture
from glissando.layout import Layout, load_layout
from glissando.lexicon import Lexicon, typed_letters
from glissando.scoring import Scoring, load_scoring
from glissando.shark2 import Shark2, Shark2Constants, load_shark2

GRID = Layout.from_rows("grid", ["abcdef", "ghijkl", "mnopqr"])
WORDS = {"bad": 10.0, "mop": 10.0, "ache": 10.0}


def swipe(layout: Layout, letters: str, key: int = 0, shift: tuple[float, float] = (0.0, 0.0)) -> Gesture:
    """The exact template of some letters, a point every 20 ms, eight to a stretch."""
    corners = layout.centres[[layout.keys_of[letter][min(key, len(layout.keys_of[letter]) - 1)] for letter in letters]]
    where = np.linspace(0, len(corners) - 1, 8 * (len(corners) - 1) + 1)
    x, y = (np.interp(where, np.arange(len(corners)), corners[:, axis]) + shift[axis] for axis in (0, 1))
    return Gesture(x, y, 20 * np.arange(len(where)))


def words(decoder: Shark2, gesture: Gesture, k: int = 5) -> list[str]:
    return [candidate.word for candidate in decoder.decode(gesture, k)]


def test_a_candidate_tells_its_likelihood_its_score_and_its_share():
    wide = Shark2Constants(start_radius=100, end_radius=100, frequency_weight=0.02, frequency_floor=0)
    decoder = Shark2(GRID, Lexicon.from_counts({"bad": 1.0, "cad": 100.0, "fed": 10.0}), wide)
    ranked = decoder.decode(swipe(GRID, "bad"))
    assert len(ranked) == 3
    assert sum(candidate.probability for candidate in ranked) == pytest.approx(1)
    assert [candidate.score for candidate in ranked] == sorted((c.score for c in ranked), reverse=True)
    for candidate in ranked:
        assert candidate.score == pytest.approx(candidate.log_prob + 0.02 * candidate.frequency)
    assert len(decoder.decode(swipe(GRID, "bad"), k=2)) == 2
    assert decoder.decode(swipe(GRID, "bad"), k=2)[0].probability == ranked[0].probability


def test_a_batch_is_every_swipe_in_turn():
    decoder = Shark2(GRID, Lexicon.from_counts(WORDS))
    gestures = [swipe(GRID, word) for word in ("mop", "bad", "ache", "mop")]
    assert decoder.decode_batch(gestures, k=2) == [decoder.decode(gesture, k=2) for gesture in gestures]
    assert decoder.decode_batch([]) == []


def test_words_of_the_same_letters_come_most_frequent_first():
    decoder = Shark2(GRID, Lexicon.from_counts({"able": 2.0, "Able": 5.0, "a-b-l-e": 1.0, "aloe": 5.0, "a": 1e6}))
    ranked = decoder.decode(swipe(GRID, "able"))
    assert [candidate.word for candidate in ranked[:3]] == ["Able", "able", "a-b-l-e"]
    assert {candidate.letters for candidate in ranked[:3]} == {"able"}


@pytest.mark.parametrize(("long", "short"), [("abc", "ac"), ("fee", "fe")])  # b lies on the way from a to c
def test_frequency_decides_between_words_swiped_alike(long, short):
    for rare, frequent in ((long, short), (short, long)):
        decoder = Shark2(GRID, Lexicon.from_counts({rare: 1.0, frequent: 9.0}), Shark2Constants(haste=0))
        assert words(decoder, swipe(GRID, short))[0] == frequent


def test_templates_that_end_elsewhere_are_pruned():
    decoder = Shark2(GRID, Lexicon.from_counts({"bad": 1.0, "bar": 1e6, "mad": 1e6}))
    assert words(decoder, swipe(GRID, "bad")) == ["bad"]


def test_where_no_template_is_near_the_nearest_are_taken():
    decoder = Shark2(GRID, Lexicon.from_counts({"ab": 1.0}))
    assert words(decoder, swipe(GRID, "qr")) == ["ab"]
    assert words(decoder, Gesture([1e300, -1e300], [0, 0], [0, 1])) == ["ab"]


def test_of_equal_shapes_the_location_decides():
    wide = Shark2Constants(start_radius=100, end_radius=100)
    decoder = Shark2(GRID, Lexicon.from_counts({"bhd": 1.0, "cie": 1.0, "hnj": 1.0}), wide)  # one shape in three places
    for word in ("bhd", "cie", "hnj"):
        assert words(decoder, swipe(GRID, word, shift=(0.03, 0.05)))[0] == word


def test_every_key_of_a_letter_types_it():
    layout = Layout.from_rows("two b", ["abcdef", "ghijkl", "mnopbr"])
    decoder = Shark2(layout, Lexicon.from_counts({"bad": 1.0, "rad": 1.0, "lab": 1.0, "lap": 1.0}))
    assert len(layout.keys_of["b"]) == 2
    for word in ("bad", "lab"):
        assert words(decoder, swipe(layout, word, key=0))[0] == word
        assert words(decoder, swipe(layout, word, key=1))[0] == word


def test_a_tap_is_a_word_of_one_letter():
    decoder = Shark2(GRID, Lexicon.from_counts({"a": 1.0, "h": 1.0, "ab": 1.0, "hi": 1.0}))
    for letter in "ah":
        x, y = GRID.centres[GRID.keys_of[letter][0]]
        assert decoder.decode([(x, y, 0)])[0].word == letter
        assert decoder.decode([(x, y, 0), (x, y, 60)])[0].word == letter


def test_only_the_rhythm_counts_not_the_tempo():
    decoder = Shark2(GRID, Lexicon.from_counts(WORDS))
    gesture = swipe(GRID, "ache")
    slow = Gesture(gesture.x, gesture.y, 5 * gesture.t + 100)
    np.testing.assert_allclose(decoder.decode(slow)[0].score, decoder.decode(gesture)[0].score, rtol=1e-5)


def test_a_layout_may_be_stretched():
    flat = Layout.from_rows("flat", ["abcdef", "ghijkl", "mnopqr"], aspect=0.2)
    scores = [
        Shark2(layout, Lexicon.from_counts(WORDS)).decode(swipe(layout, "bad"))[0].score for layout in (GRID, flat)
    ]
    assert scores[0] == pytest.approx(scores[1])


def test_a_lexicon_the_layout_cannot_type_is_refused():
    with pytest.raises(LexiconError, match="'grid' can type; its letters are abcdefghijklmnopqr"):
        Shark2(GRID, Lexicon.from_counts({"zz": 1.0, "сон": 1.0}))


@pytest.mark.parametrize(
    "bad",
    [{"points": 1}, {"points": 8.5}, {"shortlist": 0}, {"start_radius": 0}, {"turn": float("nan")}, {"stray": "1"}],
)
def test_constants_are_checked(bad):
    with pytest.raises(ScoringError, match=next(iter(bad))):
        Shark2Constants(**bad)


def test_real_swipes_are_read(data):
    with gzip.open(data / "swipes" / "how_we_swipe_val.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row["key_dist_max"] <= 2][::18][:200]
    layout = load_layout("qwerty")
    english = Lexicon.from_file(data / "wordlists" / "en_wordlist.combined.gz")
    decoder = Shark2(layout, english.with_words(row["word"] for row in rows))
    ranked = decoder.decode_batch([Gesture(row["x"], row["y"], row["t"]) for row in rows], k=3)
    targets = ["".join(typed_letters(row["word"], frozenset(layout.letters))) for row in rows]
    assert len(rows) == 200
    assert np.mean([found[0].letters == target for found, target in zip(ranked, targets, strict=True)]) > 0.83


def test_constants_come_from_a_file_that_tuning_wrote(tmp_path):
    mine = Shark2Constants(location_weight=7.5, points=24)
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"shark2": mine.to_dict(), "provenance": {}, "metrics": {}}))
    assert load_shark2(file) == load_shark2(str(file)) == load_shark2(json.loads(file.read_text())) == mine
    assert load_shark2() == Shark2Constants()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"scoring": {"length_bonus": 1.0}}', "holds scoring constants"),
        ('{"shark2": {"location": 1.0}}', "no shark2 constant 'location'; known are"),
        ('{"shark2": {"points": 2.5}}', "points must be a whole number"),
        ("[]", "are a JSON object"),
        ("{", "is not JSON"),
    ],
)
def test_files_of_other_constants_are_refused(tmp_path, text, message):
    file = tmp_path / "other.json"
    file.write_text(text)
    with pytest.raises(ScoringError, match=message):
        load_shark2(file)


def test_the_encoder_and_shark2_do_not_take_each_others_constants():
    with pytest.raises(ScoringError, match="holds shark2 constants"):
        load_scoring({"shark2": {"location_weight": 7.5}})
    with pytest.raises(ScoringError, match="holds constants of the encoder"):
        load_shark2(Scoring())
    with pytest.raises(ScoringError, match=r"no SHARK2 constants 'en'; SHARK2 takes auto or a .json file"):
        load_shark2("en")
