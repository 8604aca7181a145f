import hashlib
import json
import signal
import socket
import ssl
import subprocess
import sys

import pytest

pytest.importorskip("fastapi", reason="the web extra is not installed")

import httpx
from command import refused
from web.serving import Server

from glissando.cli.serve import Places, bind, greeting
from glissando.errors import GlissandoError

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
    options = ["--weights", str(tiny_weights), "--store", f"sqlite:///{tmp_path}/s.db", "--processes", str(processes)]
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
    ],
)
def test_what_cannot_start_says_why_in_one_line(tiny_weights, tmp_path, option, value, message):
    options = {"--weights": tiny_weights, "--store": f"sqlite:///{tmp_path}/s.db"} | {option: value}
    assert message in refused("serve", "--port", "0", *(part for pair in options.items() for part in pair))


def test_settings_travel_to_server_processes(monkeypatch):
    from glissando.web.settings import ENVIRONMENT, Settings

    monkeypatch.setenv(ENVIRONMENT, json.dumps({"queue": 5}))
    assert Settings.load().queue == 5
    settings = Settings(store="sqlite:///x.db", token="t")
    settings.save()
    assert Settings.load() == settings
    with pytest.raises(ValueError, match="queue"):
        Settings(queue=0)
