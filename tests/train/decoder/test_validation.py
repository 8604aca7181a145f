import pytest
import torch

from glissando.train.decoder.ranking import Scorer
from glissando.train.decoder.validation import GRID, Judged, beaten_by, best_scorer, measures


def judged(costs, lengths, frequencies, valid=None) -> Judged:
    costs = torch.tensor(costs)
    valid = torch.ones_like(costs, dtype=torch.bool) if valid is None else torch.tensor(valid)
    greedy = torch.zeros(len(costs), dtype=torch.bool)
    return Judged(costs, torch.tensor(lengths), torch.tensor(frequencies, dtype=torch.uint8), valid, greedy)


def test_the_truth_is_beaten_by_what_scores_as_high():
    part = judged([[2.0, 1.0, 2.0, 9.0]], [[3] * 4], [[0] * 4])
    assert beaten_by(part, Scorer(0.0, 0.0, 0.0)).tolist() == [2]
    part = part._replace(valid=torch.tensor([[True, False, True, True]]))
    assert beaten_by(part, Scorer(0.0, 0.0, 0.0)).tolist() == [1]


def test_the_grid_finds_constants_that_the_swipes_need():
    # The frequent truth costs a little more than its rare rival, and must not win where it costs far more.
    part = judged([[3.0, 2.0], [1.0, 9.0]], [[4, 4], [4, 4]], [[150, 100], [100, 150]])
    best = best_scorer(part)
    assert (beaten_by(part, best) == 0).all()
    assert 1 / 50 < best.weight.item() < 8 / 50
    assert (best.exponent, pytest.approx(best.weight.item()), best.bonus.item()) in GRID


def test_measures_by_hand():
    part = judged([[2.0, 1.0], [4.0, 5.0]], [[2, 2], [4, 4]], [[9, 9], [9, 9]])
    part = part._replace(greedy=torch.tensor([True, False]))
    found = measures(part, Scorer(0.0, 0.0, 0.0), Scorer(0.0, 0.0, 0.0), "val")
    assert found == {
        "val_ctc": 3.0,
        "val_ctc_per_letter": 1.0,
        "val_greedy": 0.5,
        "val_top1": 0.5,
        "val_top3": 1.0,
        "val_top1_learned": 0.5,
    }
