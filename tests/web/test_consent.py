from dataclasses import replace

import pytest
from web.donating import AGREED
from web.serving import CONSENT

from glissando.web.consent import STORED, Consent, ConsentError, load_consent
from glissando.web.schema import sessions, swipes

FIELDS = {
    "operator": '"Somebody"', "contact": '"a@example.org"', "licence": '"CC0-1.0"', "purpose": '"To test."',
    "kept": '"For a moment."',
}  # fmt: skip


def written(tmp_path, **changes):
    file = tmp_path / "consent.toml"
    lines = (f"{name} = {text}\n" for name, text in {**FIELDS, **changes}.items() if text is not None)
    file.write_text("".join(lines), encoding="utf-8")
    return file


def test_the_operators_file(tmp_path):
    assert load_consent(written(tmp_path)) == AGREED
    assert load_consent(CONSENT).operator == "The tests"
    assert Consent.from_dict(AGREED.to_dict()) == AGREED


def test_the_version_changes_with_every_word(tmp_path):
    versions = {AGREED.version, replace(AGREED, stored=("less",)).version, replace(AGREED, published="").version}
    versions |= {load_consent(written(tmp_path, **{name: '"other"'})).version for name in FIELDS}
    assert len(versions) == 3 + len(FIELDS)
    assert load_consent(written(tmp_path, kept='"  For a moment.\\n"')).version == AGREED.version


def test_all_that_is_stored_is_said():
    said = {column for columns in STORED.values() for column in columns}
    assert said == {column.name for table in (sessions, swipes) for column in table.columns}


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("text", [None, '""', '"  "', "5", "true", '["a"]', f'"{"a" * 2001}"'])
def test_every_field_is_needed(tmp_path, name, text):
    with pytest.raises(ConsentError, match=f"{name} must be text"):
        load_consent(written(tmp_path, **{name: text}))


def test_files_that_are_none(tmp_path):
    with pytest.raises(ConsentError, match="unknown phone; it has operator, contact"):
        load_consent(written(tmp_path, phone='"1"'))
    with pytest.raises(ConsentError, match="is not TOML"):
        load_consent(written(tmp_path, kept="nonsense"))
    with pytest.raises(ConsentError, match="cannot read consent file"):
        load_consent(tmp_path / "none.toml")
    (tmp_path / "consent.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConsentError, match="is not TOML"):
        load_consent(tmp_path / "consent.toml")
