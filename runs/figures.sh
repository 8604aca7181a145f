#!/usr/bin/env bash
# Draw the pictures of docs/figures.md again, and the error gallery. Two cores, about two minutes, no GPU.
# Run it after new weights. The gallery and the recorded swipes show corpora that may not be published: they go to
# OUT, outside the repository's documents.
#
#     bash runs/figures.sh [OUT]          GLISSANDO_DATA names the directory of swipes and word lists
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-scratch/figures}
data=${GLISSANDO_DATA:-../shared/data}
images=docs/images
glissando() { .venv/bin/glissando "$@"; }

mkdir -p "$out"
glissando design report --out "$out/report" | tee "$out/report.txt"
for name in paths confidence layouts; do cp "$out/report/$name.png" "$images/report-$name.png"; done
glissando figure field --out "$out/field-made-up" && cp "$out/field-made-up.png" "$images/field.png"
glissando figure augment --out "$out/augment" && cp "$out/augment.png" "$images/augment.png"
if [ -d "$data/swipes" ]; then
    glissando figure field qwerty:with jcuken:надо clearflow:fire --out "$out/field" \
        --swipes "$data/swipes/how_we_swipe_val.jsonl.gz" --swipes "$data/swipes/yandex_jcuken_dev.jsonl.gz"
    glissando figure errors "$data/swipes/how_we_swipe_val.jsonl.gz" --add-targets --max-key-distance 2 \
        --lexicon "$data/wordlists/en_wordlist.combined.gz" --out "$out/errors" | tee "$out/errors.txt"
fi
