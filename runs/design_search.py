"""The search of ``glissando design`` on a machine that has torch, numpy and safetensors alone, such as a GPU server.

    glissando design words english.npz --coverage 0.85          # on a machine with glissando[train]
    python runs/design_search.py --grid 4-6-6-6-4 --words english.npz --out found --set minutes=20 --set climbers=8
    torchrun --nproc-per-node 4 runs/design_search.py --grid 4-6-6-6-4 --words english.npz --out found

Needs PYTHONPATH=src where the package is not installed. Prints a line of progress every five seconds to standard error.
Cost: as long as it is told to search (20 minutes by default); compiling before it takes up to a minute.
"""

import argparse
import sys
import time
from pathlib import Path

from glissando.design.config import DesignRequest, SearchConfig
from glissando.design.run import describe_progress, design
from glissando.errors import GlissandoError

LINE_SECONDS = 5.0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--words", type=Path, required=True, help="an .npz that `glissando design words` wrote")
    parser.add_argument("--out", type=Path, required=True, help="directory for the results")
    for name in ("grid", "start", "language", "pin", "weights", "name", "device"):
        parser.add_argument(f"--{name}", help=f"as of `glissando design --{name}`", default=argparse.SUPPRESS)
    parser.add_argument("--stagger", type=float)
    parser.add_argument("--max-swaps", type=int)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="NAME=VALUE")
    options = vars(parser.parse_args())
    last = 0.0

    def show(progress, layout) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_SECONDS:
            last = time.monotonic()
            print(describe_progress(progress, layout, config.dial), file=sys.stderr, flush=True)

    try:
        config = SearchConfig().changed(options.pop("settings"))
        result = design(DesignRequest(**options), config, show)
    except GlissandoError as error:
        sys.exit(f"glissando: {error}")
    if result is not None:  # else another process of torchrun's prints
        print("\n".join(result.summary(config)))


if __name__ == "__main__":
    main()
