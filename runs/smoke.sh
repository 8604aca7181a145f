#!/usr/bin/env bash
# Everything once, small: make swipes, pack them, train a toy encoder, export it, decode other people's swipes with it.
# Fails where top-1 is not above 90 %. It proves that the parts fit together, not that the accuracy is good: these
# swipes are synthetic, the keyboard is QWERTY only and the lexicon has 500 words.
#
#     runs/smoke.sh
#
# Cost: two CPU cores, no GPU, no download, 5 MB in a temporary directory.
# Duration: 81 to 101 s on two cores that other work shared (load 5 to 7), 43 s of it CPU time; half a minute is training.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -x .venv/bin/glissando ] && PATH="$PWD/.venv/bin:$PATH"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GLISSANDO_CACHE="$work/cache"
export OMP_NUM_THREADS=1 # for a network this small a second thread costs more than it brings

settings=(
    model.width=32 model.expansion=2 model.hidden=64 "model.dilations=[1,2,5]" # 22,489 parameters
    batch=64 steps=500 learning_rate=4e-3 precision=fp32
    augment.upright=1 augment.reversal=0 # one keyboard, always the right way up
)

python runs/smoke.py "$work"
glissando corpus pack "$work/train.jsonl.gz" -o "$work/train"
glissando corpus pack "$work/test.jsonl.gz" -o "$work/test"
glissando train encoder --pack "$work/train" --val "$work/test" --out "$work/run" --device cpu "${settings[@]/#/--set=}"
glissando export onnx "$work/run/encoder.safetensors" "$work/toy.onnx" --note "a toy, trained on synthetic swipes"
glissando evaluate "$work/test.jsonl.gz" --weights "$work/toy.onnx" --lexicon "$work/words.txt" --json > "$work/result.json"

python - "$work/result.json" <<'CHECK'
import json, sys

found = json.load(open(sys.argv[1], encoding="utf-8"))["overall"]
print(f"smoke: top-1 {found['top1']:.1f} %, top-3 {found['top3']:.1f} % of {found['n']:,} swipes; needed: above 90 %")
sys.exit(found["top1"] <= 90)
CHECK
