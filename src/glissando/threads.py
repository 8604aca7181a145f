"""Work on all cores: compiled code and onnxruntime run outside Python's lock, so threads suffice."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

_cores = os.cpu_count() or 1

Item = TypeVar("Item")
Result = TypeVar("Result")


def cores() -> int:
    """The cores that this process works on: all of the machine's, unless ``use_cores`` said otherwise."""
    return _cores


def use_cores(number: int) -> None:
    """Work on this many cores from now on: a process that shares the machine with others like it takes its part."""
    global _cores
    _cores = number
    _pool.cache_clear()


def map_on_cores(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Apply a function to every item, on as many threads as there are cores; it must not call this again."""
    return list(map(function, items) if _cores == 1 else _pool().map(function, items))


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_cores, thread_name_prefix="glissando")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a forked process has the pool but not its threads
