import pytest
from command import lines, row

from glissando.errors import GlissandoError, LayoutError
from glissando.figures.examples import find_examples


@pytest.fixture
def corpus(tmp_path):
    file = tmp_path / "swipes.jsonl"
    far = row("hello", key_dist_max=2.5)
    near = row("hello", key_dist_max=1.0, canvas_width=100, canvas_height=50)
    last = row("hello", key_dist_max=0.1)
    russian = row("да", "jcuken") | {"layout": "jcuken_default"}
    file.write_bytes(lines([row("world"), far, near, last, russian]))
    return file


def test_the_first_recorded_swipe_that_follows_its_word(corpus):
    (found,) = find_examples(["qwerty:hello"], [corpus])
    assert found.origin == "recorded"
    assert found.layout.aspect == 0.5  # that of its canvas
    assert find_examples(["jcuken:да"], [corpus])[0].origin == "recorded"  # under its name in the corpus


def test_what_no_corpus_has_is_made_up_alike_for_one_seed(corpus):
    first, second = find_examples(["qwerty:quiz", "qwerty:quiz"], [corpus], seed=4)
    assert first.origin == second.origin == "made up"
    assert first.gesture.x.tolist() != second.gesture.x.tolist()
    assert find_examples(["qwerty:quiz"], seed=4)[0].gesture.x.tolist() == first.gesture.x.tolist()


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        *((text, GlissandoError, "an example is written LAYOUT:WORD") for text in ("hello", ":hello", "qwerty:", "")),
        ("qwertx:hello", LayoutError, "no layout 'qwertx'"),
        ("qwerty:привет", LayoutError, "no key for 'п' of 'привет'"),
    ],
)
def test_what_is_no_example_is_refused(text, error, message):
    with pytest.raises(error, match=message):
        find_examples([text])
