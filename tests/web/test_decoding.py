import asyncio
import threading
from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest

from glissando.errors import LayoutError, LexiconError
from glissando.gesture import Gesture
from glissando.web import decoding
from glissando.web.decoding import MAX_BATCH, Decoding, QueueFullError, Shelf
from glissando.web.models import CustomLayout

SWIPE = Gesture([0.1, 0.9], [0.5, 0.5], [0, 300])


class SlowKeyboard:
    """Answers when told to."""

    def __init__(self):
        self.release = threading.Event()
        self.batches = []

    def decode(self, gesture, k):
        self.batches.append(1)
        self.release.wait(10)
        return ["one"] * k

    def decode_batch(self, gestures, k):
        self.batches.append(len(gestures))
        self.release.wait(10)
        return [[f"{gesture.x[0]:g}"] * k for gesture in gestures]


def test_a_full_queue_refuses_at_once_and_recovers():
    async def scene():
        slow = SlowKeyboard()
        work = Decoding(SimpleNamespace(), queue=3)
        waiting = [asyncio.create_task(work.decode(slow, SWIPE, 2)) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(QueueFullError, match="3 swipes are waiting"):
            await work.decode(slow, SWIPE, 2)
        with pytest.raises(QueueFullError):
            await work.run(print)
        slow.release.set()
        await asyncio.gather(*waiting)
        assert work.waiting == 0
        assert (await work.decode(slow, SWIPE, 1)).candidates == ["one"]
        work.close()

    asyncio.run(scene())


def test_who_waits_is_decoded_together_and_gets_their_own_answer():
    async def scene():
        slow = SlowKeyboard()
        work = Decoding(SimpleNamespace(), queue=100)
        first = asyncio.create_task(work.decode(slow, SWIPE, 1))
        while not slow.batches:
            await asyncio.sleep(0.001)
        swipes = [Gesture([i, 1], [0, 0], [0, 9]) for i in range(MAX_BATCH + 4)]
        others = [asyncio.create_task(work.decode(slow, swipe, 1 + i % 3)) for i, swipe in enumerate(swipes)]
        await asyncio.sleep(0.01)
        slow.release.set()
        await first
        answers = await asyncio.gather(*others)
        assert [found.candidates for found in answers] == [[f"{i}"] * (1 + i % 3) for i in range(MAX_BATCH + 4)]
        assert slow.batches == [1, MAX_BATCH, 4]
        work.close()

    asyncio.run(scene())


def test_a_failure_reaches_all_who_wait_and_the_thread_lives_on():
    class Broken:
        def decode(self, gesture, k):
            raise ZeroDivisionError

    async def scene():
        work = Decoding(SimpleNamespace(), queue=9)
        with pytest.raises(ZeroDivisionError):
            await work.decode(Broken(), SWIPE, 1)
        slow = SlowKeyboard()
        slow.release.set()
        assert (await work.decode(slow, SWIPE, 1)).candidates == ["one"]
        work.close()

    asyncio.run(scene())


def test_closing_leaves_nobody_waiting():
    async def scene():
        slow = SlowKeyboard()
        work = Decoding(SimpleNamespace(), queue=9)
        tasks = [asyncio.create_task(work.decode(slow, SWIPE, 1))]
        while not slow.batches:
            await asyncio.sleep(0.001)
        tasks += [asyncio.create_task(work.decode(slow, SWIPE, 1)) for _ in range(2)]
        await asyncio.sleep(0.001)
        threading.Timer(0.05, slow.release.set).start()
        work.close()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        assert answers[0].candidates == ["one"]
        assert [type(answer) for answer in answers[1:]] == [QueueFullError] * 2
        with pytest.raises(QueueFullError, match="stopping"):
            await work.decode(slow, SWIPE, 1)

    asyncio.run(scene())


def test_a_batch_holds_one_keyboard():
    a, b = object(), object()
    jobs = deque(SimpleNamespace(keyboard=board) for board in (a, b, a, b, a))
    assert [job.keyboard for job in decoding._take_batch(jobs)] == [a, a, a]
    assert [job.keyboard for job in decoding._take_batch(jobs)] == [b, b]
    assert not jobs


@pytest.fixture
def shelf(settings):
    from dataclasses import replace

    return Shelf(replace(settings, keyboards=2))


def test_keyboards_are_bounded_and_the_least_used_goes(shelf):
    names = ["qwerty", "dvorak", "colemak"]
    layouts = [shelf.layout(name) for name in names]
    shelf.build(layouts[0], "en")
    shelf.build(layouts[1], "en")
    assert shelf.get(layouts[0], "en") is not None
    shelf.build(layouts[2], "en")
    assert [shelf.get(layout, "en") is not None for layout in layouts] == [True, False, True]
    assert len(shelf) == 2


def test_names_are_looked_up_and_never_opened(shelf, tmp_path):
    file = tmp_path / "own.json"
    file.write_text('{"name": "own", "rows": ["ab"]}')
    with pytest.raises(LayoutError, match="no layout"):
        shelf.layout(str(file))
    words = tmp_path / "words.txt"
    words.write_text("secret")
    with pytest.raises(LexiconError, match="no language"):
        shelf.language(str(words), shelf.layout("qwerty"))


def test_the_operators_layouts(settings, tmp_path):
    from dataclasses import replace

    (tmp_path / "own.json").write_text('{"name": "Mine", "rows": ["abc", "def"]}')
    shelf = Shelf(replace(settings, layouts=str(tmp_path)))
    assert shelf.layout("own").letters == tuple("abcdef")
    with pytest.raises(LayoutError, match="no directory of layouts"):
        Shelf(replace(settings, layouts=str(tmp_path / "none")))


def test_custom_layouts_with_the_same_letters_share_the_order_of_their_keys(shelf):
    one, two = (shelf.layout(CustomLayout(name="x", rows=rows)) for rows in (["ba", "dc"], ["abcd"]))
    assert one.letters == two.letters == tuple("abcd")
    assert not np.array_equal(one.centres, two.centres)


def test_visitors_share_the_making_of_a_keyboard(shelf):
    async def scene():
        work = Decoding(shelf, queue=9)
        asked = []
        layout = shelf.layout("kasroz")
        boards = await asyncio.gather(*(work.keyboard(layout, "en", lambda: asked.append(1)) for _ in range(5)))
        assert len({id(board) for board in boards}) == 1
        assert asked == [1]
        work.close()

    asyncio.run(scene())


def test_layouts_of_strangers_do_not_fill_the_disk(shelf, tmp_path, monkeypatch):
    monkeypatch.setenv("GLISSANDO_CACHE", str(tmp_path))
    monkeypatch.setattr(decoding, "MAX_TRIES", 2)
    for rows in (["abc"], ["abcd"], ["abcde"]):
        shelf.build(shelf.layout(CustomLayout(name="x", rows=rows)), "en")
    assert len(list(tmp_path.glob("trie-*.npz"))) == 2
