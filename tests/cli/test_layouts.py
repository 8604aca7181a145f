import json

import pytest
from command import refused, run

from glissando.layout import Layout, builtin_layouts, load_layout


@pytest.fixture
def mine(tmp_path):
    file = tmp_path / "mine.json"
    file.write_text('{"rows": ["abc", "de"], "language": "en"}', encoding="utf-8")
    return file


def layouts(*arguments):
    """What the command prints."""
    result = run("layouts", *arguments)
    assert result.code == 0, result
    return result.out


def test_no_name_lists_the_built_in_layouts():
    lines = [line.split() for line in layouts().splitlines() if line.strip()]
    assert lines[0] == ["name", "language", "keys", "rows"]
    assert [line[0] for line in lines[2:]] == list(builtin_layouts())
    assert ["jcuken", "ru", "31", "3"] in lines


def test_names_are_drawn(mine):
    output = layouts("german", mine)
    assert output.startswith("german, de, 29 keys, 3 rows\n╭")
    assert "│  ä  │" in output
    assert "\n\nmine, en, 5 keys, 2 rows\n╭" in output


def test_the_drawing_is_as_wide_as_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "42")
    assert max(map(len, layouts("qwerty").splitlines()[1:])) == 40
    monkeypatch.setenv("COLUMNS", "1000")
    assert max(map(len, layouts("qwerty").splitlines()[1:])) <= 100


def test_the_json_of_one_layout_is_a_layout_file(tmp_path):
    (tmp_path / "copy.json").write_text(layouts("turkish", "--json"), encoding="utf-8")
    assert Layout.from_json(tmp_path / "copy.json") == load_layout("turkish")
    assert [data["name"] for data in json.loads(layouts("qwerty", "azerty", "--json"))] == ["qwerty", "azerty"]


def test_one_picture_goes_to_the_file_named_and_several_to_a_folder(tmp_path, mine):
    pictures = tmp_path / "new" / "pictures"
    assert layouts("dvorak", "--svg", tmp_path / "d.svg") == ""
    assert (tmp_path / "d.svg").read_text(encoding="utf-8").startswith("<svg")
    layouts("qwerty", mine, "--svg", pictures)
    assert sorted(file.name for file in pictures.iterdir()) == ["mine.svg", "qwerty.svg"]
    layouts("azerty", "--svg", tmp_path / "new")
    assert (tmp_path / "new" / "azerty.svg").exists()
    layouts("--svg", tmp_path / "all")  # no name: all of them
    assert sorted(file.stem for file in (tmp_path / "all").iterdir()) == list(builtin_layouts())


def test_a_name_in_a_file_does_not_choose_where_to_write(tmp_path):
    file = tmp_path / "sly.json"
    file.write_text('{"name": "../../out", "rows": ["ab"]}', encoding="utf-8")
    layouts(file, "qwerty", "--svg", tmp_path / "pictures")
    assert sorted(path.name for path in (tmp_path / "pictures").iterdir()) == ["qwerty.svg", "sly.svg"]


@pytest.mark.parametrize("kind", ["--svg", "--png"])
def test_a_file_that_cannot_be_written_is_named(tmp_path, kind):
    (tmp_path / "file").touch()
    assert f"cannot write {tmp_path}/file/x" in refused("layouts", "qwerty", kind, tmp_path / "file" / "x")
    assert f"cannot write {tmp_path}/file/qwerty" in refused("layouts", "qwerty", "azerty", kind, tmp_path / "file")


def test_what_is_refused_saves_nothing(tmp_path, mine):
    (tmp_path / "other").mkdir()
    twin = tmp_path / "other" / "mine.json"
    twin.write_bytes(mine.read_bytes())
    pictures = tmp_path / "pictures"
    assert "saved as one file" in refused("layouts", mine, twin, "--svg", pictures)
    assert "no layout 'qwertx'" in refused("layouts", "qwerty", "qwertx", "--svg", pictures)
    assert not pictures.exists()
