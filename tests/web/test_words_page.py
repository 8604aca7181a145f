"""A person's own words in the page: listed, searched, forgotten, and carried as the library's vocabulary file."""

import json
from datetime import date

import pytest
from web.serving import Finger, opened, ready, swiped_words

from glissando.layout import load_layout
from glissando.vocabulary import Vocabulary

QWERTY = load_layout("qwerty")


@pytest.fixture
def page(browser, keyboard_site):
    with opened(browser, keyboard_site) as page:
        page.wait_for_selector("#pad .key")
        page.locator("#words-open").tap()
        yield page


def listed(page) -> list[str]:
    return page.locator("#words-list span").all_inner_texts()


def add(page, word: str) -> None:
    page.fill("#words-search", word)
    page.locator("#words-add").tap()


def bring(page, name: str, content: bytes) -> str:
    page.locator("#words-said").evaluate("said => said.replaceChildren()")
    page.set_input_files("#words-file", {"name": name, "mimeType": "application/json", "buffer": content})
    page.wait_for_function("() => document.querySelector('#words-said').textContent")
    return page.locator("#words-said").inner_text()


def test_words_are_added_searched_and_forgotten(page):
    assert "no words of your own yet" in page.locator("#words-more").inner_text()
    assert page.locator("#words-export").is_disabled()
    for word in ("Taigang", "Zoë", "o'Malley", "constructor", "__proto__a"):
        add(page, word)
    assert listed(page) == ["__proto__a", "constructor", "o'Malley", "Taigang", "Zoë"]
    page.fill("#words-search", "TAI")
    assert listed(page) == ["Taigang"]
    page.fill("#words-search", "Zoe\u0308")
    assert page.locator("#words-add").is_disabled()  # it is there already
    page.fill("#words-search", "two words")
    assert page.locator("#words-add").is_disabled()
    page.keyboard.press("Enter")
    assert listed(page) == []
    page.fill("#words-search", "")
    page.get_by_role("button", name="Forget Taigang").tap()
    assert listed(page) == ["__proto__a", "constructor", "o'Malley", "Zoë"]
    assert page.evaluate("() => document.activeElement.dataset.word") == "Zoë"
    page.locator("#words-said button").tap()
    assert "Taigang" in listed(page)
    page.get_by_role("button", name="Forget Zoë").tap()
    page.reload()
    page.wait_for_selector("#pad .key")
    page.locator("#words-open").tap()
    assert listed(page) == ["__proto__a", "constructor", "o'Malley", "Taigang"]


def test_the_file_is_that_of_the_library(page, tmp_path):
    add(page, "Taigang")
    add(page, "Zoë")
    with page.expect_download() as download:
        page.locator("#words-export").tap()
    download.value.save_as(tmp_path / "words.json")
    vocabulary = Vocabulary.load(tmp_path / "words.json")
    assert set(vocabulary.words) == {"Taigang", "Zoë"}
    vocabulary.learn("Taigang", 4, date(2026, 1, 2))
    vocabulary.learn("Hammersmith", 2.5)
    vocabulary.save(tmp_path / "more.json")
    assert "1 new word is in your list" in bring(page, "more.json", (tmp_path / "more.json").read_bytes())
    assert listed(page) == ["Hammersmith", "Taigang", "Zoë"]
    stored = page.evaluate("() => localStorage.getItem('glissando:vocabulary')")
    assert "No new words" in bring(page, "more.json", (tmp_path / "more.json").read_bytes())  # twice changes nothing
    assert page.evaluate("() => localStorage.getItem('glissando:vocabulary')") == stored
    (tmp_path / "both.json").write_text(stored, encoding="utf-8")
    assert set(Vocabulary.load(tmp_path / "both.json").words) == {"Hammersmith", "Taigang", "Zoë"}


def entry(**changes) -> bytes:
    return json.dumps({"version": 1, "words": {"good": {"count": 1, "used": "2026-01-02", **changes}}}).encode()


def many(count: int) -> bytes:
    words = {f"w{i}": {"count": 1, "used": "2026-01-02"} for i in range(count)}
    return json.dumps({"version": 1, "words": words}).encode()


DAMAGED = [
    (b"", "not JSON"), (b"{", "not JSON"), (b"\xff\xfe\x00", "cannot be read as text"), (b"[]", "not a list of words"),
    (b"null", "not a list of words"), (b'{"version": 1, "words": []}', "not a list of words"),
    (b'{"version": 2, "words": {}}', "another version"), (b'{"words": {}}', "another version"),
    (b'{"version": 1, "words": {"two words": {"count": 1, "used": "2026-01-02"}}}', "no spaces"),
    (b'{"version": 1, "words": {"12": {"count": 1, "used": "2026-01-02"}}}', "needs a letter"),
    (json.dumps({"version": 1, "words": {"a" * 49: {"count": 1, "used": "2026-01-02"}}}).encode(), "at most 48"),
    (entry(count=0), "how often"), (entry(count="3"), "how often"), (entry(count=None), "how often"),
    (entry(used="2026-02-30"), "what day"), (entry(used=5), "what day"), (entry(used="yesterday"), "what day"),
    (b'{"version": 1, "words": {"good": 3}}', "how often"),
    (many(10_001), "10,000"),
]  # fmt: skip


def test_a_damaged_file_changes_nothing_and_says_why(page):
    add(page, "Taigang")
    for content, message in DAMAGED:
        said = bring(page, "words.json", content)
        assert message in said, content[:60]
        assert "Nothing was changed" in said
        assert listed(page) == ["Taigang"]
    assert "9,999 new words" in bring(page, "many.json", many(9_999))
    assert page.locator("#words-list li").count() == 200
    assert "9,800 more" in page.locator("#words-more").inner_text()
    assert "10,001 words" in bring(page, "one.json", entry())


def test_damaged_storage_is_put_aside(browser, keyboard_site):
    stored = '{"version": 1, "words": {"a": 3}}'
    script = f"if (location.protocol !== 'about:') localStorage.setItem('glissando:vocabulary', {json.dumps(stored)});"
    with opened(browser, keyboard_site, script=script) as page:
        ready(page)
        page.locator("#words-open").tap()
        assert listed(page) == []
        assert page.evaluate("() => localStorage.getItem('glissando:vocabulary:damaged')") == stored


def explained(page, word: str) -> str:
    page.fill("#why-word", word)
    page.locator("#why-form button").tap()
    page.wait_for_function("word => document.querySelector('.verdict strong')?.textContent === word", arg=word)
    return page.locator("#why-answer").inner_text()


def test_why_not_my_word_says_what_was_read_and_offers_to_add_it(browser, keyboard_site):
    with opened(browser, keyboard_site) as page:
        ready(page)
        Finger(page).swipe("hello", QWERTY, noise=0.2)
        swiped_words(page, 1)
        assert not page.locator("#why").is_visible()
        page.locator("#inside summary").tap()
        page.locator("#tab-why").tap()
        assert "Here is what I read: h e l" in explained(page, "hellowy")
        page.get_by_role("button", name="Add “hellowy” to my words").tap()
        assert "one of your words" in page.locator("#why-answer").inner_text()
        assert page.locator("#why-answer .add").count() == 0
        assert page.evaluate("() => 'hellowy' in JSON.parse(localStorage.getItem('glissando:vocabulary')).words")
        said = explained(page, "zebra")
        assert page.locator("#why-answer .add").count() == 0  # the dictionary has it
        assert "Here is what I read" in said


COSTS = """async ([costs, worst]) => {
    const { showWhy } = await import('/static/insight.js');
    const root = document.createElement('div');
    const letters = costs.map((cost, frame) => ({ letter: 'ab'[frame], frame, cost }));
    const texts = ['outscored', 'pruned', 'out of lexicon'].map(verdict => {
        const meant = {
            word: 'ab', verdict, rank: 2, would_rank: 2, score: -1, best_score: 0, frequency: 9, opinion: null,
            costs: letters, best_costs: letters, worst,
        };
        const answer = { candidates: [{ word: 'cd' }], literal: 'cd', asked: false, best: null, meant };
        showWhy(root, answer, { isOwn: () => true, learn() {} });
        return root.textContent;
    });
    const count = selector => root.querySelectorAll(selector).length;
    return { text: texts.join(' '), bars: count('.costs'), worst: count('.worst') };
}"""


def test_a_letter_that_cost_nothing_is_not_blamed(browser, keyboard_site):
    with opened(browser, keyboard_site) as page:
        nothing, something = (page.evaluate(COSTS, given) for given in ([[0.0, 0.049], None], [[0.0, 0.05], 1]))
    assert nothing["bars"] == nothing["worst"] == 0
    assert "cost" not in nothing["text"]
    assert "first letters" not in nothing["text"]
    assert something["bars"] == 2
    assert something["worst"] == 1
    assert "The letter that cost most: b" in something["text"]
