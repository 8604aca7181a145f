"""The JavaScript package in Node beside the Python path, in one run: milliseconds a swipe, and how far the two differ.

    npm install --prefix js
    python runs/browser.py          # about two minutes; needs node

Both decode the same golden swipes, one thread each; medians. Python is timed before and after Node. Then Node makes
keyboards from a kit: the word list read, its trie grown, its letters counted.
"""

import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import glissando
from glissando.export.bundle import read_bundle, write_bundle
from glissando.export.kit import Kit
from glissando.layout import load_layout
from glissando.weights import load_weights

PACKAGE = Path(__file__).resolve().parents[1] / "js"
KEYBOARDS = {"en": "qwerty", "de": "qwertz", "ru": "jcuken"}
TIMES = 5  # that each keyboard is made; the median counts
MAKE = """
import * as ort from "onnxruntime-web/wasm"; import { readFileSync } from "node:fs";
import { openKit } from "./src/kit.js";
ort.env.wasm.numThreads = 1;
const [folder, code, layout, times] = process.argv.slice(1);
const read = async (name) => new Uint8Array(readFileSync(`${folder}/${name}`)).buffer;
const spent = [];
for (let i = 0; i < Number(times); i += 1) {
  const kit = await openKit(read, ort);
  await kit.networks();
  const start = performance.now();
  await kit.keyboard(layout, [code]);
  spent.push(performance.now() - start);
}
console.log(JSON.stringify(spent));
"""


def time_python(folder: Path) -> tuple[float, float]:
    """Median milliseconds of a decode, and of the networks in it, over the ordinary golden swipes."""
    bundle = read_bundle(folder)
    swipes = [record["points"] for record in bundle.golden() if record["kind"] == "swipe"]
    whole, network = [], []
    for i, points in enumerate(swipes):
        start = time.perf_counter()
        bundle.keyboard.emissions(points)
        between = time.perf_counter()
        bundle.keyboard.decode(points)
        if i >= 20:  # warm
            network.append(between - start)
            whole.append(time.perf_counter() - between)
    return 1000 * statistics.median(whole), 1000 * statistics.median(network)


def run_node(*arguments: str) -> str:
    return subprocess.run(["node", *arguments], cwd=PACKAGE, capture_output=True, text=True, check=False).stdout


def write_kit(folder: Path) -> None:
    layouts = {name: load_layout(name) for name in KEYBOARDS.values()}
    kit = Kit(layouts, tuple(KEYBOARDS), load_weights("encoder"), load_weights("matcher"))
    for name in kit.names:
        (folder / name).write_bytes(kit.file(name))


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        bundle, kit = Path(scratch) / "english", Path(scratch) / "kit"
        kit.mkdir()
        write_bundle(glissando.load("qwerty", language="en"), bundle)
        write_kit(kit)
        before = time_python(bundle)
        report = json.loads(run_node("check.mjs", str(bundle)))
        after = time_python(bundle)
        made = {
            code: json.loads(run_node("--input-type=module", "-e", MAKE, str(kit), code, layout, str(TIMES)))
            for code, layout in KEYBOARDS.items()
        }
    whole, network = ((a + b) / 2 for a, b in zip(before, after, strict=True))
    print(f"Python  {whole:6.2f} ms a swipe, {network:6.2f} ms of it resampling and network")
    ratio = report["ms"] / whole
    print(f"Node    {report['ms']:6.2f} ms a swipe, {report['encoderMs']:6.2f} ms of it network, {ratio:.2f} x Python")
    swipes, literal, failures = report["swipes"], report["literal"], report["failures"]
    print(f"        {swipes} golden swipes, {literal} with literals, {failures} failures, worst {report['worst']}")
    for code, spent in made.items():
        print(f"a keyboard of {code} from a kit: {statistics.median(spent):.0f} ms, the first {spent[0]:.0f}")


if __name__ == "__main__":
    main()
