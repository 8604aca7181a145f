import gzip
import io
import json
import zipfile

import pytest
from web.donating import agree, sentence, swipe_body

from glissando.web import collect, operators
from glissando.web.checking import Check
from glissando.web.codes import session_id

TOKEN = {"authorization": "Bearer a token for tests"}


@pytest.fixture
def site(changed_client, monkeypatch):
    """A server with two donors: one gave a good swipe and a skip, the other a flagged swipe."""
    client = changed_client()
    prompt, sessions = sentence(client), [agree(client)["session"] for _ in range(2)]
    for session, flagged in zip(sessions, (False, True), strict=True):
        check = Check("zebra", 0.9, not flagged, 1.0, 4.0 if flagged else 0.3, flagged)
        monkeypatch.setattr(collect, "check_swipe", lambda *_, check=check: check)
        client.post("/api/swipes", json=swipe_body(session, prompt))
    client.post("/api/swipes", json=swipe_body(sessions[0], prompt, 1, points=[]))
    return client, sessions


def summary(client, **selection):
    return client.get("/api/operator/summary", params=selection, headers=TOKEN).json()


@pytest.mark.parametrize("path", ["summary", "export", "removal"])
def test_nothing_without_the_token(client, path):
    for header in ({}, {"authorization": "Bearer wrong"}, {"authorization": "a token"}, {"authorization": "Bearer "}):
        call = client.post if path == "removal" else client.get
        answer = call(f"/api/operator/{path}", headers=header)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"


def test_without_a_token_there_is_no_operator(changed_client):
    answer = changed_client(token="").get("/api/operator/summary", headers={"authorization": "Bearer "})
    assert answer.status_code == 404


def test_numbers(site):
    client, sessions = site
    answer = summary(client)
    assert answer["totals"] == {
        "donors": 2, "swipes": 2, "skipped": 1, "words": 1, "checked": 2, "right": 1, "flagged": 1, "withdrawn": 0,
    }  # fmt: skip
    assert {one["session"]: one["flagged"] for one in answer["donors"]} == {
        session_id(sessions[0]): 0, session_id(sessions[1]): 1,
    }  # fmt: skip
    assert answer["recent"][0]["points"]
    assert [layout["name"] for layout in answer["layouts"]] == ["qwerty"]
    assert not any(session in json.dumps(answer) for session in sessions)
    assert summary(client, flagged=True)["totals"]["swipes"] == 1
    assert summary(client, since="2001-01-01", until="2001-01-02")["totals"]["swipes"] == 0


@pytest.mark.parametrize(
    "query", [{"since": "yesterday"}, {"flagged": "perhaps"}, {"max_key_distance": "nan"}, {"color": "red"}]
)
def test_selections_that_are_none(client, query):
    for path in ("summary", "export"):
        assert client.get(f"/api/operator/{path}", params=query, headers=TOKEN).status_code == 422


def export(client, **query):
    return client.get("/api/operator/export", params=query, headers=TOKEN)


def test_exports(site):
    client, _ = site
    answer = export(client, skipped=True)
    assert 'filename="swipes.jsonl.gz"' in answer.headers["content-disposition"]
    assert len(gzip.decompress(answer.content).splitlines()) == 3
    (row,) = gzip.decompress(export(client, flagged=False).content).splitlines()
    assert json.loads(row)["flagged"] is False
    assert zipfile.is_zipfile(io.BytesIO(export(client, format="npz").content))  # which an .npz is
    empty = export(client, language="de")
    assert (empty.status_code, empty.json()["error"]["kind"]) == (422, "CorpusError")


def test_an_export_as_a_dataset(site):
    pytest.importorskip("pyarrow", reason="the parquet extra is not installed")
    archive = zipfile.ZipFile(io.BytesIO(export(site[0], format="parquet").content))
    assert b"Swipes donated to The tests" in archive.read("swipes/README.md")


def remove(client, confirm=None, **selection):
    body = {"selection": selection, "confirm": confirm}
    return client.post("/api/operator/removal", json=body, headers=TOKEN)


def test_flagged_swipes_are_removed_after_a_look(site):
    client, _ = site
    assert remove(client, flagged=True).json() == {"found": 1, "removed": 0}
    wrong = remove(client, 7, flagged=True)
    assert (wrong.status_code, wrong.json()["error"]["kind"]) == (409, "ConfirmationError")
    assert remove(client, 1, flagged=True).json() == {"found": 1, "removed": 1}
    assert summary(client)["totals"]["flagged"] == 0
    assert summary(client)["totals"]["withdrawn"] == 0


def test_a_donor_is_removed_for_good(site):
    client, sessions = site
    donor = session_id(sessions[0])
    assert remove(client, session=donor).json() == {"found": 2, "removed": 0}
    assert remove(client, 2, session=donor).json()["removed"] == 2
    assert client.post("/api/swipes", json=swipe_body(sessions[0], sentence(client))).status_code == 410
    assert summary(client)["totals"]["withdrawn"] == 1


def test_everything_is_never_removed_at_once(site):
    client, _ = site
    assert remove(client).status_code == 422
    assert remove(client, True, flagged=True).status_code == 422
    assert summary(client)["totals"]["swipes"] == 2


def test_one_export_at_a_time_and_nothing_of_it_stays(site, monkeypatch, tmp_path):
    client, _ = site
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    write, inner = operators.write_export, []

    def write_slowly(*arguments, **options):
        inner.append(export(client))  # another one, while this one is written
        return write(*arguments, **options)

    monkeypatch.setattr(operators, "write_export", write_slowly)
    assert export(client).status_code == 200
    assert (inner[0].status_code, inner[0].headers["retry-after"]) == (503, "1")
    assert export(client, language="de").status_code == 422
    monkeypatch.setattr(operators, "write_export", write)
    assert export(client).status_code == 200
    assert list((tmp_path / "temporary").iterdir()) == []
