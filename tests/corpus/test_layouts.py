"""Layouts by the names a corpus gives them."""

import json
from pathlib import Path

import pytest

from glissando.corpus.layouts import LayoutShelf
from glissando.errors import CorpusError, LayoutError
from glissando.layout import Layout


def test_the_directory_comes_before_the_package(tmp_path: Path) -> None:
    (tmp_path / "qwerty.json").write_text(json.dumps(Layout.from_rows("qwerty", ["ab"]).to_dict()))
    assert LayoutShelf(tmp_path)["qwerty"].letters == ("a", "b")
    assert len(LayoutShelf()["qwerty"].keys) == 26


def test_names_that_corpora_use_are_known() -> None:
    assert len(LayoutShelf()["jcuken_default"].keys) == 31


def test_unknown_names_list_the_known(tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(json.dumps(Layout.from_rows("mine", ["ab"]).to_dict()))
    shelf = LayoutShelf(tmp_path)
    assert shelf.get("nowhere") is None
    with pytest.raises(CorpusError, match=r"no layout 'nowhere'; there are .*mine.*qwerty"):
        shelf["nowhere"]


@pytest.mark.parametrize("name", ["../mine", "sub/mine", "mine.json", "", ".", "a\0b", "x" * 5000])
def test_a_name_cannot_lead_to_another_file(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "layouts"
    (folder / "sub").mkdir(parents=True)
    for place in (tmp_path, folder / "sub"):
        (place / "mine.json").write_text(json.dumps(Layout.from_rows("mine", ["ab"]).to_dict()))
    assert LayoutShelf(folder).get(name) is None


def test_a_missing_directory(tmp_path: Path) -> None:
    with pytest.raises(LayoutError, match="no directory of layouts"):
        LayoutShelf(tmp_path / "none")
