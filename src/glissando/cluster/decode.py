"""Decode rows on a cluster: every row of the input has one row in the results, with its candidates or its error."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from glissando.cluster.connection import Cluster
from glissando.cluster.ledger import Watch
from glissando.cluster.parts import Parts, describe_files
from glissando.cluster.progress import Report
from glissando.cluster.stream import ROWS, Work, run_blocks
from glissando.corpus.blocks import Block
from glissando.corpus.sources import import_pyarrow, shown
from glissando.errors import CorpusError, GestureError, GlissandoError, LexiconError
from glissando.evaluation.evaluate import EvaluationOptions
from glissando.evaluation.rows import RowDecoder, RowOptions
from glissando.scoring import Candidate

FORMATS = ("jsonl", "parquet")
DEADLY = "two workers died on this row"
