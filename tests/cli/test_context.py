"""glissando context, through the real entry point; and decoding with what stands before."""

import gzip
import json

import pytest
from command import lines, refused, row, run

TEXT = "the cat sat\nthe cat ran\na dog ran\n"


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt.gz"
    path.write_bytes(gzip.compress(TEXT.encode()))
    return path


def test_build_and_show(text, tmp_path):
    output = tmp_path / "mine.context"
    options = ("--language", "en", "--source", "three sentences", "--licence", "CC0")
    result = run("context", "build", text, "-o", output, *options, "--json")
    assert result.code == 0, result
    header = json.loads(result.out)
    assert header["counts"] == {"words": 7, "pairs": 7, "triples": 1}
    assert header["sources"] == [{"name": "three sentences", "licence": "CC0"}]
    shown = run("context", "show", output, "--json")
    assert json.loads(shown.out) == header
    shown = run("context", "show", output, "--after", "the")
    assert "three sentences (CC0)" in shown.out
    assert shown.out.splitlines()[-1].split()[1] == "cat"


def test_what_is_refused(text, tmp_path):
    assert "ends in .context" in refused("context", "build", text, "-o", tmp_path / "mine.txt")
    assert "cannot read" in refused("context", "build", tmp_path / "none", "-o", tmp_path / "mine.context")
    (tmp_path / "bad.context").write_bytes(b"nothing")
    assert "damaged" in refused("context", "show", tmp_path / "bad.context")
    assert "no context 'xx'" in refused("context", "show", "xx")
    assert "names no language" in refused("context", "show", "auto")


def test_decode_takes_a_context_and_follows_a_sentence(corpus, tmp_path):
    """ "feel" and "fell" are one path here: only what stands before can tell them apart."""
    (tmp_path / "words.txt").write_text("feel 50\nfell 50\nhe 90\nwe 90\n")
    options = ("--lexicon", tmp_path / "words.txt", "--language", "en", "-k", 1)

    def best(*rows, more=()):
        result = run("decode", corpus(list(rows)), *options, *more)
        assert result.code == 0, result
        return result.out.split()

    first, second = row("he"), row("fell")
    assert len(best(first, second)) == 2
    with_text = [
        run("decode", corpus([{**second, "context": text}]), *options, "--json").out for text in ("how do you", "")
    ]
    scores = [json.loads(line)["candidates"][0]["score"] for line in with_text]
    assert scores[0] != scores[1]
    alone = json.loads(run("decode", corpus([second]), *options, "--json").out)
    following = run("decode", corpus([first, second]), *options, "--sentence", "--json").out.splitlines()
    assert json.loads(following[1])["candidates"][0]["score"] != alone["candidates"][0]["score"]
    assert "context must be text" in refused("decode", corpus([{**second, "context": 5}]), *options)
    assert "shark2 decodes words alone" in refused(
        "decode", corpus([second]), *options, "--sentence", "--method", "shark2"
    )


def test_evaluate_with_context(tmp_path):
    rows = [row("hello", sentence="hello world", session=one) for one in "pq"]
    rows += [row("world", sentence="hello world", session="q")]
    (tmp_path / "swipes.jsonl").write_bytes(lines(rows))
    (tmp_path / "words.txt").write_text("hello 50\nworld 50\n")
    options = (tmp_path / "swipes.jsonl", "--lexicon", tmp_path / "words.txt", "--language", "en")
    for more in ((), ("--context", "prompt"), ("--context", "decoded", "--revise")):
        result = run("evaluate", *options, *more, "--json")
        assert result.code == 0, result
        assert json.loads(result.out)["sentences"]["n"] == 3
    assert "sentences" in run("evaluate", *options).out
    assert "no context 'x'" in refused("evaluate", *options, "--context", "x")
