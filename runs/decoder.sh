#!/usr/bin/env bash
# The shipped decoder, from the packs and a trained encoder to decoder.safetensors.
#
#     runs/decoder.sh ENCODER.safetensors [DIRECTORY]          # the run's files; build/decoder by default
#
# Needs the swipes of GLISSANDO_DATA (docs/data.md), a GPU with Triton, and glissando[train].
# Cost: embedder 20 s, negatives 15 s, decoder two and a quarter minutes of one H200 that it shared with one other run;
# packing before it takes 15 s of one CPU core. Seeds fix the batches, not the last bits of a GPU's sums: another run
# differs by some tenths of a point. GRID=1 trains the report's 2 x 2 besides; runs/decoder_grid.py has its cost.
# To ship the result, export it and fit the constants anew: runs/decoder_compare.py says how.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -x .venv/bin/glissando ] && PATH="$PWD/.venv/bin:$PATH"

data=${GLISSANDO_DATA:-../shared/data}
encoder=${1:?usage: runs/decoder.sh ENCODER.safetensors [DIRECTORY]}
out=${2:-build/decoder}
lexicon=$data/wordlists/en_wordlist.combined.gz

settings=(
    consistency_weight=0 # the rest is the report's table
    validate_every=5     # not only bookkeeping: ranking starts at a validation
)

mkdir -p "$out"
for part in train val; do
    [ -f "$out/$part.npz" ] || glissando corpus pack "$data/swipes/how_we_swipe_$part.jsonl.gz" -o "$out/$part.npz" \
        --max-key-distance 2 --frames 64
done
packs=(--pack "$out/train.npz" --val "$out/val.npz")

# `glissando train ...` does the same; this script needs torch, numpy and safetensors alone.
python runs/train.py embedder "${packs[@]}" --lexicon "$lexicon" --out "$out/embedder"
python runs/train.py negatives "${packs[@]}" --lexicon "$lexicon" \
    --embedder "$out/embedder/embedder.safetensors" --out "$out/negatives.npz"
files=("${packs[@]}" --encoder "$encoder" --negatives "$out/negatives.npz")
python runs/train.py decoder "${files[@]}" --out "$out/run" "${settings[@]/#/--set=}"

if [ -n "${GRID:-}" ]; then
    python runs/decoder_grid.py train "${files[@]}" --out "$out/grid" --set validate_every=5
    python runs/decoder_grid.py judge --out "$out/grid" --data "$data"
fi
