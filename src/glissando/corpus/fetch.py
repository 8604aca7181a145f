"""Public corpora for people with internet: swipe.futo.org from Hugging Face, How We Swipe from OSF."""

from __future__ import annotations

import fnmatch
import http.client
import json
import urllib.error
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from glissando.corpus.download import Progress, RemoteFile, download, file_digest, open_url
from glissando.errors import CorpusError, MissingExtraError
from glissando.files import replacing

FUTO_DATASET = "futo-org/swipe.futo.org"
FUTO_RUNS = ("swipe-1", "swipe-2", "swipe-3", "swipe-4", "swipe-5")
OSF_API = "https://api.osf.io/v2"
HOW_WE_SWIPE_NODE = "sj67f"
HOW_WE_SWIPE_FILES = "*swipelogs*.zip"
MANIFEST = "fetched.json"
MAX_ANSWER_BYTES = 16 * 2**20
MAX_PAGES = 1000  # of one listing; more is a loop


def fetch_futo(
    directory: str | Path,
    *,
    runs: Sequence[str] = FUTO_RUNS,
    revision: str = "main",
    endpoint: str | None = None,
    progress: Progress | None = None,
) -> list[Path]:
    """Download runs of swipe.futo.org (MIT) with their layouts; what is already there and sound stays.

    Args:
        directory: where; each run is a directory below.
        runs: which of FUTO_RUNS.
        revision: branch, tag or commit of the dataset.
        endpoint: a mirror of huggingface.co.
        progress: called with a file's name, its bytes so far, and its bytes in all.
    """
    unknown = [run for run in runs if run not in FUTO_RUNS]
    if unknown or not runs:
        raise CorpusError(f"no runs {', '.join(unknown) or '(none given)'}; there are {', '.join(FUTO_RUNS)}")
    commit, files = _futo_files(revision, endpoint)
    wanted = [file for file in files if file.name.split("/")[0] in runs]
    if not wanted:
        names = ", ".join(sorted(file.name for file in files)[:10])
        raise CorpusError(f"{FUTO_DATASET} has no files of {', '.join(runs)}; it has {names or 'none'}")
    return _fetch_all(wanted, Path(directory), f"{FUTO_DATASET} at {commit}", progress)


def fetch_how_we_swipe(
    directory: str | Path,
    *,
    pattern: str = HOW_WE_SWIPE_FILES,
    api: str = OSF_API,
    node: str = HOW_WE_SWIPE_NODE,
    progress: Progress | None = None,
) -> list[Path]:
    """Download How We Swipe's logs (about 70 MB) from its OSF project; what is already there and sound stays.

    Args:
        directory: where.
        pattern: which files of the project.
        api: address of OSF's API.
        node: the project.
        progress: called with a file's name, its bytes so far, and its bytes in all.
    """
    files = list(_osf_files(f"{api.rstrip('/')}/nodes/{node}/files/osfstorage/"))
    wanted = [file for file in files if fnmatch.fnmatch(file.name, pattern)]
    if not wanted:
        names = ", ".join(sorted(file.name for file in files)[:20])
        raise CorpusError(f"no file of OSF project {node} matches {pattern!r}; it has {names or 'none'}")
    return _fetch_all(wanted, Path(directory), f"OSF project {node}", progress)


def _fetch_all(files: list[RemoteFile], directory: Path, source: str, progress: Progress | None) -> list[Path]:
    """Download files and note beside them what they are."""
    paths = [download(file, directory, progress) for file in files]
    digests = {file.name: file_digest(path) for file, path in zip(files, paths, strict=True)}
    with replacing(directory / MANIFEST) as temporary:
        temporary.write_text(json.dumps({"source": source, "sha256": digests}, indent=1), encoding="utf-8")
    return paths


def _futo_files(revision: str, endpoint: str | None) -> tuple[str, list[RemoteFile]]:
    """The dataset's commit and its files with their checksums."""
    try:
        from huggingface_hub import HfApi, hf_hub_url
        from huggingface_hub.errors import HfHubHTTPError
    except ImportError:
        raise MissingExtraError(
            "fetching swipe.futo.org needs huggingface_hub: pip install 'glissando[fetch]'"
        ) from None
    api = HfApi(endpoint=endpoint)
    try:
        info = api.dataset_info(FUTO_DATASET, revision=revision, files_metadata=True)
    except (HfHubHTTPError, OSError) as error:
        line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise CorpusError(f"cannot list {FUTO_DATASET}: {line}") from None
    except Exception as error:
        # The hub's versions bring clients of their own (requests, httpx, httpx2), whose errors have no common base.
        if not type(error).__module__.startswith(("httpx", "requests")):
            raise
        raise CorpusError(f"cannot reach {api.endpoint}: {error}") from None
    commit = info.sha or revision
    return commit, [
        RemoteFile(
            name=file.rfilename,
            url=hf_hub_url(FUTO_DATASET, file.rfilename, repo_type="dataset", revision=commit, endpoint=endpoint),
            size=file.size,
            sha256=file.lfs.sha256 if file.lfs else None,
            git_sha1=None if file.lfs else file.blob_id,
        )
        for file in info.siblings or []
    ]


def _osf_files(url: str, folder: str = "", depth: int = 0) -> Iterator[RemoteFile]:
    """The files of an OSF folder and of those in it, page by page."""
    pages = 0
    next_page: str | None = url
    while next_page and pages < MAX_PAGES:
        answer = _get_json(next_page)
        try:
            for entry in answer["data"]:
                attributes = entry["attributes"]
                name = folder + str(attributes["name"])
                if attributes["kind"] == "file":
                    sha256 = (attributes.get("extra") or {}).get("hashes", {}).get("sha256")
                    yield RemoteFile(name, entry["links"]["download"], attributes.get("size"), sha256)
                elif depth < 8:
                    inside = entry["relationships"]["files"]["links"]["related"]["href"]
                    yield from _osf_files(inside, f"{name}/", depth + 1)
            next_page = (answer.get("links") or {}).get("next")
        except (AttributeError, KeyError, TypeError) as error:
            raise CorpusError(f"{url}: not an answer of OSF's API ({error!r})") from None
        pages += 1


def _get_json(url: str) -> Any:
    """What a web address answers, as JSON."""
    try:
        with open_url(url, {"Accept": "application/json"}) as response:
            return json.loads(response.read(MAX_ANSWER_BYTES))
    except urllib.error.HTTPError as error:
        raise CorpusError(f"cannot read {url}: {error.code} {error.reason}") from None
    except (OSError, http.client.HTTPException) as error:
        raise CorpusError(f"cannot reach {url}: {getattr(error, 'reason', error)}") from None
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"{url}: not JSON: {error}") from None
