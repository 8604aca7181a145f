"""The pages keep to themselves: nothing from outside, nothing inline, nothing that a name could break."""

import re
from importlib import resources

import pytest

STATIC = resources.files("glissando") / "web" / "static"
FILES = sorted(entry.name for entry in STATIC.iterdir() if not entry.name.endswith(".png"))
PAGES = ["/", "/collect", "/operator", "/docs"]


@pytest.mark.parametrize("path", [*PAGES, "/api/health", "/api/nothing", "/static/base.css"])
def test_security_headers(client, path):
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy.replace("'wasm-unsafe-eval'", "")  # which only lets a page compile WebAssembly
    assert "http" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("path", PAGES)
def test_pages_answer_head_and_a_slash_too_many(client, path):
    head, page = client.head(path), client.get(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"] == page.headers["content-type"]
    answer = client.get(path + "/", follow_redirects=False) if path != "/" else page
    if path != "/":
        assert (answer.status_code, answer.headers["location"]) == (308, path)
        assert client.head(path + "/").status_code == 200


def test_cors_is_closed_and_answers_of_the_api_are_not_cached(client):
    asked = {"origin": "https://elsewhere.example", "access-control-request-method": "POST"}
    answers = [client.get("/api/layouts", headers=asked), client.options("/api/decode", headers=asked)]
    assert [answer.status_code for answer in answers] == [200, 405]
    assert not [name for answer in answers for name in answer.headers if name.startswith("access-control")]
    assert {answer.headers["cache-control"] for answer in answers} == {"no-store"}


def test_no_inline_script_or_style(client):
    for html in (client.get(path).text for path in PAGES):
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", html)
        assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", html))


@pytest.mark.parametrize("name", FILES)
def test_nothing_comes_from_outside_and_text_is_never_made_html(name):
    text = (STATIC / name).read_text(encoding="utf-8")
    addresses = set(re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}[^\s\"')]*", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert len(text) < 16_000
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text)


def contrast(a, b):
    """The WCAG ratio of two colours."""

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


PAIRS = [
    (ink, ground)
    for ink in ("--ink", "--muted", "--accent", "--good", "--bad")
    for ground in ("--bg", "--surface")
] + [("--ink", "--key"), ("--ink", "--board"), ("--muted", "--board"), ("--ink", "--accent-soft"),
     ("--muted", "--accent-soft"), ("--accent-ink", "--accent")]  # fmt: skip


def themes():
    """The colours of each theme in base.css, in six digits."""
    css = (STATIC / "base.css").read_text(encoding="utf-8")
    blocks = [block for block in re.findall(r"\{[^{}]*\}", css) if "--bg:" in block]
    pairs = [re.findall(r"(--[a-z-]+): #([0-9a-f]{6}|[0-9a-f]{3});", block) for block in blocks]
    return [{name: "#" + (c if len(c) == 6 else "".join(2 * d for d in c)) for name, c in found} for found in pairs]


def test_contrast_is_aa_in_light_and_dark_and_the_two_dark_themes_are_one():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    light, by_system, by_choice = themes()
    assert by_system == by_choice != light
    for ink, ground in PAIRS:
        for theme in (light, by_choice):
            assert contrast(theme[ink], theme[ground]) >= 4.5, (ink, ground)
