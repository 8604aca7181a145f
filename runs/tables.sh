#!/usr/bin/env bash
# Every table of tuning in RESULTS.md, as Markdown on standard output. Cost: about ten minutes on two cores.
#
#     runs/tables.sh > tables.md
#
# Where the encoder is new, its constants come first: python runs/scoring.py --write
set -euo pipefail
cd "$(dirname "$0")/.."
python="${PYTHON:-.venv/bin/python}"
export GLISSANDO_DATA="${GLISSANDO_DATA:-../shared/data}"

echo "## The packaged constants"
echo
"$python" runs/scoring.py --picture docs/images/reliability.png
echo
echo "## Terms of the score, and beam width"
echo
"$python" runs/tables.py
echo
echo "## Language scope"
"$python" runs/scope.py
echo
echo "## SHARK2's constants"
echo
"$python" runs/shark2_constants.py
echo
echo "## A weight without labels"
echo
"$python" runs/label_free.py
