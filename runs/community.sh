#!/usr/bin/env bash
# From donated swipes to a better keyboard: fine-tune the packaged encoder, fit the constants, measure before and after.
#
#     runs/community.sh STORE_OR_FILE WORDS [DIRECTORY]
#     runs/community.sh sqlite:///glissando-swipes.db cy.txt build/welsh     # a store of `glissando serve`
#     runs/community.sh donated.jsonl.gz en_wordlist.combined.gz             # a file of swipes
#
# Donors are split: seven tenths are trained on, the others fit the constants and judge. With fewer than 1,000 swipes, or
# fewer than twenty donors, keep the packaged encoder. LAYOUTS=DIR has the layouts that are not built in. START=FILE goes on from
# another encoder; SET="epochs=30" changes settings of the training. Needs glissando[train,export]. It wants no GPU, but patience: 60 passes.
# docs/community.md says what 500, 2,000 and 5,000 swipes bring, and how the stand-in was made.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 2; }
source=$1 words=$2 out=${3:-build/community}
[ -x "$(dirname "$0")/../.venv/bin/glissando" ] && PATH="$(cd "$(dirname "$0")/.." && pwd)/.venv/bin:$PATH"
mkdir -p "$out"
layouts=${LAYOUTS:+--layouts $LAYOUTS}

case $source in
*://*) glissando corpus export --store "$source" -o "$out/donated.jsonl.gz" ;;
*) cp "$source" "$out/donated.jsonl.gz" ;;
esac
glissando corpus split "$out/donated.jsonl.gz" -o "$out/split" --fractions train=0.7,val=0.15,test=0.15
for part in train val; do
    # shellcheck disable=SC2086
    glissando corpus pack "$out/split/$part.jsonl.gz" -o "$out/$part.npz" --max-key-distance 2 --frames 64 --overwrite $layouts
done
rm -rf "$out/run"
read -ra settings <<<"${SET:-}"
glissando train encoder --from "${START:-encoder}" --pack "$out/train.npz" --val "$out/val.npz" --out "$out/run" "${settings[@]/#/--set=}"
glissando export onnx "$out/run/encoder.safetensors" "$out/encoder.onnx" --note "fine-tuned on donated swipes; runs/community.sh"

judge=(--lexicon "$words" --add-targets --max-key-distance 2 ${layouts:+$layouts})
glissando tune "$out/split/val.jsonl.gz" "${judge[@]}" --weights "$out/encoder.onnx" --stage scoring --out "$out/scoring.json"
for weights in "${START:-encoder}" "$out/encoder.onnx"; do
    echo "$weights, packaged constants"
    [[ $weights == *.safetensors ]] || glissando evaluate "$out/split/test.jsonl.gz" "${judge[@]}" --method encoder --weights "$weights"
done
echo "$out/encoder.onnx, constants fitted to the donors"
glissando evaluate "$out/split/test.jsonl.gz" "${judge[@]}" --method encoder --weights "$out/encoder.onnx" --scoring "$out/scoring.json"
