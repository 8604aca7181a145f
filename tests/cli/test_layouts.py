import json

import pytest
import typer
from typer.testing import CliRunner

from glissando.cli.layouts import layouts
from glissando.errors import GlissandoError, LayoutError
from glissando.layout import Layout, builtin_layouts, load_layout

app = typer.Typer()
app.command()(layouts)


@pytest.fixture
def mine(tmp_path):
    file = tmp_path / "mine.json"
    file.write_text('{"rows": ["abc", "de"], "language": "en"}', encoding="utf-8")
    return file


def run(*arguments):
    """Run the command; an error of ours comes out as itself."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(result.exception, GlissandoError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def test_no_name_lists_the_built_in_layouts():
    lines = [line.split() for line in run().splitlines() if line.strip()]
    assert lines[0] == ["name", "language", "keys", "rows"]
    assert [line[0] for line in lines[2:]] == list(builtin_layouts())
    assert ["jcuken", "ru", "31", "3"] in lines


def test_names_are_drawn(mine):
    output = run("german", mine)
    assert output.startswith("german, de, 29 keys, 3 rows\n╭")
    assert "│  ä  │" in output
    assert "\n\nmine, en, 5 keys, 2 rows\n╭" in output


def test_the_drawing_is_as_wide_as_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "42")
    assert max(map(len, run("qwerty").splitlines()[1:])) == 40
    monkeypatch.setenv("COLUMNS", "1000")
    assert max(map(len, run("qwerty").splitlines()[1:])) <= 100


def test_the_json_of_one_layout_is_a_layout_file(tmp_path):
    (tmp_path / "copy.json").write_text(run("turkish", "--json"), encoding="utf-8")
    assert Layout.from_json(tmp_path / "copy.json") == load_layout("turkish")
    assert [data["name"] for data in json.loads(run("qwerty", "azerty", "--json"))] == ["qwerty", "azerty"]


def test_one_picture_goes_to_the_file_named(tmp_path):
    assert run("dvorak", "--svg", tmp_path / "d.svg") == ""
    assert (tmp_path / "d.svg").read_text(encoding="utf-8").startswith("<svg")


def test_several_pictures_go_to_a_folder(tmp_path, mine):
    run("qwerty", mine, "--svg", tmp_path / "new" / "pictures")
    assert sorted(file.name for file in (tmp_path / "new" / "pictures").iterdir()) == ["mine.svg", "qwerty.svg"]
    run("azerty", "--svg", tmp_path / "new")
    assert (tmp_path / "new" / "azerty.svg").exists()


def test_no_name_saves_all_of_them(tmp_path):
    run("--svg", tmp_path)
    assert sorted(file.stem for file in tmp_path.iterdir()) == list(builtin_layouts())


def test_a_name_in_a_file_does_not_choose_where_to_write(tmp_path):
    file = tmp_path / "sly.json"
    file.write_text('{"name": "../../out", "rows": ["ab"]}', encoding="utf-8")
    run(file, "qwerty", "--svg", tmp_path / "pictures")
    assert sorted(path.name for path in (tmp_path / "pictures").iterdir()) == ["qwerty.svg", "sly.svg"]


@pytest.mark.parametrize("kind", ["--svg", "--png"])
def test_a_file_that_cannot_be_written_is_named(tmp_path, kind):
    (tmp_path / "file").touch()
    with pytest.raises(GlissandoError, match=r"cannot write .*file.x"):
        run("qwerty", kind, tmp_path / "file" / "x")
    with pytest.raises(GlissandoError, match=r"cannot write .*file.qwerty"):
        run("qwerty", "azerty", kind, tmp_path / "file")


def test_two_files_of_one_name_are_refused_before_anything_is_saved(tmp_path, mine):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.json").write_bytes(mine.read_bytes())
    with pytest.raises(GlissandoError, match="saved as one file"):
        run(mine, tmp_path / "other" / "mine.json", "--svg", tmp_path / "pictures")
    assert not (tmp_path / "pictures").exists()


def test_an_unknown_layout_is_an_error_and_saves_nothing(tmp_path):
    with pytest.raises(LayoutError, match="no layout 'qwertx'"):
        run("qwerty", "qwertx", "--svg", tmp_path / "pictures")
    assert not (tmp_path / "pictures").exists()
