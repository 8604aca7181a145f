"""glissando vocabulary: own words in a file, added, removed and listed."""

import json

from command import refused, run

from glissando.vocabulary import Vocabulary


def listed(file):
    return {one["word"]: one["frequency"] for one in json.loads(run("vocabulary", "list", file, "--json").out)}


def test_words_are_added_counted_up_and_removed(tmp_path):
    file = tmp_path / "own.json"
    assert run("vocabulary", "add", file, "taigang", "Zoë").code == 0
    assert listed(file) == {"Zoë": 60, "taigang": 60}
    assert run("vocabulary", "add", file, "taigang", "--count", 9).code == 0
    assert listed(file) == {"taigang": 120, "Zoë": 60}
    table = run("vocabulary", "list", file).out
    assert table.index("taigang") < table.index("Zoë")
    assert run("vocabulary", "remove", file, "taigang").code == 0
    assert Vocabulary.load(file).words == ("Zoë",)


def test_a_mistake_changes_nothing(tmp_path):
    file = tmp_path / "own.json"
    run("vocabulary", "add", file, "taigang")
    before = file.read_bytes()
    assert "has no word 'nobody'" in refused("vocabulary", "remove", file, "taigang", "nobody")
    assert "'42' is not a word" in refused("vocabulary", "add", file, "new", "42")
    assert file.read_bytes() == before
    assert "No such file" in refused("vocabulary", "list", tmp_path / "none.json")
    file.write_text("[]")
    assert "own.json" in refused("vocabulary", "add", file, "new")
    assert file.read_text() == "[]"
    assert "directory" in refused("vocabulary", "add", tmp_path, "new")
