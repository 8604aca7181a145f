import gzip
import hashlib
import json
import signal
import socket
import ssl
import subprocess
import sys
import threading

import pytest

pytest.importorskip("fastapi", reason="the web extra is not installed")

import httpx
from command import refused
from web.serving import Server

from glissando.cli.serve import Places, bind, fetching, greeting
from glissando.errors import GlissandoError, KitError
from glissando.export.wasm import FILES

SERVE = [sys.executable, "-m", "glissando", "serve", "--port", "0"]


class Listener:
    """What a greeting needs of a socket."""

    def getsockname(self):
        return ("", 8000)


def greeted(host, token="", *, https=False, address=None, collects=True):
    places = Places.of(host, Listener(), https=https, address=address)
    return greeting(places, token, "AB:CD" if https else "", collects)


def test_the_greeting_shows_where_to_go_and_phones_a_qr_code(monkeypatch):
    text = greeted("127.0.0.1")
    assert "http://127.0.0.1:8000/" in text
    assert "token" not in text
    assert "http://[::1]:8000/" in greeted("::1")
    assert "token abc" in greeted("127.0.0.1", "abc")
    assert "not without --consent FILE" in greeted("127.0.0.1", collects=False)
    monkeypatch.setattr("glissando.cli.serve.lan_address", lambda: "192.168.0.7")
    text = greeted("0.0.0.0")
    assert all(part in text for part in ("http://localhost:8000/", "http://192.168.0.7:8000/", "█"))
    text = greeted("0.0.0.0", https=True, address="https://swipes.example.org/")
    assert all(part in text for part in ("https://localhost:8000/", "https://swipes.example.org/\n", "█", "AB:CD"))
    monkeypatch.setattr("glissando.cli.serve.lan_address", lambda: None)
    assert "phone" not in greeted("0.0.0.0")


def test_https_with_a_certificate_of_its_own(tiny_weights, tmp_path):
    pytest.importorskip("trustme", reason="the https extra is not installed")
    options = ["--weights", str(tiny_weights), "--store", f"sqlite:///{tmp_path}/s.db", "--token", "t", "--https"]
    options += ["--runtime", "none"]
    server = subprocess.Popen([*SERVE, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().split()[-1]
        lines = [server.stdout.readline() for _ in range(3)]
        host, port = address.removeprefix("https://").rstrip("/").split(":")
        Server(address.rstrip("/"), server).wait(verify=False)
        shown = hashlib.sha256(ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate((host, int(port))))).digest()
        assert lines[-1].strip() == shown.hex(":").upper()
        assert httpx.get(address, verify=False).status_code == 200
    finally:
        server.send_signal(signal.SIGTERM)
        _, errors = server.communicate()
    assert errors == ""


def test_a_port_that_is_taken():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(GlissandoError, match=r"cannot listen on 127\.0\.0\.1 port"):
            bind("127.0.0.1", other.getsockname()[1])


@pytest.mark.parametrize("processes", [1, 2])
def test_it_serves_and_stops(tiny_weights, tmp_path, processes):
    options = ["--weights", str(tiny_weights), "--store", f"sqlite:///{tmp_path}/s.db", "--processes", str(processes),
               "--runtime", "none"]  # fmt: skip
    server = subprocess.Popen([*SERVE, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().split()[-1]
        server.stdout.readline()
        token = server.stdout.readline().split()[-1]
        Server(address.rstrip("/"), server).wait()
        client = httpx.Client(base_url=address, timeout=300)
        assert client.get("/").status_code == 200
        headers = {"authorization": f"Bearer {token}"}
        assert client.get("/api/operator/summary", headers=headers).status_code == 200
        body = {"points": [[0.1, 0.5, 0], [0.9, 0.5, 300]]}
        assert client.post("/api/decode", json=body).json()["candidates"]
    finally:
        server.send_signal(signal.SIGTERM)
        _, errors = server.communicate()
    assert errors == ""
    assert (tmp_path / "s.db").exists()


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--weights", "none.onnx", "cannot read model file none.onnx"),
        ("--matcher", "none.onnx", "cannot read model file none.onnx"),
        ("--store", "nonsense", "no database URL"),
        ("--consent", "none.toml", "cannot read consent file none.toml"),
        ("--sentences", "none.txt", "cannot read sentences none.txt"),
        ("--layouts", "nowhere", "no directory of layouts nowhere"),
        ("--runtime", "nowhere", "no directory nowhere; the runtime is ort.wasm.bundle.min.mjs and"),
    ],
)
def test_what_cannot_start_says_why_in_one_line(tiny_weights, tmp_path, option, value, message):
    options = {"--weights": tiny_weights, "--store": f"sqlite:///{tmp_path}/s.db"} | {option: value}
    assert message in refused("serve", "--port", "0", *(part for pair in options.items() for part in pair))


@pytest.fixture
def fetched(monkeypatch, tmp_path):
    """Plays the download, and an empty cache."""
    monkeypatch.setenv("GLISSANDO_CACHE", str(tmp_path))
    monkeypatch.setenv("npm_config_registry", "https://npm.example/all")
    return lambda play: monkeypatch.setattr("glissando.export.wasm.fetch_runtime", play)


def test_what_the_page_needs_is_fetched_while_the_server_serves(fetched, capsys):
    fetched(lambda progress: progress(1, 2))
    with fetching() as thread:
        thread.join()
    said = capsys.readouterr()
    assert said.err == ""
    first, last = said.out.splitlines()
    assert first == "fetching onnxruntime-web 1.30.0 from npm.example, 33 MB, once; until then the server decodes"
    assert last == "onnxruntime-web is here: pages that are opened now decode by themselves"


def test_what_cannot_be_fetched_is_said_once_and_the_server_goes_on(fetched, capsys):
    def fail(_):
        raise KitError("onnxruntime-web cannot be had: 404 Not Found")

    fetched(fail)
    with fetching() as thread:
        thread.join()
    assert capsys.readouterr().err == "onnxruntime-web cannot be had: 404 Not Found. Until then the server decodes\n"


def test_a_server_that_ends_ends_the_download_and_says_nothing_more(fetched, capsys):
    started = threading.Event()

    def slow(progress):
        while True:
            progress(1, 2)
            started.set()

    fetched(slow)
    with fetching() as thread:
        assert started.wait(300)
    thread.join()
    said = capsys.readouterr()
    assert (len(said.out.splitlines()), said.err) == (1, "")


def test_nothing_is_fetched_twice(fetched, capsys, tmp_path):
    folder = tmp_path / "onnxruntime-web-1.30.0"
    folder.mkdir()
    for name in FILES:
        (folder / f"{name}.gz").write_bytes(gzip.compress(b"something"))
    with fetching() as thread:
        assert thread is None
    assert capsys.readouterr().out == ""


def test_settings_travel_to_server_processes(monkeypatch):
    from glissando.web.settings import ENVIRONMENT, Settings

    monkeypatch.setenv(ENVIRONMENT, json.dumps({"queue": 5}))
    assert Settings.load().queue == 5
    settings = Settings(store="sqlite:///x.db", token="t")
    settings.save()
    assert Settings.load() == settings
    with pytest.raises(ValueError, match="queue"):
        Settings(queue=0)
