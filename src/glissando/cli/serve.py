"""``glissando serve``: the keyboard to try and the site that collects swipes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
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
        glissando serve --host 0.0.0.0
        glissando serve --runtime node_modules/onnxruntime-web/dist
        glissando serve --store postgresql://user@localhost/swipes --processes 4 --sentences welsh.txt --language cy
    """
    import secrets

    with needs_extra("the server", "web"):
        import uvicorn

        from glissando.web.app import create_app
        from glissando.web.settings import Settings
    settings = Settings(
        store=store, weights=weights, matcher=matcher, layouts=str(layouts or ""), runtime=runtime or "",
        sentences=str(sentences or ""), language=language, token=token or secrets.token_urlsafe(12),
        any_pointer=any_pointer, threads=threads, queue=queue,
        rate_decode=rate, rate_address=rate / 2, rate_swipes=rate / 10,
    )  # fmt: skip
    app = create_app(settings)  # what cannot be read fails here, in one line
    listener = bind(host, port)
    typer.echo(greeting(host, listener.getsockname()[1], settings.token if token is None else ""))
    options: dict[str, Any] = {
        "log_level": "warning", "server_header": False, "limit_concurrency": 2000,
        # An access log would keep addresses and times, which link swipes to people.
        "access_log": False, "proxy_headers": proxy is not None, "forwarded_allow_ips": proxy,
        "timeout_keep_alive": 30, "timeout_graceful_shutdown": 5,
    }  # fmt: skip
    with fetching() if runtime is None else nullcontext():
        if processes == 1:
            uvicorn.Server(uvicorn.Config(app, **options)).run(sockets=[listener])
            return
        settings.save()
        port = listener.getsockname()[1]
        listener.close()  # uvicorn binds again and hands the socket to its processes
        uvicorn.run("glissando.web.app:create_app", factory=True, host=host, port=port, workers=processes, **options)


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


def greeting(host: str, port: int, token: str) -> str:
    """What the terminal shows: addresses, a QR code if phones can connect, the token if it is random."""
    everywhere = host in ("0.0.0.0", "::")
    shown = "localhost" if everywhere else f"[{host}]" if ":" in host else host
    lines = [f"glissando is at  http://{shown}:{port}/", f"collect swipes   http://{shown}:{port}/collect"]
    lan = lan_address() if everywhere else None
    if lan:
        url = f"http://{lan}:{port}/"
        lines += [f"on your phone    {url}", qr_code(url)]
    if token:
        lines.append(f"operator page    http://{shown}:{port}/operator  token {token}")
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
