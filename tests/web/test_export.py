import json
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from command import refused, run
from web.donating import AGREED, BAD, GOOD

from glissando.corpus.filters import key_distance
from glissando.corpus.lines import read_objects
from glissando.corpus.packed import PackedCorpus
from glissando.errors import CorpusError
from glissando.layout import load_layout
from glissando.synth import swipe
from glissando.web.dataset import COLUMNS
from glissando.web.export import export_rows, write_export
from glissando.web.selection import Selection
from glissando.web.store import Donation, Sentence, Store


@pytest.fixture(scope="module")
def donated(tmp_path_factory):
    """A store with what twelve donors gave, under the same secrets every time: splits are made by them."""
    url = f"sqlite:///{tmp_path_factory.mktemp('donated')}/s.db"
    store, layout, rng = Store(url), load_layout("qwerty"), np.random.default_rng(0)
    one = Sentence.of("en", "Take the early train number nine home today")
    store.remember([one])
    secrets = (f"secret {i}" for i in range(12))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("glissando.web.store.new_secret", lambda: next(secrets))
        for session in [store.open_session(1, AGREED).secret for _ in range(12)]:
            for index, word in enumerate(one.text.split()):
                gesture = swipe(word, layout, rng, noise=0.3)
                points = np.stack([gesture.x, gesture.y, gesture.t], axis=1).tolist() if index else []
                donation = Donation(one.id, index, word, "qwerty", "en", points, 390, 156, "portrait", "touch", 1)
                check = BAD if index == 7 else replace(GOOD, key_distance=key_distance(word, gesture, layout).max)
                store.save(session, donation, check if index else None)
    store.close()
    return url


def test_the_export_is_a_corpus_for_every_command(donated, tmp_path):
    def command(*arguments):
        result = run("corpus", *arguments)
        assert result.code == 0, (arguments, result)
        return result.out

    swipes = tmp_path / "rows.jsonl.gz"
    assert "84 swipes" in command("export", "--store", donated, "-o", swipes)
    assert json.loads(command("stats", swipes, "--json"))["sessions"] == 12
    assert json.loads(command("filter", swipes, "-o", tmp_path / "good.jsonl.gz", "--json"))["kept"] > 40
    command("split", swipes, "-o", tmp_path / "splits", "--fractions", "train=0.7,val=0.3", "--seed", "1")
    command("pack", tmp_path / "splits" / "train.jsonl.gz", "-o", tmp_path / "pack")
    command("export", "--store", donated, "-o", tmp_path / "donated.npz")
    assert len(PackedCorpus.open(tmp_path / "donated.npz")) == 84


def test_a_selection_on_the_command_line(donated, tmp_path):
    def count(*options):
        result = run("corpus", "export", "--store", donated, "-o", tmp_path / "x.jsonl", *options)
        assert result.code == 0, result
        return len((tmp_path / "x.jsonl").read_text(encoding="utf-8").splitlines())

    assert count("--flagged") == 12
    assert count("--unflagged") == 72
    assert count("--skipped") == 96
    assert count("--language", "en", "--layout", "qwerty", "--since", "2026-01-01") == 84
    assert count("--max-key-distance", "3") == 72
    message = refused("corpus", "export", "--store", donated, "-o", tmp_path / "y.jsonl", "--until", "2001-01-01")
    assert "the selection is empty" in message
    assert not (tmp_path / "y.jsonl").exists()


def test_rows_are_those_of_swipe_futo_org(donated, tmp_path):
    store = Store(donated)
    file = tmp_path / "rows.jsonl"
    count = export_rows(store, file, Selection(), skipped=True)
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == count
    store.close()
    needed = {"word", "data", "canvas_width", "canvas_height", "orientation", "session", "sentence", "word_index"}
    assert all(needed | {"layout", "language"} <= line.keys() for line in lines)
    assert all((line["data"] == []) == (line["word_index"] == 0) for line in lines)
    assert not any({"received", "hour", "created", "attempt"} & line.keys() for line in lines)  # no times
    line = next(line for line in lines if line["data"])
    assert set(line["data"][0]) == {"x", "y", "t"}
    assert line["sentence"].split()[line["word_index"]] == line["word"]
    assert (line["read"], line["flagged"], line["consent"]) == ("hello", False, AGREED.version)
    assert line["rate"] > 10


def test_an_export_makes_no_store(tmp_path):
    message = refused("corpus", "export", "--store", f"sqlite:///{tmp_path}/none.db", "-o", tmp_path / "x.jsonl")
    assert "no store" in message
    assert list(tmp_path.iterdir()) == []


def test_parquet_has_the_columns_of_a_dataset(donated, tmp_path):
    pytest.importorskip("pyarrow", reason="the parquet extra is not installed")
    store = Store(donated)
    count = write_export(store, tmp_path / "x.parquet")
    write_export(store, tmp_path / "x.jsonl")
    store.close()
    rows, lines = ([row for _, row in read_objects(tmp_path / name)] for name in ("x.parquet", "x.jsonl"))
    assert len(rows) == len(lines) == count
    assert list(rows[0]) == list(COLUMNS)
    assert [row["x"] for row in rows] == [[point["x"] for point in line["data"]] for line in lines]
    assert [row["session"] for row in rows] == [line["session"] for line in lines]


@pytest.mark.parametrize("name", ["x.jsonl.gz", "x.npz", "x.parquet", "x.zip", "x"])
def test_an_empty_selection_writes_nothing(donated, tmp_path, name):
    if name in ("x.parquet", "x.zip", "x"):
        pytest.importorskip("pyarrow", reason="the parquet extra is not installed")
    store = Store(donated)
    with pytest.raises(CorpusError, match="empty"):
        write_export(store, tmp_path / name, Selection(until=date(2001, 1, 1)))
    store.close()
    assert list(tmp_path.iterdir()) == []


def test_the_corpus_keeps_what_the_check_measured(donated, tmp_path):
    from collections import Counter

    from glissando.corpus.readers import read_corpus

    store = Store(donated)
    write_export(store, tmp_path / "rows.jsonl")
    store.close()
    assert {round(one.key_distance, 1) for one in read_corpus(tmp_path / "rows.jsonl", Counter(), "futo")} >= {3.5}
