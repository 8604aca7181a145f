"""The files that a server hands out: types, caching, and the kit."""

import gzip
import json

import pytest

from glissando.export.kit import RUNTIME
from glissando.export.wasm import MODULE, WASM


@pytest.fixture
def runtime(tmp_path):
    """A directory with a runtime that is none."""
    folder = tmp_path / "runtime"
    folder.mkdir()
    (folder / MODULE).write_text("export const nothing = 0;\n" * 100)
    (folder / WASM).write_bytes(b"\0asm" + bytes(1000))
    return folder


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/static/page.js", "text/javascript; charset=utf-8"),
        ("/static/base.css", "text/css; charset=utf-8"),
        ("/static/icon.svg", "image/svg+xml"),
        ("/js/index.js", "text/javascript; charset=utf-8"),
        ("/kit/index.json", "application/json"),
        ("/kit/tok.words.gz", "application/gzip"),
    ],
)
def test_every_file_has_its_type_and_is_asked_for_again(client, path, kind):
    answer = client.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, kind)
    assert answer.headers["cache-control"] == "no-cache"
    again = client.get(path, headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", ["/static/demo.css", "/js/keyboard.js", "/kit/index.json"])
def test_text_is_compressed_on_the_wire(client, path):
    answer = client.get(path, headers={"accept-encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    assert int(answer.headers["content-length"]) < len(answer.content) / 2
    assert "content-encoding" not in client.get(path, headers={"accept-encoding": "identity"}).headers


def test_the_kit_is_the_servers(client, settings):
    index = client.get("/kit/index.json").json()
    asked = client.get("/api/layouts").json()
    assert index["server"] is True
    assert index["runtime"] is None
    assert index["layouts"] == asked["layouts"]
    assert sorted(index["languages"]) == sorted(asked["languages"])
    words = client.get("/kit/tok.words.gz", headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in words.headers
    assert gzip.decompress(words.content)[:8] == b"glswords"


def test_a_file_of_this_build_may_be_kept_for_ever(client):
    build = client.get("/kit/index.json").json()["build"]
    kept = client.get(f"/kit/tok.words.gz?v={build}")
    assert "immutable" in kept.headers["cache-control"]
    assert len(kept.headers.get_list("cache-control")) == 1
    assert client.get("/kit/tok.words.gz?v=0123456789abcdef").headers["cache-control"] == "no-cache"
    assert client.head(f"/kit/tok.words.gz?v={build}").headers["content-length"] == str(len(kept.content))


@pytest.mark.parametrize(
    "path",
    [
        "/kit/",
        "/kit/xx.words.gz",
        f"/kit/{RUNTIME}",
        "/kit/..%2fapp.py",
        "/kit/a/b.gz",
        "/kit/" + 3000 * "a",
        "/js/none.js",
    ],
)
def test_what_is_not_there(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.json()["error"]["kind"] == "HTTPError"
    assert len(answer.content) < 300


def test_a_runtime_from_a_directory(changed_client, runtime):
    client = changed_client(runtime=str(runtime))
    index = client.get("/kit/index.json").json()
    assert index["runtime"] == {"module": RUNTIME, "wasm": f"{WASM}.gz"}
    module = client.get(f"/kit/{RUNTIME}")
    assert module.headers["content-type"] == "text/javascript; charset=utf-8"
    assert module.content == (runtime / MODULE).read_bytes()
    assert gzip.decompress(client.get(f"/kit/{WASM}.gz").content) == (runtime / WASM).read_bytes()


def test_a_runtime_that_arrives_later_joins_the_kit(changed_client, runtime, tmp_path, monkeypatch):
    monkeypatch.setenv("GLISSANDO_CACHE", str(tmp_path / "cache"))
    client, without = changed_client(), changed_client(runtime="none", store=f"sqlite:///{tmp_path}/other.db")
    before = client.get("/kit/index.json")
    folder = tmp_path / "cache" / "onnxruntime-web-1.30.0"
    folder.mkdir(parents=True)
    (folder / f"{MODULE}.gz").write_bytes(gzip.compress((runtime / MODULE).read_bytes()))
    (folder / f"{WASM}.gz").write_bytes(gzip.compress(b"\0asm")[:-2])  # cut off: as if it were not there
    assert client.get("/kit/index.json").json() == before.json()
    (folder / f"{WASM}.gz").write_bytes(gzip.compress(b"\0asm"))
    after = client.get("/kit/index.json", headers={"if-none-match": before.headers["etag"]})
    assert after.json()["build"] != before.json()["build"]
    assert after.json()["runtime"]
    assert client.get(f"/kit/{RUNTIME}").content == (runtime / MODULE).read_bytes()
    assert without.get("/kit/index.json").json()["runtime"] is None


def test_layouts_of_the_operator_are_in_the_index(changed_client, tmp_path):
    (tmp_path / "own.json").write_text(json.dumps({"name": "Mine", "rows": ["abc", "def"], "language": "cs"}))
    index = changed_client(layouts=str(tmp_path)).get("/kit/index.json").json()
    (own,) = [layout for layout in index["layouts"] if layout["name"] == "own"]
    assert (own["letters"], own["language"]) == ("abcdef", "cs")


def test_files_that_must_be_made_are_bounded_per_address(changed_client, tmp_path, monkeypatch):
    monkeypatch.setattr("glissando.export.kit.word_bytes", lambda lexicon: lexicon.language.encode())
    monkeypatch.setattr("glissando.lexicon.Lexicon.from_language", lambda code: type("L", (), {"language": code}))
    monkeypatch.setenv("GLISSANDO_CACHE", str(tmp_path))
    client = changed_client()
    codes = list(client.get("/kit/index.json").json()["languages"])
    answers = [client.get(f"/kit/{code}.words.gz") for code in codes]
    made = [answer for answer in answers if answer.status_code == 200]
    assert 30 <= len(made) < len(codes)
    assert {answer.status_code for answer in answers[len(made) :]} == {429}
    assert client.get(f"/kit/{codes[0]}.words.gz").status_code == 200  # it was made before
