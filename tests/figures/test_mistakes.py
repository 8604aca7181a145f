import numpy as np
import pytest
from command import lines, row

from glissando.corpus.records import swipe_from_dict
from glissando.errors import CorpusError, GlissandoError
from glissando.evaluation.evaluate import EvaluationOptions
from glissando.figures.mistakes import CAUSES, RARE, Mistake, cause_of, count_causes, draw_gallery, find_mistakes
from glissando.figures.style import COLOURS
from glissando.layout import load_layout

QWERTY = load_layout("qwerty")


def swiped(word, label=None):
    """An exact swipe of one word, filed under another."""
    return swipe_from_dict(row(word) | {"word": label or word})


@pytest.mark.parametrize(
    ("target", "answer", "gap", "cause"),
    [
        ("too", "to", 0, "doubled letters"),
        ("to", "too", 99, "doubled letters"),
        ("stream", "steam", 0, "straight-line letters"),
        ("pit", "put", 0, "straight-line letters"),
        ("favors", "favours", 0, "straight-line letters"),
        ("for", "foe", 0, "neighbours"),
        ("can", "cab", 0, "neighbours"),
        ("cab", "mob", RARE, "rare word"),
        ("cab", "mob", RARE - 1, "other"),
        ("star", "start", 0, "other"),  # beyond the last letter there is no line
    ],
)
def test_causes_by_hand(target, answer, gap, cause):
    assert cause_of(target, answer, swiped(target), QWERTY, gap) == cause


def test_a_swipe_of_another_word_is_label_noise_whatever_else_fits():
    assert cause_of("mango", "quiz", swiped("quiz", "mango"), QWERTY, 0) == "label noise"
    # The keys of the word are all passed, on a way that goes far beyond them.
    assert cause_of("the", "thanked", swiped("thanked", "the"), QWERTY, 99) == "label noise"
    assert cause_of("to", "tao", swiped("tao", "to"), QWERTY, 0) == "label noise"  # a detour
    assert cause_of("tao", "to", swiped("to", "tao"), QWERTY, 0) == "label noise"  # never goes to a
    assert cause_of("mango", "quiz", swiped("mango"), QWERTY, 0) == "other"


@pytest.fixture
def corpus(tmp_path):
    file = tmp_path / "swipes.jsonl"
    file.write_bytes(lines([row("hello"), row("quiz") | {"word": "mango"}, row("world") | {"word": "jelly"}]))
    return file


def test_only_mistakes_are_kept_the_surest_first(corpus):
    words = {"hello": 5, "mango": 5, "quiz": 5, "world": 5, "jelly": 5}
    findings = find_mistakes([corpus], EvaluationOptions(lexicon=words))
    assert findings.swipes == 3
    assert {(one.target, one.answer) for one in findings.mistakes} == {("mango", "quiz"), ("jelly", "world")}
    confidences = [one.confidence for one in findings.mistakes]
    assert confidences == sorted(confidences, reverse=True)
    assert count_causes(findings.mistakes) == {cause: 2 * (cause == "label noise") for cause in CAUSES}
    one = findings.mistakes[0]
    assert len(one.seen) == len(one.moments) == len(one.target)
    assert np.all((one.seen >= 0) & (one.seen <= 1))
    assert one.evidence > 0  # the network itself prefers what was swiped
    assert set(one.to_dict()) >= {"target", "answer", "cause", "seen", "reading"}


def test_what_cannot_be_explained_is_refused(corpus, tmp_path):
    with pytest.raises(GlissandoError, match="method 'shark2' has none"):
        find_mistakes([corpus], EvaluationOptions(method="shark2"))
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(CorpusError, match="no swipe to read"):
        find_mistakes([tmp_path / "empty.jsonl"], EvaluationOptions())


def mistake(target, answer, cause, seen):
    moments = np.linspace(0.1, 1, len(target))
    return Mistake(swiped(target), QWERTY, target, answer, 0.9, answer, moments, np.array(seen), 1.0, (9, 9), cause)


def test_mistakes_of_a_cause_stand_together():
    pytest.importorskip("matplotlib")
    drawn = draw_gallery(
        [
            mistake("for", "foe", "neighbours", [0.9, 0.8, 0.01]),
            mistake("too", "to", "doubled letters", [0.9, 0.02, 0.9]),
            mistake("can", "cab", "neighbours", [0.9, 0.8, 0.3]),
        ]
    )
    assert [part.get_suptitle() for part in drawn.subfigs] == ["doubled letters: 1 of 3", "neighbours: 2 of 3"]
    titles = [axes.get_title() for axes in drawn.subfigs[1].axes if axes.get_title()]
    assert titles == ["for → foe  90 %", "can → cab  90 %"]
    texts = {text.get_text(): text.get_color() for text in drawn.subfigs[0].axes[0].texts}
    assert texts["2"] == COLOURS[1]  # a letter that counts as unseen
    assert "reads to" in texts
