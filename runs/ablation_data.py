"""What more data would bring: the data rows of the ablations as points of a power law."""

from pathlib import Path
from typing import Any

import numpy as np

from glissando.corpus.layouts import LayoutShelf
from glissando.evaluation.evaluate import EvaluationOptions, read_targets
from glissando.evaluation.scaling import Extrapolation, extrapolate
from glissando.figures.ablations import Trend, draw_scaling
from glissando.train.holdout import draws

SEED_SPREAD = {"val": 0.19, "ru": 0.44, "direct": 0.24}  # points of top-1 over three seeds (RESULTS.md)
MILLION = 1_043_789  # the report's swipes after its filter
LAWS = {"b n⁻ᶜ": False, "a + b n⁻ᶜ": True}  # whether they have a floor
NOTE = """\
Intervals: bootstrap over the people of each set (words of JCUKEN), the same for all rows, and the noise of seeds. They
take the law for granted, and that new people type like these; what the two laws do not agree on is not known. All rows
train for the same steps, so the swipes of few people are seen more often."""

Row = dict[str, Any]


def count_people(rows: list[Row], data: Path, cache: Path) -> None:
    """Give rows the number of people and swipes they were trained on.

    Args:
        rows: with their training's settings; gain "people" and "swipes".
        data: the directory of swipes.
        cache: a file for what it takes half a minute to read.
    """
    if not cache.exists():
        options = EvaluationOptions(max_key_distance=2.0)
        file = data / "swipes" / "how_we_swipe_train.jsonl.gz"
        found = [swipe.session for swipe in read_targets(file, LayoutShelf(data / "layouts"), options)]
        number = {session: place for place, session in enumerate(dict.fromkeys(found))}  # as a pack counts them
        np.save(cache, np.array([number[session] for session in found]))
    sessions = np.load(cache)
    for row in rows:
        low, high = row["training"].get("part", (0, 1))
        drawn = draws(sessions, row["training"].get("part_seed", 0))
        kept = sessions[(low <= drawn) & (drawn < high)]
        row.update(people=len(np.unique(kept)), swipes=len(kept))


def extrapolate_rows(rows: list[Row], titles: dict[str, str], owners: dict[str, list[str]], picture: Path) -> str:
    """Fit the error against the swipes trained on, draw it, and tabulate what the report's million would bring.

    Args:
        rows: with "swipes" and the ranks of every set.
        titles: of the sets to look at.
        owners: who made each swipe of a set.
        picture: a file without a suffix.
    """
    rows = sorted(rows, key=lambda row: row["swipes"])
    amounts = np.array([row["swipes"] for row in rows], dtype=np.float64)
    if len(np.unique(amounts)) < 3:
        return ""
    wanted = np.geomspace(amounts[0], MILLION, 60)
    lines = [
        "",
        f"Top-1 with {MILLION:,} swipes like these and what they gain over {int(amounts[-1]):,}, extrapolated:",
    ]
    lines += ["", "| set | " + " | ".join(f"{law} | gain, points | constants" for law in LAWS) + " |"]
    lines.append("|---" * (1 + 3 * len(LAWS)) + "|")
    trends = []
    for name, title in titles.items():
        wrong = np.stack([row["arrays"][f"ranks_{name}"] != 1 for row in rows])
        spread = SEED_SPREAD[name] / 100
        found = {
            law: extrapolate(amounts, wrong, owners[name], wanted, floor=floor, seed_spread=spread)
            for law, floor in LAWS.items()
        }
        lines.append(f"| {title} | " + " | ".join(last(one) for one in found.values()) + " |")
        trends.append(Trend(title, amounts, wrong.mean(axis=1), found))
    draw_scaling(trends, MILLION, "the report's", picture)
    return "\n".join([*lines, "", NOTE, ""])


def last(found: Extrapolation) -> str:
    """Top-1 and gain at the last amount with their 95 % intervals, and the law's constants."""
    top1, low, high = (
        100 - 100 * float(error) for error in (found.law.at(found.amounts[-1]), found.high[-1], found.low[-1])
    )
    gain, least, most = (100 * float(part[-1]) for part in (found.gain, found.gain_low, found.gain_high))
    floor = f"a = {100 * found.law.floor:.1f} %, " if found.law.floor else ""
    return (
        f"{top1:.1f} ({low:.1f} to {high:.1f}) | {gain:+.1f} ({least:+.1f} to {most:+.1f}) "
        f"| {floor}c = {found.law.exponent:.2f}"
    )
