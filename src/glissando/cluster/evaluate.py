"""Evaluate on a cluster: the same figures as on one machine, to the last digit.

One pass surveys the corpus, as words to add and the aspect of the letter areas depend on all of it. A second pass
decodes. Where a swipe is read by what the same person wrote before, the swipes are first sorted by person.
"""

from __future__ import annotations

import hashlib
import io
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

from glissando.cluster.connection import with_full_paths
from glissando.cluster.ledger import Watch
from glissando.cluster.parts import Parts, describe_files
from glissando.cluster.progress import Meter
from glissando.cluster.stream import Run, Task, Work, run_blocks, run_tasks
from glissando.corpus.blocks import Block
from glissando.corpus.layouts import LayoutShelf
from glissando.corpus.records import Swipe, swipe_from_dict, swipe_to_dict
from glissando.corpus.sources import import_pyarrow, join, open_arrow
from glissando.errors import CorpusError
from glissando.evaluation.evaluate import EvaluationOptions, decode_swipes, follows_people, surveyed_board, targets
from glissando.evaluation.result import Evaluation, Tallies
from glissando.evaluation.survey import Survey

BUCKET = 1024  # swipes of people who are decoded together; more where one person has more

Numbered = list[tuple[int, Swipe]]  # swipes with their places among those on the same layout
Offsets = dict[tuple[int, int], Counter[str]]  # by file and block: swipes before it on each layout


def evaluate_files(run: Run, options: EvaluationOptions, folder: str | None = None) -> Evaluation:
    """Decode every swipe of some files and measure the accuracy.

    Args:
        run: where and what.
        options: how to decode and what to count.
        folder: keep what every block gave here, on storage that all nodes share; a second start goes on from there.
    """
    options = with_full_paths(options)
    survey, offsets, layouts = _survey(run, options)
    survey.read_prompts(options.prompts)
    if follows_people(options):
        with _place(run, folder) as place:
            tallies = _judge_people(run, options, survey, offsets, place)
    else:
        tallies = _judge_blocks(run, options, survey, folder)
    return Tallies({name: tallies.layouts[name] for name in layouts}, tallies.kinds).evaluation()


@dataclass(frozen=True)
class _Limited:
    """Leaves out the blocks of a file after as many usable swipes as the options allow."""

    options: EvaluationOptions

    def __call__(self, blocks: Iterator[Block]) -> Iterator[Block]:
        """Yield the blocks, the last one cut."""
        left, shelf = self.options.limit or 0, LayoutShelf(self.options.layouts)
        for block in blocks:
            last = 0
            for number, data in block.objects():
                left -= any(True for _ in targets([(number, data)], block.file, shelf, self.options))
                last = number
                if not left:
                    break
            if last:
                yield block.until(last)
            if not left:
                return


@dataclass(frozen=True)
class _SurveyJob:
    """Survey the swipes of a block."""

    options: EvaluationOptions

    def start(self) -> Work:
        """Find the layouts."""
        shelf = LayoutShelf(self.options.layouts)

        def work(task: Task, watch: Watch) -> Survey:
            survey = Survey.of(targets(task.content.objects(), task.content.file, shelf, self.options))
            return survey if self.options.add_targets else replace(survey, words={})

        return work


def _survey(run: Run, options: EvaluationOptions) -> tuple[Survey, Offsets, list[str]]:
    """Survey a corpus; returns also where each block begins among all swipes, and the layouts as they first occur."""
    whole, meter = Survey(), Meter("surveying", run.files, run.show)
    counts: Offsets = {}
    for answer in run_blocks(run, _SurveyJob(options), cut=_cut(options)):
        whole.add(answer.result)
        counts[answer.file, answer.number] = answer.result.swipes
        meter.count(answer.file, answer.share, answer.result.swipes.total())
    if not whole.swipes:
        raise CorpusError("no swipe to evaluate: the files are empty or every swipe was filtered out")
    reached: Counter[str] = Counter()
    offsets: Offsets = {}
    for place in sorted(counts):
        offsets[place] = Counter(reached)
        reached.update(counts[place])  # a Counter keeps the order in which layouts first occur
    return whole, offsets, list(reached)


def _cut(options: EvaluationOptions) -> _Limited | None:
    return _Limited(options) if options.limit else None


class _Judge:
    """Decodes and counts swipes, with one keyboard for each layout."""

    def __init__(self, options: EvaluationOptions, survey: Survey) -> None:
        self.options, self.survey = options, survey
        self.shelf = LayoutShelf(options.layouts)
        self._boards: dict[str, Any] = {}

    def judge(self, swipes: Iterable[tuple[int, Swipe]]) -> Tallies:
        """Decode swipes, each with its place among those on its layout."""
        groups: dict[str, Numbered] = defaultdict(list)
        for number, swipe in swipes:
            groups[swipe.layout].append((number, swipe))
        tallies = Tallies()
        for name, group in groups.items():
            if name not in self._boards:
                self._boards[name] = surveyed_board(name, self.shelf, self.survey, self.options)
            numbers, some = [number for number, _ in group], [swipe for _, swipe in group]
            outcomes = decode_swipes(self._boards[name], some, self.options, numbers=numbers)
            tallies.count(name, some, outcomes, self.survey)
        return tallies


@dataclass(frozen=True)
class _JudgeJob:
    """Decode and count the swipes of a block, which do not depend on each other."""

    options: EvaluationOptions
    survey: Survey
    parts: Parts | None

    def start(self) -> Work:
        """Make what decodes."""
        judge = _Judge(self.options, self.survey)

        def work(task: Task, watch: Watch) -> Tallies:
            swipes = targets(task.content.objects(), task.content.file, judge.shelf, self.options)
            tallies = judge.judge(enumerate(swipes))
            _keep(self.parts, task, tallies)
            return tallies

        return work


def _judge_blocks(run: Run, options: EvaluationOptions, survey: Survey, folder: str | None) -> Tallies:
    """Decode block by block."""
    tallies, meter = Tallies(), Meter("decoding", run.files, run.show)
    parts = Parts(folder, "json") if folder else None
    done = parts.begin(_identity(run, options)) if parts else {}
    for file, blocks in done.items():
        for block in blocks:
            tallies.add(_kept(parts, file, block))
    for answer in run_blocks(run, _JudgeJob(options, survey, parts), done, _cut(options)):
        tallies.add(answer.result)
        meter.count(answer.file, answer.share, sum(tally.n for tally in answer.result.layouts.values()))
    return tallies


@dataclass(frozen=True)
class _SortJob:
    """Sort the swipes of a block by the bucket of their person."""

    options: EvaluationOptions
    offsets: Offsets
    buckets: int
    parts: Parts

    def start(self) -> Work:
        """Find the layouts."""
        shelf = LayoutShelf(self.options.layouts)

        def work(task: Task, watch: Watch) -> int:
            numbers, rows = Counter(self.offsets[task.file, task.number]), []
            for swipe in targets(task.content.objects(), task.content.file, shelf, self.options):
                rows.append((_bucket(swipe.session, self.buckets), numbers[swipe.layout], _exact(swipe)))
                numbers[swipe.layout] += 1
            self.parts.write(task.file, task.number, _sorted(rows))
            return len(rows)

        return work


@dataclass(frozen=True)
class _PeopleJob:
    """Decode and count the swipes of the people of a bucket, each person's in order."""

    options: EvaluationOptions
    survey: Survey
    sorted_: Parts
    blocks: Sequence[tuple[int, int]]
    parts: Parts

    def start(self) -> Work:
        """Make what decodes."""
        judge = _Judge(self.options, self.survey)

        def work(task: Task, watch: Watch) -> Tallies:
            swipes = [one for block in self.blocks for one in _of_bucket(self.sorted_.place(*block), task.number)]
            tallies = judge.judge(sorted(swipes, key=lambda one: one[0]))
            _keep(self.parts, task, tallies)
            return tallies

        return work


def _judge_people(run: Run, options: EvaluationOptions, survey: Survey, offsets: Offsets, folder: str) -> Tallies:
    """Sort the swipes by person, then decode bucket by bucket."""
    rows, people = Parts(join(folder, "swipes"), "parquet"), Parts(join(folder, "people"), "json")
    buckets = -(-survey.swipes.total() // BUCKET)
    job = {**_identity(run, options), "buckets": buckets}
    before, done = rows.begin(job), people.begin(job).get(0, set())
    meter = Meter("sorting", run.files, run.show)
    for answer in run_blocks(run, _SortJob(options, offsets, buckets, rows), before, _cut(options)):
        meter.count(answer.file, answer.share, answer.result)
    rows.check(offsets)
    tallies, meter = Tallies(), Meter("decoding", run.files[:1], run.show)
    for number in done:
        tallies.add(_kept(people, 0, number))
    tasks = [Task(0, number, None, (number + 1) / buckets) for number in range(buckets) if number not in done]
    for answer in run_tasks(run.cluster, _PeopleJob(options, survey, rows, sorted(offsets), people), tasks):
        tallies.add(answer.result)
        meter.count(0, answer.share, sum(tally.n for tally in answer.result.layouts.values()))
    return tallies


@contextmanager
def _place(run: Run, folder: str | None) -> Iterator[str]:
    """The folder, or one of our own where all workers are on this machine."""
    if folder:
        yield folder
        return
    if not run.cluster.own:
        raise CorpusError(
            "what is read of a swipe depends on the person's swipes before it, so they are sorted: give --parts "
            "FOLDER on storage that all nodes of the cluster share"
        )
    with tempfile.TemporaryDirectory() as temporary:
        yield temporary


def _identity(run: Run, options: EvaluationOptions) -> dict[str, Any]:
    """What kept results depend on."""
    return {"job": "evaluate", "files": describe_files(run.files), "rows": run.rows, "options": asdict(options)}


def _keep(parts: Parts | None, task: Task, tallies: Tallies) -> None:
    """Write the tallies of a task, where they are kept."""
    if parts is not None:
        parts.write(task.file, task.number, json.dumps(tallies.to_dict(), ensure_ascii=False).encode())


def _kept(parts: Parts | None, file: int, number: int) -> Tallies:
    """Tallies that an earlier start wrote."""
    assert parts is not None
    return Tallies.from_dict(json.loads(parts.read(file, number)))


def _bucket(session: str | None, buckets: int) -> int:
    """The bucket of a person: the same on every machine."""
    digest = hashlib.blake2b((session or "").encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % buckets


def _exact(swipe: Swipe) -> str:
    """A swipe as JSON in our format, with every digit of its points."""
    points = {axis: getattr(swipe.gesture, axis).tolist() for axis in ("x", "y", "t")}
    return json.dumps({**swipe_to_dict(swipe), **points}, ensure_ascii=False)


def _sorted(rows: Sequence[tuple[int, int, str]]) -> bytes:
    """Rows of (bucket, place, swipe) as Parquet, with a row group for each bucket, so that one can be read alone."""
    arrow = import_pyarrow("sorting swipes by person")
    from pyarrow import parquet

    schema = arrow.schema({"bucket": arrow.int64(), "place": arrow.int64(), "swipe": arrow.string()})
    groups: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
    for row in rows:
        groups[row[0]].append(row)
    sink = io.BytesIO()
    with parquet.ParquetWriter(sink, schema, compression="zstd") as file:
        for _, group in sorted(groups.items()):
            columns = dict(zip(schema.names, map(list, zip(*group, strict=True)), strict=True))
            file.write_table(arrow.Table.from_pydict(columns, schema))
    return sink.getvalue()


def _of_bucket(file: str, bucket: int) -> Numbered:
    """The swipes of one bucket in a file that ``_sorted`` made."""
    import_pyarrow("sorting swipes by person")
    from pyarrow import parquet

    with open_arrow(file) as stream:
        table = parquet.read_table(stream, filters=[("bucket", "=", bucket)], use_threads=False)
    rows = zip(table["place"].to_pylist(), table["swipe"].to_pylist(), strict=True)
    return [(place, swipe_from_dict(json.loads(swipe))) for place, swipe in rows]
