"""The runtime of a page: from a directory, or from a local server that plays the npm registry."""

import gzip
import hashlib
import io
import tarfile
from threading import Event

import pytest
from standin import standing_in

from glissando.corpus import fetch
from glissando.errors import KitError
from glissando.export import wasm
from glissando.export.wasm import ARCHIVE, MODULE, WASM, WasmRuntime, archive_address, fetch_runtime

CONTENTS = {MODULE: b"export default 1;\n", WASM: b"\0asm" + bytes(range(256)) * 40}


def package(**changes):
    """The bytes of an npm package."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name, data in {"README.md": b"hello", **CONTENTS, **changes}.items():
            member = tarfile.TarInfo(f"package/dist/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return packed.getvalue()


@pytest.fixture
def registry(monkeypatch, tmp_path):
    """A registry whose package is the pinned one, and an empty cache."""

    def pin(data):
        monkeypatch.setattr(wasm, "SIZE", len(data))
        monkeypatch.setattr(wasm, "SHA512", hashlib.sha512(data).hexdigest())
        host.answers[f"/npm/onnxruntime-web/-/{ARCHIVE}"] = data

    monkeypatch.setattr(fetch, "PAUSE_S", 0.0)
    monkeypatch.setenv("GLISSANDO_CACHE", str(tmp_path / "cache"))
    with standing_in({}) as host:
        monkeypatch.setenv("npm_config_registry", f"{host.url}/npm/")
        host.pin = pin
        pin(package())
        yield host


def left(tmp_path):
    """What is in the cache."""
    return sorted(
        str(file.relative_to(tmp_path / "cache")) for file in (tmp_path / "cache").rglob("*") if file.is_file()
    )


def test_it_is_fetched_once_and_only_what_is_needed_is_kept(registry, tmp_path):
    seen = []
    assert WasmRuntime.cached() is None
    runtime = fetch_runtime(lambda *news: seen.append(news))
    assert {name: runtime.read(name) for name in CONTENTS} == CONTENTS
    assert left(tmp_path) == [f"onnxruntime-web-1.30.0/{name}.gz" for name in sorted(CONTENTS)]
    assert seen[-1] == (wasm.SIZE, wasm.SIZE)
    assert fetch_runtime() == WasmRuntime.cached() == runtime
    assert len(registry.requests) == 1


def test_a_connection_that_breaks_off_is_taken_up_again(registry, tmp_path):
    registry.cut_after = wasm.SIZE // 2 + 1
    assert fetch_runtime().read(WASM) == CONTENTS[WASM]
    assert len(registry.requests) == 2


@pytest.mark.parametrize(
    ("trouble", "message"),
    [
        ("missing", r"404 Not Found"),
        ("truncated", r"broke off at \d+ of \d+ bytes"),
        ("changed", "does not match its checksum.*"),
        ("failing", r"503 Service Unavailable"),
        ("silent", r"timed out"),
        ("gone", r"cannot fetch http://127\.0\.0\.1.*refused.*"),
        ("no address", "not a web address: file:///npm.*"),
    ],
)
def test_what_cannot_be_fetched_leaves_nothing(registry, tmp_path, monkeypatch, trouble, message):
    path = f"/npm/onnxruntime-web/-/{ARCHIVE}"
    whole = registry.answers[path]
    if trouble == "missing":
        registry.answers.clear()
    elif trouble == "truncated":
        registry.cut_after, registry.ranges = 100, False
    elif trouble == "changed":
        registry.answers[path] = bytes([whole[0]]) + whole[1:][::-1]
    elif trouble == "failing":
        registry.failures = 99
    elif trouble == "silent":
        registry.cut_after, registry.silence = 100, Event()
        monkeypatch.setattr(fetch, "TIMEOUT_S", 0.05)
    elif trouble == "gone":
        monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    else:
        monkeypatch.setenv("npm_config_registry", "file:///npm")
    with pytest.raises(KitError, match=f"onnxruntime-web cannot be had: .*{message}; --runtime"):
        fetch_runtime()
    assert left(tmp_path) == []
    assert WasmRuntime.cached() is None


def test_another_package_under_the_pinned_checksum_leaves_nothing(registry, tmp_path):
    for data, message in ((b"no archive at all", "has no ort"), (package(**{WASM: b""})[:-40], "has no ort")):
        registry.pin(data)
        with pytest.raises(KitError, match=message):
            fetch_runtime()
    assert left(tmp_path) == []


def test_a_download_can_be_ended(registry, tmp_path):
    def ended(*_):
        raise KitError("the server has ended")

    with pytest.raises(KitError, match="the server has ended"):
        fetch_runtime(ended)
    assert left(tmp_path) == []


def test_a_damaged_cache_is_fetched_again(registry, tmp_path):
    fetch_runtime()
    kept = tmp_path / "cache" / "onnxruntime-web-1.30.0" / f"{WASM}.gz"
    for damage in (kept.read_bytes()[:-9], b"", b"nonsense"):
        kept.write_bytes(damage)
        assert WasmRuntime.cached() is None
        assert fetch_runtime().read(WASM) == CONTENTS[WASM]
    kept.unlink()
    assert WasmRuntime.cached() is None


def test_a_cache_that_cannot_be_written(registry, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("GLISSANDO_CACHE", str(tmp_path / "file"))
    with pytest.raises(KitError, match="cannot write"):
        fetch_runtime()


def test_the_registry_is_npms_unless_another_is_named(monkeypatch):
    for name in ("npm_config_registry", "NPM_CONFIG_REGISTRY"):
        monkeypatch.delenv(name, raising=False)
    assert archive_address() == f"https://registry.npmjs.org/onnxruntime-web/-/{ARCHIVE}"
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "https://npm.example/all/")
    assert archive_address() == f"https://npm.example/all/onnxruntime-web/-/{ARCHIVE}"


@pytest.fixture
def installed(tmp_path):
    """An npm install."""
    dist = tmp_path / "node_modules" / "onnxruntime-web" / "dist"
    dist.mkdir(parents=True)
    for name, data in CONTENTS.items():
        (dist / name).write_bytes(data)
    (dist.parent / "package.json").write_text('{"name": "onnxruntime-web", "version": "1.30.0"}')
    return dist


def test_a_directory_is_an_npm_install_or_the_two_files(installed, tmp_path):
    for folder in (installed, installed.parent):
        assert WasmRuntime.from_directory(folder).read(WASM) == CONTENTS[WASM]
    for name, data in CONTENTS.items():
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(data))
    packed = WasmRuntime.from_directory(tmp_path)
    assert packed.digests == WasmRuntime(installed).digests


def test_a_directory_with_something_else_is_refused(installed, tmp_path):
    def refused():
        with pytest.raises(KitError) as error:
            WasmRuntime.from_directory(installed)
        return str(error.value)

    (installed.parent / "package.json").write_text('{"name": "onnxruntime-web", "version": "1.14.0"}')
    assert "is onnxruntime-web 1.14.0; this version of glissando needs 1.30.0" in refused()
    (installed.parent / "package.json").write_text("[")  # says nothing
    (installed / WASM).write_bytes(b"<html>")
    assert "is no WebAssembly" in refused()
    (installed / WASM).unlink()
    assert f"has no {WASM}" in refused()
    with pytest.raises(KitError, match="no directory"):
        WasmRuntime.from_directory(tmp_path / "nowhere")
