"""Public corpora over HTTP: swipe.futo.org from Hugging Face, How We Swipe from OSF.

A download resumes where it broke off. A file takes its place only when it is complete and its checksum is right.
"""

from __future__ import annotations

import fnmatch
import hashlib
import http.client
import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote

from glissando.errors import CorpusError
from glissando.files import write_whole

FUTO_DATASET = "futo-org/swipe.futo.org"
FUTO_RUNS = ("swipe-1", "swipe-2", "swipe-3", "swipe-4", "swipe-5")
HUGGING_FACE = "https://huggingface.co"
OSF_API = "https://api.osf.io/v2"
HOW_WE_SWIPE_NODE = "sj67f"
HOW_WE_SWIPE_FILES = "*swipelogs*.zip"
MANIFEST = "fetched.json"

CHUNK = 2**20
TIMEOUT_S = 60
ATTEMPTS = 5
PAUSE_S = 1.0  # before the second attempt; doubled before each further one
MAX_ANSWER_BYTES = 16 * 2**20

Progress = Callable[[str, int, int | None], None]  # name, bytes so far, bytes in all


@dataclass(frozen=True)
class RemoteFile:
    """A file to download.

    Attributes:
        name: its path below the target directory.
        url: its address.
        size: bytes, None where unknown.
        sha256: checksum, None where the host gives none.
        sha512: the same, where a host gives that.
        git_sha1: name of its git blob, which some hosts give instead.
    """

    name: str
    url: str
    size: int | None = None
    sha256: str | None = None
    sha512: str | None = None
    git_sha1: str | None = None


def fetch_futo(
    directory: str | Path,
    *,
    runs: Sequence[str] = FUTO_RUNS,
    revision: str = "main",
    endpoint: str | None = None,
    progress: Progress | None = None,
) -> list[Path]:
    """Download runs of swipe.futo.org (MIT) with their layouts; complete files are not fetched again.

    Args:
        directory: where to put them; each run is a directory below it.
        runs: which of FUTO_RUNS.
        revision: branch, tag or commit of the dataset.
        endpoint: a mirror of huggingface.co; by default the environment's HF_ENDPOINT, if set.
        progress: called with a file's name, its bytes so far, and its bytes in all.
    """
    unknown = [run for run in runs if run not in FUTO_RUNS]
    if unknown or not runs:
        raise CorpusError(f"no runs {', '.join(unknown) or '(none given)'}; there are {', '.join(FUTO_RUNS)}")
    host = (endpoint or os.environ.get("HF_ENDPOINT") or HUGGING_FACE).rstrip("/")
    commit, files = _futo_files(host, revision)
    wanted = [file for file in files if file.name.split("/")[0] in runs]
    if not wanted:
        names = ", ".join(sorted(file.name for file in files)[:10])
        raise CorpusError(f"{FUTO_DATASET} has no files of {', '.join(runs)}; it has {names or 'none'}")
    return _download_all(wanted, Path(directory), f"{FUTO_DATASET} at {commit}", progress)


def fetch_how_we_swipe(
    directory: str | Path,
    *,
    pattern: str = HOW_WE_SWIPE_FILES,
    api: str = OSF_API,
    progress: Progress | None = None,
) -> list[Path]:
    """Download How We Swipe's logs (about 70 MB) from its OSF project; complete files are not fetched again.

    Args:
        directory: where to put them.
        pattern: which files of the project.
        api: address of OSF's API.
        progress: called with a file's name, its bytes so far, and its bytes in all.
    """
    files = list(_osf_files(f"{api.rstrip('/')}/nodes/{HOW_WE_SWIPE_NODE}/files/osfstorage/"))
    wanted = [file for file in files if fnmatch.fnmatch(file.name, pattern)]
    if not wanted:
        names = ", ".join(sorted(file.name for file in files)[:20])
        raise CorpusError(f"no file of OSF project {HOW_WE_SWIPE_NODE} matches {pattern!r}; it has {names or 'none'}")
    return _download_all(wanted, Path(directory), f"OSF project {HOW_WE_SWIPE_NODE}", progress)


def _futo_files(host: str, revision: str) -> tuple[str, list[RemoteFile]]:
    """The dataset's commit and its files with their checksums."""
    url = f"{host}/api/datasets/{FUTO_DATASET}/revision/{quote(revision, safe='')}?blobs=true"
    answer = _get_json(url)
    try:
        commit = str(answer["sha"])
        files = f"{host}/datasets/{FUTO_DATASET}/resolve/{quote(commit, safe='')}"
        return commit, [
            RemoteFile(
                name=entry["rfilename"],
                url=f"{files}/{quote(entry['rfilename'])}",
                size=entry["size"],
                sha256=entry["lfs"]["sha256"] if entry.get("lfs") else None,
                git_sha1=None if entry.get("lfs") else entry["blobId"],
            )
            for entry in answer["siblings"]
        ]
    except (AttributeError, KeyError, TypeError) as error:
        raise CorpusError(f"{url}: not an answer of Hugging Face's API ({error!r})") from None


def _osf_files(url: str, folder: str = "") -> Iterator[RemoteFile]:
    """The files of an OSF folder and of the folders in it, page by page."""
    answer = _get_json(url)
    try:
        for entry in answer["data"]:
            attributes = entry["attributes"]
            name = folder + str(attributes["name"])
            if attributes["kind"] == "file":
                sha256 = (attributes.get("extra") or {}).get("hashes", {}).get("sha256")
                yield RemoteFile(name, entry["links"]["download"], attributes.get("size"), sha256)
            else:
                yield from _osf_files(entry["relationships"]["files"]["links"]["related"]["href"], f"{name}/")
        next_page = (answer.get("links") or {}).get("next")
    except (AttributeError, KeyError, TypeError) as error:
        raise CorpusError(f"{url}: not an answer of OSF's API ({error!r})") from None
    if next_page:
        yield from _osf_files(next_page, folder)


def _get_json(url: str) -> Any:
    """The JSON answer of a web address."""
    try:
        with _open(url, {"Accept": "application/json"}) as response:
            return json.loads(response.read(MAX_ANSWER_BYTES))
    except (OSError, http.client.HTTPException) as error:
        raise CorpusError(f"cannot read {url}: {_reason(error)}") from None
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"{url}: not JSON: {error}") from None


def _open(url: str, headers: dict[str, str]) -> http.client.HTTPResponse:
    """Open a web address; never a local file."""
    if not url.startswith(("https://", "http://")):
        raise CorpusError(f"not a web address: {url}")
    request = urllib.request.Request(url, headers={"User-Agent": "glissando", **headers})
    return urllib.request.urlopen(request, timeout=TIMEOUT_S)


def _reason(error: Exception) -> str:
    """Why a request failed."""
    if isinstance(error, urllib.error.HTTPError):
        return f"{error.code} {error.reason}"
    return str(getattr(error, "reason", error))


def _download_all(files: list[RemoteFile], directory: Path, source: str, progress: Progress | None) -> list[Path]:
    """Download files and write their origin and checksums beside them."""
    paths = [download(file, directory, progress) for file in files]
    digests = {file.name: file_digest(path) for file, path in zip(files, paths, strict=True)}
    write_whole(directory / MANIFEST, json.dumps({"source": source, "sha256": digests}, indent=1).encode())
    return paths


def download(remote: RemoteFile, directory: str | Path, progress: Progress | None = None) -> Path:
    """Download one file, resuming what an earlier call left in NAME.partial, and return its path.

    A complete file with the right checksum is not fetched again.
    """
    target = Path(directory) / safe_name(remote.name)
    if target.is_file() and _is_complete(remote, target):
        return target
    partial = target.with_name(target.name + ".partial")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _fetch(remote, partial, progress)
        if not _is_complete(remote, partial):
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
    """Complete the partial file; after a broken connection or a server's error, try again a few times."""
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(PAUSE_S * 2 ** (attempt - 1))
        try:
            _append_rest(remote, partial, progress)
            if remote.size is None or partial.stat().st_size >= remote.size:
                return
            reason = f"it broke off at {partial.stat().st_size:,} of {remote.size:,} bytes"
        except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError) as error:
            reason = _reason(error)
            if isinstance(error, urllib.error.HTTPError) and error.code < 500:
                raise CorpusError(f"cannot fetch {remote.url}: {reason}") from None
    raise CorpusError(f"cannot fetch {remote.url}: {reason}; run it again to resume")


def _append_rest(remote: RemoteFile, partial: Path, progress: Progress | None) -> None:
    """Ask for the missing bytes and append them; start over where the host sends everything."""
    have = partial.stat().st_size if partial.exists() else 0
    if remote.size is None or have > remote.size:
        have = 0
    if have and have == remote.size:
        return
    with _open(remote.url, {"Range": f"bytes={have}-"} if have else {}) as response:
        if response.status != http.client.PARTIAL_CONTENT:
            have = 0
        with partial.open("ab" if have else "wb") as file:
            while chunk := response.read(CHUNK):
                file.write(chunk)
                have += len(chunk)
                if progress is not None:
                    progress(remote.name, have, remote.size)


def _is_complete(remote: RemoteFile, file: Path) -> bool:
    """Whether a file has the size and the checksum that its host gives."""
    if remote.size is not None and file.stat().st_size != remote.size:
        return False
    for algorithm in ("sha256", "sha512"):
        if (wanted := getattr(remote, algorithm)) is not None:
            return file_digest(file, algorithm) == wanted.lower()
    return remote.git_sha1 is None or file_digest(file, git=True) == remote.git_sha1.lower()


def file_digest(file: Path, algorithm: str = "sha256", *, git: bool = False) -> str:
    """The SHA-256 of a file, or another hash, or the SHA-1 that names it as a git blob."""
    with file.open("rb") as stream:
        if not git:
            return hashlib.file_digest(stream, algorithm).hexdigest()
        blob = hashlib.sha1(f"blob {file.stat().st_size}\0".encode(), usedforsecurity=False)
        return hashlib.file_digest(stream, lambda: blob).hexdigest()
