"""Splits by session: no person is in two of them.

A session's split depends only on its name and the seed, so a corpus that grows keeps its splits.
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
        fractions: expected share of sessions by split, as ``parse_fractions`` gives it.
        seed: another seed gives another split.
    """
    for swipe in swipes:
        if swipe.session is None:
            raise CorpusError(f"a swipe of {swipe.word!r} has no session; a split by person needs one for each")
        yield split_of(swipe.session, fractions, seed), swipe


def split_of(session: str, fractions: Mapping[str, float], seed: int = 0) -> str:
    """The split of a session."""
    digest = hashlib.blake2b(f"{seed}:{session}".encode(), digest_size=8).digest()
    place = int.from_bytes(digest, "big") / 2**64
    edge = 0.0
    for name, fraction in fractions.items():
        edge += fraction
        if place < edge:
            return name
    return name  # rounding may leave the sum of the fractions short of one


def parse_fractions(text: str) -> dict[str, float]:
    """Read the names and shares of splits; the shares sum to one.

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
    if not all(share > 0 for share in fractions.values()):
        raise CorpusError(f"every split needs a positive share, got {fractions}")
    if not math.isclose(sum(fractions.values()), 1.0, abs_tol=1e-6):
        raise CorpusError(f"shares must sum to 1, got {fractions} with sum {sum(fractions.values()):g}")
    for name in fractions:
        if not name.replace("-", "").replace("_", "").isalnum():
            raise CorpusError(f"a split's name consists of letters, digits, - and _, got {name!r}")
    return fractions
