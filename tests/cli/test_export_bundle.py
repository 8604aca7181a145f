"""glissando export bundle: what it writes, what it says and what it refuses."""

import json

import pytest
from command import refused, run

from glissando.export.bundle import read_bundle


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.txt"
    path.write_text("hello 9\nworld 8\nfriend 4\n")
    return path


def test_a_bundle_is_written_and_its_files_are_listed(tiny_weights, words, tmp_path):
    out = tmp_path / "bundle"
    options = ["--layout", "qwerty", "--lexicon", words, "--weights", tiny_weights, "--swipes", 50, "--beam", 30]
    result = run("export", "bundle", *options, "--browser", out)
    assert result.code == 0, result
    bundle = read_bundle(out)
    assert bundle.manifest["lexicon"]["words"] == 3
    assert bundle.keyboard.width == 30
    for name, facts in bundle.manifest["files"].items():
        assert f"{facts['bytes']:,}  {out / name}" in result.out
    assert "3 words, 50 golden swipes" in result.out
    assert "npm install" in result.out
    assert (out / "index.html").exists()
    assert run("export", "bundle", *options, out).code == 0  # again, over the old one
    assert not (out / "index.html").exists()


def test_a_layout_file_brings_its_language(tiny_weights, words, tmp_path):
    layout = {"name": "mine", "language": "de", "rows": ["qwertzuiop", "asdfghjkl", "yxcvbnm"]}
    (tmp_path / "mine.json").write_text(json.dumps(layout))
    options = ["--layout", tmp_path / "mine.json", "--lexicon", words, "--weights", tiny_weights, "--swipes", 50]
    assert run("export", "bundle", *options, tmp_path / "out").code == 0
    manifest = read_bundle(tmp_path / "out").manifest
    assert (manifest["layout"], manifest["language"]) == ("mine", "de")


def test_what_it_refuses_is_one_line(tiny_weights, words, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("dear")
    options = ["--lexicon", words, "--weights", tiny_weights]
    assert "not empty and no bundle" in refused("export", "bundle", *options, tmp_path / "full")
    assert "no layout 'nowhere'" in refused("export", "bundle", "--layout", "nowhere", tmp_path / "new")
    assert "no method" in refused("export", "bundle", "--method", "magic", *options, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_help_has_examples():
    assert "glissando export bundle --layout qwerty --language en english" in run("export", "bundle", "--help").out
