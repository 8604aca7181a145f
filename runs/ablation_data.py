"""What more data would bring: the data rows of the ablations as points of a power law, and how far to trust it."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import curve_fit

from glissando.corpus.layouts import LayoutShelf
from glissando.evaluation.evaluate import EvaluationOptions, read_targets
from glissando.train.sampling import draws

SEED_SPREAD = {"val": 0.19, "ru": 0.44, "direct": 0.24}  # points of top-1 over three seeds (RESULTS.md)
MILLION = 1_043_789  # the report's swipes after its filter
LAWS = {"b n⁻ᶜ": False, "a + b n⁻ᶜ": True}  # whether they have a floor
DRAWS = 1000  # of the bootstrap
NOTE = """\
Intervals: bootstrap over the people of each set (words of JCUKEN), the same for all rows, and the noise of seeds. They
take the law for granted, and that new people type like these; what the two laws do not agree on is not known. All rows
train for the same steps, so the swipes of few people are seen more often."""

Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Extrapolation:
    """A power law floor + factor * (n / reference) ** -exponent of the error, and its bootstrap.

    Attributes:
        constants: (factor, exponent, floor), fitted to all swipes.
        reference: the most data it was fitted to.
        amounts: [m] of data to extrapolate to.
        low, high: [m] the 95 % interval of the error there, on other swipes of the kind.
        gain_low, gain_high: [m] the same of the gain over ``reference``. Most of what makes a set of swipes easy or
            hard cancels here.
    """

    constants: np.ndarray
    reference: float
    amounts: np.ndarray
    low: np.ndarray
    high: np.ndarray
    gain_low: np.ndarray
    gain_high: np.ndarray

    def at(self, amounts: np.ndarray | float) -> np.ndarray:
        """The error with an amount of data. Shape: [...] -> [...]."""
        return power_law(np.asarray(amounts) / self.reference, *self.constants)

    @property
    def gain(self) -> np.ndarray:
        """How much lower the error is than with ``reference``. Shape: [m]."""
        return self.at(self.reference) - self.at(self.amounts)


def power_law(share: np.ndarray, factor: float, exponent: float, floor: float = 0.0) -> np.ndarray:
    """The error with a share of the reference's data. Shape: [...] -> [...]."""
    return floor + factor * share**-exponent


def fit(amounts: np.ndarray, errors: np.ndarray, *, floor: bool) -> np.ndarray:
    """Fit a power law by least squares, each error weighted by its binomial spread. Shape: [R], [R] -> [3]."""
    spread = np.sqrt(np.maximum(errors * (1 - errors), 1e-6))
    # Below zero more data do harm, which an interval must be able to say; with a floor that has no meaning.
    lowest, highest = ([0.0, 1e-3, 0.0], [1.0, 2.0, 1.0]) if floor else ([0.0, -0.3], [1.0, 2.0])
    start = [max(errors.min(), 1e-3), 0.3, 0.0][: len(lowest)]
    constants, _ = curve_fit(power_law, amounts / amounts.max(), errors, start, spread, bounds=(lowest, highest))
    return np.append(constants, [0.0] * (3 - len(constants)))


def extrapolate(
    amounts: np.ndarray, wrong: np.ndarray, owners: Sequence[Hashable], *, floor: bool, seed_spread: float
) -> Extrapolation:
    """Fit a law to the errors of several runs on the same swipes, with an interval, up to the report's million.

    The bootstrap draws people, not swipes, since one person's swipes are read alike, and the same people for all runs.
    Other seeds of training are added as normal noise. That the error follows the law beyond the runs is taken for
    granted: fit both forms and believe no more than they agree on.

    Args:
        amounts: [R] data of each run.
        wrong: [R, n] bool, whether a run misreads a swipe.
        owners: [n] who made each swipe.
        floor: whether some of the error may stay for good.
        seed_spread: standard deviation of a run's error over seeds, as a share.
    """
    wanted = np.geomspace(amounts.min(), MILLION, 60)
    people = {owner: number for number, owner in enumerate(dict.fromkeys(owners))}
    number = np.array([people[owner] for owner in owners])
    sizes = np.bincount(number)
    missed = np.stack([np.bincount(number, run, len(people)) for run in wrong])  # [R, P]
    rng = np.random.default_rng(0)
    times = rng.multinomial(len(people), np.full(len(people), 1 / len(people)), DRAWS)  # [draws, P]
    errors = times @ missed.T / (times @ sizes)[:, None]
    errors = np.clip(errors + rng.normal(0, seed_spread, errors.shape), 1e-4, 1 - 1e-4)
    laws = [fit(amounts, drawn, floor=floor) for drawn in errors]
    curves = np.stack([power_law(wanted / amounts.max(), *law) for law in laws], axis=1)  # [m, draws]
    levels = np.array([power_law(np.float64(1), *law) for law in laws])
    intervals = [np.percentile(part, [2.5, 97.5], axis=1) for part in (curves, levels - curves)]
    constants = fit(amounts, wrong.mean(axis=1), floor=floor)
    return Extrapolation(constants, float(amounts.max()), wanted, *intervals[0], *intervals[1])


@dataclass(frozen=True, eq=False)
class Trend:
    """Errors of runs with more and more data on one set of swipes.

    Attributes:
        title: the set.
        amounts: [R] swipes trained on.
        errors: [R] shares misread.
        laws: by the name a legend gives them, drawn over their own amounts.
    """

    title: str
    amounts: np.ndarray
    errors: np.ndarray
    laws: dict[str, Extrapolation]


def count_people(rows: list[Row], data: Path, cache: Path) -> None:
    """Give rows the number of people and swipes they were trained on.

    Args:
        rows: with their training's settings; gain "people" and "swipes".
        data: the directory of swipes.
        cache: a file for the sessions, which take half a minute to read.
    """
    if not cache.exists():
        options = EvaluationOptions(max_key_distance=2.0)
        file = data / "swipes" / "how_we_swipe_train.jsonl.gz"
        names = [swipe.session for swipe in read_targets(file, LayoutShelf(data / "layouts"), options)]
        number = {session: place for place, session in enumerate(dict.fromkeys(names))}  # as a pack counts them
        np.save(cache, np.array([number[session] for session in names]))
    sessions = np.load(cache)
    for row in rows:
        low, high = row["training"].get("part", (0, 1))
        drawn = draws(sessions, row["training"].get("part_seed", 0))
        kept = sessions[(low <= drawn) & (drawn < high)]
        row.update(people=len(np.unique(kept)), swipes=len(kept))


def extrapolate_rows(rows: list[Row], titles: dict[str, str], owners: dict[str, list[str]]) -> tuple[str, list[Trend]]:
    """Fit the error against the swipes trained on, and tabulate what the report's million would bring.

    Args:
        rows: with "swipes" and the ranks of every set.
        titles: of the sets to look at.
        owners: who made each swipe of a set.

    Returns:
        The table, and what to draw; nothing of fewer than three amounts.
    """
    rows = sorted(rows, key=lambda row: row["swipes"])
    amounts = np.array([row["swipes"] for row in rows], dtype=np.float64)
    if len(np.unique(amounts)) < 3:
        return "", []
    lines = [
        "",
        f"Top-1 with {MILLION:,} swipes like these and the gain over {int(amounts[-1]):,}, extrapolated:",
        "",
        "| set | " + " | ".join(f"{law} | gain, points | constants" for law in LAWS) + " |",
        "|---" * (1 + 3 * len(LAWS)) + "|",
    ]
    trends = []
    for name, title in titles.items():
        wrong = np.stack([row["arrays"][f"ranks_{name}"] != 1 for row in rows])
        spread = SEED_SPREAD[name] / 100
        laws = {
            law: extrapolate(amounts, wrong, owners[name], floor=floor, seed_spread=spread)
            for law, floor in LAWS.items()
        }
        lines.append(f"| {title} | " + " | ".join(last(law) for law in laws.values()) + " |")
        trends.append(Trend(title, amounts, wrong.mean(axis=1), laws))
    return "\n".join([*lines, "", NOTE, ""]), trends


def last(law: Extrapolation) -> str:
    """Top-1 and gain at the last amount with their 95 % intervals, and the law's constants."""
    errors = law.at(law.amounts[-1]), law.high[-1], law.low[-1]
    top1, low, high = (100 - 100 * float(error) for error in errors)
    gain, least, most = (100 * float(part[-1]) for part in (law.gain, law.gain_low, law.gain_high))
    _, exponent, floor = law.constants
    text = f"a = {100 * floor:.1f} %, " if floor > 5e-4 else ""
    return (
        f"{top1:.1f} ({low:.1f} to {high:.1f}) | {gain:+.1f} ({least:+.1f} to {most:+.1f}) | {text}c = {exponent:.2f}"
    )
