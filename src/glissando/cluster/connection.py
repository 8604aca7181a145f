"""Join a Ray cluster, or start one on this machine."""

from __future__ import annotations

import dataclasses
import logging
import os
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from glissando.errors import ClusterError, MissingExtraError

Options = TypeVar("Options", bound=Any)
_COLOUR = re.compile("\x1b\\[[0-9;]*m")  # Ray colours parts of its messages
CONNECT_SECONDS = 10.0  # for a head node to answer
STARTS = 3  # attempts at a cluster of our own
STORE_BYTES = 256 * 2**20  # of Ray's object store on a cluster of our own; blocks on their way take a few MB


@dataclass(frozen=True)
class Cluster:
    """A Ray cluster that this process has joined.

    Attributes:
        ray: the library.
        workers: how many processes work.
        dashboard: where Ray's dashboard is, None where it is not installed.
        own: whether it is ours, and all of it on this machine.
    """

    ray: Any
    workers: int
    dashboard: str | None
    own: bool = False

    def here(self, kind: type) -> Any:
        """A process of the cluster that holds an object of some class and lives as long as this one: on its node."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        node = NodeAffinitySchedulingStrategy(self.ray.get_runtime_context().get_node_id(), soft=False)
        return self.ray.remote(kind).options(num_cpus=0, scheduling_strategy=node).remote()


@contextmanager
def connect(address: str, workers: int | None = None) -> Iterator[Cluster]:
    """Join a Ray cluster, or start one of our own on this machine.

    Args:
        address: "local" for a cluster of our own; "auto" for the one that runs on this machine; or HOST:PORT of a head
            node.
        workers: how many processes work; by default as many as the cluster has processors.
    """
    ray = import_ray()
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # else it prints what it found about our workers
    common: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False, "namespace": "glissando"}
    if address == "local":
        own = {"num_cpus": workers or os.cpu_count() or 1, "object_store_memory": STORE_BYTES}
        common |= {"address": "local", **own, "include_dashboard": has_dashboard()}
    else:
        _check_address(address)
        common |= {"address": address}
    info = _init(ray, address, common)
    try:
        processors = int(ray.cluster_resources().get("CPU", 0))
        if not processors:
            raise ClusterError(f"the Ray cluster at {address} has no processors")
        yield Cluster(ray, workers or processors, info.dashboard_url or None, address == "local")
    finally:
        ray.shutdown()


def _init(ray: Any, address: str, common: dict[str, Any]) -> Any:
    """Call ``ray.init``. It gives up on a node of our own after 30 seconds, too early on a busy machine: try again."""
    for attempt in range(STARTS):
        try:
            with _silence():
                return ray.init(**common)
        except Exception as error:  # Ray raises a bare one where a node does not start in time
            ray.shutdown()
            if address != "local" or attempt == STARTS - 1:
                raise ClusterError(f"no Ray cluster at {address}: {_reason(error)}") from None
    raise AssertionError


def _check_address(address: str) -> None:
    """Refuse at once an address where nothing answers: Ray would try for minutes."""
    host, _, port = address.rpartition(":")
    if address == "auto":
        return
    if "://" in address or not host or not port.isdigit():
        raise ClusterError(f"no cluster {address!r}; there are local, auto and HOST:PORT of a head node")
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise ClusterError(f"no Ray cluster at {address}: {getattr(error, 'strerror', None) or error}") from None


def import_ray() -> Any:
    """Import Ray; an error names the extra that installs it."""
    try:
        import ray
    except ImportError:
        raise MissingExtraError("a cluster needs ray: pip install 'glissando[cluster]'") from None
    return ray


def has_dashboard() -> bool:
    """Whether Ray's dashboard is installed: ray[default] brings it."""
    try:
        import aiohttp_cors  # noqa: F401
    except ImportError:
        return False
    return True


@contextmanager
def ray_errors(ray: Any) -> Iterator[None]:
    """Turn what Ray raises about itself into one line; an exception of the work keeps its traceback."""
    try:
        yield
    except ray.exceptions.RayTaskError:
        raise
    except ray.exceptions.RayError as error:
        raise ClusterError(f"the cluster failed: {_reason(error)}; start again, and it goes on") from None


@contextmanager
def _silence() -> Iterator[None]:
    """Keep off the terminal what compiled code writes to standard error; exceptions pass."""
    sys.stderr.flush()
    kept = os.dup(2)
    with open(os.devnull, "wb") as nothing:
        os.dup2(nothing.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def full_path(value: Any) -> Any:
    """A path as the whole path, which every node must find; what is no path of a file, such as a name, stays."""
    if isinstance(value, Path) or (isinstance(value, str) and Path(value).suffix and os.path.exists(value)):
        return type(value)(os.path.abspath(value))
    return value


def with_full_paths(options: Options) -> Options:
    """Options of any kind, a dataclass, with all paths of files as whole paths: workers start in other directories."""
    values = {field.name: full_path(getattr(options, field.name)) for field in dataclasses.fields(options)}
    return dataclasses.replace(options, **values)


def _reason(error: Exception) -> str:
    """What happened, on one line: Ray's first line and, of a traceback, the last."""
    lines = [line.strip() for line in _COLOUR.sub("", str(error)).splitlines() if line.strip()] or [repr(error)]
    return lines[0] if len(lines) == 1 else f"{lines[0]} {lines[-1]}"
