import asyncio

import pytest

from glissando.web import limits
from glissando.web.limits import Border, RateError, RateLimit
from glissando.web.settings import MAX_BODY


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


def test_visitors_do_not_share_a_bucket():
    limit = RateLimit("swipes", rate=1.0, burst=1, clock=Clock())
    limit.take("a")
    limit.take("b")
    with pytest.raises(RateError):
        limit.take("a")


def test_visitors_are_forgotten_and_never_kept_by_name(monkeypatch):
    monkeypatch.setattr(limits, "MAX_BUCKETS", 3)
    limit = RateLimit("swipes", rate=1.0, burst=1, clock=Clock())
    for visitor in "abcde":
        limit.take(visitor)
    assert len(limit._buckets) == 3
    assert not any(key == b"e" for key in limit._buckets)


async def echo(scope, receive, send):
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(len(body)).encode()})


async def refuse(scope, receive, send):
    await send({"type": "http.response.start", "status": 413, "headers": []})
    await send({"type": "http.response.body", "body": b"too large"})


def answer(chunks, headers=()):
    """(status, body, how many chunks were read) of a POST with these chunks."""
    waiting, sent = list(chunks), []

    async def receive():
        return {"type": "http.request", "body": waiting.pop(0), "more_body": bool(waiting)}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/api/x", "headers": list(headers)}
    asyncio.run(Border(echo, refuse)(scope, receive, send))
    return sent[0]["status"], sent[1]["body"], len(chunks) - len(waiting)


def test_bodies_up_to_the_limit_pass_whole():
    half = b"x" * (MAX_BODY // 2)
    assert answer([half, half]) == (200, str(MAX_BODY).encode(), 2)


def test_a_body_without_length_is_refused_where_it_grows_over():
    half = b"x" * (MAX_BODY // 2)
    assert answer([half, half, b"x", half]) == (413, b"too large", 3)


def test_a_declared_length_is_refused_unread():
    size = (b"content-length", str(MAX_BODY + 1).encode())
    assert answer([b"x"], [size]) == (413, b"too large", 0)
