import asyncio
import threading

import numpy as np
import pytest

from glissando.errors import LayoutError, LexiconError
from glissando.gesture import Gesture
from glissando.web import decoding
from glissando.web.decoding import MAX_BATCH, DecodeQueue, Keyboards, QueueFullError
from glissando.web.models import CustomLayout

SWIPE = Gesture([0.1, 0.9], [0.5, 0.5], [0, 300])
HANGS = 300  # seconds; nothing waits so long unless it would wait for ever


class Word(str):
    """A candidate of which only the word counts here."""

    probability = 0.1


class SlowKeyboard:
    """Answers when told to."""

    def __init__(self):
        self.started, self.release = threading.Event(), threading.Event()
        self.batches = []

    def decode(self, gesture, k, context, prefix, suffix):
        return [Word(prefix + word + suffix) for word in self.decode_batch([gesture], k, [context])[0]]

    def decode_batch(self, gestures, k, contexts):
        self.batches.append(len(gestures))
        self.started.set()
        assert self.release.wait(HANGS)
        return [[Word(f"{text or ''}{one.x[0]:g}")] * k for one, text in zip(gestures, contexts, strict=True)]


def scene(play, limit=99):
    """Play a scene with a queue and a keyboard whose first swipe is being decoded."""

    async def whole():
        slow, queue = SlowKeyboard(), DecodeQueue(limit)
        first = asyncio.create_task(queue.decode(slow, SWIPE, 1))
        assert await asyncio.to_thread(slow.started.wait, HANGS)
        try:
            await play(slow, queue)
            slow.release.set()
            assert (await first).candidates == ["0.1"]
        finally:
            slow.release.set()
            queue.close()

    asyncio.run(whole())


def test_a_full_queue_refuses_at_once_and_recovers():
    async def play(slow, queue):
        waiting = [asyncio.create_task(queue.decode(slow, SWIPE, 2)) for _ in range(2)]
        await asyncio.sleep(0)  # lets the tasks start
        with pytest.raises(QueueFullError, match="3 swipes are waiting"):
            await queue.decode(slow, SWIPE, 2)
        with pytest.raises(QueueFullError):
            await queue.run(print)
        slow.release.set()
        await asyncio.gather(*waiting)
        assert (await queue.decode(slow, SWIPE, 1)).candidates == ["0.1"]
        assert queue.waiting == 0

    scene(play, limit=3)


def test_swipes_that_wait_are_decoded_together_and_get_their_own_answers():
    async def play(slow, queue):
        swipes = [Gesture([i, 1], [0, 0], [0, 9]) for i in range(MAX_BATCH + 4)]
        texts = [None if i % 4 else f"{i} " for i in range(len(swipes))]
        tasks = [asyncio.create_task(queue.decode(slow, swipe, 1 + i % 3, texts[i])) for i, swipe in enumerate(swipes)]
        await asyncio.sleep(0)
        tasks.pop(1).cancel()  # a visitor who leaves disturbs nobody
        slow.release.set()
        answers = await asyncio.gather(*tasks)
        numbers = [0, *range(2, MAX_BATCH + 4)]
        assert [one.candidates for one in answers] == [[f"{texts[i] or ''}{i}"] * (1 + i % 3) for i in numbers]
        assert slow.batches == [1, MAX_BATCH, 4]

    scene(play)


def test_a_swipe_between_tapped_letters_is_decoded_alone():
    async def play(slow, queue):
        tapped = [("", ""), ("a", ""), ("", ""), ("", "b")]
        tasks = [asyncio.create_task(queue.decode(slow, SWIPE, 1, None, letters)) for letters in tapped]
        await asyncio.sleep(0)
        slow.release.set()
        answers = await asyncio.gather(*tasks)
        assert [one.candidates for one in answers] == [["0.1"], ["a0.1"], ["0.1"], ["0.1b"]]
        assert [one.none for one in answers] == [pytest.approx(0.9)] * 4
        assert slow.batches == [1, 2, 1, 1]

    scene(play)


def test_a_failure_reaches_those_of_its_keyboard_and_nobody_else():
    class Broken:
        def decode_batch(self, gestures, k, contexts):
            raise ZeroDivisionError

    async def play(slow, queue):
        broken = Broken()
        tasks = [asyncio.create_task(queue.decode(board, SWIPE, 1)) for board in (broken, slow, broken, slow)]
        await asyncio.sleep(0)
        slow.release.set()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(answer) for answer in answers[::2]] == [ZeroDivisionError] * 2
        assert [answer.candidates for answer in answers[1::2]] == [["0.1"]] * 2
        assert slow.batches == [1, 2]

    scene(play)


@pytest.fixture
def keyboards(settings):
    keyboards = Keyboards(settings.model_copy(update={"keyboards": 2}))
    yield keyboards
    keyboards.close()


def small(letters):
    return CustomLayout(name="x", rows=[letters])


def test_keyboards_are_shared_bounded_and_the_least_used_goes(keyboards, tmp_path, monkeypatch):
    monkeypatch.setenv("GLISSANDO_CACHE", str(tmp_path))
    monkeypatch.setitem(decoding.MAX_CACHED, "trie", 2)
    asked = []

    async def get(letters):
        return await keyboards.get(keyboards.layout(small(letters)), "en", lambda: asked.append(letters))

    async def whole():
        boards = await asyncio.gather(*(get("abcd") for _ in range(5)))
        assert len({id(board) for board in boards}) == 1
        for letters in ("abce", "abcd", "abcf", "abcd", "abce"):
            await get(letters)

    asyncio.run(whole())
    assert asked == ["abcd", "abce", "abcf", "abce"]
    assert len(keyboards) == 2
    assert len(list(tmp_path.glob("trie-*.npz"))) == 2  # layouts of strangers do not fill the disk


def test_a_keyboard_that_cannot_be_built_is_asked_for_again(keyboards):
    async def get():
        await keyboards.get(keyboards.layout(small("ᚠᚢᚦ")), "en")

    for _ in range(2):
        with pytest.raises(LexiconError, match="can be typed"):
            asyncio.run(get())
    assert len(keyboards) == 0


def test_too_many_keyboards_in_the_making(keyboards, monkeypatch):
    monkeypatch.setattr(decoding, "MAX_BUILDS", 1)

    async def whole():
        layouts = [keyboards.layout(small(letters)) for letters in ("abcd", "abce")]
        first = asyncio.create_task(keyboards.get(layouts[0], "en"))
        await asyncio.sleep(0)
        with pytest.raises(QueueFullError, match="being built"):
            await keyboards.get(layouts[1], "en")
        await first

    asyncio.run(whole())


def test_the_operators_layouts(settings, tmp_path):
    (tmp_path / "own.json").write_text('{"name": "Mine", "rows": ["abc", "def"]}')
    keyboards = Keyboards(settings.model_copy(update={"layouts": str(tmp_path)}))
    assert keyboards.layout("own").letters == tuple("abcdef")
    with pytest.raises(LayoutError, match="no directory of layouts"):
        Keyboards(settings.model_copy(update={"layouts": str(tmp_path / "none")}))


def test_custom_layouts_with_the_same_letters_share_the_order_of_their_keys(keyboards):
    one, two = (keyboards.layout(CustomLayout(name="x", rows=rows)) for rows in (["ba", "dc"], ["abcd"]))
    assert one.letters == two.letters == tuple("abcd")
    assert not np.array_equal(one.centres, two.centres)
