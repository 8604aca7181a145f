import numpy as np
import torch
from train import toy

from glissando.model.checkpoint import load_encoder
from glissando.model.decoder import frame_features
from glissando.train.batches import TrainingSet
from glissando.train.decoder.frames import EncodedSwipes
from glissando.train.decoder.negatives import Pools


def test_precomputed_features_are_the_encoders(kit):
    encoder, corpus, pools = load_encoder(kit.encoder)[0], TrainingSet.open(kit.pack, 32), Pools.open(kit.negatives)
    rows = np.array([5, 3, 9])
    swipes = EncodedSwipes(encoder, corpus, rows, pools)
    batch = next(corpus.walk(30, torch.device("cpu")))
    with torch.no_grad():
        expected = frame_features(encoder(batch.path, batch.keys[..., :2], batch.mask))[rows]
    torch.testing.assert_close(swipes.features(torch.arange(3)), expected)
    torch.testing.assert_close(swipes.features(torch.tensor([2, 0])), expected[[2, 0]])
    assert len(swipes) == 3
    assert not swipes.features(torch.arange(3)).requires_grad  # the encoder is frozen
    words = [toy.typed(corpus.pack.word(row)) for row in rows.tolist()]
    assert [pools.vocabulary.spelling(pools.queries[place]) for place in swipes.place.tolist()] == words
