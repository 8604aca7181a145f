from dataclasses import replace

import numpy as np
import pytest
from command import lines, row

from glissando.corpus.layouts import LayoutShelf
from glissando.errors import CorpusError, GlissandoError, ScoringError
from glissando.evaluation.evaluate import EvaluationOptions
from glissando.evaluation.tune import LabelledSwipes, TuningCorpus, TuningFile, TuningOptions, _identify, read_corpus
from glissando.gesture import Gesture
from glissando.layout import load_layout
from glissando.lexicon import Lexicon
from glissando.shark2 import Shark2

SHARK2 = EvaluationOptions(method="shark2")


def test_a_corpus_may_carry_a_lexicon(tmp_path):
    assert TuningFile.parse("mine.jsonl") == TuningFile("mine.jsonl")
    assert TuningFile.parse("ru.jsonl=ru") == TuningFile("ru.jsonl", "ru")
    assert TuningFile.parse("a=b/ru.jsonl=lists/ru.txt") == TuningFile("a=b/ru.jsonl", "lists/ru.txt")
    for source in (
        "day=7/*.parquet",
        "s3://b/day=7/",
        "s3://b/day=7/?region=eu",
        "s3://b/a.jsonl?region=eu&scheme=http",
    ):
        assert TuningFile.parse(source) == TuningFile(source)
        assert TuningFile.parse(f"{source}=lists/ru.txt") == TuningFile(source, "lists/ru.txt")
    file = tmp_path / "beam=100.jsonl"
    file.touch()
    assert TuningFile.parse(str(file)) == TuningFile(str(file))
    for half in ("=ru", "mine.jsonl="):
        with pytest.raises(CorpusError, match="FILE or FILE=LEXICON"):
            TuningFile.parse(half)


def test_a_corpus_of_several_files_is_one(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_bytes(lines([row("to")] * 60))
    corpus = read_corpus(TuningFile(f"{tmp_path}/*.jsonl"), LayoutShelf(), replace(SHARK2, lexicon={"to": 9.0}))
    assert (corpus.name, [len(part.words) for part in corpus.parts]) == ("*.jsonl", [120])


def test_a_corpus_is_read_by_layout(tmp_path):
    file = tmp_path / "mine.jsonl"
    file.write_bytes(lines([row("to")] * 60 + [row("too", "dvorak")] * 40))
    corpus = read_corpus(TuningFile(file), LayoutShelf(), replace(SHARK2, lexicon={"to": 9.0, "too": 8.0}))
    assert [(part.board.layout.name, len(part.words)) for part in corpus.parts] == [("qwerty", 60), ("dvorak", 40)]
    with pytest.raises(CorpusError, match=r"mine.jsonl: tuning needs at least 100 usable swipes, got 99"):
        read_corpus(TuningFile(file), LayoutShelf(), replace(SHARK2, lexicon={"to": 9.0}, limit=99))


def test_options_name_what_there_is():
    with pytest.raises(GlissandoError, match="no protocol 'grid'; there are fit, report"):
        TuningOptions(protocol="grid")
    with pytest.raises(GlissandoError, match="no stage 'both'; there are pruning, scoring, all"):
        TuningOptions(stage="both")
    with pytest.raises(ScoringError, match="no scoring constant 'gamma'"):
        TuningOptions(constants=("gamma",))


def swipe(word="to", x=0.45):
    return word, Gesture(np.array([x, 0.85]), np.array([0.1, 0.1]), np.array([0, 300]))


def identity(swipes=(), words=("to", "too"), bytes_=(9, 8), options=SHARK2):
    lexicon = Lexicon("tiny", "", tuple(words), np.array(bytes_, dtype=np.uint8))
    meant, gestures = ([one[i] for one in swipes] for i in (0, 1))
    part = LabelledSwipes(Shark2(load_layout("qwerty"), lexicon), gestures, meant, [None] * len(meant))
    corpus = TuningCorpus("mine.jsonl", (part,))
    return _identify([corpus], options)


def test_a_study_is_identified_by_all_that_its_values_depend_on():
    mine = identity([swipe()])
    assert mine == identity([swipe()])
    others = [
        identity([swipe(x=0.46)]),
        identity([swipe("too")]),
        identity([swipe(), swipe()]),
        identity([swipe()], words=("to", "two")),
        identity([swipe()], bytes_=(9, 7)),
        identity([swipe()], options=replace(SHARK2, beam=50)),
    ]
    assert mine not in others
