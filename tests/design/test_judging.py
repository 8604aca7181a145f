import pytest

from glissando.design.config import SearchConfig
from glissando.design.judging import judge_layouts
from glissando.design.spelling import Spelling
from glissando.design.task import letters_of_language
from glissando.layout import load_layout
from glissando.lexicon import load_lexicon
from glissando.weights import load_weights, packaged_weights

pytestmark = pytest.mark.skipif("judge" not in packaged_weights(), reason="no judge is packaged")


def test_the_packaged_judge_learned_from_no_keyboard_in_particular():
    settings = load_weights("judge").card["provenance"]["settings"]
    assert (settings["rearranged"], settings["augment"]["upright"], settings["synthetic"]) == (1, 0, 0)


def test_the_packaged_judge_ranks_three_keyboards_as_the_report_does():
    words = Spelling.of(load_lexicon("en"), letters_of_language("en"), 500)
    layouts = [load_layout(name) for name in ("kasroz", "clearflow", "qwerty")]
    costs = [found.total(SearchConfig().dial) for found in judge_layouts(layouts, words, device="cpu")]
    assert costs == sorted(costs)
