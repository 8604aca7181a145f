import numpy as np
import pytest
from command import lines, row
from hypothesis import given
from hypothesis import strategies as st

from glissando.corpus.records import swipe_from_dict
from glissando.evaluation.survey import Survey, median
from glissando.layout import load_layout


def swipe(word, **fields):
    return swipe_from_dict(row(word, **fields))


def test_a_survey_counts_what_decoding_needs():
    survey = Survey.of([
        swipe("its", canvas_width=100, canvas_height=50), swipe("it", canvas_width=100, canvas_height=30), swipe("it"),
        swipe("is", layout="dvorak"),
    ])  # fmt: skip
    assert survey.swipes == {"qwerty": 3, "dvorak": 1}
    assert survey.words == {"qwerty": {"its", "it"}, "dvorak": {"is"}}
    layout = load_layout("qwerty")
    assert survey.seen(layout, "qwerty").aspect == pytest.approx(0.4)
    assert survey.seen(layout, "dvorak") is layout


def test_a_prompt_of_several_people_is_a_sentence(tmp_path):
    (tmp_path / "more.jsonl").write_bytes(lines([row("cat", sentence="the cat", session="q"), row("no")]))
    survey = Survey.of([swipe("the", sentence="the cat", session="p"), swipe("dog", sentence="dog house", session="p")])
    assert not survey.is_sentence("the cat")
    survey.read_prompts([tmp_path / "more.jsonl"])
    assert survey.is_sentence("the cat")
    assert not survey.is_sentence("dog house")
    assert not survey.is_sentence("never given")


def test_surveys_of_parts_add_up_in_any_order():
    swipes = [
        swipe(word, sentence=prompt, session=person, canvas_width=100, canvas_height=height)
        for word, prompt, person, height in (
            ("a", "a b", "p", 40), ("b", "a b", "p", 41), ("a", "a c", "q", 42), ("c", "a c", "r", 42),
            ("a", "a b", "q", 9),
        )
    ]  # fmt: skip
    whole = Survey.of(swipes)
    for cut in range(len(swipes) + 1):
        for first, second in ((swipes[:cut], swipes[cut:]), (swipes[cut:], swipes[:cut])):
            survey = Survey.of(first)
            survey.add(Survey.of(second))
            assert survey == whole


@given(st.lists(st.floats(0.1, 10), min_size=1))
def test_the_median_is_numpys(values):
    counts = {value: values.count(value) for value in values}
    assert median(counts) == np.median(values)
