import importlib.util
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest
import torch

from glissando.errors import TrainingError
from glissando.model.checkpoint import save_embedder
from glissando.model.config import EmbedderConfig
from glissando.model.embedder import Embedder
from glissando.train.batches import Corpus
from glissando.train.decoder_config import MiningConfig
from glissando.train.negatives import main, mine, mine_negatives
from glissando.train.pools import Pools
from glissando.train.vocabulary import Vocabulary, spellings

_SPEC = importlib.util.spec_from_file_location("toy", Path(__file__).with_name("toy.py"))
toy = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(toy)


class Spelled(Embedder):
    """An embedder made by hand: a word is where its first key is, a swipe where it starts."""

    def embed_swipes(self, path, keys):
        return torch.nn.functional.normalize(torch.cat([path[:, :, 0], torch.ones(len(path), 1)], dim=1), dim=1)

    def embed_words(self, targets, lengths, keys):
        start = keys[targets[:, 0], :2]
        return torch.nn.functional.normalize(torch.cat([start, torch.ones(len(start), 1)], dim=1), dim=1)


def typed(word: str) -> bytes:
    return bytes(toy.LAYOUT.letters.index(letter) for letter in word)


def words_of(*known: str, queries: tuple[str, ...] = ()) -> Vocabulary:
    spelled = list(dict.fromkeys([*map(typed, known), *map(typed, queries)]))
    letters = np.frombuffer(b"".join(spelled), dtype=np.uint8)
    offsets = np.cumsum([0, *map(len, spelled)])
    return Vocabulary(letters, offsets, np.full(len(spelled), 9, dtype=np.uint8), len({*map(typed, known)}))


def test_swipes_and_the_word_itself_vote(tmp_path):
    corpus = Corpus.open(toy.write_pack(tmp_path / "pack.npz", rows=60), 32)
    words = words_of(*toy.WORDS, "add", "eff", queries=("fee",))
    aside = np.arange(60) >= 50
    queries = words.find([*map(typed, ("af", "cafe", "fee"))])
    pools = mine(Spelled(EmbedderConfig(keys=6)), corpus, aside, words, queries, MiningConfig(neighbours=3))
    seen = spellings(corpus.pack, corpus.kept[~aside])
    for word in ("af", "cafe"):
        members, counts = pools.pool(int(words.find([typed(word)])[0]))
        first = [words.spelling(int(member))[0] for member in members[:2]]
        near = [other for other in (*toy.WORDS, "add", "eff") if other[0] == word[0] and other != word]
        assert first[: len(near)] == [typed(word)[0]] * min(2, len(near))  # those that start there come first
        assert counts.sum() == 3 * (seen.count(typed(word)) + 1)  # every swipe and the word retrieve three
        assert typed(word) not in [words.spelling(int(member)) for member in members]
    members, counts = pools.pool(int(words.find([typed("fee")])[0]))
    assert counts.tolist() == [1, 1, 1]  # no swipes: its own path alone
    assert words.spelling(int(members[0])) == typed("fad")
    assert members.max() < words.candidates


def test_a_file_comes_out_of_the_command(tmp_path, capsys):
    pack, val = toy.write_pack(tmp_path / "train.npz"), toy.write_pack(tmp_path / "val.npz", rows=9, seed=3)
    (tmp_path / "words.txt").write_text("\n".join([*toy.WORDS, "feed", "fee"]))
    save_embedder(tmp_path / "e.safetensors", Embedder(EmbedderConfig(keys=6, width=8, dimensions=4)))
    arguments = ["--pack", pack, "--val", val, "--lexicon", tmp_path / "words.txt", "--out", tmp_path / "n.npz"]
    arguments = [*map(str, arguments), "--device", "cpu", "--set=holdout=0", "--set=pool=4"]
    assert main(arguments) == 1
    assert "needs --embedder" in capsys.readouterr().err
    assert main([*arguments, "--embedder", str(tmp_path / "e.safetensors")]) == 0
    assert "10 words with 4 negatives each, of 12 words" in capsys.readouterr().out
    assert Pools.open(tmp_path / "n.npz").vocabulary.candidates == 12


def test_settings_are_checked():
    with pytest.raises(TrainingError, match="pool must be at least 1, got 0"):
        MiningConfig().changed(["pool=0"])
    with pytest.raises(TrainingError, match="needs --lexicon"):
        mine_negatives(MiningConfig(), Namespace(lexicon=None, embedder=None))
