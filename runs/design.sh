#!/usr/bin/env bash
# A keyboard from the encoder: the report's layouts compared, the search on its five-row grid, the pictures.
#
#     runs/design.sh [DIRECTORY]           # the run's files; build/design by default
#     MINUTES=30 runs/design.sh            # how long to search; 20 by default
#     WEIGHTS=mine.safetensors runs/design.sh       # another judge
#
# Needs glissando[train] and a GPU with Triton; without one it still runs, with COUNT=300 words in ten minutes.
# Cost: comparing takes a minute or two of CPU; the search as long as it is told; compiling before it up to a minute.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -x .venv/bin/glissando ] && PATH="$PWD/.venv/bin:$PATH"

out=${1:-build/design}
weights=${WEIGHTS:-judge}
minutes=${MINUTES:-20}
mkdir -p "$out"

# 85 % of running text, some 3,560 words of wordfreq's English, or the most frequent COUNT.
if [ -n "${COUNT:-}" ]; then chosen=(--words "$COUNT"); else chosen=(--coverage 0.85); fi
glissando design words "$out/words.npz" "${chosen[@]}"

for view in turned upright; do
    glissando design cost kasroz clearflow qwerty --words "${COUNT:-2000}" --weights "$weights" --set view=$view
done

# This script in place of `glissando design`: it needs nothing but torch, numpy and safetensors.
python runs/design_search.py --grid 4-6-6-6-4 --words "$out/words.npz" --weights "$weights" --out "$out/search" \
    --name found --set minutes="$minutes" --set climbers=8

glissando design front "$out/search"
glissando design report qwerty clearflow kasroz "$out/search/layout.json" --out "$out/report"
