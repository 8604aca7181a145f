import numpy as np
import pytest

from glissando.corpus.records import Swipe, write_swipes
from glissando.errors import CorpusError
from glissando.evaluation.evaluate import EvaluationOptions
from glissando.layout import load_layout
from glissando.synth import swipe
from glissando.train.matcher.finalists import NO_KEY
from glissando.train.matcher.gather import Gathering, gather_finalists


def test_the_beams_finalists_are_kept_best_first(tmp_path):
    qwerty, rng = load_layout("qwerty"), np.random.default_rng(0)
    words = ["hello", "world", "glissando", "it"]
    swipes = [
        Swipe(word, swipe(word, qwerty, rng), "qwerty", session=person, canvas_width=400, canvas_height=200)
        for word in words
        for person in ("a", "b")
    ]
    write_swipes(tmp_path / "s.jsonl", swipes)
    options = EvaluationOptions(
        method="encoder", lexicon={"hello": 9, "world": 8, "hells": 5, "it": 9}, add_targets=True
    )
    seen = []
    found = gather_finalists([tmp_path / "s.jsonl"], Gathering(3, options), lambda *done: seen.append(done))
    assert seen == [(8, 8)]
    assert found.keys.shape == (8, 3, 20)
    np.testing.assert_array_equal(found.sessions, [0, 1] * 4)
    np.testing.assert_allclose(found.aspects, 0.5)
    assert (np.diff(found.scores, axis=1) <= 0).all()
    assert (found.scores[:, 0] == 0).all()
    assert (found.places == 0).all()  # clear swipes
    letters = ["".join(qwerty.letters[key] for key in row[0] if key != NO_KEY) for row in found.keys]
    assert letters == [word for word in words for _ in "ab"]


def test_nothing_to_decode_is_an_error(tmp_path):
    (tmp_path / "s.jsonl").write_text("")
    with pytest.raises(CorpusError, match="no swipe to decode"):
        gather_finalists([tmp_path / "s.jsonl"], Gathering())
