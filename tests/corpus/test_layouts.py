"""Layouts by the names that a corpus gives them."""

import json
from pathlib import Path

import pytest

from glissando.corpus.layouts import LayoutShelf
from glissando.errors import CorpusError, LayoutError
from glissando.layout import Layout


def test_the_directory_comes_before_the_package_and_names_of_corpora_are_known(tmp_path: Path) -> None:
    (tmp_path / "qwerty.json").write_text(json.dumps(Layout.from_rows("qwerty", ["ab"]).to_dict()))
    assert LayoutShelf(tmp_path)["qwerty"].letters == ("a", "b")
    assert len(LayoutShelf()["qwerty"].keys) == 26
    assert len(LayoutShelf()["jcuken_default"].keys) == 31


def test_unknown_names_list_the_known(layouts: Path) -> None:
    with pytest.raises(CorpusError, match=r"no layout 'nowhere'; there are aba, abc.*qwerty"):
        LayoutShelf(layouts)["nowhere"]
    with pytest.raises(LayoutError, match="no directory of layouts"):
        LayoutShelf(layouts / "none")


@pytest.mark.parametrize("name", ["../mine", "sub/mine", "abc.json", "", ".", "a\0b", "x" * 5000])
def test_a_name_cannot_lead_to_another_file(layouts: Path, name: str) -> None:
    (layouts / "sub").mkdir()
    for place in (layouts.parent, layouts / "sub"):
        (place / "mine.json").write_text(json.dumps(Layout.from_rows("mine", ["ab"]).to_dict()))
    assert LayoutShelf(layouts).get(name) is None
