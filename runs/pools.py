"""Look at the mined negatives of some words, as the Markdown table of docs/decoder.md.

    python runs/pools.py build/decoder/negatives.npz [WORD ...]

Needs numpy and torch; takes a second. Words are spelled on the letters of QWERTY, a to z.
"""

from __future__ import annotations

import sys
from string import ascii_lowercase

from glissando.errors import GlissandoError, TrainingError
from glissando.train.decoder.negatives import Pools

SHOWN = 10  # negatives of a word
WORDS = "stream too to time can for stored streaming the is it hello their good will people through really because bar"


def describe(pools: Pools, word: str) -> str:
    """A row of the table: a word, the first of its pool, and how often each was retrieved."""
    typed = bytes(ascii_lowercase.index(letter) for letter in word)
    number = pools.vocabulary.numbers.get(typed, -1)
    if number < 0:
        raise TrainingError(f"{word!r} is not among the words of these negatives")
    members, counts = pools.pool(number)
    shown = [
        f"{''.join(ascii_lowercase[key] for key in pools.vocabulary.spelling(int(member)))} {count}"
        for member, count in zip(members[:SHOWN].tolist(), counts[:SHOWN].tolist(), strict=True)
    ]
    return f"| {word} | {', '.join(shown)} |"


def main(arguments: list[str]) -> int:
    """Print the table."""
    try:
        pools = Pools.open(arguments[0])
        rows = [describe(pools, word) for word in arguments[1:] or WORDS.split()]
    except GlissandoError as error:
        print(f"glissando: {error}", file=sys.stderr)
        return 1
    print(pools.summary())
    print("\n".join(["| word | its first negatives, and how often each was retrieved |", "|---|---|", *rows]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
