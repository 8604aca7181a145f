"""The words that the product's beam ends with, for every swipe of the packs: what a decoder is trained to choose from.

    python runs/finalists.py --pack train.npz --val val.npz --encoder encoder.safetensors --out finalists.npz \
        [--strangers half.safetensors other.safetensors] [--data DIR] [--most 32] [--holdout 0.1] [--holdout-seed 0]

Training swipes are read by the stranger that has not met their person, if there is one; val's, and those of the people
set aside from decoders, by the encoder. The packs are those of runs/decoder.sh, whose rows are the swipes of
how_we_swipe_train and _val in their order. Searching and ranking are the keyboard's, with the packaged
constants. Cost: three minutes on two cores.
"""

import argparse
import os
import tempfile
from pathlib import Path

import numpy as np
from sets import arguments, word_list

from glissando.beam import Hypotheses
from glissando.corpus.layouts import LayoutShelf
from glissando.corpus.packed import SCALE
from glissando.errors import CorpusError
from glissando.evaluation.evaluate import EvaluationOptions, make_decoder, read_targets
from glissando.export.onnx import export_encoder
from glissando.gesture import resample_batch
from glissando.keyboard import Keyboard
from glissando.lexicon import typed_letters
from glissando.model.checkpoint import load_encoder
from glissando.model.encoder import Encoder
from glissando.runtime import EncoderRuntime
from glissando.scoring import score_words
from glissando.train.batches import Corpus
from glissando.train.decoder import checksum
from glissando.train.finalists import Finalists, Part, as_stored
from glissando.train.holdout import held_out
from glissando.train.strangers import choose_readers, load_strangers
from glissando.train.vocabulary import Vocabulary
from glissando.weights import load_weights, write_card

CHUNK = 512  # swipes searched at a time
SAME_PATH = 1e-3  # how far a swipe may be from its row of the pack, whose coordinates are rounded


class Words:
    """Spellings, numbered as they come."""

    def __init__(self) -> None:
        self.numbers: dict[bytes, int] = {}
        self.frequencies: list[int] = []

    def number(self, typed: bytes, frequency: int) -> int:
        """The number of a spelling."""
        if typed not in self.numbers:
            self.numbers[typed] = len(self.numbers)
            self.frequencies.append(frequency)
        return self.numbers[typed]

    def vocabulary(self) -> Vocabulary:
        """All of them."""
        letters = np.frombuffer(b"".join(self.numbers), dtype=np.uint8)
        offsets = np.cumsum([0, *map(len, self.numbers)], dtype=np.int64)
        return Vocabulary(letters, offsets, np.array(self.frequencies, dtype=np.uint8), len(self.numbers))


class Finder:
    """A corpus's swipes, the keyboard that evaluation decodes them with, and their finalists as they are found.

    Args:
        data: the directory of the swipes.
        name: "train" or "val".
        corpus: their pack.
        words: numbers the spellings of all corpora.
        most: finalists kept of a swipe, besides the truth.
    """

    def __init__(self, data: Path, name: str, corpus: Corpus, words: Words, most: int) -> None:
        self.name, self.corpus, self.words, self.most = name, corpus, words, most
        options = EvaluationOptions(lexicon=word_list(data, "val"), add_targets=True, max_key_distance=2.0)
        shelf = LayoutShelf(data / "layouts")
        self.swipes = list(read_targets(data / "swipes" / f"how_we_swipe_{name}.jsonl.gz", shelf, options))
        if len(self.swipes) != len(corpus.pack):
            raise CorpusError(f"how_we_swipe_{name} has {len(self.swipes):,} swipes, its pack {len(corpus.pack):,}")
        self.keyboard: Keyboard = make_decoder(shelf["qwerty"], [swipe.word for swipe in self.swipes], options)[0]  # type: ignore[assignment]
        self.trie = trie = self.keyboard.trie
        letters = frozenset(self.keyboard.layout.letters)
        self.keys = [group[0] for group in self.keyboard.layout.keys_of.values()]
        self.truths = np.array([trie.find("".join(typed_letters(swipe.word, letters))) for swipe in self.swipes])
        self.bytes = np.zeros(len(trie), np.uint8)  # of every node's most frequent word
        ending = np.diff(trie.endings) > 0
        self.bytes[ending] = self.keyboard.lexicon.frequencies[trie.words[trie.endings[:-1][ending]]]
        self.known = np.full(len(trie) + 1, -2, dtype=np.int32)  # numbers by node, -2 until one is asked for
        self.known[-1] = -1  # node -1 is no word
        rows = len(self.swipes)
        words_, distances = np.full((rows, 1 + most), -1, np.int32), np.zeros((rows, 1 + most, 2), np.uint16)
        self.part = Part(words_, distances, np.zeros(rows, bool), corpus.digest)

    def find(self, rows: np.ndarray, encoder: EncoderRuntime) -> None:
        """Search some rows by an encoder's emissions."""
        self.keyboard.encoder = encoder
        gestures = [self.swipes[row].gesture for row in rows]
        gap = np.abs(resample_batch(gestures) - self.corpus.pack.paths[rows] / np.float32(SCALE)).max()
        if gap > SAME_PATH:
            raise CorpusError(f"how_we_swipe_{self.name} and its pack differ by {gap:.3f}: another order, or filter")
        found = self.keyboard.hypotheses(self.keyboard.read(gestures))
        # The truth joins as the first, so that it is measured whether it was found or not.
        nodes = np.concatenate([self.truths[rows, None].astype(np.int32), found.nodes], axis=1)
        log_probs = np.concatenate([np.zeros((len(rows), 1), np.float32), found.log_probs], axis=1)
        distances = self.keyboard.distances(gestures, Hypotheses(nodes, log_probs))
        lengths, bytes_ = self.trie.depths[nodes], self.bytes[nodes]  # node -1 reads anything, and is ranked last
        scores = score_words(log_probs, lengths, bytes_, self.keyboard.scoring, distances)
        truth = nodes == nodes[:, :1]
        scores[(nodes < 0) | truth] = -np.inf
        scores[:, 0] = np.inf
        order = np.argsort(-scores, axis=1, kind="stable")[:, : 1 + self.most]
        chosen = np.take_along_axis(nodes, order, axis=1)
        chosen[np.isneginf(np.take_along_axis(scores, order, axis=1))] = -1
        self.part.found[rows] = truth[:, 1:].any(axis=1)
        self.part.words[rows] = self.number(chosen)
        far = np.take_along_axis(distances, order[..., None], axis=1)
        self.part.distances[rows] = np.where((chosen >= 0)[..., None], as_stored(far), 0)

    def number(self, nodes: np.ndarray) -> np.ndarray:
        """Numbers of the words at nodes. Shape: [...] -> [...] int32, -1 where there is none."""
        for node in np.unique(nodes[self.known[nodes] == -2]).tolist():
            self.known[node] = self.words.number(self.spell(node), int(self.bytes[node]))
        return self.known[nodes]

    def spell(self, node: int) -> bytes:
        """The key indices of a node's word; a letter's label is its place among the layout's letters."""
        labels = []
        while node > 0:
            labels.append(self.keys[self.trie.labels[node]])
            node = int(self.trie.parents[node])
        return bytes(reversed(labels))


def runtime(encoder: Encoder, directory: Path, name: str) -> EncoderRuntime:
    """An encoder as the product runs it."""
    file = directory / f"{name}.onnx"
    export_encoder(encoder, file)
    write_card(file, {})
    return EncoderRuntime(load_weights(file), threads=os.cpu_count() or 1)


def main(chosen: argparse.Namespace) -> None:
    """Find the finalists of both packs and write them."""
    encoder, _ = load_encoder(chosen.encoder)
    train, val = (Corpus.open(path, encoder.config.frames) for path in (chosen.pack, chosen.val))
    strangers = load_strangers(chosen.strangers, encoder.config, train)
    people = np.asarray(train.pack.sessions)
    aside = held_out(people, chosen.holdout, chosen.holdout_seed)
    readers = np.where(aside, 0, choose_readers(strangers, people))
    files = [chosen.encoder, *chosen.strangers]
    with tempfile.TemporaryDirectory() as folder:
        networks = [encoder, *(stranger.encoder for stranger in strangers)]
        encoders = [runtime(network, Path(folder), f"{number}") for number, network in enumerate(networks)]
    words, parts = Words(), {}
    for name, corpus, of in (("train", train, readers), ("val", val, np.zeros(len(val.pack), np.int64))):
        finder = Finder(chosen.data, name, corpus, words, chosen.most)
        for number, reader in enumerate(encoders):
            rows = np.flatnonzero(of == number)
            for start in range(0, len(rows), CHUNK):
                finder.find(rows[start : start + CHUNK], reader)
            print(f"{name}: {len(rows):,} swipes read by {files[number].name}", flush=True)
        parts[name] = finder.part
    found = Finalists(words.vocabulary(), parts, checksum(chosen.encoder))
    found.save(chosen.out)
    print(f"{chosen.out}, {chosen.out.stat().st_size / 1e6:.1f} MB: {found.summary()}")


if __name__ == "__main__":
    parser = arguments(__doc__ or "")
    for option in ("pack", "val", "encoder", "out"):
        parser.add_argument(f"--{option}", type=Path, required=True)
    parser.add_argument("--strangers", type=Path, nargs="+", action="extend", default=[])
    parser.add_argument("--most", type=int, default=32)
    parser.add_argument("--holdout", type=float, default=0.1)
    parser.add_argument("--holdout-seed", type=int, default=0)
    main(parser.parse_args())
