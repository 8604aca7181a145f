"""One file over HTTP: resumed where it broke off, checked against its checksum, in place only when complete."""

from __future__ import annotations

import hashlib
import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from glissando.errors import CorpusError

CHUNK = 2**20
TIMEOUT_S = 60
ATTEMPTS = 5
PAUSE_S = 1.0  # before the second attempt; doubled before each further one

Progress = Callable[[str, int, int | None], None]  # name, bytes so far, bytes in all


@dataclass(frozen=True)
class RemoteFile:
    """A file to download.

    Attributes:
        name: its path below the target directory.
        url: where it is.
        size: bytes, None where unknown.
        sha256: checksum, None where the host gives none.
        git_sha1: name of its git blob, which some hosts give instead.
    """

    name: str
    url: str
    size: int | None = None
    sha256: str | None = None
    git_sha1: str | None = None


def open_url(url: str, headers: dict[str, str] | None = None) -> http.client.HTTPResponse:
    """Open a web address; never a local file."""
    if not url.startswith(("https://", "http://")):
        raise CorpusError(f"not a web address: {url}")
    request = urllib.request.Request(url, headers={"User-Agent": "glissando", **(headers or {})})
    return urllib.request.urlopen(request, timeout=TIMEOUT_S)


def download(remote: RemoteFile, directory: str | Path, progress: Progress | None = None) -> Path:
    """Download one file, resuming what an earlier call left, and return where it is.

    What has arrived is kept in NAME.partial; a complete file that passes its check is not fetched again.
    """
    target = Path(directory) / safe_name(remote.name)
    if target.is_file() and _is_whole(remote, target):
        return target
    partial = target.with_name(target.name + ".partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _fetch(remote, partial, progress)
        if not _is_whole(remote, partial):
            partial.unlink()
            raise CorpusError(f"{remote.name}: what arrived does not match its checksum; it was removed, try again")
        partial.replace(target)
    except OSError as error:
        raise CorpusError(f"cannot write {target}: {error.strerror or error}") from None
    return target


def safe_name(name: str) -> Path:
    """A remote path as one below the target directory, or an error: a host must not choose where we write."""
    path = PurePosixPath(name)
    if path.is_absolute() or not path.parts or any(part in ("..", ".") or "\\" in part for part in path.parts):
        raise CorpusError(f"refused a file named {name!r}")
    return Path(*path.parts)


def _fetch(remote: RemoteFile, partial: Path, progress: Progress | None) -> None:
    """Add to the partial file until it is complete; a broken connection is taken up again a few times."""
    pause = PAUSE_S
    for attempt in range(ATTEMPTS):
        try:
            _continue(remote, partial, progress)
        except urllib.error.HTTPError as error:
            if error.code < 500 or attempt == ATTEMPTS - 1:
                raise CorpusError(f"cannot fetch {remote.url}: {error.code} {error.reason}") from None
        except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
            if attempt == ATTEMPTS - 1:
                reason = getattr(error, "reason", error)
                raise CorpusError(f"cannot fetch {remote.url}: {reason}; call again to go on") from None
        else:
            if remote.size is None or partial.stat().st_size >= remote.size:
                return
        time.sleep(pause)
        pause *= 2
    raise CorpusError(f"{remote.url} broke off at {partial.stat().st_size:,} of {remote.size:,} bytes; call again")


def _continue(remote: RemoteFile, partial: Path, progress: Progress | None) -> None:
    """Ask for what is missing and append it; start over where the host sends everything."""
    have = partial.stat().st_size if partial.exists() else 0
    if remote.size is None or have > remote.size:
        have = 0
    if have and have == remote.size:
        return
    with open_url(remote.url, {"Range": f"bytes={have}-"} if have else None) as response:
        if response.status != http.client.PARTIAL_CONTENT:
            have = 0
        with partial.open("ab" if have else "wb") as file:
            while chunk := response.read(CHUNK):
                file.write(chunk)
                have += len(chunk)
                if progress is not None:
                    progress(remote.name, have, remote.size)


def _is_whole(remote: RemoteFile, file: Path) -> bool:
    """Whether a file has the size and the checksum it should have."""
    if remote.size is not None and file.stat().st_size != remote.size:
        return False
    if remote.sha256 is not None:
        return file_digest(file) == remote.sha256.lower()
    if remote.git_sha1 is not None:
        return file_digest(file, git=True) == remote.git_sha1.lower()
    return True


def file_digest(file: Path, *, git: bool = False) -> str:
    """The SHA-256 of a file, or the name git gives it as a blob."""
    digest = hashlib.sha1(usedforsecurity=False) if git else hashlib.sha256()
    if git:
        digest.update(f"blob {file.stat().st_size}\0".encode())
    with file.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
