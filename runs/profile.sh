#!/usr/bin/env bash
# Every form of an encoder (a decoder, a matcher), held against its checkpoint on real swipes, then timed: the tables
# "Profile" of RESULTS.md and docs/images/latency.png. One core, about ten minutes on an idle machine, no GPU.
#
#     bash runs/profile.sh ENCODER.safetensors [DECODER.safetensors [MATCHER.safetensors]]
#
# GLISSANDO_DATA names swipes and word lists. A decoder of "" is left out.
set -euo pipefail
cd "$(dirname "$0")/.."
encoder=$1
decoder=${2:-}
matcher=${3:-}
data=${GLISSANDO_DATA:-../shared/data}
out=scratch/profile
export OMP_NUM_THREADS=1
glissando() { .venv/bin/glissando "$@"; }
words=(--swipes "$data/swipes/how_we_swipe_val.jsonl.gz" --lexicon "$data/wordlists/en_wordlist.combined.gz")

make_forms() { # CHECKPOINT NAME
    for precision in fp32 fp16 int8; do
        glissando export onnx "$1" "$out/$2.$precision.onnx" --precision "$precision" "${@:3}"
    done
    programs=(fp32 mixed)
    [ "$2" = matcher ] && programs=(fp32)
    for precision in "${programs[@]}"; do
        glissando export executorch "$1" "$out/$2.$precision.pte" --precision "$precision"
    done
}
check() { # CHECKPOINT NAME: it exits 1 where a form misses its bar, which the table says
    glissando export verify "$out/$2".*.onnx "$out/$2".*.pte --checkpoint "$1" --weights "$out/encoder.fp32.onnx" \
        "${words[@]}" | tee "$out/verify.$2.txt" || true
}

mkdir -p "$out"
make_forms "$encoder" encoder
check "$encoder" encoder
if [ -n "$decoder" ]; then
    make_forms "$decoder" decoder --encoder "$out/encoder.fp32.onnx"
    check "$decoder" decoder
fi
if [ -n "$matcher" ]; then
    make_forms "$matcher" matcher
    check "$matcher" matcher
fi
glissando bench "${words[@]}" --checkpoint "$encoder" --weights "$out/encoder.fp32.onnx" --plot "$out/latency.png" |
    tee "$out/bench.txt"
cp "$out/latency.png" docs/images/
