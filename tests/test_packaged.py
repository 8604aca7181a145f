"""The weights that come with the package read swipes, with the defaults a user gets."""

import pytest

from glissando.evaluation.evaluate import EvaluationOptions, evaluate
from glissando.weights import load_weights, packaged_weights

pytestmark = pytest.mark.skipif("encoder" not in packaged_weights(), reason="no weights are packaged")


@pytest.mark.data
def test_real_swipes(data):
    options = EvaluationOptions(
        lexicon=data / "wordlists" / "en_wordlist.combined.gz", add_targets=True, max_key_distance=2.0, limit=500
    )
    result = evaluate([data / "swipes" / "how_we_swipe_val.jsonl.gz"], options).overall
    assert result.n == 500
    assert result.top1 > 87
    assert result.recall > 95


def test_the_card_says_where_they_come_from():
    card = load_weights("encoder").card
    assert {"config", "provenance", "metrics", "sha256"} <= set(card)
