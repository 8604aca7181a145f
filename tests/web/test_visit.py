"""The first visit: a ghost finger, a sentence with speed and accuracy, never in the way and never twice."""

from web.serving import Finger, boxes, opened, ready, swiped_words, words

from glissando.layout import load_layout

QWERTY = load_layout("qwerty")
# Whether the ghost's canvas has a line on it, and over which keys the path leads.
DRAWN = """() => {
    const canvas = document.querySelector('#pad .ghost');
    if (!canvas?.width) return false;
    return canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean);
}"""


def stage(page, name: str) -> None:
    page.wait_for_selector(f"#visit[data-stage={name}]")


def test_the_first_visit_from_the_ghost_to_the_result(browser, keyboard_site):
    with opened(
        browser, keyboard_site, new=True, script="Math.random = () => 0;"
    ) as page:  # the same sentence each time
        ready(page)
        stage(page, "ghost")
        assert page.evaluate(DRAWN)
        page.get_by_role("button", name="Now you").tap()
        stage(page, "sentence")
        assert page.locator("#pad .ghost").count() == 0
        sentence = page.locator(".visit-sentence").inner_text().split()
        finger = Finger(page)
        for count, word in enumerate(sentence):
            assert page.locator(".visit-sentence .now").inner_text() == word
            wrong = count == 1
            finger.swipe("question" if wrong else word.lower(), QWERTY, seed=count, noise=0.3)
            swiped_words(page, count + 1)
            if wrong:  # a correction does not change the count
                assert page.locator(".visit-sentence .wrong").inner_text() == word
                page.locator("#backspace").tap()
                finger.swipe(word.lower(), QWERTY, seed=count, noise=0.3)
                swiped_words(page, count + 1)
        stage(page, "result")
        said = page.locator("#visit").inner_text()
        right, total = len(sentence) - 1, len(sentence)
        assert f"{right} of {total} words right at once" in said.replace("\n", "")
        speed = int(said.split(" words per minute")[0].split()[-1])
        assert 0 < speed < 1000
        assert [one.lower() for one in words(page)] == [one.lower() for one in sentence]
        page.get_by_role("button", name="Clear it").tap()
        assert words(page) == []
        page.locator("#undo").tap()
        assert len(words(page)) == total
        page.reload()
        ready(page)
        assert not page.locator("#visit").is_visible()
        page.locator("#help-open").tap()
        page.locator("#help-visit").tap()
        stage(page, "ghost")


def test_it_never_blocks_the_keyboard(browser, keyboard_site):
    with opened(browser, keyboard_site, new=True) as page:
        ready(page)
        stage(page, "ghost")
        finger = Finger(page)
        finger.swipe("hello", QWERTY)  # straight away, without any button: the sentence has begun
        assert swiped_words(page, 1) == ["Hello"]
        stage(page, "sentence")
        finger.tap("a", QWERTY)
        page.locator("#space").tap()
        page.keyboard.type("word ")
        assert page.locator("#text").inner_text() == "Hello a word "
        page.locator("#clear").tap()
        assert page.locator(".visit-sentence .now").count() == 1
        page.get_by_role("button", name="Skip").tap()
        assert not page.locator("#visit").is_visible()
        finger.swipe("world", QWERTY, seed=1)
        assert len(swiped_words(page, 1)) == 1
        assert not page.locator("#visit").is_visible()


def test_skipped_at_once_it_does_not_come_again(browser, keyboard_site):
    with opened(browser, keyboard_site, new=True, reduced_motion="no-preference") as page:
        ready(page)
        page.wait_for_function("() => document.querySelectorAll('.visit-word .reached').length > 1")  # the ghost moves
        page.get_by_role("button", name="Skip").tap()
        assert page.locator("#pad .ghost").count() == 0
        page.reload()
        ready(page)
        assert not page.locator("#visit").is_visible()


def test_other_languages_have_a_sentence_or_a_word(browser, keyboard_site):
    with opened(browser, f"{keyboard_site}/#layout=jcuken&language=ru", new=True) as page:
        for fragment in ("", "layout=clearflow&language=de,en", "layout=azerty&language=fr"):
            if fragment:
                page.goto(f"{keyboard_site}/#{fragment}")
                page.wait_for_function("() => document.querySelector('.visit-word')?.lang !== 'ru'")
            stage(page, "ghost")
            assert page.evaluate(DRAWN)
            page.get_by_role("button", name="Now you").tap()
            stage(page, "sentence")
        page.goto(f"{keyboard_site}/#layout=norwegian&language=nb")
        stage(page, "ghost")  # another language: a word for the ghost, and no sentence
        assert page.locator(".visit-word").get_attribute("aria-label") == "velkommen"
        assert page.get_by_role("button", name="Now you").count() == 0


def test_a_layout_that_lacks_the_letters_has_no_ghost(browser, keyboard_site):
    with opened(browser, keyboard_site, new=True) as page:
        ready(page)
        page.evaluate(
            """async () => {
                const { fromRows, toFragment } = await import('/static/layouts.js');
                location.hash = toFragment({ ...fromRows('few', 'xyz'), custom: true }, 'en');
            }"""
        )
        page.wait_for_function("() => document.querySelectorAll('#pad .key').length === 3")
        stage(page, "ghost")
        assert page.locator("#pad .ghost").count() == 0
        assert "Slide over the letters" in page.locator("#visit").inner_text()


PHRASES = """async rows => {
    const { sentencesOf, wordsOf, greetingOf } = await import('/static/phrases.js');
    const { typedKeys } = await import('/static/languages.js');
    const { layouts } = await (await fetch('/api/layouts')).json();
    return rows.map(([code, name]) => {
        const layout = layouts.find(one => one.name === name);
        const sentences = sentencesOf(code).flatMap(one => one.split(' '));
        const all = [...sentences, ...wordsOf(code), greetingOf(code)].filter(Boolean);
        return { words: wordsOf(code), lacking: all.filter(word => !typedKeys(word, layout)), count: all.length };
    });
}"""


def test_all_phrases_can_be_typed(browser, keyboard_site):
    packaged = [("en", "qwerty"), ("de", "qwerty"), ("es", "qwerty"), ("fr", "qwerty"), ("ru", "jcuken")]
    greeted = [
        ("nb", "norwegian"),
        ("tr", "qwerty"),
        ("el", "greek"),
        ("uk", "ukrainian"),
        ("tok", "toki_pona"),
        ("pl", "qwerty"),
    ]
    with opened(browser, keyboard_site) as page:
        rows = page.evaluate(PHRASES, [list(row) for row in packaged + greeted])
    for row in rows:
        assert row["lacking"] == []
        assert row["count"] > 0
    for row in rows[: len(packaged)]:
        assert len(set(row["words"])) == len(row["words"]) >= 20


SCREENS = [(320, 568), (568, 320), (390, 844), (844, 390), (768, 1024), (1280, 800)]


def test_the_card_leaves_room_on_every_screen(browser, keyboard_site):
    with opened(browser, keyboard_site, new=True) as page:
        page.wait_for_selector("#pad .key")
        for button in ("Now you", "Skip"):
            for width, height in SCREENS:
                page.set_viewport_size({"width": width, "height": height})
                found = boxes(page, "#visit", "#text", "#pad", "#space", "#visit button:last-child", "#copy")
                card, text = found.pop("#visit"), found.pop("#text")
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                assert card["x"] >= 0
                assert card["x"] + card["width"] <= width
                assert text["height"] >= 24
                assert text["y"] >= card["y"] + card["height"] - 1
                for box in found.values():
                    assert box["x"] + box["width"] <= width + 0.5
                    assert box["y"] + box["height"] <= height + 0.5
            page.get_by_role("button", name=button).tap()
