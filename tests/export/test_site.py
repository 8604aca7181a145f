"""The keyboard as static files: whole, self-contained, and nothing of anybody else's lost."""

import gzip
import json
import posixpath
import re
from dataclasses import replace
from importlib import resources

import pytest

from glissando.errors import FileError, KitError, LexiconError
from glissando.export import site as module
from glissando.export.kit import RUNTIME, Kit
from glissando.export.site import choose_languages, page_contents, service_worker, typed_share, write_site
from glissando.export.wasm import MODULE, WASM, WasmRuntime
from glissando.layout import Layout, all_layouts, load_layout
from glissando.lexicon import Lexicon
from glissando.weights import load_weights

STATIC = resources.files("glissando") / "web" / "static"
# How a file of each kind names another.
ADDRESSES = {
    ".html": r'(?<![-\w])(?:src|href)="([^"#]*)"',
    ".js": r'(?:\bfrom|\bimport|\bimport\()\s*"(\.[^"]+)"|new URL\("([^"]+)", import\.meta\.url\)',
    ".css": r'url\("?([^)"#]+)"?\)',
    ".webmanifest": r'"src": "([^"]+)"',
}


@pytest.fixture(scope="module")
def kit(tmp_path_factory):
    """A small kit with a runtime that is none."""
    folder = tmp_path_factory.mktemp("runtime")
    (folder / MODULE).write_text("export default 1;\n")
    (folder / WASM).write_bytes(b"\0asm")
    layouts = {"toki_pona": load_layout("toki_pona")}
    networks = load_weights("encoder"), load_weights("matcher")
    return Kit(layouts, ("tok",), *networks, runtime=WasmRuntime.from_directory(folder))


@pytest.fixture(scope="module")
def folder(kit, tmp_path_factory):
    """A keyboard."""
    target = tmp_path_factory.mktemp("site") / "keyboard"
    write_site(kit, target)
    return target


def files_of(folder):
    """Every file below a folder, by its path."""
    return {file.relative_to(folder).as_posix(): file for file in folder.rglob("*") if file.is_file()}


def test_it_is_the_page_the_package_and_the_kit(kit, folder):
    files = files_of(folder)
    assert {name.partition("/")[0] for name in files} == module.OURS
    assert {name for name in files if name.startswith("kit/")} == {f"kit/{name}" for name in kit.names}
    assert json.loads((folder / "kit" / "index.json").read_text())["server"] is False
    assert {"js/index.js", "static/demo.js", "static/icon-512.png", f"kit/{RUNTIME}"} <= set(files)
    assert (folder / "index.html").read_bytes() == (STATIC / "index.html").read_bytes()
    assert "MIT" in files["LICENSES.txt"].read_text()


def test_every_address_leads_to_a_file_and_none_is_absolute(folder):
    files, found = files_of(folder), set()
    for name, file in files.items():
        if file.suffix not in ADDRESSES or name == f"kit/{RUNTIME}":
            continue
        text = file.read_text()
        assert not re.search(r"[\"'`(]/(?:static|js|kit|api)\b", text), name
        for match in re.finditer(ADDRESSES[file.suffix], text):
            address = next(part for part in match.groups() if part is not None)
            assert not address.startswith(("/", "http:", "https:")), (name, address)
            path = posixpath.normpath(posixpath.join(posixpath.dirname(name), address))
            found.add(path)
            assert path in (".", *files) or any(one.startswith(f"{path}/") for one in files), (name, address)
    assert {"js/kit.js", "static/worker.js", "manifest.webmanifest", "static/icon.svg"} <= found
    # And the other way: what nothing refers to is not there.
    unused = {name for name in files if name.startswith("static/")} - found
    assert unused == set(), "these are of other pages: see OTHERS in site.py"


def test_pages_of_a_server_are_left_out(folder):
    names = set(files_of(folder))
    assert not [name for name in names if re.search(r"collect|operator|docs|outbox", name)]
    page = (folder / "index.html").read_text()
    assert not re.search(r'(?<!-)href="(?:\.?/)?(?:collect|docs|operator)', page)  # a server's page makes them links


def listed(text):
    """The list of files in a service worker."""
    return json.loads(re.search(r"const PAGE = (\{.*\});", text)[1])


def test_the_service_worker_keeps_every_file_of_the_page(folder):
    found = listed((folder / "sw.js").read_text())
    files = set(files_of(folder))
    assert "./" in found["files"]
    others = {name for name in files if name.startswith("kit/")} | {"index.html", "sw.js", "LICENSES.txt"}
    assert set(found["files"]) == (files - others) | {"./"}
    page = page_contents()
    changed = page | {"static/demo.js": page["static/demo.js"] + b"\n"}
    versions = {listed(service_worker(one).decode())["version"] for one in (page, changed, page_contents("Ours"))}
    assert len(versions) == 3
    assert found["version"] in versions


def test_a_title_names_the_page_and_the_installed_keyboard(kit, tmp_path):
    write_site(kit, tmp_path / "a", title='Ours & "theirs" <b>')
    page = (tmp_path / "a" / "index.html").read_text()
    assert "<title>Ours &amp; &quot;theirs&quot; &lt;b&gt;</title>" in page
    assert 'content="Ours &amp; &quot;theirs&quot; &lt;b&gt;"' in page
    manifest = json.loads((tmp_path / "a" / "manifest.webmanifest").read_text())
    assert manifest["name"] == manifest["short_name"] == 'Ours & "theirs" <b>'
    for title in ("a\nb", "a" * 61, "  "):
        with pytest.raises(KitError, match="a title is one line"):
            write_site(kit, tmp_path / "b", title=title)
    assert not (tmp_path / "b").exists()


def test_sizes_are_those_of_the_files(kit, tmp_path):
    seen = []
    site = write_site(kit, tmp_path / "a", progress=lambda *news: seen.append(news))
    assert site.sizes == {name: file.stat().st_size for name, file in files_of(tmp_path / "a").items()}
    assert seen[-1] == (len(site.sizes), len(site.sizes))
    assert site.wire["kit/tok.words.gz"] == site.sizes["kit/tok.words.gz"] == site.part("tok")
    assert site.wire["index.html"] == len(gzip.compress((tmp_path / "a" / "index.html").read_bytes(), 6))
    assert site.part("networks") == site.sizes["kit/encoder.onnx.gz"] + site.sizes["kit/matcher.onnx.gz"]
    assert site.download("tok") == sum(site.wire.values()) - site.wire["LICENSES.txt"]
    assert site.to_dict()["downloads"] == {"tok": site.download("tok")}


def test_english_is_at_most_twelve_megabytes(kit):
    """The page, the networks and the words; onnxruntime-web takes 3.7 MB beside them."""
    english = replace(kit, languages=("en",))
    page = sum(len(data if name.endswith(".png") else gzip.compress(data)) for name, data in page_contents().items())
    parts = sum(
        len(english.file(name)) for name in english.names if name.endswith((".onnx.gz", ".words.gz", ".context.gz"))
    )
    assert page + parts + 3_700_000 < 12_000_000


def test_a_second_run_replaces_the_first_wholly(kit, tmp_path):
    target = tmp_path / "a"
    target.mkdir()  # empty
    write_site(replace(kit, languages=("tok", "ms")), target)
    assert (target / "kit" / "ms.words.gz").is_file()
    (target / "static" / "old.js").touch()
    write_site(kit, target)
    assert not (target / "kit" / "ms.words.gz").exists()
    assert not (target / "static" / "old.js").exists()
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


def test_other_things_are_refused_and_kept_with_force(kit, tmp_path):
    target = tmp_path / "a"
    write_site(kit, target)
    (target / "CNAME").write_text("keys.example")
    (target / ".git").mkdir()
    (target / ".git" / "HEAD").write_text("ref")
    (target / "link").symlink_to("nowhere")
    before = {name: file.read_bytes() for name, file in files_of(target).items()}
    with pytest.raises(KitError, match=r"holds other things, such as \.git; --force"):
        write_site(kit, target)
    assert before == {name: file.read_bytes() for name, file in files_of(target).items()}
    write_site(replace(kit, languages=("ms",)), target, force=True)
    assert (target / "CNAME").read_text() == "keys.example"
    assert (target / ".git" / "HEAD").read_text() == "ref"
    assert (target / "link").is_symlink()
    assert (target / "kit" / "ms.words.gz").is_file()
    assert not (target / "kit" / "tok.words.gz").exists()


def test_a_page_of_somebody_elses_is_refused(kit, tmp_path):
    (tmp_path / "index.html").write_text("hello")
    for kind in (None, "[]", '{"format": "glissando-kit", "server": true}'):
        if kind is not None:
            (tmp_path / "kit").mkdir(exist_ok=True)
            (tmp_path / "kit" / "index.json").write_text(kind)
        with pytest.raises(KitError, match="is not empty and no keyboard"):
            write_site(kit, tmp_path)
    assert (tmp_path / "index.html").read_text() == "hello"
    with pytest.raises(KitError, match="it is a file"):
        write_site(kit, tmp_path / "index.html")


def test_what_fails_leaves_the_old_keyboard(kit, tmp_path, monkeypatch):
    target = tmp_path / "a"
    write_site(kit, target)
    before = {name: file.read_bytes() for name, file in files_of(target).items()}

    def full(self, name):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Kit, "file", full)
    with pytest.raises(FileError, match="No space left"):
        write_site(kit, target)
    assert before == {name: file.read_bytes() for name, file in files_of(target).items()}
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


def test_without_a_runtime_there_is_no_keyboard(kit, tmp_path):
    for lacking in (replace(kit, runtime=None), replace(kit, server=True)):
        with pytest.raises(KitError, match="needs a runtime"):
            write_site(lacking, tmp_path / "a")
    assert not (tmp_path / "a").exists()


@pytest.fixture
def small_lists(monkeypatch):
    """One word for each of some languages."""
    words = {"de": "und", "en": "the", "es": "que", "fr": "les", "ja": "こと", "mk": "љубов", "ru": "это"}
    monkeypatch.setattr(module, "available_languages", lambda: tuple(words))
    monkeypatch.setattr(Lexicon, "from_language", lambda code: Lexicon.from_counts({words[code]: 1}))


@pytest.mark.usefixtures("small_lists")
def test_languages_are_chosen_and_must_have_a_layout():
    layouts = [load_layout("qwerty"), load_layout("jcuken")]
    own = {"cy": Lexicon.from_counts({"bore": 3, "da": 1})}
    assert choose_languages(None, layouts, {}) == ("de", "en", "es", "fr", "ru")
    assert choose_languages("en, de", layouts, {}) == ("en", "de")
    assert choose_languages("mk", layouts, {}) == ("mk",)  # asked for by name, with a letter missing
    assert choose_languages("en", layouts, own) == ("cy", "en")
    with pytest.raises(LexiconError, match="no language 'xx'; there are de"):
        choose_languages("en,xx", layouts, {})
    with pytest.raises(LexiconError, match="no layout of this keyboard can type 'ru'"):
        choose_languages(None, layouts[:1], {})
    with pytest.raises(LexiconError, match="no layout of this keyboard can type 'ko'"):
        choose_languages("all", layouts, {"ko": Lexicon.from_counts({"것": 1})})
    with pytest.raises(LexiconError, match="a language is a code"):
        choose_languages("en", layouts, {"../x": own["cy"]})


@pytest.mark.usefixtures("small_lists")
def test_all_languages_are_those_that_a_layout_can_type():
    assert choose_languages("all", all_layouts().values(), {}) == ("de", "en", "es", "fr", "ru")


def test_the_share_of_letters_that_can_be_typed():
    def share(*words, on):
        return typed_share(Lexicon.from_counts(dict.fromkeys(words, 1)), on)

    assert share("это", on=[Layout.from_rows("mine", ["abc"])]) == 0
    assert share("љубов", on=[load_layout("qwerty"), load_layout("jcuken")]) == 0.8
    assert share("съёмка", "из-за", on=[load_layout("jcuken")]) == 1
    assert share("a", on=[]) == 0


def test_licences_name_who_counted_the_words(kit):
    text = module.licences(replace(kit, languages=("en",))).decode()
    assert all(part in text for part in ("Microsoft", "wordfreq", "tatoeba.org", "Carnegie Mellon", "WARRANTIES"))
    assert "Carnegie" not in module.licences(kit).decode()
