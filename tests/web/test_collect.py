import json

import numpy as np
import pytest
from command import refused, run

from glissando.corpus.packed import PackedCorpus
from glissando.layout import load_layout
from glissando.synth import swipe
from glissando.web.export import export_corpus
from glissando.web.models import EXAMPLE_POINTS
from glissando.web.store import Donation, Sentence, Store, StoreBusyError, session_id


def open_session(client):
    answer = client.post("/api/sessions", json={"consent": True})
    assert answer.status_code == 201
    return answer.json()["session"]


def sentence(client, **query):
    return client.get("/api/sentences", params={"count": 1, **query}).json()["sentences"][0]


def swipe_body(session, prompt, index=0, **changes):
    return {
        "session": session, "sentence": prompt["id"], "word_index": index, "word": prompt["words"][index]["text"],
        "layout": "qwerty", "points": EXAMPLE_POINTS, "canvas_width": 390.0, "canvas_height": 156.0,
        "orientation": "portrait", "pointer": "touch", "attempt": 1, **changes,
    }  # fmt: skip


@pytest.fixture
def donor(client):
    return open_session(client), sentence(client)


def stored(app, session):
    return [row for row in app.state.store.export(skipped=True) if row.session == session_id(session)]


def test_consent_is_needed(client):
    assert client.post("/api/sessions", json={"consent": False}).status_code == 422
    assert client.post("/api/sessions", json={}).status_code == 422
    assert open_session(client) != open_session(client)


def test_a_swipe_and_a_skip(app, client, donor):
    session, prompt = donor
    late = [[x, y, 1_000_000 + t + 0.123] for x, y, t in EXAMPLE_POINTS]  # times are stored from touch-down
    assert client.post("/api/swipes", json=swipe_body(session, prompt, points=late, attempt=2)).json() == {
        "stored": True
    }
    assert client.post("/api/swipes", json=swipe_body(session, prompt, attempt=1)).json() == {"stored": False}
    client.post("/api/swipes", json=swipe_body(session, prompt, 1, points=[]))
    first, second = stored(app, session)
    assert json.loads(first.points) == EXAMPLE_POINTS
    assert (first.word, first.language, first.skipped) == (prompt["words"][0]["text"], "en", False)
    assert (second.skipped, second.points) == (True, "[]")


def test_a_donor_takes_it_back(app, client, donor):
    session, prompt = donor
    client.post("/api/swipes", json=swipe_body(session, prompt))
    assert client.delete("/api/sessions", headers={"x-session": session}).json() == {"deleted": 1}
    assert stored(app, session) == []
    assert client.post("/api/swipes", json=swipe_body(session, prompt)).status_code == 404
    assert client.delete("/api/sessions", headers={"x-session": session}).status_code == 404
    assert client.delete("/api/sessions").status_code == 422


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
    session, prompt = open_session(client), sentence(client)
    assert client.post("/api/swipes", json=swipe_body(session, prompt, pointer="pen")).status_code == 200


def test_sentences_are_cut_for_the_layout(client):
    prompt = sentence(client, language="ru", layout="jcuken")
    assert prompt["language"] == "ru"
    letters = set(load_layout("jcuken").letters)
    assert all(set(word["typed"]) <= letters for word in prompt["words"])
    assert client.get("/api/sentences", params={"language": "xx"}).status_code == 422
    assert client.get("/api/sentences", params={"count": 0}).status_code == 422
    assert client.get("/api/sentences", params={"layout": "../../etc/x.json"}).status_code == 422


def test_rates_per_session_and_per_address(changed_client):
    client = changed_client(rate_swipes=0.0004)
    one, two, prompt = open_session(client), open_session(client), sentence(client)
    codes = [client.post("/api/swipes", json=swipe_body(who, prompt)).status_code for who in (one, one, two)]
    assert codes == [200, 429, 200]
    client = changed_client(rate_address=0.0004)
    codes = [client.post("/api/sessions", json={"consent": True}).status_code for _ in range(2)]
    assert codes == [201, 429]


def test_the_operator_sees_counts_with_the_token_only(client, donor, settings):
    (session, prompt), token = donor, settings.token
    client.post("/api/swipes", json=swipe_body(session, prompt))
    for header in ({}, {"authorization": "Bearer wrong"}, {"authorization": token}, {"authorization": "Bearer "}):
        answer = client.get("/api/operator/summary", headers=header)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
    answer = client.get("/api/operator/summary", headers={"authorization": f"Bearer {token}"}).json()
    assert sum(group["swipes"] for group in answer["groups"]) >= 1
    assert answer["hours"]
    assert answer["recent"][0]["points"]
    assert [layout["name"] for layout in answer["layouts"]] == ["qwerty"]
    assert session not in json.dumps(answer)


def test_without_a_token_there_is_no_operator(changed_client):
    answer = changed_client(token="").get("/api/operator/summary", headers={"authorization": "Bearer "})
    assert answer.status_code == 404


def test_a_store_that_is_busy_is_503_with_retry_after(app, client, monkeypatch):
    def busy(*_):
        raise StoreBusyError("the store cannot answer now: database is locked")

    monkeypatch.setattr(app.state.store, "open_session", busy)
    answer = client.post("/api/sessions", json={"consent": True})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")


@pytest.fixture(scope="module")
def donated(tmp_path_factory):
    """A store with what twelve donors gave, under the same secrets every time: splits are made by them."""
    url = f"sqlite:///{tmp_path_factory.mktemp('donated')}/s.db"
    store, layout, rng = Store(url), load_layout("qwerty"), np.random.default_rng(0)
    one = Sentence.of("en", "Take the early train number nine home today")
    store.remember([one])
    secrets = (f"secret {i}" for i in range(12))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("glissando.web.store.secrets.token_urlsafe", lambda _: next(secrets))
        for session in [store.open_session(1)[0] for _ in range(12)]:
            for index, word in enumerate(one.text.split()):
                gesture = swipe(word, layout, rng, noise=0.3)
                points = np.stack([gesture.x, gesture.y, gesture.t], axis=1).tolist() if index else []
                donation = Donation(one.id, index, word, "qwerty", "en", points, 390, 156, "portrait", "touch", 1)
                store.save(session, donation)
    store.close()
    return url


def test_the_export_is_a_corpus_for_every_command(donated, tmp_path):
    def command(*arguments):
        result = run("corpus", *arguments)
        assert result.code == 0, (arguments, result)
        return result.out

    swipes = tmp_path / "rows.jsonl.gz"
    assert "84 swipes" in command("export", "--store", donated, "-o", swipes)
    assert json.loads(command("stats", swipes, "--json"))["sessions"] == 12
    assert json.loads(command("filter", swipes, "-o", tmp_path / "good.jsonl.gz", "--json"))["kept"] > 40
    command("split", swipes, "-o", tmp_path / "splits", "--fractions", "train=0.7,val=0.3", "--seed", "1")
    command("pack", tmp_path / "splits" / "train.jsonl.gz", "-o", tmp_path / "pack")
    command("export", "--store", donated, "-o", tmp_path / "donated.npz")
    assert len(PackedCorpus.open(tmp_path / "donated.npz")) == 84


def test_rows_are_those_of_swipe_futo_org(donated, tmp_path):
    store = Store(donated)
    file = tmp_path / "rows.jsonl"
    count = export_corpus(store, file, skipped=True)
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == count
    store.close()
    needed = {"word", "data", "canvas_width", "canvas_height", "orientation", "session", "sentence", "word_index"}
    assert all(needed | {"layout", "language"} <= line.keys() for line in lines)
    assert all((line["data"] == []) == (line["word_index"] == 0) for line in lines)
    line = next(line for line in lines if line["data"])
    assert set(line["data"][0]) == {"x", "y", "t"}
    assert line["sentence"].split()[line["word_index"]] == line["word"]


def test_an_export_makes_no_store(tmp_path):
    message = refused("corpus", "export", "--store", f"sqlite:///{tmp_path}/none.db", "-o", tmp_path / "x.jsonl")
    assert "no store" in message
    assert list(tmp_path.iterdir()) == []
