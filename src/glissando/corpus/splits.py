"""Splits by session: no person is in two of them.

A session's split depends on its name and the seed alone, so a corpus that grows keeps its splits.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping

from glissando.corpus.records import Swipe
from glissando.errors import CorpusError


def split_sessions(
    swipes: Iterable[Swipe], fractions: Mapping[str, float], seed: int = 0
) -> Iterator[tuple[str, Swipe]]:
    """Yield (split, swipe) for every swipe, all of one session in the same split.

    Args:
        swipes: a corpus; every swipe needs a session.
        fractions: expected share of sessions by split, such as {"train": 0.9, "val": 0.1}; they sum to one.
        seed: another seed gives another split.
    """
    _check_fractions(fractions)
    known: dict[str, str] = {}
    for swipe in swipes:
        if swipe.session is None:
            raise CorpusError(f"a swipe of {swipe.word!r} has no session; a split by person needs one for each")
        if swipe.session not in known:
            known[swipe.session] = split_of(swipe.session, fractions, seed)
        yield known[swipe.session], swipe


def split_of(session: str, fractions: Mapping[str, float], seed: int = 0) -> str:
    """The split a session falls in."""
    digest = hashlib.blake2b(f"{seed}:{session}".encode(), digest_size=8).digest()
    place = int.from_bytes(digest, "big") / 2**64
    edge = 0.0
    for name, fraction in fractions.items():
        edge += fraction
        if place < edge:
            return name
    return name  # the fractions' sum may fall short of one by rounding


def parse_fractions(text: str) -> dict[str, float]:
    """Read "train=0.9,val=0.1".

    >>> parse_fractions("train=0.9,val=0.1")
    {'train': 0.9, 'val': 0.1}
    """
    fractions: dict[str, float] = {}
    for part in text.split(","):
        name, _, share = part.strip().partition("=")
        try:
            fractions[name.strip()] = float(share)
        except ValueError:
            raise CorpusError(f"fractions look like train=0.9,val=0.1; got {text!r}") from None
    _check_fractions(fractions)
    return fractions


def _check_fractions(fractions: Mapping[str, float]) -> None:
    """Refuse shares that do not make a whole, and names that are no file names."""
    if not fractions or not all(share > 0 for share in fractions.values()):
        raise CorpusError(f"every split needs a positive share, got {dict(fractions)}")
    if not math.isclose(sum(fractions.values()), 1.0, abs_tol=1e-6):
        raise CorpusError(f"shares must sum to 1, got {dict(fractions)} with sum {sum(fractions.values()):g}")
    for name in fractions:
        if not name.replace("-", "").replace("_", "").isalnum():
            raise CorpusError(f"a split's name is made of letters, digits, - and _, got {name!r}")
