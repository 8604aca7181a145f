import numpy as np
import pytest
import torch
from train import toy
from train.toy import typed

from glissando.model.config import EmbedderConfig
from glissando.model.embedder import Embedder
from glissando.train.batches import TrainingSet
from glissando.train.decoder.config import MiningConfig
from glissando.train.decoder.embedder import Swipes
from glissando.train.decoder.mining import mine_negatives, retrieve
from glissando.train.decoder.negatives import Pools
from glissando.train.decoder.words import SpelledWords, spellings

CPU = torch.device("cpu")


class Spelled(Embedder):
    """An embedder made by hand: a word is where its first key is, a swipe where it starts."""

    def embed_swipes(self, path, keys):
        return torch.nn.functional.normalize(torch.cat([path[:, :, 0], torch.ones(len(path), 1)], dim=1), dim=1)

    def embed_words(self, targets, lengths, keys):
        start = keys[targets[:, 0], :2]
        return torch.nn.functional.normalize(torch.cat([start, torch.ones(len(start), 1)], dim=1), dim=1)


def words_of(*known: str, queries: tuple[str, ...] = ()) -> SpelledWords:
    spelled = list(dict.fromkeys([*map(typed, known), *map(typed, queries)]))
    letters = np.frombuffer(b"".join(spelled), dtype=np.uint8)
    offsets = np.cumsum([0, *map(len, spelled)])
    return SpelledWords(letters, offsets, np.full(len(spelled), 9, dtype=np.uint8), len({*map(typed, known)}))


def test_swipes_and_the_word_itself_vote(pack):
    corpus = TrainingSet.open(pack, 32)
    words = words_of(*toy.WORDS, "add", "eff", queries=("fee",))
    rows = np.arange(50)
    queries = words.find([*map(typed, ("af", "cafe", "fee"))])
    hits, shares = zip(
        *retrieve(Spelled(EmbedderConfig(keys=6)), Swipes.of(corpus, rows, words, CPU), queries, words, 3), strict=True
    )
    assert shares[-1] == 1
    pairs, nearness = (np.concatenate(part) for part in zip(*hits, strict=True))
    pools = Pools.gather(words, queries, pairs, nearness, most=128)
    seen = spellings(corpus.pack, corpus.kept[rows])
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


def test_pools_are_written_and_progress_is_reported(kit, tmp_path):
    (tmp_path / "words.txt").write_text("\n".join([*toy.WORDS, "feed", "fee"]))
    reported = []
    job = toy.job(kit.pack, tmp_path / "n.npz", val=kit.val, report=reported.append)
    config = MiningConfig(holdout=0.0, pool=4)
    pools = mine_negatives(config, job, tmp_path / "words.txt", kit.embedder)
    assert pools.summary() == "10 words with 4 negatives each, of 12 words"
    assert reported[-1] == {"progress": pytest.approx(1)}
    assert Pools.open(tmp_path / "n.npz").digest == pools.digest
