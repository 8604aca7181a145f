"""Splits by session: disjoint, stable, seedable, and of the shares asked for."""

import pytest

from glissando.corpus.records import Swipe
from glissando.corpus.splits import parse_fractions, split_of, split_sessions
from glissando.errors import CorpusError
from glissando.gesture import Gesture

SHARES = {"train": 0.8, "val": 0.15, "test": 0.05}


def _swipe(session: str | None, word: str = "ab") -> Swipe:
    return Swipe(word, Gesture([0.0], [0.0], [0]), "qwerty", session)


def test_shares_hold_and_seeds_differ() -> None:
    names = [split_of(f"p{n}", SHARES) for n in range(20_000)]
    for name, share in SHARES.items():
        assert names.count(name) / 20_000 == pytest.approx(share, abs=0.01)
    others = [split_of(f"p{n}", SHARES, seed=1) for n in range(20_000)]
    agree = sum(a == b for a, b in zip(names, others, strict=True)) / 20_000
    assert agree == pytest.approx(sum(share**2 for share in SHARES.values()), abs=0.02)


def test_a_split_never_moves() -> None:
    # Pinned: a corpus that is split again, or has grown, keeps its people where they were.
    pinned = {"p0": "train", "p1": "train", "p6": "test", "p14": "val", "p20": "val"}
    assert {name: split_of(name, SHARES) for name in pinned} == pinned
    with pytest.raises(CorpusError, match="a swipe of 'ab' has no session"):
        list(split_sessions([_swipe("p1"), _swipe(None)], SHARES))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("train", "look like train=0.9,val=0.1"),
        ("train=0.5,val=0.4", "must sum to 1"),
        ("train=1.1,val=-0.1", "positive share"),
        ("train=nan", "positive share"),
        ("../train=1", "a split's name"),
        ("=1", "a split's name"),
    ],
)
def test_bad_fractions(text: str, says: str) -> None:
    with pytest.raises(CorpusError, match=says):
        parse_fractions(text)


def test_fractions_that_round_short_of_one() -> None:
    shares = parse_fractions(", ".join(f"s{n}=0.1" for n in range(10)))
    assert {split_of(f"p{n}", shares) for n in range(1000)} == set(shares)
