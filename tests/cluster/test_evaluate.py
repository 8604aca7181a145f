import json
from dataclasses import replace

import pytest
from command import lines, row

from glissando.cluster.evaluate import evaluate_files
from glissando.cluster.stream import Run
from glissando.errors import CorpusError
from glissando.evaluation.evaluate import EvaluationOptions, evaluate
from glissando.evaluation.metrics import Metrics

WORDS = ["hello", "world", "its", "swipe", "the", "keyboard"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Sentences of three people, interleaved and on two layouts, in two files; and the options to decode them."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "words.txt").write_text("\n".join(WORDS[:5]))
    rows = [
        row(word, layout, sentence="hello the world", session=person, canvas_width=360, canvas_height=150 + len(person))
        for person, layout in (("ann", "qwerty"), ("bo", "dvorak"), ("ann", "qwerty"), ("cleo", "qwerty"))
        for word in ("hello", "the", "world")
    ]
    rows.insert(2, row("keyboard", session="bo", sentence="keyboard its"))
    (folder / "a.jsonl").write_bytes(lines(rows[:8]))
    (folder / "b.jsonl").write_bytes(lines(rows[8:]))
    return [str(folder / "a.jsonl"), str(folder / "b.jsonl")], EvaluationOptions(lexicon=folder / "words.txt")


def untimed(evaluation):
    """The figures as JSON, without the times."""

    def strip(value):
        if isinstance(value, dict):
            return {name: strip(one) for name, one in value.items() if name != "ms_p50"}
        return value

    assert isinstance(evaluation.overall, Metrics)
    return json.dumps(strip(evaluation.to_dict()))


@pytest.mark.parametrize(
    "changes",
    [
        {"add_targets": True, "limit": 3},
        {"context": "decoded", "revise": True, "limit": 5},
        {"learn": True, "adapt": True},
    ],
    ids=["targets", "context", "learn"],
)
def test_the_figures_are_those_of_one_machine_to_the_last_digit(cluster, corpus, changes):
    files, options = corpus
    options = replace(options, **changes)
    expected = untimed(evaluate(files, options))
    assert untimed(evaluate_files(Run(cluster, files, 2), options)) == expected


def test_a_second_start_reads_what_was_kept(cluster, corpus, tmp_path):
    files, options = corpus
    for name, changed in (("alone", replace(options, limit=5)), ("people", replace(options, context="prompt"))):
        folder = tmp_path / name
        first = untimed(evaluate_files(Run(cluster, files, 4), changed, str(folder)))
        assert first == untimed(evaluate(files, changed))
        kept = sorted(folder.rglob("part-*.json"))
        kept[0].unlink()
        assert untimed(evaluate_files(Run(cluster, files, 4), changed, str(folder))) == first
        assert sorted(folder.rglob("part-*.json")) == kept


def test_people_need_a_folder_that_all_nodes_share(cluster, corpus):
    files, options = corpus
    elsewhere = replace(cluster, own=False)
    with pytest.raises(CorpusError, match="give --parts FOLDER"):
        evaluate_files(Run(elsewhere, files), replace(options, context="prompt"))


def test_bad_rows_end_it_as_on_one_machine(cluster, corpus, tmp_path):
    _, options = corpus
    path = tmp_path / "bad.jsonl"
    path.write_bytes(lines([row("hello"), row("hello", layout="nowhere")]))
    with pytest.raises(CorpusError) as plain:
        evaluate([str(path)], options)
    with pytest.raises(CorpusError) as spread:
        evaluate_files(Run(cluster, [str(path)]), options)
    assert str(spread.value) == str(plain.value)
    path.write_bytes(b"\n")
    with pytest.raises(CorpusError, match="no swipe to evaluate"):
        evaluate_files(Run(cluster, [str(path)]), options)
