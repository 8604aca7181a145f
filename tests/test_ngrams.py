"""Counting text: by hand, in chunks, into a size; and what is refused."""

import gzip

import numpy as np
import pytest

from glissando import ngrams
from glissando.errors import ContextError
from glissando.ngrams import BASE, build_context, count_text, estimate, pack, prune

TEXT = "The cat sat. The cat ran!\nA dog ran\n"


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def sums(model):
    """For every word, the sum of probabilities after it; it must be one."""
    numbers = np.arange(1, len(model.words))
    return [
        float((model.shares[1:] * model.after_one(head * BASE + numbers)).sum()) for head in range(len(model.words))
    ]


def test_counts_by_hand(text):
    counts = count_text([text])
    assert counts.words[0] == "<s>"
    assert dict(zip(counts.words, counts.singles, strict=True)) == {
        "<s>": 3, "the": 2, "cat": 2, "ran": 2, "sat": 1, "a": 1, "dog": 1,
    }  # fmt: skip
    named = {tuple(counts.words[n] for n in divmod(key, BASE)) for key in counts.pairs.tolist()}
    assert named == {("<s>", "the"), ("<s>", "a"), ("the", "cat"), ("cat", "sat"), ("cat", "ran"), ("a", "dog"),
                     ("dog", "ran")}  # fmt: skip
    assert counts.pair_counts.sum() == 9
    assert counts.triple_counts.sum() == 6  # none crosses the end of a sentence


def test_probabilities_sum_to_one(text):
    model = estimate(count_text([text]), least=1)
    assert sums(model) == pytest.approx([1] * 7)
    numbers = np.arange(1, 7)
    for key in model.pairs.tolist():
        after = model.shares[1:] * model.after_two(key * BASE + numbers)
        assert after.sum() == pytest.approx(1)


def test_pruning_fits_the_size_and_keeps_the_sums(tmp_path):
    rng = np.random.default_rng(0)
    words = [f"w{chr(97 + i)}{chr(97 + j)}" for i in range(12) for j in range(12)]
    shares = 1 / np.arange(1, 145)
    drawn = rng.choice(144, size=(4000, 6), p=shares / shares.sum())
    (tmp_path / "t.txt").write_text("\n".join(" ".join(words[i] for i in line) for line in drawn))
    model = estimate(count_text([tmp_path / "t.txt"]))
    sizes = []
    for size in (100_000, 20_000, 8_000):
        small = prune(model, size)
        assert sums(small) == pytest.approx([1] * len(small.words), abs=1e-6)
        context = pack(small, {})
        used = sum(table.nbytes for table in context.tables) + len(context.words.text) + context.words.offsets.nbytes
        assert used <= size + 64
        sizes.append(len(small.pairs) + len(small.triples))
    assert sizes[0] > sizes[1] > sizes[2] > 0


def test_gzip_and_several_files_count_alike(text, tmp_path):
    zipped = tmp_path / "text.gz"
    zipped.write_bytes(gzip.compress(TEXT.encode()))
    one, other = count_text([text, text]), count_text([zipped, text])
    np.testing.assert_array_equal(one.pair_counts, other.pair_counts)
    assert one.singles[0] == 6


def test_chunks_count_the_same(text, monkeypatch):
    whole = count_text([text])
    monkeypatch.setattr(ngrams, "CHUNK", 3)
    parts = count_text([text])
    np.testing.assert_array_equal(whole.triples, parts.triples)
    np.testing.assert_array_equal(whole.triple_counts, parts.triple_counts)


def test_too_many_n_grams_lose_the_rarest(text, monkeypatch):
    monkeypatch.setattr(ngrams, "MAX_NGRAMS", 3)
    counts = count_text([text])
    assert set(counts.pair_counts) == {2}
    assert len(build_context([text], {}, 10_000).pairs) <= 1


def test_numbers_are_known_to_nobody_and_break_what_follows(tmp_path):
    (tmp_path / "t.txt").write_text("room 12 is free\nroom 12 is free\n")
    context = build_context([tmp_path / "t.txt"], {}, 10_000)
    assert "12" not in context.numbers
    assert context.ratio(context.numbers["is"], context.numbers["room"]) == 0


def test_progress_reaches_the_end(text):
    calls = []
    many = text.with_name("many.txt")
    many.write_text(TEXT * 20_000)
    count_text([many], "", lambda done, total: calls.append((done, total)))
    assert calls == sorted(calls)
    assert 0 < calls[-1][0] <= calls[-1][1] == 2 * many.stat().st_size


def test_bad_text_is_refused(tmp_path):
    cases = {
        "latin.txt": ("Gr\xfcn".encode("latin-1"), "is not UTF-8"),
        "cut.gz": (gzip.compress(TEXT.encode() * 1000)[:-9], "damaged gzip"),
        "empty.txt": (b"", "no words in"),
        "signs.txt": (b"... 12 ?!\n", "no words in"),
        "long.txt": (b"a " * (1 << 20), "longer than"),
    }
    for name, (data, message) in cases.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ContextError, match=message):
            count_text([tmp_path / name])
    with pytest.raises(ContextError, match="cannot read"):
        count_text([tmp_path / "none.txt"])
