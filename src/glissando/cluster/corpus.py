"""Describe and pack a corpus on a cluster: what comes out is what one machine makes of it."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from glissando.cluster.connection import with_full_paths
from glissando.cluster.ledger import Watch
from glissando.cluster.parts import Parts, describe_files
from glissando.cluster.progress import Meter
from glissando.cluster.stream import Run, Task, Work, run_blocks
from glissando.corpus.filters import Validity, keep_valid, with_distances
from glissando.corpus.layouts import LayoutShelf
from glissando.corpus.lines import make_rows
from glissando.corpus.pack import PackedRows, Packer, PackOptions, PackReport, check_free, write_pack
from glissando.corpus.readers import swipe_maker
from glissando.corpus.records import Swipe
from glissando.corpus.stats import CorpusStats, Tally


@dataclass(frozen=True)
class Reading:
    """How the rows of some files become swipes.

    Attributes:
        formats: the format of each file, in order.
        grids: for Yandex, the file of key grids.
        layouts: a directory of layouts.
        measure: measure the key distances that rows lack.
        validity: bounds of the report's filters, None where they are off.
        max_key_distance: leave out swipes further from their word's keys, in key widths.
    """

    formats: tuple[str, ...]
    grids: Path | None = None
    layouts: Path | None = None
    measure: bool = False
    validity: Validity | None = None
    max_key_distance: float | None = None

    def check(self) -> None:
        """Refuse formats that have no row for each swipe, before any work begins."""
        for format in set(self.formats):
            swipe_maker(format, grids=self.grids)

    def swipes(self, task: Task, shelf: LayoutShelf, dropped: Counter[str]) -> Iterator[Swipe]:
        """The swipes of a block that pass the filters; what is left out is counted."""
        block, make = task.content, swipe_maker(self.formats[task.file], grids=self.grids)
        swipes: Iterator[Swipe] = make_rows(block.objects(), block.file, make, dropped)
        if self.measure:
            swipes = iter(with_distances(swipes, shelf))
        limits: dict[str, Any] = {"validity": self.validity, "max_key_distance": self.max_key_distance}
        return keep_valid(swipes, dropped, shelf, **limits)


@dataclass(frozen=True)
class _StatsJob:
    """Count the swipes of a block."""

    reading: Reading

    def start(self) -> Work:
        """Find the layouts."""
        shelf = LayoutShelf(self.reading.layouts)

        def work(task: Task, watch: Watch) -> Tally:
            tally = Tally()
            for swipe in self.reading.swipes(task, shelf, tally.dropped):
                tally.count(swipe)
            return tally

        return work


def count_files(run: Run, reading: Reading) -> CorpusStats:
    """Describe the swipes of some files, as ``corpus.stats.corpus_stats`` does."""
    reading.check()
    reading = with_full_paths(reading)
    whole, meter = Tally(), Meter("counting", run.files, run.show)
    for answer in run_blocks(run, _StatsJob(reading)):
        whole.add(answer.result)
        meter.count(answer.file, answer.share, answer.result.layouts.total())
    return whole.stats()


@dataclass(frozen=True)
class _PackJob:
    """Pack the swipes of a block."""

    reading: Reading
    options: PackOptions
    parts: Parts

    def start(self) -> Work:
        """Find the layouts."""
        shelf = LayoutShelf(self.reading.layouts)
        packer = Packer(shelf, self.options)

        def work(task: Task, watch: Watch) -> int:
            dropped: Counter[str] = Counter()
            rows = packer.pack(list(self.reading.swipes(task, shelf, dropped)))
            dropped.update(rows.dropped)
            self.parts.write(task.file, task.number, replace(rows, dropped=dict(dropped)).to_bytes())
            return len(rows.paths)

        return work


def pack_files(run: Run, reading: Reading, output: Path, options: PackOptions) -> PackReport:
    """Pack the swipes of some files, as ``corpus.pack.pack`` does, to the same bytes.

    What each block gave is kept beside the output until the pack is whole, so a second start goes on from there.

    Args:
        run: where and what.
        reading: how rows become swipes.
        output: a directory or an .npz, on storage that all nodes share.
        options: how to pack.
    """
    reading.check()
    reading = with_full_paths(reading)
    check_free(output, options.overwrite)
    parts = Parts(str(output.absolute()) + ".parts", "npz")
    done = parts.begin({
        "job": "pack", "files": describe_files(run.files), "rows": run.rows, "reading": asdict(reading),
        "options": asdict(options),
    })  # fmt: skip
    meter = Meter("packing", run.files, run.show)
    blocks = {(file, block) for file, some in done.items() for block in some}
    for answer in run_blocks(run, _PackJob(reading, options, parts), done):
        meter.count(answer.file, answer.share, answer.result)
        blocks.add((answer.file, answer.number))
    parts.check(blocks)
    packed = (PackedRows.from_bytes(parts.read(*block)) for block in sorted(blocks))
    report = write_pack(packed, output, LayoutShelf(reading.layouts), options)
    shutil.rmtree(parts.folder)
    return report
