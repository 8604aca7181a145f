"""What several tests of this room share: small lexicons, and a judge whose costs are known."""

import numpy as np
import torch

from glissando.lexicon import Lexicon

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def lexicon(*words, **frequencies):
    """Words of equal frequency, or words with their bytes."""
    frequencies = dict.fromkeys(words, 150) | frequencies
    return Lexicon("test", "en", tuple(frequencies), np.array(list(frequencies.values()), dtype=np.uint8))


class FakeJudge:
    """Costs that depend only on the keys a word visits, and a count of the words read."""

    def __init__(self):
        self.device = torch.device("cpu")
        self.swipes = 0
        self.seen = []

    def costs(self, slots, lengths):
        self.swipes += len(slots)
        inside = torch.arange(slots.shape[1]) < lengths[:, None]
        self.seen += [tuple(row[:n]) for row, n in zip(slots.tolist(), lengths.tolist(), strict=True)]
        mixed = ((slots + 3) * torch.arange(5, 5 + slots.shape[1]) ** 2 * inside).sum(1)
        return (mixed % 23).float() / 4
