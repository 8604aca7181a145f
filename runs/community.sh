#!/usr/bin/env bash
# From donated swipes to a better keyboard: fine-tune the packaged encoder, fit the constants, measure before and after.
#
#     runs/community.sh STORE_OR_FILE WORDS [DIRECTORY]
#     runs/community.sh sqlite:///glissando-swipes.db cy.txt build/welsh     # a store of `glissando serve`
#     runs/community.sh donated.jsonl.gz en_wordlist.combined.gz             # a file of swipes
#
# Donors are split: eight tenths are trained on, one fits the constants, one judges. With fewer than 500 swipes, or
# fewer than ten donors, keep the packaged encoder. LAYOUTS=DIR has the layouts that are not built in. START=FILE goes on from
# another encoder. Needs glissando[train,export]; no GPU: 5,000 swipes take a quarter of an hour on two cores.
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
glissando corpus split "$out/donated.jsonl.gz" -o "$out/split" --fractions train=0.8,val=0.1,test=0.1
for part in train val; do
    # shellcheck disable=SC2086
    glissando corpus pack "$out/split/$part.jsonl.gz" -o "$out/$part.npz" --max-key-distance 2 --frames 64 --overwrite $layouts
done
rm -rf "$out/run"
glissando train encoder --from "${START:-encoder}" --pack "$out/train.npz" --val "$out/val.npz" --out "$out/run"
glissando export onnx "$out/run/encoder.safetensors" "$out/encoder.onnx" --note "fine-tuned on donated swipes; runs/community.sh"

judge=(--lexicon "$words" --add-targets --max-key-distance 2 ${layouts:+$layouts})
glissando tune "$out/split/val.jsonl.gz" "${judge[@]}" --weights "$out/encoder.onnx" --stage scoring --out "$out/scoring.json"
for weights in "${START:-encoder}" "$out/encoder.onnx"; do
    echo "$weights, packaged constants"
    [[ $weights == *.safetensors ]] || glissando evaluate "$out/split/test.jsonl.gz" "${judge[@]}" --method encoder --weights "$weights"
done
echo "$out/encoder.onnx, constants fitted to the donors"
glissando evaluate "$out/split/test.jsonl.gz" "${judge[@]}" --method encoder --weights "$out/encoder.onnx" --scoring "$out/scoring.json"
