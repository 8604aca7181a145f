"""The tables and pictures of the ablations, from the encoders that runs/ablations.py trains.

    python runs/ablation_tables.py --runs DIR [--data DIR] [--out build/ablations] [--only NAME ...] [--table NAME ...]
                                   [--images docs/images]

Evaluates the encoders DIR/NAME.safetensors that are there and not yet evaluated, prints each table as Markdown and
writes it to OUT/TABLE.md, and pictures of blank and data to OUT/ablation-*.png and .svg; --images copies their PNG.
Without --runs the tables are of what was evaluated before: OUT/rows has of every row NAME.json (figures, constants) and
NAME.npz (the rank of every swipe's word, emitted mass, the emissions of one example). Cost: 30 s of one core a row,
a third more at width 192, so 20 minutes for all; at first the data table takes half a minute more to count people.
"""

import argparse
import json
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from ablation_data import SEED_SPREAD, count_people, extrapolate_rows
from ablation_figures import Variant, draw_blanks, draw_scaling
from ablation_scores import EXAMPLE, key_of, prepare, score_row, store, stored
from ablations import ROWS
from sets import arguments

from glissando.errors import GlissandoError

COLUMNS = {
    "val": "How We Swipe val", "ru": "JCUKEN, zero-shot", "direct": "direct touch",
    "clearflow": "ClearFlow*", "kasroz": "KASROZ*", "dvorak": "Dvorak*",
}  # fmt: skip
REAL = ("val", "ru", "direct")
PROTOCOL = """\
Top-1 in percent, beam 100, Android's lists and the targets, each row with constants of its own fitted on val; arrows
where the interval of the gain leaves zero out. Intervals are of the swipes; one seed was trained, and another moves val
by {val:.2f}, JCUKEN by {ru:.2f} and direct touch by {direct:.2f} points (standard deviations of the shipped recipe).
\\* **Synthetic swipes**: 1,000 of val's words by runs/generator.py."""
REPORT_HEAD = "the report, its data: EN | RU | ClearFlow"


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        title: its heading.
        base: the row that the others are held against.
        rows: their names in order, with a title where this table has one of its own for it.
        report: what the report has for a row: top-1 in English, Russian, ClearFlow.
        extras: further columns, by heading, from a row's figures.
    """

    title: str
    base: str
    rows: dict[str, str]
    report: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    extras: dict[str, Callable[[dict[str, Any]], str]] = field(default_factory=dict)


TABLES = {
    "augmentation": Table(
        "Augmentation", "full",
        dict.fromkeys(
            ("none", "rotation", "flips", "yscale", "full", "no-yscale", "no-xscale", "no-flips", "no-reversal",
             "no-shear", "upright", "sway", "shipped"), "",
        ),
        {
            "none": (93.91, 40.54, 3.22), "rotation": (93.66, 60.99, 83.03), "flips": (93.66, 70.22, 93.49),
            "yscale": (93.23, 75.12, 96.08), "full": (93.25, 77.15, 96.45), "no-yscale": (93.59, 75.18, 95.29),
            "no-xscale": (93.48, 75.66, 95.87), "no-flips": (93.46, 74.94, 95.77),
            "no-reversal": (93.34, 76.77, 96.35), "no-shear": (93.30, 76.80, 96.54),
        },
    ),
    "head": Table(
        "Spatial head", "shipped",
        {
            "cosine-2": "", "cosine-3": "", "cosine-4": "", "shipped": "cosine, N = 8 (shipped)", "cosine-12": "",
            "cosine-16": "", "grid-12": "", "grid-16": "",
        },
        {
            "cosine-2": (64.37, 20.45, 37.84), "cosine-3": (92.87, 76.53, 96.04), "cosine-4": (93.06, 76.67, 96.18),
            "shipped": (93.25, 77.15, 96.48), "cosine-12": (93.37, 77.33, 96.48), "cosine-16": (93.26, 78.07, 96.24),
            "grid-12": (93.43, 77.19, 96.31), "grid-16": (93.23, 76.58, 96.35),
        },
        {
            "head parameters": lambda row: f"{row['head_parameters']:,}",
            "the report's count": lambda row: f"{259 * row['training']['model']['resolution'] ** 2 + 257:,}",
        },
    ),
    "blank": Table(
        "Blank handling", "shipped",
        {"gate-0": "", "shipped": "gate, penalty .05 (shipped)", "gate-0.2": "", "joint-0": "", "joint-0.05": ""},
        {},
        {
            "entropy a frame, nats": lambda row: f"{row['peakiness']['entropy']:.3f}",
            "frames with p(blank) > .9": lambda row: f"{row['peakiness']['silent']:.1f} %",
            "a letter's peak": lambda row: f"{row['peakiness']['peak']:.3f}",
            "mass a letter": lambda row: f"{row['peakiness']['mass']:.2f}",
            "mass under 1": lambda row: f"{row['peakiness']['under']:.0f} %",
        },
    ),
    "data": Table(
        "Data", "shipped",
        {**{f"people-{n}": "" for n in (5, 10, 25, 50)}, "shipped": "all of them (shipped)"},
        {},
        {"people": lambda row: f"{row['people']:,}", "swipes": lambda row: f"{row['swipes']:,}"},
    ),
    "width": Table(
        "Width", "shipped",
        {"width-64": "", "width-96": "", "shipped": "width 128 (shipped)", "width-192": ""},
        {},
        {"parameters": lambda row: f"{row['parameters']:,}"},
    ),
}  # fmt: skip


def evaluate(runs: Path, data: Path, out: Path, names: Iterable[str]) -> None:
    """Evaluate the encoders that are there and not yet known."""
    keys = {name: key_of(file) for name in names if (file := runs / f"{name}.safetensors").exists()}
    new = [name for name, key in keys.items() if not stored(name, out, key)]
    parts = prepare(data) if new else {}
    for name in new:
        result, arrays = score_row(runs / f"{name}.safetensors", parts)
        store(name, out, keys[name], result, arrays)
        print(f"{name}: val {result['sets']['val']['top1']:.2f}, {result['seconds']} s", flush=True)
    if new:
        owners = {name: [str(owner) for owner in parts[name].owners] for name in REAL}
        alphabet = list(parts["val"].keyboard.layout.keys_of)
        (out / "sets.json").write_text(json.dumps({"owners": owners, "alphabet": alphabet}), encoding="utf-8")


def load_rows(out: Path) -> dict[str, dict[str, Any]]:
    """What is known of every row: its figures, and its arrays under "arrays"."""
    rows = {}
    for name in ROWS:
        file = out / "rows" / f"{name}.json"
        if file.exists():
            with np.load(file.with_suffix(".npz")) as arrays:
                rows[name] = {**json.loads(file.read_text(encoding="utf-8")), "arrays": dict(arrays)}
    return rows


def difference(before: np.ndarray, after: np.ndarray) -> tuple[float, float, float]:
    """Gain in top-1 on the same swipes with its 95 % bootstrap interval, in points. Shape: [n] ranks each.

    A resample of swipes is gained, lost or neither as often as a multinomial says, so none need be drawn one by one.
    """
    change = (after == 1).astype(int) - (before == 1)
    n = len(change)
    counts = np.random.default_rng(0).multinomial(n, [np.mean(change == sign) for sign in (1, 0, -1)], 10_000)
    low, high = 100 * np.percentile((counts[:, 0] - counts[:, 2]) / n, [2.5, 97.5])
    return 100 * float(change.mean()), float(low), float(high)


def line(cells: Iterable[str]) -> str:
    """A line of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def tabulate(name: str, rows: dict[str, dict[str, Any]]) -> str:
    """A table and what its rows gain over its base, as Markdown."""
    table = TABLES[name]
    here = {row: title or ROWS[row].title for row, title in table.rows.items() if row in rows}
    gains = {
        (row, column): difference(*(rows[one]["arrays"][f"ranks_{column}"] for one in (table.base, row)))
        for row in here for column in COLUMNS if table.base in rows and row != table.base
    }  # fmt: skip
    counts = next(iter(rows.values()))["sets"]
    heads = [f"{title} ({counts[column]['n']:,})" for column, title in COLUMNS.items()]
    heads = ["", *table.extras, heads[0], "greedy", *heads[1:], *(REPORT_HEAD.split(" | ") if table.report else ())]
    lines = [f"### {table.title}", "", line(heads), "|" + "---|" * len(heads)]
    for row, title in here.items():
        cells = [f"{rows[row]['sets'][column]['top1']:.2f}{mark(gains.get((row, column)))}" for column in COLUMNS]
        cells.insert(1, f"{rows[row]['sets']['val']['greedy']:.1f}")
        cells = [*(show(rows[row]) for show in table.extras.values()), *cells]
        if table.report:
            cells += [f"{value:.2f}" for value in table.report.get(row, ())] or ["-"] * 3
        lines.append(line([f"**{title}**" if row == table.base else title, *cells]))
    if gains:
        lines += [
            "",
            "Gain in top-1 over the row in bold, same swipes, 95 % interval (paired bootstrap over swipes):",
            "",
        ]
        lines += [line(["", *COLUMNS.values()]), "|" + "---|" * (1 + len(COLUMNS))]
    for row, title in here.items():
        if (row, "val") in gains:
            found = (gains[row, column] for column in COLUMNS)
            lines.append(line([title, *(f"{gain:+.2f} ({low:+.2f} to {high:+.2f})" for gain, low, high in found)]))
    return "\n".join([*lines, "", notes(table, here, rows), ""])


def mark(gain: tuple[float, float, float] | None) -> str:
    """An arrow where an interval leaves zero out."""
    return "" if gain is None or gain[1] <= 0 <= gain[2] else " ↑" if gain[0] > 0 else " ↓"


def notes(table: Table, here: Iterable[str], rows: dict[str, dict[str, Any]]) -> str:
    """What must be known to read a table."""
    text = [PROTOCOL.format(**SEED_SPREAD)]
    if table.report:
        text.append("The report's columns are of other data and other training data: compare changes, not levels.")
    if repruned := [row for row in here if rows[row]["repruned"]]:
        text.append(f"Pruning constants of their own, for recall: {', '.join(repruned)}.")
    return "\n".join(text)


def draw_blank_table(rows: dict[str, dict[str, Any]], sets: dict[str, Any], path: Path) -> None:
    """Draw the emissions of the blank table's rows."""
    titles = {row: title or ROWS[row].title for row, title in TABLES["blank"].rows.items() if row in rows}
    arrays = {row: rows[row]["arrays"] for row in titles}
    variants = [Variant(titles[row], found["example"], found["mass"]) for row, found in arrays.items()]
    if variants:
        draw_blanks(variants, EXAMPLE, sets["alphabet"], path)


def main(chosen: argparse.Namespace) -> None:
    """Evaluate what is new, then print and write the tables."""
    for name, table in TABLES.items():
        listed = {row for row, made in ROWS.items() if name in made.tables}
        if listed != set(table.rows):
            raise GlissandoError(f"table {name} and runs/ablations.py differ in {sorted(listed ^ set(table.rows))}")
    chosen.out.mkdir(parents=True, exist_ok=True)
    if chosen.runs:
        evaluate(chosen.runs, chosen.data, chosen.out, chosen.only or ROWS)
    rows = load_rows(chosen.out)
    if not rows:
        raise GlissandoError(f"no encoder has been evaluated in {chosen.out}; --runs says where they are")
    sets = json.loads((chosen.out / "sets.json").read_text(encoding="utf-8"))
    for name in chosen.table or TABLES:
        if not TABLES[name].rows.keys() & rows.keys():
            continue
        picture = chosen.out / f"ablation-{name}"
        more = ""
        if name == "data":
            shares = [rows[row] for row in TABLES[name].rows if row in rows]
            count_people(shares, chosen.data, chosen.out / "sessions.npy")
            more, trends = extrapolate_rows(shares, {key: COLUMNS[key] for key in REAL}, sets["owners"])
            if trends:
                draw_scaling(trends, picture)
        if name == "blank":
            draw_blank_table(rows, sets, picture)
        text = tabulate(name, rows) + more
        print(text, flush=True)
        (chosen.out / f"{name}.md").write_text(text, encoding="utf-8")
        if chosen.images and picture.with_suffix(".png").exists():
            shutil.copy(picture.with_suffix(".png"), chosen.images)


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=Path, help="the encoders; without it, only what was evaluated before")
    parser.add_argument("--out", type=Path, default=Path("build/ablations"))
    parser.add_argument("--only", nargs="*", choices=list(ROWS), metavar="NAME", help="evaluate these rows")
    parser.add_argument("--table", nargs="*", choices=list(TABLES), metavar="NAME")
    parser.add_argument("--images", type=Path, help="where the documents have their pictures")
    main(parser.parse_args())
