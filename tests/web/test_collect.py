import json
from dataclasses import replace

import pytest
from web.donating import agree, sentence, swipe_body
from web.serving import CONSENT

from glissando.layout import load_layout
from glissando.web import collect
from glissando.web.checking import Check
from glissando.web.codes import session_id
from glissando.web.consent import load_consent
from glissando.web.database import StoreBusyError
from glissando.web.models import EXAMPLE_POINTS
from glissando.web.selection import Selection
from glissando.web.store import HOUR


@pytest.fixture
def donor(client):
    return agree(client)["session"], sentence(client)


def stored(app, session):
    return list(app.state.store.rows(Selection(session=session_id(session)), skipped=True))


def give(client, *arguments, **changes):
    return client.post("/api/swipes", json=swipe_body(*arguments, **changes))


def test_the_collection_says_all_that_a_donor_must_know(client):
    answer = client.get("/api/collection").json()
    consent = load_consent(CONSENT)
    assert answer["consent"] == {"version": consent.version, **consent.to_dict()}
    assert answer["languages"] == ["de", "en", "es", "fr", "ru"]
    assert answer["layouts"]["ru"][:2] == ["jcuken", "jcuken33"]
    assert answer["address"] == "http://testserver/collect"
    assert len(answer["qr"]) > 20


def test_on_this_machine_alone_there_is_no_address_for_phones(client, changed_client):
    local = {"host": "localhost:8000"}
    answer = client.get("/api/collection", headers=local).json()
    assert (answer["address"], answer["qr"]) == (None, [])
    other = changed_client(address="https://192.168.1.5:8000")
    assert other.get("/api/collection", headers=local).json()["address"] == "https://192.168.1.5:8000/collect"


@pytest.mark.parametrize("consent", [False, 1, 1.0, "true", None, "yes", [True]])
def test_only_true_is_consent(client, consent):
    version = load_consent(CONSENT).version
    assert client.post("/api/sessions", json={"consent": consent, "version": version}).status_code == 422


def test_consent_is_to_the_text_that_was_shown(client, app):
    assert client.post("/api/sessions", json={"consent": True}).status_code == 422
    answer = client.post("/api/sessions", json={"consent": True, "version": "0123456789abcdef"})
    assert (answer.status_code, answer.json()["error"]["kind"]) == (409, "ConsentChangedError")
    one, two = agree(client), agree(client)
    assert one["session"] != two["session"]
    assert one["expires"] % HOUR == 0
    assert one["link"] == f"http://testserver/collect#withdraw={one['receipt']}"
    assert len(one["qr"]) > 20
    consent = load_consent(CONSENT)
    assert app.state.store.consents()[consent.version] == consent


def test_nothing_is_collected_without_a_consent_file(changed_client):
    client = changed_client(consent="")
    assert client.get("/api/collection").json()["consent"] is None
    asked = {"consent": True, "version": load_consent(CONSENT).version}
    for answer in (client.post("/api/sessions", json=asked), client.get("/api/sentences")):
        assert answer.status_code == 403
        assert "does not collect swipes" in answer.json()["error"]["message"]
    assert client.get("/collect").status_code == 200


def test_who_agreed_before_may_still_send_what_waits(settings, changed_client):
    client = changed_client()
    session, prompt = agree(client)["session"], sentence(client)
    closed = changed_client(consent="")
    assert give(closed, session, prompt).status_code == 200
    codes = {"codes": [session]}
    assert closed.post("/api/withdrawals", json=codes).json()["removed"] == 1


def test_a_swipe_and_a_skip(app, client, donor):
    session, prompt = donor
    late = [[x, y, 1_000_000 + t + 0.123] for x, y, t in EXAMPLE_POINTS]  # times are stored from touch-down
    first = give(client, session, prompt, points=late, attempt=2, sampling="frame", pixel_ratio=3, hand="left").json()
    assert first["stored"]
    assert set(first["check"]) == {"read", "sure", "right", "cost", "key_distance", "flagged"}
    assert not give(client, session, prompt, attempt=1).json()["stored"]
    skip = give(client, session, prompt, 1, points=[]).json()
    assert skip == {"stored": True, "again": False, "check": None}
    row, second = stored(app, session)
    assert json.loads(row.points) == EXAMPLE_POINTS
    assert (row.word, row.language, row.skipped) == (prompt["words"][0]["text"], "en", False)
    assert (row.sampling, row.pixel_ratio, row.hand, row.posture) == ("frame", 3, "left", None)
    assert (row.read, row.flagged) == (first["check"]["read"], first["check"]["flagged"])
    assert (second.skipped, second.points, second.flagged) == (True, "[]", None)


def test_a_swipe_that_strays_is_asked_for_again_once_and_kept(app, client, donor, monkeypatch):
    session, prompt = donor
    strays = Check("zebra", 0.9, False, 8.0, 3.0, True)
    monkeypatch.setattr(collect, "check_swipe", lambda *_: strays)
    answers = [give(client, session, prompt, attempt=attempt).json() for attempt in (1, 1, 2, 3)]
    assert [answer["again"] for answer in answers] == [True, True, False, False]  # the second is a retry of the first
    (row,) = stored(app, session)
    assert (row.tries, row.flagged, row.read) == (3, True, "zebra")
    monkeypatch.setattr(collect, "check_swipe", lambda *_: replace(strays, flagged=False))
    assert not give(client, session, prompt, attempt=4).json()["check"]["flagged"]
    assert not stored(app, session)[0].flagged


def test_a_language_without_a_word_list_is_read_with_its_sentences(changed_client, tmp_path):
    (tmp_path / "cy.txt").write_text("Bore da\n", encoding="utf-8")
    client = changed_client(sentences=str(tmp_path / "cy.txt"), language="xx")
    session, prompt = agree(client)["session"], sentence(client, language="xx")
    assert give(client, session, prompt).json()["check"]["read"]


def test_a_donor_takes_it_back(app, client, donor):
    session, prompt = donor
    give(client, session, prompt)
    answers = [client.post("/api/withdrawals", json={"codes": [session]}).json() for _ in range(2)]
    assert answers == [{"removed": 1, "sessions": [{"known": True, "removed": 1}]}] * 2
    assert stored(app, session) == []
    late = give(client, session, prompt)
    assert (late.status_code, late.json()["error"]["kind"]) == (410, "WithdrawnError")
    assert stored(app, session) == []


def test_several_sessions_by_secret_and_receipt_count_once(app, client):
    prompt, sessions = sentence(client), [agree(client) for _ in range(2)]
    for one in sessions:
        give(client, one["session"], prompt)
    codes = [sessions[0]["session"], sessions[0]["receipt"].lower(), "mistyped", sessions[1]["receipt"]]
    answer = client.post("/api/withdrawals", json={"codes": codes}).json()
    assert answer["removed"] == 2
    assert [one["known"] for one in answer["sessions"]] == [True, True, False, True]
    assert not any(stored(app, one["session"]) for one in sessions)


@pytest.mark.parametrize("codes", [[], [""], ["a" * 65], ["a"] * 51, "a", [1], None])
def test_codes_that_are_none(client, codes):
    assert client.post("/api/withdrawals", json={"codes": codes}).status_code == 422


WRONG = {
    "unknown session": ({"session": "nobody"}, 404, "no such session"),
    "unknown sentence": ({"sentence": "nothing"}, 404, "no sentence"),
    "another word": ({"word": "<script>alert(1)</script>"}, 422, "is not"),
    "a word too far": ({"word_index": 900}, 422, "is not"),
    "unknown layout": ({"layout": "qwertz2"}, 422, "no layout"),
    "a mouse": ({"pointer": "mouse"}, 403, "only swipes by a finger"),
    "no canvas": ({"canvas_width": 0.0}, 422, "canvas_width"),
    "an odd orientation": ({"orientation": "upside down"}, 422, "orientation"),
    "time backwards": ({"points": [[0, 0, 9], [0, 0, 1]]}, 422, "backwards"),
    "far away": ({"points": [[5000, 0, 0], [0, 0, 1]]}, 422, "letter areas away"),
    "too many points": ({"points": [[0, 0, i] for i in range(4097)]}, 422, "at most 4096"),
    "a word of another layout": ({"layout": "jcuken"}, 422, "cannot be typed on layout 'jcuken'"),
    "no such hand": ({"hand": "third"}, 422, "hand"),
    "an endless screen": ({"pixel_ratio": 1e9}, 422, "pixel_ratio"),
    "an address": ({"ip": "127.0.0.1"}, 422, "ip"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_not_taken(app, client, donor, case):
    session, prompt = donor
    changes, status, message = WRONG[case]
    answer = client.post("/api/swipes", json={**swipe_body(session, prompt), **changes})
    assert answer.status_code == status, answer.text
    assert message in answer.json()["error"]["message"]
    assert stored(app, session) == []


def test_other_pointers_where_the_operator_allows_them(changed_client):
    client = changed_client(any_pointer=True)
    assert client.get("/api/collection").json()["any_pointer"] is True
    session, prompt = agree(client)["session"], sentence(client)
    assert give(client, session, prompt, pointer="pen").status_code == 200


def test_sentences_are_those_that_the_layout_can_type(client):
    prompt = sentence(client, language="ru", layout="jcuken")
    assert prompt["language"] == "ru"
    letters = set(load_layout("jcuken").letters)
    assert all(set(word["typed"]) <= letters for word in prompt["words"])
    assert client.get("/api/sentences", params={"language": "xx"}).status_code == 422
    assert client.get("/api/sentences", params={"count": 0}).status_code == 422
    assert client.get("/api/sentences", params={"layout": "../../etc/x.json"}).status_code == 422
    answer = client.get("/api/sentences", params={"language": "ru", "layout": "qwerty"})
    assert answer.status_code == 422
    assert "layouts that can are jcuken, jcuken33" in answer.json()["error"]["message"]


def test_rates_per_session_and_per_address(changed_client):
    client = changed_client(rate_swipes=0.0004)
    one, two, prompt = agree(client)["session"], agree(client)["session"], sentence(client)
    assert [give(client, who, prompt).status_code for who in (one, one, two)] == [200, 429, 200]
    client = changed_client(rate_address=0.0004)
    body = {"consent": True, "version": load_consent(CONSENT).version}
    assert [client.post("/api/sessions", json=body).status_code for _ in range(2)] == [201, 429]


def test_a_store_that_is_busy_is_503_with_retry_after(app, client, monkeypatch):
    def busy(*_):
        raise StoreBusyError("the store cannot answer now: database is locked")

    monkeypatch.setattr(app.state.store, "open_session", busy)
    answer = client.post("/api/sessions", json={"consent": True, "version": load_consent(CONSENT).version})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
