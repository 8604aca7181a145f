import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import glissando
from glissando.layout import builtin_layouts
from glissando.synth import swipe
from glissando.web.models import EXAMPLE_POINTS

ROWS = {"name": "mine", "rows": ["qwfpgjluy", "arstdhneio", "zxcvbkm"]}


def points(word, layout="qwerty", seed=0):
    keys = glissando.Layout.from_dict(layout) if isinstance(layout, dict) else glissando.layout.load_layout(layout)
    gesture = swipe(word, keys, np.random.default_rng(seed))
    return np.stack([gesture.x, gesture.y, gesture.t], axis=1).tolist()


def decode(client, **body):
    return client.post("/api/decode", json={"points": EXAMPLE_POINTS, **body})


def test_the_answer_is_the_librarys(client, tiny_weights):
    answer = decode(client, points=points("hello"), k=4).json()
    expected = glissando.load("qwerty", "en", weights=tiny_weights).decode(points("hello"), k=4)
    for name in ("word", "letters"):
        assert [one[name] for one in answer["candidates"]] == [getattr(one, name) for one in expected]
    for name in ("probability", "score", "log_prob"):
        values = [one[name] for one in answer["candidates"]]
        assert values == pytest.approx([getattr(one, name) for one in expected], rel=1e-4)
    assert answer["milliseconds"] > 0


def test_many_at_once_get_the_same_as_one_by_one(client):
    bodies = [{"points": points(word, seed=seed)} for seed in range(4) for word in ("hello", "world", "keyboard")]
    alone = [decode(client, **body).json()["candidates"][0]["word"] for body in bodies]
    with ThreadPoolExecutor(12) as pool:
        together = list(pool.map(lambda body: decode(client, **body).json()["candidates"][0]["word"], bodies))
    assert together == alone


def test_the_text_before_has_a_say_on_its_own_row(client, tiny_weights):
    board = glissando.load("qwerty", "en", weights=tiny_weights)
    texts = [None, "", "on my", "she could", "ещё \x00\u202e 😀", "x" * 4096]
    bodies = [{"points": points("hello"), "context": text, "k": 6} for text in texts] * 2
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda body: decode(client, **body).json()["candidates"], bodies))
    for body, answer in zip(bodies, answers, strict=True):
        expected = board.decode(body["points"], 6, body["context"])
        assert [one["word"] for one in answer] == [one.word for one in expected]
        assert [one["score"] for one in answer] == pytest.approx([one.score for one in expected], rel=1e-4)
    assert answers[0] != answers[2] != answers[3]
    assert decode(client, points=points("hello"), k=6).json()["candidates"] == answers[0]  # absent is unknown


@pytest.mark.parametrize(
    ("layout", "word"), [("clearflow", "a"), ("jcuken", "а"), (ROWS, "a"), (ROWS | {"name": "<script>"}, "a")]
)
def test_any_layout_in_its_own_language(client, layout, word):
    answer = decode(client, layout=layout, points=points(word, layout))
    assert answer.status_code == 200
    assert any("а" <= letter <= "я" for letter in answer.json()["candidates"][0]["word"].lower()) == (word == "а")
    assert "script" not in answer.text


def test_answers_say_what_is_literal_which_language_and_how_likely_none_is(client):
    answer = decode(client, points=points("hello"), k=4).json()
    assert {(type(one["literal"]), one["language"]) for one in answer["candidates"]} == {(bool, "en")}
    assert answer["none"] == pytest.approx(1 - sum(one["probability"] for one in answer["candidates"]), abs=1e-6)
    explained = client.post("/api/explain", json={"points": points("hello"), "k": 4}).json()
    assert explained["none"] == pytest.approx(answer["none"], abs=1e-4)


def test_tapped_letters_narrow_the_words_of_their_own_request(client):
    bodies = [{"points": points("hello"), "prefix": prefix, "k": 20} for prefix in ("", "th", "Wo", "")] * 4
    bodies += [{"points": points("hello"), "prefix": "я"}]
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda body: decode(client, **body), bodies))
    for body, answer in zip(bodies[:-1], answers, strict=False):
        found = answer.json()["candidates"]
        assert found
        assert all(one["letters"].startswith(body["prefix"].lower()) for one in found)
    assert answers[-1].status_code == 422
    assert "not on the layout" in answers[-1].json()["error"]["message"]
    ended = decode(client, points=points("hello"), suffix="ing", k=20).json()["candidates"]
    assert ended
    assert all(one["letters"].endswith("ing") for one in ended)
    explained = client.post("/api/explain", json={"points": points("hello"), "prefix": "th", "word": "hello"}).json()
    assert all(one["letters"].startswith("th") for one in explained["candidates"])
    assert explained["meant"]["verdict"] == "pruned"


def test_several_languages_on_one_keyboard(client):
    """vi and ms have short lists."""
    answer = decode(client, points=points("rumah"), language="vi,ms", prefix="rumah", k=20).json()
    assert [one["language"] for one in answer["candidates"] if one["word"] == "rumah"] == ["ms"]
    for bad, message in (
        ("vi,xx", "no language 'xx'"), ("vi,", "no language ''"), ("vi,vi", "different ones"),
        ("vi,ms,da,nl", "up to 3"), ("vi,./x", "no language './x'"),
    ):  # fmt: skip
        refused = decode(client, language=bad)
        assert refused.status_code == 422
        assert message in refused.json()["error"]["message"]


BAD = {
    "not JSON": (b"{", 400, "not JSON"),
    "nested": (b"[" * 100_000, 400, "not JSON"),
    "not UTF-8": (b'{"points": "\xff"}', 400, "not JSON"),
    "a list": (b"[]", 422, "body"),
    "nothing": (b"", 422, "body"),
    "no points": (b'{"points": []}', 422, "points"),
    "NaN": (b'{"points": [[NaN, 0, 0]]}', 422, "points.0.0: Input should be a finite number"),
    "infinite": (b'{"points": [[1e999, 0, 0]]}', 422, "finite"),
    "huge whole number": (b'{"points": [[' + b"9" * 4000 + b", 0, 0]]}", 422, "points.0.0"),
    "text for a number": (b'{"points": [["0.5", 0, 0]]}', 422, "valid number"),
    "true for a number": (b'{"points": [[true, 0, 0]]}', 422, "valid number"),
    "two numbers": (b'{"points": [[0, 0]]}', 422, "at least 3"),
    "time backwards": (b'{"points": [[0, 0, 5], [0, 0, 4]]}', 422, "time runs backwards"),
    "too many points": (json.dumps({"points": [[0, 0, i] for i in range(4097)]}).encode(), 422, "at most 4096"),
    "unknown field": (b'{"points": [[0, 0, 0]], "speed": 1}', 422, "speed"),
    "unknown layout": (b'{"points": [[0, 0, 0]], "layout": "qwertz2"}', 422, "no layout 'qwertz2'; there are azerty"),
    "a path for a layout": (b'{"points": [[0, 0, 0]], "layout": "/etc/x.json"}', 422, "no layout"),
    "a path for a language": (b'{"points": [[0, 0, 0]], "language": "./x.txt"}', 422, "no language"),
    "unknown language": (b'{"points": [[0, 0, 0]], "language": "xx"}', 422, "no language 'xx'"),
    "k of none": (b'{"points": [[0, 0, 0]], "k": 0}', 422, "k: "),
    "k of many": (b'{"points": [[0, 0, 0]], "k": 1000}', 422, "k: "),
    "a number for a text": (b'{"points": [[0, 0, 0]], "context": 1}', 422, "context: Input should be a valid string"),
    "a text too long": (json.dumps({"points": [[0, 0, 0]], "context": "a " * 2049}).encode(), 422, "at most 4096"),
    "half a character in a text": (b'{"points": [[0, 0, 0]], "context": "\\ud83d"}', 400, "not JSON"),
    "a number for a prefix": (b'{"points": [[0, 0, 0]], "prefix": 1}', 422, "prefix: Input should be a valid string"),
    "a prefix that is long": (json.dumps({"points": [[0, 0, 0]], "prefix": "a" * 49}).encode(), 422, "at most 48"),
    "rows and keys": (b'{"points": [[0, 0, 0]], "layout": {"name": "x"}}', 422, "either a list"),
    "no letters": (b'{"points": [[0, 0, 0]], "layout": {"name": "x", "rows": ["   "]}}', 422, "keys"),
    "a language it cannot type": (
        '{"points": [[0, 0, 0]], "layout": {"rows": ["ᚠᚢᚦ"]}, "language": "en"}'.encode(),
        422,
        "can be typed",
    ),
    "too many keys": (json.dumps({"points": [[0, 0, 0]], "layout": {"rows": ["abcdefgh" * 10]}}).encode(), 422, ""),
    "half a character": (b'{"points": [[0, 0, 0]], "layout": "\\ud800"}', 400, "not JSON"),
    "over 256 KB": (b" " * (256 * 1024) + b"{}", 413, "over 262,144 bytes"),
}


@pytest.mark.parametrize("case", BAD, ids=str)
@pytest.mark.parametrize("path", ["/api/decode", "/api/explain"])
def test_what_is_wrong_is_said(client, path, case):
    body, status, message = BAD[case]
    answer = client.post(path, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status, answer.text
    assert message in answer.json()["error"]["message"]
    assert "Traceback" not in answer.text
    assert len(answer.text) < 800


def test_unknown_paths_and_methods(client):
    assert client.get("/api/nothing").json() == {"error": {"kind": "HTTPError", "message": "Not Found"}}
    assert client.get("/api/decode").status_code == 405
    assert client.get("/static/../app.py").status_code == 404
    assert client.get("/static/%2e%2e/app.py").status_code == 404


def test_layouts_languages_and_health(client):
    answer = client.get("/api/layouts").json()
    assert [layout["name"] for layout in answer["layouts"]] == sorted(builtin_layouts())
    assert {"en", "ru", "de"} <= set(answer["languages"])
    assert all(len(one["letters"]) == len(one["keys"]) for one in answer["layouts"])
    health = client.get("/api/health").json()
    assert (health["status"], health["waiting"], health["version"]) == ("ok", 0, glissando.__version__)


def test_explain(client):
    body = {"points": points("hello"), "word": "zebra", "k": 2}
    answer = client.post("/api/explain", json=body).json()
    assert len(answer["candidates"]) == 2
    best = answer["candidates"][0]
    assert "".join(one["letter"] for one in answer["letters"]) == best["letters"]
    frames = [one["frame"] for one in answer["letters"]]
    assert frames == sorted(frames)
    assert max(max(row) for row in answer["letters"][0]["field"]) == 255
    assert all(0 <= value <= 1 for value in answer["gate"])
    meant = answer["meant"]
    assert meant["word"] == "zebra"
    assert meant["verdict"] in ("outscored", "pruned")
    assert [one["letter"] for one in meant["costs"]] == list("zebra")
    costs = [one["cost"] for one in meant["costs"]]
    assert costs[meant["worst"]] == max(costs)
    assert answer["best"]["gain"] is meant["opinion"]["gain"] is None
    assert answer["asked"] == (answer["best"]["match"] is not None)


def test_explain_after_a_text(client):
    body = {"points": points("hello"), "word": "world", "context": "say"}
    answer = client.post("/api/explain", json=body).json()
    assert answer["candidates"] == decode(client, points=body["points"], context="say").json()["candidates"]
    assert None not in (answer["best"]["gain"], answer["meant"]["opinion"]["gain"])


@pytest.mark.parametrize(("word", "verdict"), [("qzxv", "out of lexicon"), ("привет", "not typeable")])
def test_explain_a_word_nobody_knows(client, word, verdict):
    answer = client.post("/api/explain", json={"points": points("hello"), "word": word}).json()
    assert (answer["meant"]["verdict"], answer["meant"]["rank"]) == (verdict, None)


@pytest.mark.parametrize(
    ("word", "language", "expected"),
    [
        ("hello", "en", True),
        ("Hello", "en", True),
        ("HELLO", "en", True),
        ("don’t", "en", True),
        ("glissandoish", "en", False),
        ("Häuser", "en", False),
        ("ha\u0308user", "en,de", True),
        ("toki", "tok", True),
    ],
)
def test_whether_a_word_is_known(client, word, language, expected):
    assert client.get("/api/known", params={"word": word, "language": language}).json() == {"known": expected}


@pytest.mark.parametrize("params", [{}, {"word": ""}, {"word": "a" * 49}, {"word": "a", "language": "xx"},
                                    {"word": "a", "language": "de,de"}])  # fmt: skip
def test_known_says_what_is_wrong(client, params):
    assert client.get("/api/known", params=params).status_code == 422


def test_a_full_queue_is_503_with_retry_after(app, client, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(app.state.queue, "waiting", app.state.queue.limit)
        for path in ("/api/decode", "/api/explain"):
            answer = client.post(path, json={"points": EXAMPLE_POINTS})
            assert answer.status_code == 503
            assert answer.headers["retry-after"] == "1"
            assert "waiting already" in answer.json()["error"]["message"]
    assert decode(client).status_code == 200


def test_too_many_requests_from_one_address(changed_client):
    client = changed_client(rate_decode=0.0004)
    answers = [decode(client) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 429]
    assert int(answers[-1].headers["retry-after"]) >= 1


def test_a_bug_is_a_500_without_a_trace(app, client, monkeypatch):
    async def broken(*_):
        raise RuntimeError("the secret inside")

    monkeypatch.setattr(app.state.queue, "decode", broken)
    answer = decode(client)
    assert answer.status_code == 500
    assert "secret" not in answer.text


def test_every_operation_is_documented_with_examples(client):
    schema = client.get("/openapi.json").json()
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            assert operation["description"], (method, path)
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            if body:
                assert schema["components"]["schemas"][body["$ref"].split("/")[-1]]["examples"], path
            assert any(code.startswith("2") for code in operation["responses"])
