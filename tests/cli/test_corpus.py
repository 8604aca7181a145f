"""``glissando corpus``."""

import json

import pytest
from command import refused, run

from glissando.corpus.packed import PackedCorpus
from glissando.corpus.records import read_swipes


def printed(*arguments):
    """What a command of the group prints."""
    result = run("corpus", *arguments)
    assert result.code == 0, result
    return result.out


def swipe(word, session, **change):
    """A straight swipe from q to p on the top row, which follows "qp" and not much else."""
    line = [0.05 + 0.1 * n for n in range(10)]
    row = {"word": word, "x": line, "y": [1 / 6] * 10, "t": [20 * n for n in range(10)], "layout": "qwerty"}
    return row | {"session": session, "canvas_width": 400, "canvas_height": 160} | change


@pytest.fixture
def corpus(tmp_path):
    rows = [swipe("qp", f"p{n}") for n in range(60)]
    rows += [swipe("zm", "p1"), swipe("qp", "p2", t=[0] * 10), swipe("q1p", "p3")]
    file = tmp_path / "swipes.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows))
    return file


def test_stats(corpus):
    assert "Unique target words" in printed("stats", corpus)
    figures = json.loads(printed("stats", corpus, "--json"))
    assert (figures["swipes"], figures["words"], figures["sessions"]) == (63, 3, 60)
    assert figures["key_distance"] is None
    measured = json.loads(printed("stats", corpus, corpus, "--measure", "--json"))
    assert measured["swipes"] == 126
    assert measured["key_distance"]["median"] < 0.1


def test_filter(corpus, tmp_path):
    out = tmp_path / "good.jsonl.gz"
    figures = json.loads(printed("filter", corpus, "-o", out, "--json"))
    assert figures == {
        "kept": 60,
        "dropped": {"does not follow its keys": 1, "implausible duration": 1, "not typeable": 1},
    }
    kept = list(read_swipes(out))
    assert len(kept) == 60
    assert all(swipe.key_distance is not None and swipe.key_distance < 0.1 for swipe in kept)
    assert "left out: 1 implausible duration" in printed("filter", corpus, "-o", out)
    message = refused("corpus", "filter", corpus, "-o", tmp_path / "out.jsonl", "--min-points", 50)
    assert "no swipe is left to write (63 too few points)" in message
    assert sorted(tmp_path.iterdir()) == [out, corpus]


def test_convert(tmp_path):
    futo = tmp_path / "futo.jsonl"
    point = {"x": 0.12345678, "y": 0.5, "t": 7}
    rows = [{"word": "Hi!", "data": [point], "session": "s"}, {"word": "no", "data": {"L": [], "R": []}}]
    futo.write_text("\n".join(json.dumps(row) for row in rows))
    result = printed("convert", futo, "-o", tmp_path / "ours.jsonl")
    assert "1 swipes" in result
    assert "left out: 1 two fingers" in result
    (swipe,) = read_swipes(tmp_path / "ours.jsonl")
    assert (swipe.word, swipe.gesture.x.tolist(), swipe.session) == ("hi", [0.1235], "s")


def test_split(corpus, tmp_path):
    out = tmp_path / "splits"
    counts = json.loads(printed("split", corpus, "-o", out, "--fractions", "train=0.7,val=0.3", "--json"))
    people = {}
    for name in ("train", "val"):
        swipes = list(read_swipes(out / f"{name}.jsonl.gz"))
        assert len(swipes) == counts[name] > 0
        people[name] = {swipe.session for swipe in swipes}
    assert not people["train"] & people["val"]
    assert sum(counts.values()) == 63
    (tmp_path / "one.jsonl").write_text(json.dumps(swipe("qp", "p1")))
    assert "nothing falls into" in refused("corpus", "split", tmp_path / "one.jsonl", "-o", tmp_path / "empty")
    assert list((tmp_path / "empty").iterdir()) == []


@pytest.mark.parametrize("name", ["pack", "pack.npz"])
def test_pack(corpus, tmp_path, name):
    figures = json.loads(printed("pack", corpus, "-o", tmp_path / name, "--json"))
    assert (figures["rows"], figures["layouts"]) == (62, ["qwerty"])
    assert figures["dropped"] == {"not typeable on qwerty": 1}
    packed = PackedCorpus.open(tmp_path / name)
    assert len(packed) == 62
    assert packed.meta["source"] == "swipes.jsonl"
    assert "--overwrite" in refused("corpus", "pack", corpus, "-o", tmp_path / name)
    result = printed("pack", corpus, "-o", tmp_path / name, "--overwrite", "--valid", "--max-key-distance", 2)
    assert "60 swipes of 1 words on qwerty" in result
    assert len(PackedCorpus.open(tmp_path / name)) == 60


def test_parquet_and_globs_and_addresses(corpus, tmp_path):
    pytest.importorskip("pyarrow", reason="the parquet extra is not installed")
    good, out = tmp_path / "good.parquet", tmp_path / "splits"
    assert json.loads(printed("filter", corpus, "-o", good, "--json"))["kept"] == 60
    printed("convert", corpus, "-o", tmp_path / "all.parquet")
    assert json.loads(printed("stats", corpus, "--json")) == json.loads(printed("stats", f"{tmp_path}/a*t", "--json"))
    counts = json.loads(printed("split", good.as_uri(), "-o", out, "--parquet", "--json"))
    assert {file.name: len(list(read_swipes(file))) for file in out.iterdir()} == {
        f"{name}.parquet": count for name, count in counts.items()
    }
    assert json.loads(printed("stats", out, "--json"))["swipes"] == 60
    printed("pack", out, "-o", tmp_path / "pack")
    assert PackedCorpus.open(tmp_path / "pack").meta["source"] == "splits"
    (out / "train.parquet").write_bytes((out / "train.parquet").read_bytes()[:-9])
    assert "train.parquet: unreadable Parquet" in refused("corpus", "convert", out, "-o", tmp_path / "c.jsonl")
    assert not (tmp_path / "c.jsonl").exists()


@pytest.mark.parametrize("command", ["filter", "convert", "split", "pack"])
def test_an_address_is_no_output(corpus, command):
    message = refused("corpus", command, corpus, "-o", "s3://key:secret@bucket/x.parquet")
    assert "s3://bucket/x.parquet is an address; outputs are written to local files" in message


def test_errors_name_file_and_line(corpus, tmp_path):
    corpus.write_text(corpus.read_text() + "\n{")
    for arguments in (
        ("stats", corpus),
        ("filter", corpus, "-o", tmp_path / "a.jsonl"),
        ("convert", corpus, "-o", tmp_path / "b.jsonl"),
        ("split", corpus, "-o", tmp_path / "c"),
        ("pack", corpus, "-o", tmp_path / "d"),
    ):
        assert "swipes.jsonl:64: not JSON" in refused("corpus", *arguments)
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and file != corpus]
