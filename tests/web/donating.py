"""Donors and what they give, for tests."""

from dataclasses import replace

from glissando.web.checking import Check
from glissando.web.consent import Consent
from glissando.web.models import EXAMPLE_POINTS
from glissando.web.selection import Selection
from glissando.web.store import Donation, Sentence

AGREED = Consent("Somebody", "a@example.org", "CC0-1.0", "To test.", "For a moment.")
HELLO = Sentence.of("en", "Hello <b>world</b>")
POINTS = ((0.1, 0.5, 0.0), (0.9, 0.5, 300.0))
GOOD = Check("hello", 0.9, True, 0.1, 0.4, False)
BAD = Check("zebra", 0.8, False, 9.0, 3.5, True)


def donation(index=0, word="Hello", points=POINTS, attempt=1, **changes):
    """A swipe on QWERTY."""
    given = Donation(HELLO.id, index, word, "qwerty", "en", points, 390, 156, "portrait", "touch", attempt)
    return replace(given, **changes)


def open_secret(store, hours=1):
    """The secret of a new session."""
    return store.open_session(hours, AGREED).secret


def rows(store, selection=None, skipped=False):
    """What is in a store."""
    return list(store.rows(selection or Selection(), skipped=skipped))


def agree(client):
    """What a new session of a server answers."""
    version = client.get("/api/collection").json()["consent"]["version"]
    answer = client.post("/api/sessions", json={"consent": True, "version": version})
    assert answer.status_code == 201, answer.text
    return answer.json()


def sentence(client, **query):
    """A sentence to swipe."""
    return client.get("/api/sentences", params={"count": 1, **query}).json()["sentences"][0]


def swipe_body(session, prompt, index=0, **changes):
    """The request that gives a swipe of a word of a sentence."""
    return {
        "session": session, "sentence": prompt["id"], "word_index": index, "word": prompt["words"][index]["text"],
        "layout": "qwerty", "points": EXAMPLE_POINTS, "canvas_width": 390.0, "canvas_height": 156.0,
        "orientation": "portrait", "pointer": "touch", "attempt": 1, **changes,
    }  # fmt: skip
