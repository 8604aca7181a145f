import asyncio

import pytest

from glissando.web import border
from glissando.web.border import MAX_BODY, BodyError, Border, RateError, RateLimit


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_a_burst_then_a_steady_rate():
    clock = Clock()
    limit = RateLimit("swipes", rate=2.0, burst=3, clock=clock)
    for _ in range(3):
        limit.take("a")
    with pytest.raises(RateError, match=r"too many swipes; wait 0\.5 s") as caught:
        limit.take("a")
    assert caught.value.wait == pytest.approx(0.5)
    clock.now = 0.5
    limit.take("a")
    with pytest.raises(RateError):
        limit.take("a")
    clock.now = 100
    for _ in range(3):  # unused seconds add up to a burst, not to more
        limit.take("a")
    with pytest.raises(RateError):
        limit.take("a")


def test_visitors_have_buckets_of_their_own_and_are_forgotten(monkeypatch):
    monkeypatch.setattr(border, "MAX_BUCKETS", 3)
    limit = RateLimit("swipes", rate=1.0, burst=1, clock=Clock())
    for visitor in "abcde":
        limit.take(visitor)
    with pytest.raises(RateError):
        limit.take("e")
    limit.take("a")
    assert len(limit._buckets) == 3
    assert not any(key == b"e" for key in limit._buckets)  # only hashes are kept


async def echo(scope, receive, send):
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(len(body)).encode()})


def answer(chunks):
    """The body of the answer to a POST with these chunks; they are removed when they are read."""
    sent = []

    async def receive():
        return {"type": "http.request", "body": chunks.pop(0), "more_body": bool(chunks)}

    async def send(message):
        sent.append(message)

    asyncio.run(Border(echo)({"type": "http", "method": "POST", "path": "/api/x", "headers": []}, receive, send))
    return sent[1]["body"]


def test_a_body_is_read_up_to_the_limit_and_no_further():
    half = b"x" * (MAX_BODY // 2)
    assert answer([half, half]) == str(MAX_BODY).encode()
    chunks = [half, half, b"x", half]
    with pytest.raises(BodyError):
        answer(chunks)
    assert len(chunks) == 1
