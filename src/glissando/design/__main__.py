"""``python -m glissando.design``: the search where there is torch, numpy and safetensors, no more (a GPU machine).

Elsewhere ``glissando design`` does the same with a progress bar.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from glissando.design.archive import Found
from glissando.design.config import SearchConfig
from glissando.design.run import Designed, DesignRequest, design
from glissando.design.search import Progress
from glissando.errors import GlissandoError
from glissando.layout import Layout

EVERY = 5.0  # seconds between lines


def main() -> None:
    """Parse, search, print."""
    parser = argparse.ArgumentParser(prog="python -m glissando.design", description="Search for a keyboard layout.")
    parser.add_argument("--grid")
    parser.add_argument("--stagger", type=float)
    parser.add_argument("--words", type=Path, help="an .npz of words, as `glissando design words` writes")
    parser.add_argument("--language", default="en")
    parser.add_argument("--letters")
    parser.add_argument("--start")
    parser.add_argument("--pin", default="")
    parser.add_argument("--max-swaps", type=int)
    parser.add_argument("--weights", default="judge", help="packaged name, .onnx or .safetensors")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--name", default="designed")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--device")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="NAME=VALUE")
    given = vars(parser.parse_args())
    try:
        config = SearchConfig().changed(given.pop("settings"))
        found = design(DesignRequest(**given), config, Lines(config.dial).show)
    except GlissandoError as error:
        print(f"glissando: {error}", file=sys.stderr)
        sys.exit(1)
    print("\n".join(summary(found, config)))


class Lines:
    """Prints a line now and then, to standard error."""

    def __init__(self, dial: float) -> None:
        self.dial, self.last = dial, 0.0

    def show(self, progress: Progress, layout: Layout) -> None:
        """Print how the search stands, and its best layout."""
        if time.monotonic() - self.last >= EVERY:
            self.last = time.monotonic()
            print(f"{describe(progress, self.dial)}  {rows_of(layout)}", file=sys.stderr, flush=True)


def describe(progress: Progress, dial: float) -> str:
    """One line on the progress of a search."""
    tally, best = progress.tally, progress.best
    seconds = max(tally.seconds, 1e-9)
    return (
        f"{seconds:6.0f} s  round {tally.rounds:,}  {tally.layouts:,} layouts ({tally.layouts / seconds:,.0f}/s)  "
        f"{tally.swipes / seconds:,.0f} swipes/s  {tally.summits} summits  best {costs_of(best, dial)}"
    )


def costs_of(found: Found, dial: float) -> str:
    """A layout's cost and its parts, per word."""
    return f"{found.total(dial):.4f} = {found.clarity:.4f} nats + {dial:g} x {found.travel:.4f} s"


def rows_of(layout: Layout) -> str:
    """The letters row by row."""
    return " / ".join("".join(layout.letters[key] for key in row) for row in layout.rows)


def summary(found: Designed, config: SearchConfig) -> list[str]:
    """What to say at the end."""
    tally, seconds = found.tally, max(found.tally.seconds, 1e-9)
    known = 1 - tally.swipes / max(1, tally.lookups)
    lines = ["stopped early; this is the best so far"] if found.interrupted else []
    lines.append(
        f"{tally.layouts:,} layouts judged on every word in {seconds:,.0f} s, {tally.layouts / seconds:,.0f} a second; "
        f"{tally.swipes:,} swipes read, {known:.1%} of the costs were known"
    )
    lines.append(f"{found.layout.name}: {rows_of(found.layout)}; the first layout looked at cost {tally.began:.4f}")
    costs = {found.layout.name: found.best, **found.peers}
    lines += [f"  {name:12} cost {costs_of(one, config.dial)} per word, {config.view}" for name, one in costs.items()]
    if config.view != "upright":
        read = ", ".join(f"{name} {clarity:.4f}" for name, clarity in found.upright.items())
        lines.append(f"  nats per word upright: {read}")
    return lines


if __name__ == "__main__":
    main()
