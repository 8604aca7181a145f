"""Where corpora are: files, directories, globs and addresses of object storage, found and opened in one way.

An address has a scheme ("s3://bucket/swipes", "gs://..", "file:///..") and is read through pyarrow's file systems,
which take credentials from the environment. It stays text: a ``Path`` would turn s3:// into s3:/.
"""

from __future__ import annotations

import functools
import glob
import gzip
import io
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import IO, Any, NamedTuple
from urllib.parse import parse_qsl, quote, unquote

from glissando.errors import CorpusError, MissingExtraError
from glissando.files import write_whole

ENDINGS = (".jsonl", ".jsonl.gz", ".log", ".log.gz", ".json.gz", ".ndjson", ".parquet")
READ_AHEAD = 4 * 2**20  # bytes asked for at once from object storage: a request takes some 50 ms whatever it brings
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://([^/?#]*)([^?]*)\??(.*)", re.DOTALL)
_PLAIN = "/=:,+@!$&'()~"  # characters of a path that an address need not escape
_SECRET = re.compile("secret|key|token|pass|sig", re.IGNORECASE)
_GZIP_MAGIC = b"\x1f\x8b"
_WILD = re.compile(r"[*?[]")
_WILD_ADDRESS = re.compile(r"[*[]")  # a question mark begins the settings of an address


class _Address(NamedTuple):
    """The parts of an address; ``path`` is as written, with its escapes."""

    scheme: str
    host: str
    path: str
    settings: str

    @classmethod
    def parse(cls, text: str) -> _Address | None:
        """The parts of an address, None where a text is none."""
        found = _ADDRESS.fullmatch(text)
        return cls(*found.groups()) if found else None

    def at(self, path: str) -> str:
        """The address of another path (not escaped) with the same settings."""
        return f"{self.scheme}://{self.host}{quote(path, safe=_PLAIN)}" + (f"?{self.settings}" if self.settings else "")

    def shown(self) -> str:
        """The address for messages, without name, password and settings."""
        return f"{self.scheme}://{self.host.rpartition('@')[2]}{self.path}"

    def conceal(self, message: str) -> str:
        """A message on one line, in which addresses have no login and no settings, and secrets do not occur alone."""
        message = " ".join((message.replace(f"?{self.settings}", "") if self.settings else message).split())
        message = re.sub(r"[A-Za-z][A-Za-z0-9+.-]+://[^\s'\"]+", lambda found: shown(found[0]), message)
        values = [value for name, value in parse_qsl(self.settings) if _SECRET.search(name)]
        for part in (*self.host.rpartition("@")[0].split(":"), *values):
            for secret in {part, unquote(part)}:
                if len(secret) > 3:  # a shorter one is part of common words
                    message = message.replace(secret, "***")
        return message


def find_files(source: str | Path) -> list[str]:
    """The files of a source in the order of their names; none at all is a CorpusError.

    Args:
        source: a file; a directory, searched to any depth for names that end in ENDINGS, except hidden ones; a glob,
            in which ``**`` stands for directories of any depth; or an address of one of these.
    """
    text = str(source)
    address = _Address.parse(text)
    if address:
        return _find_remote(address)
    if os.path.isdir(text):
        return _in_directory(text)
    if os.path.lexists(text):
        return [text]
    if not _WILD.search(text):
        raise CorpusError(f"cannot read {text}: No such file or directory")
    found: set[str] = set()
    for match in glob.iglob(text, recursive=True):
        found.update(_search_directory(match) if os.path.isdir(match) else [match])
    if not found:
        raise CorpusError(f"no file matches {text}")
    return _in_order(found)


def all_files(sources: Iterable[str | Path]) -> list[str]:
    """The files of several sources, one source after the other."""
    return [file for source in sources for file in find_files(source)]


def open_bytes(file: str | Path) -> io.BufferedReader | gzip.GzipFile:
    """Open a file or an address for reading; gzip is recognised by its content, whatever the name.

    The stream can ``peek``.
    """
    stream = io.BufferedReader(open_arrow(file), READ_AHEAD) if is_address(file) else _opened(file)
    try:
        packed = stream.peek(2).startswith(_GZIP_MAGIC)
        return _Unpacked(stream) if packed else stream  # type: ignore[return-value]
    except OSError as error:
        stream.close()
        raise CorpusError(f"cannot read {shown(file)}: {conceal(file, str(error))}") from None


def bytes_read(stream: IO[bytes]) -> int:
    """How far into its file a stream of ``open_bytes`` has read; of gzip, how far into the packed file."""
    return (stream._stream if isinstance(stream, _Unpacked) else stream).tell()


def _opened(file: str | Path) -> io.BufferedReader:
    """A local file, open for reading."""
    try:
        return open(file, "rb")
    except OSError as error:
        raise CorpusError(f"cannot read {file}: {error.strerror or error}") from None


class _Unpacked(gzip.GzipFile):
    """The content of a gzip stream, which is closed with it."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(fileobj=stream, mode="rb")
        self._stream = stream

    def close(self) -> None:
        """Close both."""
        super().close()
        self._stream.close()


def open_arrow(file: str | Path) -> Any:
    """Open a file or an address as a ``pyarrow.NativeFile``, which can be read at any place."""
    address = _Address.parse(str(file))
    arrow = import_pyarrow(f"{address.scheme}://" if address else "Parquet")
    if not address:
        try:
            return arrow.OSFile(str(file))
        except OSError as error:
            raise CorpusError(f"cannot read {file}: {os.strerror(error.errno) if error.errno else error}") from None
    with _remote_errors(address):
        system, root = _file_system(address.scheme, address.host, address.settings)
        return system.open_input_file(root + unquote(address.path))


def file_size(file: str | Path) -> int:
    """The bytes of a file or of what an address names."""
    with open_arrow(file) if is_address(file) else _opened(file) as stream:
        return int(stream.seek(0, io.SEEK_END))


def read_file(file: str | Path) -> bytes:
    """All bytes of a small file or of what an address names, as they are stored."""
    with open_arrow(file) if is_address(file) else _opened(file) as stream:
        return bytes(stream.read())


def write_file(file: str | Path, data: bytes) -> None:
    """Write a file, or an object at an address, whole or not at all."""
    address = _Address.parse(str(file))
    if not address:
        write_whole(str(file), data)
        return
    import_pyarrow(f"{address.scheme}://")
    with _remote_errors(address, "write"):
        system, root = _file_system(address.scheme, address.host, address.settings)
        place = root + unquote(address.path)
        if address.scheme == "file":
            write_whole(place, data)
            return
        with system.open_output_stream(place) as stream:  # an object appears when its upload is complete
            stream.write(data)


def file_names(folder: str | Path) -> set[str]:
    """The names of the files in a directory or right below an address; none where there is no such place."""
    address = _Address.parse(str(folder))
    if not address:
        try:
            return {entry.name for entry in os.scandir(folder) if entry.is_file()} if os.path.exists(folder) else set()
        except OSError as error:
            raise CorpusError(f"cannot read {folder}: {error.strerror or error}") from None
    import_pyarrow(f"{address.scheme}://")
    from pyarrow import fs

    with _remote_errors(address):
        system, root = _file_system(address.scheme, address.host, address.settings)
        inside = fs.FileSelector(root + unquote(address.path).rstrip("/"), allow_not_found=True)
        return {one.base_name for one in system.get_file_info(inside) if one.type == fs.FileType.File}


def join(folder: str | Path, name: str) -> str:
    """The place of a file in a directory or below an address."""
    address = _Address.parse(str(folder))
    return address.at(f"{unquote(address.path).rstrip('/')}/{name}") if address else os.path.join(str(folder), name)


def import_pyarrow(what: str) -> ModuleType:
    """The optional library that reads Parquet and addresses, or an error that says what needs it."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError(f"{what} needs pyarrow: pip install 'glissando[parquet]'") from None
    return pyarrow


def is_address(text: str | Path) -> bool:
    """Whether a source is an address with a scheme, not a path."""
    return _Address.parse(str(text)) is not None


def shown(source: str | Path) -> str:
    """The name of a source for messages: an address without credentials and settings."""
    address = _Address.parse(str(source))
    return address.shown() if address else str(source)


def source_name(source: str | Path) -> str:
    """The last part of a source's name."""
    return Path(shown(source)).name


def conceal(source: str | Path, message: str) -> str:
    """A message on one line; credentials that stand in an address do not appear in it."""
    address = _Address.parse(str(source))
    return address.conceal(message) if address else " ".join(message.split())


def _in_directory(folder: str) -> list[str]:
    """The corpus files of a local directory; none is an error."""
    if files := _search_directory(folder):
        return _in_order(files)
    raise _nothing_in(folder)


def _search_directory(folder: str) -> list[str]:
    """The corpus files of a local directory; hidden ones are somebody's half-written files."""
    inside = (os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names)
    return [os.path.join(folder, name) for name in inside if _is_corpus(name.split(os.sep))]


def _nothing_in(folder: str) -> CorpusError:
    return CorpusError(f"no corpus files in {folder}; their names end in {', '.join(ENDINGS)}")


def _is_corpus(parts: list[str]) -> bool:
    """Whether a path below a directory is that of a corpus file."""
    return parts[-1].endswith(ENDINGS) and not any(part.startswith(".") for part in parts)


def _in_order(files: Iterable[str]) -> list[str]:
    """By name, directory by directory."""
    return sorted(files, key=lambda file: file.split("/"))


def _find_remote(address: _Address) -> list[str]:
    """The files of an address."""
    import_pyarrow(f"{address.scheme}://")
    from pyarrow import fs

    wild = _WILD_ADDRESS.search(address.path)
    fixed = address.path[: address.path.rindex("/", 0, wild.start()) + 1] if wild else address.path
    with _remote_errors(address):
        system, root = _file_system(address.scheme, address.host, address.settings)
        base = root + unquote(fixed).rstrip("/")
        if not wild:
            kind = system.get_file_info(base or "/").type
            if kind == fs.FileType.File:
                return [address.at(unquote(address.path))]
            if kind == fs.FileType.NotFound:
                raise CorpusError(f"cannot read {address.shown()}: nothing is there")
        infos = system.get_file_info(fs.FileSelector(base or "/", recursive=True, allow_not_found=True))
    inside = [one.path[len(base) :].strip("/").split("/") for one in infos if one.type == fs.FileType.File]
    if wild:
        pattern = unquote(address.path[len(fixed) :]).split("/")
        inside = [parts for parts in inside if _chosen(parts, pattern)]
    else:
        inside = [parts for parts in inside if _is_corpus(parts)]
    if not inside:
        raise CorpusError(f"no file matches {address.shown()}") if wild else _nothing_in(address.shown())
    return [address.at(f"{unquote(fixed).rstrip('/')}/{'/'.join(parts)}") for parts in sorted(inside)]


def _chosen(parts: list[str], pattern: list[str]) -> bool:
    """Whether a glob chooses a file: by its name, or by that of a directory above a corpus file."""
    return _matches(parts, pattern) or any(
        _matches(parts[:depth], pattern) and _is_corpus(parts[depth:]) for depth in range(1, len(parts))
    )


def _matches(parts: list[str], pattern: list[str]) -> bool:
    """Whether the parts of a path match those of a glob."""
    if not pattern:
        return not parts
    hidden = bool(parts) and parts[0].startswith(".") and not pattern[0].startswith(".")
    if pattern[0] == "**":
        return _matches(parts, pattern[1:]) or (bool(parts) and not hidden and _matches(parts[1:], pattern))
    return bool(parts) and not hidden and fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


@functools.lru_cache(maxsize=16)
def _file_system(scheme: str, host: str, settings: str) -> tuple[Any, str]:
    """The file system of an address and the path of its root; making one asks the network where a bucket is."""
    from pyarrow import fs

    if scheme == "s3" and "allow_delayed_open" not in settings:
        settings = f"{settings}&allow_delayed_open=true".lstrip("&")  # one request for a small object, not three
    system, root = fs.FileSystem.from_uri(f"{scheme}://{host}/" + (f"?{settings}" if settings else ""))
    return system, root.rstrip("/")


@contextmanager
def _remote_errors(address: _Address, doing: str = "read") -> Iterator[None]:
    """Turn what a file system raises into one line without credentials."""
    from pyarrow import ArrowException

    try:
        yield
    except FileNotFoundError:
        raise CorpusError(f"cannot {doing} {address.shown()}: nothing is there") from None
    except (OSError, ArrowException) as error:
        raise CorpusError(f"cannot {doing} {address.shown()}: {address.conceal(str(error))}") from None
