#!/usr/bin/env bash
# The shipped decoder, from the packs and a trained encoder to decoder.safetensors.
#
#     runs/decoder.sh ENCODER.safetensors [DIRECTORY]          # the run's files; build/decoder by default
#
# Needs the swipes of GLISSANDO_DATA (docs/data.md), a GPU with Triton, and glissando[train].
# Cost: about two minutes of one H200 (embedder 20 s, negatives 15 s, decoder a minute and a half alone); packing before it takes
# 15 s of one CPU core. Seeds fix the batches, not the last bits of a GPU's sums, and the shipped decoder's schedule ended by
# the clock, at step 794, on a GPU that it shared: another run differs by some tenths of a point.
# GRID=1 trains the report's 2 x 2 besides: four more minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -x .venv/bin/glissando ] && PATH="$PWD/.venv/bin:$PATH"

data=${GLISSANDO_DATA:-../shared/data}
encoder=${1:?usage: runs/decoder.sh ENCODER.safetensors [DIRECTORY]}
out=${2:-build/decoder}
lexicon=$data/wordlists/en_wordlist.combined.gz

settings=( # what differs from the report's table; see docs/decoder.md
    ranking=softmax ranking_weight=1.0 frequency_floor=60 gamma=0.6 weight=0.022 bonus=0.63
    prefer=0.5 word_power=0.7 floor_rate=1e-6 steps=794 validate_every=5
    jitter.shift=0.1 jitter.elastic=0.08 jitter.scale=0.02 encoder_dropout=0.1
)

mkdir -p "$out"
for part in train val; do
    [ -f "$out/$part.npz" ] || glissando corpus pack "$data/swipes/how_we_swipe_$part.jsonl.gz" -o "$out/$part.npz" \
        --max-key-distance 2 --frames 64
done
packs=(--pack "$out/train.npz" --val "$out/val.npz")

# The modules in place of `glissando train ...`: they run where there is torch, numpy and safetensors, no more.
python -m glissando.train.embedder "${packs[@]}" --lexicon "$lexicon" --out "$out/embedder"
python -m glissando.train.negatives "${packs[@]}" --lexicon "$lexicon" \
    --embedder "$out/embedder/embedder.safetensors" --out "$out/negatives.npz"
files=("${packs[@]}" --encoder "$encoder" --negatives "$out/negatives.npz")
python -m glissando.train.decoder "${files[@]}" --out "$out/run" "${settings[@]/#/--set=}"

if [ -n "${GRID:-}" ]; then
    python runs/decoder_grid.py train "${files[@]}" --out "$out/grid" # the report's own settings
    python runs/decoder_grid.py judge --out "$out/grid" --data "$data"
fi
