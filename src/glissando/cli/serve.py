"""``glissando serve``: the keyboard to try and the site that collects swipes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from glissando.cli import options as opt
from glissando.cli.output import bar, needs_extra

if TYPE_CHECKING:
    import socket
    import threading


def serve(
    host: Annotated[str, Option(help="Address to listen on; 0.0.0.0 lets phones in.")] = "127.0.0.1",
    port: Annotated[int, Option(help="Port; 0 takes a free one.", min=0, max=65535)] = 8000,
    store: Annotated[
        str, Option(help="URL of the donated swipes: SQLite or PostgreSQL.", envvar="GLISSANDO_STORE")
    ] = "sqlite:///glissando-swipes.db",
    weights: opt.Weights = "encoder",
    matcher: opt.Matcher = "matcher",
    layouts: opt.Layouts = None,
    runtime: Annotated[
        str | None,
        Option(help="onnxruntime-web for the page: a directory, or none; by default fetched once from npm's registry."),
    ] = None,
    sentences: Annotated[Path | None, Option(help="File of sentences to collect, one per line.")] = None,
    language: Annotated[str, Option(help="Language of those sentences.")] = "en",
    consent: Annotated[
        Path | None, Option(help="TOML file of what donors agree to; nothing is collected without one.")
    ] = None,
    https: Annotated[bool, Option("--https", help="Make a certificate, so that phones give all their points.")] = False,
    address: Annotated[
        str | None, Option(help="Address of this server for phones, where it is not found by itself: https://...")
    ] = None,
    token: Annotated[
        str | None,
        Option(help="Token that the operator page asks for; random by default.", envvar="GLISSANDO_TOKEN"),
    ] = None,
    any_pointer: Annotated[bool, Option("--any-pointer", help="Collect from mice and pens too.")] = False,
    threads: Annotated[int, Option(help="Threads of the networks, per process.", min=1)] = 1,
    queue: Annotated[int, Option(help="Swipes that may wait; the next gets 503.", min=1)] = 64,
    processes: Annotated[int, Option(help="Server processes; more than one needs PostgreSQL.", min=1)] = 1,
    rate: Annotated[float, Option(help="Decodings per second and address; fewer donations.", min=0.1)] = 40.0,
    proxy: Annotated[str | None, Option(help="Address of a proxy whose X-Forwarded-For is trusted.")] = None,
) -> None:
    """Serve a keyboard to try with your finger, and collect swipes.

    **Examples**

        glissando serve
        glissando serve --host 0.0.0.0 --https --consent consent.toml
        glissando serve --runtime node_modules/onnxruntime-web/dist
        glissando serve --store postgresql://user@localhost/swipes --processes 4 --sentences welsh.txt --language cy
    """
    import secrets
    from contextlib import ExitStack

    with needs_extra("the server", "web"):
        import uvicorn

        from glissando.web.app import create_app
        from glissando.web.settings import Settings
    options: dict[str, Any] = {
        "log_level": "warning", "server_header": False, "limit_concurrency": 2000,
        # An access log would keep addresses and times, which link swipes to people.
        "access_log": False, "proxy_headers": proxy is not None, "forwarded_allow_ips": proxy,
        "timeout_keep_alive": 30, "timeout_graceful_shutdown": 5,
    }  # fmt: skip
    with ExitStack() as files:
        places = Places.of(host, bind(host, port), https=https, address=address)
        settings = Settings(
            store=store, weights=weights, matcher=matcher, layouts=str(layouts or ""), runtime=runtime or "",
            sentences=str(sentences or ""), language=language, consent=str(consent or ""), address=places.phones,
            token=token or secrets.token_urlsafe(12), any_pointer=any_pointer, threads=threads, queue=queue,
            rate_decode=rate, rate_address=rate / 2, rate_swipes=rate / 10,
        )  # fmt: skip
        app = create_app(settings)  # what cannot be read fails here, in one line
        fingerprint = ""
        if https:
            keys, fingerprint = files.enter_context(certificate(places.hosts))
            options |= keys
        typer.echo(greeting(places, settings.token if token is None else "", fingerprint, consent is not None))
        if runtime is None:
            files.enter_context(fetching())
        if processes == 1:
            uvicorn.Server(uvicorn.Config(app, **options)).run(sockets=[places.listener])
            return
        settings.save()
        places.listener.close()  # uvicorn binds again and hands the socket to its processes
        application = "glissando.web.app:create_app"
        uvicorn.run(application, factory=True, host=host, port=places.port, workers=processes, **options)


@dataclass(frozen=True)
class Places:
    """Where the server is.

    Attributes:
        listener: the socket.
        port: its port.
        here: its address on this machine.
        phones: its address for phones, "" where they cannot reach it.
        hosts: the names and addresses in all of these.
    """

    listener: socket.socket
    port: int
    here: str
    phones: str
    hosts: tuple[str, ...]

    @classmethod
    def of(cls, host: str, listener: socket.socket, *, https: bool, address: str | None) -> Places:
        """The places of a server that listens on a host; ``address`` is what the operator says of it."""
        everywhere = host in ("0.0.0.0", "::")
        scheme, port = "https" if https else "http", listener.getsockname()[1]
        shown = "localhost" if everywhere else f"[{host}]" if ":" in host else host
        lan = lan_address() if everywhere else None
        phones = address.rstrip("/") if address else f"{scheme}://{lan}:{port}" if lan else ""
        hosts = [shown.strip("[]"), "localhost", "127.0.0.1", *([lan] if lan else [])]
        return cls(listener, port, f"{scheme}://{shown}:{port}", phones, tuple(dict.fromkeys(hosts)))


@contextmanager
def certificate(hosts: tuple[str, ...]) -> Iterator[tuple[dict[str, Any], str]]:
    """Make a certificate for as long as the server runs; gives uvicorn's options and the fingerprint."""
    import tempfile

    from glissando.web.certificate import make_certificate

    with tempfile.TemporaryDirectory() as folder:
        with needs_extra("--https", "https"):
            made = make_certificate(hosts, Path(folder))
        yield {"ssl_keyfile": made.key, "ssl_certfile": made.certificate}, made.fingerprint


@contextmanager
def fetching() -> Iterator[threading.Thread | None]:
    """While the body runs, fetch what pages need to decode by themselves; gives the thread, or None if it is there."""
    import threading
    from urllib.parse import urlsplit

    from glissando.errors import KitError
    from glissando.export.wasm import PACKAGE, SIZE, VERSION, WasmRuntime, archive_address, fetch_runtime

    if WasmRuntime.cached() is not None:
        yield None
        return
    stopped = threading.Event()

    def fetch() -> None:
        try:
            with bar(PACKAGE) as progress:
                fetch_runtime(lambda done, total: _tell(progress, stopped, done, total))
        except KitError as error:
            if not stopped.is_set():
                typer.echo(f"{error}. Until then the server decodes", err=True)
            return
        typer.echo(f"{PACKAGE} is here: pages that are opened now decode by themselves")

    host = urlsplit(archive_address()).hostname
    typer.echo(f"fetching {PACKAGE} {VERSION} from {host}, {SIZE / 1e6:.0f} MB, once; until then the server decodes")
    thread = threading.Thread(target=fetch, daemon=True)
    thread.start()
    try:
        yield thread
    finally:
        stopped.set()
        thread.join(2)  # it ends with the next piece that comes; a host that sends none must not hold us


def _tell(progress: Callable[[int, int], None] | None, stopped: threading.Event, done: int, total: int) -> None:
    """Show how much of a download has come, or end it."""
    from glissando.errors import KitError

    if stopped.is_set():
        raise KitError("the server has ended")
    if progress is not None:
        progress(done, total)


def bind(host: str, port: int) -> socket.socket:
    """A socket to listen on."""
    import socket

    from glissando.errors import GlissandoError

    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        raise GlissandoError(f"cannot listen on {host} port {port}: {error.strerror or error}; try --port 0") from None
    listener.set_inheritable(True)
    return listener


def greeting(places: Places, token: str, fingerprint: str, collects: bool) -> str:
    """What the terminal shows: addresses, a QR code if phones can connect, the token if it is random."""
    lines = [f"glissando is at  {places.here}/"]
    lines.append(
        f"collect swipes   {places.here}/collect" if collects else "collect swipes   not without --consent FILE"
    )
    if places.phones:
        lines += [f"on your phone    {places.phones}/", qr_code(f"{places.phones}/")]
    if fingerprint:
        lines += ["the browser warns of a certificate it does not know; its SHA-256 fingerprint is", f"  {fingerprint}"]
    if token:
        lines.append(f"operator page    {places.here}/operator  token {token}")
    return "\n".join(lines)


def lan_address() -> str | None:
    """This machine's address in the local network, or None."""
    import socket

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing; the system picks the address it would send from
        except OSError:
            return None
        return str(probe.getsockname()[0])


def qr_code(url: str) -> str:
    """A QR code for the terminal."""
    import io

    import segno

    text = io.StringIO()
    segno.make(url, micro=False).terminal(text, compact=True)
    return text.getvalue().rstrip("\n")
