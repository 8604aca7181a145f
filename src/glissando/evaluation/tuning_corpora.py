"""The corpora of a tuning: named, read, grouped by layout, and told apart."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from glissando.corpus.layouts import LayoutShelf
from glissando.corpus.records import Swipe
from glissando.errors import CorpusError
from glissando.evaluation.evaluate import AnyKeyboard, EvaluationOptions, make_decoder, read_targets, with_aspect
from glissando.keyboard import Keyboard

Groups = list[tuple[AnyKeyboard, list[Swipe]]]  # of one corpus, one per layout


@dataclass(frozen=True)
class Corpus:
    """A corpus as named on the command line: a file, and a lexicon of its own where one is given.

    Attributes:
        path: JSON lines in our schema.
        lexicon: a word list file or a language code.
    """

    path: Path
    lexicon: str | None = None

    @classmethod
    def parse(cls, argument: str) -> Corpus:
        """Read ``FILE`` or ``FILE=LEXICON``; a file whose own name has the sign is taken as it is."""
        file, sign, lexicon = argument.rpartition("=")
        if not sign or Path(argument).exists():
            return cls(Path(argument))
        if not file or not lexicon:
            raise CorpusError(f"a corpus is FILE or FILE=LEXICON, got {argument!r}")
        return cls(Path(file), lexicon)


def read_corpus(corpus: Corpus, shelf: LayoutShelf, evaluation: EvaluationOptions) -> Groups:
    """The usable swipes of a corpus by layout, each with its decoder."""
    options = replace(evaluation, lexicon=corpus.lexicon, language=None) if corpus.lexicon else evaluation
    by_layout: dict[str, list[Swipe]] = defaultdict(list)
    for swipe in read_targets(corpus.path, shelf, options):
        by_layout[swipe.layout].append(swipe)
    if not by_layout:
        raise CorpusError(f"{corpus.path} has no usable swipe: it is empty or every swipe was filtered out")
    return [
        (make_decoder(with_aspect(shelf[name], swipes), [swipe.word for swipe in swipes], options)[0], swipes)
        for name, swipes in by_layout.items()
    ]


def identify(corpora: Sequence[Corpus], groups: Sequence[Groups], evaluation: EvaluationOptions) -> dict[str, Any]:
    """Everything that two workers must have in common before they may share a study."""
    described = []
    for corpus, parts in zip(corpora, groups, strict=True):
        digest = hashlib.sha256()
        for decoder, swipes in parts:
            digest.update(decoder.lexicon.frequencies.tobytes())
            digest.update("\n".join(decoder.lexicon.words).encode())
            digest.update(json.dumps(decoder.layout.to_dict(), sort_keys=True).encode())
            for swipe in swipes:
                digest.update(swipe.word.encode())
                digest.update(np.concatenate([swipe.gesture.x, swipe.gesture.y, swipe.gesture.t]).tobytes())
        lexicons = sorted({decoder.lexicon.name for decoder, _ in parts})
        count = sum(len(swipes) for _, swipes in parts)
        described.append(
            {
                "file": corpus.path.name,
                "lexicon": ", ".join(lexicons),
                "swipes": count,
                "sha256": digest.hexdigest()[:16],
            }
        )
    first = groups[0][0][0]
    weights = first.encoder.weights.card["sha256"][:16] if isinstance(first, Keyboard) else None
    if isinstance(first, Keyboard) and first.decoder is not None:
        weights = f"{weights}+{first.decoder.weights.card['sha256'][:16]}"
    return {"corpora": described, "weights": weights, "beam": evaluation.beam, "method": evaluation.method}
