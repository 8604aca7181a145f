"""What looked better in the ablations, at full length and with several seeds, beside the shipped recipe.

    for seed in 1 2 3; do SEED=$seed runs/encoder.sh build/shipped-$seed; done
    for seed in 1 2 3; do SEED=$seed SET="emission_weight=0" runs/encoder.sh build/silent-$seed; done
    python runs/ablation_seeds.py --recipe shipped build/shipped-?/run/encoder.safetensors \
                                  --recipe silent build/silent-?/run/encoder.safetensors [--data DIR]

Every encoder is evaluated as a row of runs/ablation_tables.py: its own constants, fitted on val. Prints top-1 / 3 / 10
of each, the mean and the standard deviation of top-1 over each recipe's seeds, and how far the means lie apart. Cost:
two and a half minutes of one H200 an encoder, 30 s of one CPU core to evaluate it.
"""

import argparse
from pathlib import Path

import numpy as np
from ablation_scores import prepare, score_row
from sets import arguments

SETS = ("val", "ru", "direct", "clearflow", "kasroz", "dvorak")


def main(options: argparse.Namespace) -> None:
    """Print a row for every encoder, and one for every recipe."""
    parts = prepare(options.data)
    print("| encoder | " + " | ".join(SETS) + " |\n" + "|---" * (1 + len(SETS)) + "|")
    means: dict[str, np.ndarray] = {}
    for name, *files in options.recipe:
        rows = []
        for file in files:
            figures = score_row(Path(file), parts)[0]["sets"]
            rows.append([figures[part]["top1"] for part in SETS])
            tops = (" / ".join(f"{figures[part][f'top{k}']:.2f}" for k in (1, 3, 10)) for part in SETS)
            print(f"| {name}, {file} | " + " | ".join(tops) + " |", flush=True)
        table = np.array(rows)  # [seeds, sets]
        means[name] = table.mean(0)
        spread = table.std(0, ddof=1) if len(table) > 1 else np.full(len(SETS), np.nan)
        cells = (f"{mean:.2f}, {deviation:.2f}" for mean, deviation in zip(means[name], spread, strict=True))
        print(f"| **{name}: mean, standard deviation** | " + " | ".join(cells) + " |", flush=True)
    first, *others = means
    for name in others:
        print(f"| {name} over {first} | " + " | ".join(f"{gain:+.2f}" for gain in means[name] - means[first]) + " |")


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument(
        "--recipe", nargs="+", action="append", required=True, metavar=("NAME", "FILE"), help="its encoders, by seed"
    )
    main(parser.parse_args())
