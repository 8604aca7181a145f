#!/usr/bin/env bash
# The shipped decoder, from the packs and a trained encoder to decoder.safetensors.
#
#     runs/decoder.sh ENCODER.safetensors [DIRECTORY]          # the run's files; build/decoder by default
#
# Needs the swipes of GLISSANDO_DATA (docs/data.md), a GPU with Triton, and glissando[train].
# Cost, estimated: two minutes of one H200 (embedder 20 s, negatives 10 s, decoder a minute); packing before it takes 15 s of
# one CPU core. Seeds fix the batches, not the last bits of a GPU's sums.
# GRID=1 trains the report's 2 x 2 besides: four more minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -x .venv/bin/glissando ] && PATH="$PWD/.venv/bin:$PATH"

data=${GLISSANDO_DATA:-../shared/data}
encoder=${1:?usage: runs/decoder.sh ENCODER.safetensors [DIRECTORY]}
out=${2:-build/decoder}
lexicon=$data/wordlists/en_wordlist.combined.gz

settings=() # what differs from the report's table; see docs/decoder.md

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
python -m glissando.train.decoder "${files[@]}" --out "$out/run" ${settings[@]+"${settings[@]/#/--set=}"}

if [ -n "${GRID:-}" ]; then
    python runs/decoder_grid.py "${files[@]}" --out "$out/grid" ${settings[@]+"${settings[@]/#/--set=}"}
    python runs/decoder_grid.py --out "$out/grid" --draw
fi
