"""A folder of results with one file for each block: whole or not there. A second start leaves out what is there."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from glissando.cluster.stream import block_name
from glissando.corpus.sources import file_names, file_size, is_address, join, read_file, shown, source_name, write_file
from glissando.errors import ClusterError

JOB = "job.json"
_NAME = re.compile(r"part-(\d+)-(\d+)\.")


@dataclass(frozen=True)
class Parts:
    """A folder of results on storage that all nodes of the cluster share.

    Attributes:
        folder: a directory, or an address of object storage.
        ending: of the files: "jsonl", "parquet", "json" or "npz".
    """

    folder: str
    ending: str

    def __post_init__(self) -> None:
        if not is_address(self.folder):  # workers start in other directories
            object.__setattr__(self, "folder", os.path.abspath(self.folder))

    def begin(self, job: Mapping[str, Any]) -> dict[int, set[int]]:
        """Begin a job in the folder, or go on with it.

        Args:
            job: all that the results depend on; another job may not use the same folder.

        Returns:
            By number of file, the blocks that have their results.
        """
        mine = json.loads(json.dumps(job, default=str))
        names = file_names(self.folder)
        if JOB in names:
            theirs = self._job()
            differ = sorted(name for name in mine.keys() | theirs.keys() if mine.get(name) != theirs.get(name))
            if differ:
                raise ClusterError(
                    f"{shown(self.folder)} holds results of another job: its {', '.join(differ)} differ; choose "
                    "another folder"
                )
        elif names:
            raise ClusterError(f"{shown(self.folder)} is not empty and holds no job; choose another folder")
        else:
            write_file(join(self.folder, JOB), json.dumps(mine, indent=1, ensure_ascii=False).encode())
        done: dict[int, set[int]] = defaultdict(set)
        for name in names:
            if (found := _NAME.match(name)) and name.endswith(f".{self.ending}"):
                done[int(found[1])].add(int(found[2]))
        return done

    def write(self, file: int, block: int, data: bytes) -> None:
        """Write the results of a block, whole or not at all."""
        write_file(self.place(file, block), data)

    def read(self, file: int, block: int) -> bytes:
        """Read the results of a block."""
        return read_file(self.place(file, block))

    def place(self, file: int, block: int) -> str:
        """Where the results of a block are."""
        return join(self.folder, self._name(file, block))

    def check(self, blocks: Iterable[tuple[int, int]]) -> None:
        """Make sure that every block, given by file and number, has its results here."""
        names = file_names(self.folder)
        missing = [one for one in blocks if self._name(*one) not in names]
        if missing:
            raise ClusterError(
                f"{len(missing):,} results are not in {shown(self.folder)}, {self._name(*missing[0])} for one; it must "
                "be on storage that all nodes of the cluster share"
            )

    def _name(self, file: int, block: int) -> str:
        return f"part-{block_name(file, block)}.{self.ending}"

    def _job(self) -> dict[str, Any]:
        """What the folder says of its job."""
        try:
            found = json.loads(read_file(join(self.folder, JOB)))
        except ValueError as error:
            raise ClusterError(f"{JOB} in {shown(self.folder)} is damaged: {error}") from None
        if not isinstance(found, dict):
            raise ClusterError(f"{JOB} in {shown(self.folder)} is damaged: it holds no object")
        return found


def describe_files(files: Collection[str]) -> list[list[Any]]:
    """Name and size of every file, which a second start must find unchanged."""
    return [[source_name(file), file_size(file)] for file in files]
