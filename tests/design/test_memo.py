import torch

from glissando.design.memo import Memo, hash_table

CPU = torch.device("cpu")


def test_what_was_put_is_known_and_nothing_else():
    memo = Memo(10, CPU)
    memo.put(torch.tensor([5, 1 << 40, -7]), torch.tensor([1.0, 2.0, 3.0]))
    values, known = memo.get(torch.tensor([-7, 6, 5, 1 << 40]))
    assert known.tolist() == [True, False, True, True]
    assert values[known].tolist() == [3.0, 1.0, 2.0]


def test_newcomers_to_one_place_never_mix_key_and_value():
    memo = Memo(8, CPU)
    keys = torch.arange(1, 5000)  # twenty to a place
    memo.put(keys, keys.float())
    values, known = memo.get(keys)
    assert known.sum() == 256
    torch.testing.assert_close(values[known], keys[known].float())


def test_sums_of_hashes_tell_words_apart():
    table = hash_table(6, 26, 1, CPU)
    assert len(table.unique()) == table.numel()
    draw = torch.Generator().manual_seed(0)
    words = torch.randint(0, 26, (20_000, 6), generator=draw).unique(dim=0)
    keys = table[torch.arange(6), words].sum(1)
    assert len(keys.unique()) == len(words)
    assert (keys < 0).any()
    assert (keys >> 60).unique().numel() > 8  # all bits are in use
