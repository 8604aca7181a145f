from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from glissando.corpus.records import Swipe
from glissando.errors import CorpusError
from glissando.evaluation.evaluate import EvaluationOptions
from glissando.evaluation.tuning_corpora import Corpus, identify
from glissando.gesture import Gesture
from glissando.layout import load_layout
from glissando.lexicon import Lexicon
from glissando.shark2 import Shark2

SHARK2 = EvaluationOptions(method="shark2")


def test_a_corpus_may_carry_a_lexicon():
    assert Corpus.parse("mine.jsonl") == Corpus(Path("mine.jsonl"))
    assert Corpus.parse("ru.jsonl=ru") == Corpus(Path("ru.jsonl"), "ru")
    assert Corpus.parse("a=b/ru.jsonl=lists/ru.txt") == Corpus(Path("a=b/ru.jsonl"), "lists/ru.txt")


def test_a_file_with_the_sign_in_its_name_is_a_file(tmp_path):
    file = tmp_path / "beam=100.jsonl"
    file.touch()
    assert Corpus.parse(str(file)) == Corpus(file)


@pytest.mark.parametrize("argument", ["=ru", "mine.jsonl="])
def test_half_a_corpus_is_refused(argument):
    with pytest.raises(CorpusError, match="FILE or FILE=LEXICON"):
        Corpus.parse(argument)


def swipe(word="to", x=0.45):
    return Swipe(
        word=word, gesture=Gesture(np.array([x, 0.85]), np.array([0.1, 0.1]), np.array([0, 300])), layout="qwerty"
    )


def identity(swipes=(), words=("to", "too"), bytes_=(9, 8), options=SHARK2, name="mine.jsonl"):
    lexicon = Lexicon("tiny", "", tuple(words), np.array(bytes_, dtype=np.uint8))
    return identify([Corpus(Path(name))], [[(Shark2(load_layout("qwerty"), lexicon), list(swipes))]], options)


def test_the_same_swipes_and_words_are_the_same_study_wherever_the_file_lies():
    assert identity([swipe()], name="here/mine.jsonl") == identity([swipe()], name="there/mine.jsonl")


@pytest.mark.parametrize(
    "other",
    [
        identity([swipe(x=0.46)]),
        identity([swipe("too")]),
        identity([swipe(), swipe()]),
        identity([swipe()], words=("to", "two")),
        identity([swipe()], bytes_=(9, 7)),
        identity([swipe()], options=replace(SHARK2, beam=50)),
    ],
)
def test_anything_else_is_another_study(other):
    assert other != identity([swipe()])
