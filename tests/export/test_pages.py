"""The page's files: all there, and every import, script and style leads to one of them."""

import json
import posixpath
import re

from glissando.export.pages import page_files

# What a page loads: modules, scripts, styles, icons.
REFERENCE = re.compile(rb"""(?:from |import\()["'](\.[^"']+)["']|(?:src|href)=["']([^"':#]+)["']""")


def test_every_reference_leads_to_a_file():
    files = page_files()
    found = 0
    for name, data in files.items():
        if not name.endswith((".js", ".mjs", ".html")):
            continue
        for match in REFERENCE.finditer(data):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), (match[1] or match[2]).decode()))
            assert target in files, f"{name}: {target}"
            found += 1
    assert found > 20


def test_onnxruntime_is_pinned_and_the_only_thing_from_elsewhere():
    files = page_files()
    assert re.fullmatch(r"\d+\.\d+\.\d+", json.loads(files["package.json"])["dependencies"]["onnxruntime-web"])
    modules = b"".join(data for name, data in files.items() if name.endswith((".js", ".mjs")))
    bare = set(re.findall(rb'from "([^."][^"]*)"', modules))
    assert bare == {b"onnxruntime-web/wasm", b"node:fs/promises", b"node:path"}
    assert not [name for name, data in files.items() if re.search(rb"https?://(?!www\.w3\.org)", data)]


def test_the_drawing_is_the_web_keyboards_own():
    from importlib import resources

    static = resources.files("glissando") / "web" / "static"
    assert page_files()["web/pad.js"] == (static / "pad.js").read_bytes()
