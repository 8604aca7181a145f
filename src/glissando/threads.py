"""Work on all cores: compiled code and onnxruntime run outside Python's lock, so threads suffice."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

CORES = os.cpu_count() or 1

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_on_cores(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Apply a function to every item, on as many threads as there are cores; it must not call this again."""
    return list(_pool().map(function, items))


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(CORES, thread_name_prefix="glissando")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a forked process has the pool but not its threads
