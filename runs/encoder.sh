#!/usr/bin/env bash
# The shipped encoder, from the swipes to the packaged file and its accuracy.
#
#     runs/encoder.sh [DIRECTORY]          # the run's files; build/encoder by default
#
# Needs the swipes of GLISSANDO_DATA (docs/data.md), a GPU with Triton, and glissando[train,export].
# Cost: two and a half minutes of one H200, 22.5 million swipes at 215,000 a second and 45 s of compiling; packing
# before it takes 15 s of one CPU core, exporting and evaluating after it a minute or two. SEED=2 or 3 repeats the other
# seeds of RESULTS.md. Seeds fix the batches, not the last bits of a GPU's sums: another run differs by some tenths
# of a point. To ship the result, copy encoder.onnx and encoder.json to src/glissando/assets/weights and fit the
# constants anew: python runs/scoring.py --write.
# SET="emission_weight=0 seed=5" changes settings, for trials.
# JUDGE=1 trains the judge of `glissando design` instead, in half the time: every swipe on a random keyboard, none upright,
# so that it has no favourite; its accuracy on QWERTY, printed at the end, is not what it is for.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -x .venv/bin/glissando ] && PATH="$PWD/.venv/bin:$PATH"

data=${GLISSANDO_DATA:-../shared/data}
out=${1:-build/encoder}

settings=(
    batch=2048 learning_rate=2e-3
    epochs=100000 steps=11000     # the steps end the schedule, not the epochs
    rearranged=0.4 extra_keys=14  # carried to random grids of 26 to 40 keys
    augment.upright=0.7
    augment.sway=[0.1,0.06] # other people's fingers: a shift and slow waves, in key sizes
    word_power=0.7
    model.frames=64
    graph=true ctc=triton # speed only; the losses are the same without
    log_every=400 validate_every=100
    seed=1
)
if [ -n "${SEED:-}" ]; then settings+=(seed="$SEED"); fi
if [ -n "${SET:-}" ]; then read -ra more <<<"$SET" && settings+=("${more[@]}"); fi
if [ -n "${JUDGE:-}" ]; then settings+=(steps=6000 rearranged=1 augment.upright=0); fi

mkdir -p "$out"
glissando corpus pack "$data/swipes/how_we_swipe_train.jsonl.gz" -o "$out/train.npz" --max-key-distance 2 --frames 64
glissando corpus pack "$data/swipes/how_we_swipe_val.jsonl.gz" -o "$out/val.npz" --max-key-distance 2 --frames 64

# `glissando train encoder` does the same; this script needs torch, numpy and safetensors alone.
python runs/train.py encoder --pack "$out/train.npz" --val "$out/val.npz" --out "$out/run" "${settings[@]/#/--set=}"

glissando export onnx "$out/run/encoder.safetensors" "$out/encoder.onnx" \
    --note "How We Swipe (Leiva et al. 2021), training split, key distance up to 2; runs/encoder.sh"

words=$data/wordlists
evaluate=(glissando evaluate --weights "$out/encoder.onnx" --layouts "$data/layouts" --add-targets --max-key-distance 2)
"${evaluate[@]}" "$data/swipes/how_we_swipe_val.jsonl.gz" --lexicon "$words/en_wordlist.combined.gz"
"${evaluate[@]}" "$data/swipes/direct_touch_dev.jsonl.gz" --lexicon "$words/en_wordlist.combined.gz"
"${evaluate[@]}" "$data/swipes/yandex_jcuken_dev.jsonl.gz" --lexicon "$words/ru_wordlist.combined.gz"
