import json
import zipfile

import pytest
from web.donating import AGREED, BAD, GOOD, HELLO, donation

from glissando.errors import CorpusError
from glissando.layout import Layout
from glissando.web.consent import Consent
from glissando.web.dataset import COLUMNS
from glissando.web.export import write_export
from glissando.web.selection import Selection
from glissando.web.store import Store

pyarrow = pytest.importorskip("pyarrow", reason="the parquet extra is not installed")
from pyarrow import parquet  # noqa: E402

SPOKEN = Consent("Ann: a | b's", "b@example.org", "My own: licence #1", "More.", "Long.")


@pytest.fixture
def store(tmp_path):
    """A store with two donors, who agreed to different texts."""
    store = Store(f"sqlite:///{tmp_path}/s.db")
    store.remember([HELLO])
    for consent, check in ((AGREED, GOOD), (SPOKEN, BAD)):
        session = store.open_session(1, consent).secret
        store.save(session, donation(0, hand="left"), check)
        store.save(session, donation(1, "<b>world</b>", ()))
    yield store
    store.close()


def card(folder):
    """The header and the text of a card."""
    yaml = pytest.importorskip("yaml")
    _, header, text = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(header), text


def test_a_folder_as_public_datasets_have_it(store, tmp_path):
    folder = tmp_path / "dataset"
    assert write_export(store, folder) == 2
    assert sorted(str(file.relative_to(folder)) for file in folder.rglob("*.*")) == [
        "README.md", "data/train-00000-of-00001.parquet", "layouts/qwerty.json",
    ]  # fmt: skip
    table = parquet.read_table(folder / "data")
    assert table.column_names == list(COLUMNS)
    row = table.to_pylist()[0]
    assert row["x"] == pytest.approx([0.1, 0.9])
    assert row["t"] == [0, 300]
    assert (row["word"], row["hand"], row["pixel_ratio"]) == ("Hello", "left", None)
    assert {one["flagged"] for one in table.to_pylist()} == {False, True}
    assert Layout.from_json(folder / "layouts" / "qwerty.json").letters
    with pytest.raises(CorpusError, match="exists; choose another place"):
        write_export(store, folder)


def test_the_card_is_filled_in_from_what_donors_agreed_to(store, tmp_path):
    write_export(store, tmp_path / "all")
    header, text = card(tmp_path / "all")
    assert header["license"] == "other"
    assert {*header["license_name"].split("; ")} == {"CC0-1.0", "My own: licence #1"}
    assert header["language"] == ["en"]
    assert header["size_categories"] == ["n<1K"]
    assert header["configs"][0]["data_files"] == [{"split": "train", "path": "data/train-*.parquet"}]
    for consent in (AGREED, SPOKEN):
        assert all(part in text for part in (consent.operator, consent.contact, consent.purpose, consent.version))
    assert all(f"`{name}`" in text for name in COLUMNS)
    write_export(store, tmp_path / "good", Selection(flagged=False))
    header, text = card(tmp_path / "good")
    assert header["license"] == "cc0-1.0"
    assert header["pretty_name"] == "Swipes donated to Somebody"
    assert "Ann" not in text


def test_skipped_words_if_asked_for_and_a_zip(store, tmp_path):
    assert write_export(store, tmp_path / "swipes.zip", skipped=True) == 4
    with zipfile.ZipFile(tmp_path / "swipes.zip") as archive:
        names = archive.namelist()
        assert json.loads(archive.read("swipes/layouts/qwerty.json"))["name"] == "qwerty"
    assert "swipes/README.md" in names


def test_swipes_of_an_older_server_have_no_text(store, tmp_path):
    from glissando.web.schema import sessions

    with store.database.write() as connection:
        connection.execute(sessions.update().values(consent=""))
    write_export(store, tmp_path / "old")
    header, text = card(tmp_path / "old")
    assert header["license_name"] == "unknown"
    assert "began before the texts were kept" in text
