"""Ranking finished hypotheses by evidence, length and frequency (eq. 3), and the constants that weigh them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import Field, asdict, dataclass, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from glissando.errors import ScoringError


@dataclass(frozen=True)
class Candidate:
    """A word the swipe may mean.

    Attributes:
        word: the surface form, with its capitals, accents and apostrophes.
        score: what the ranking sorts by (eq. 3); comparable within one swipe.
        log_prob: the log-probability of the letters under the emissions, without frequency or length.
        probability: how likely it is the word meant, 0 to 1.
        letters: what of the word is typed on the layout.
        frequency: the word's frequency byte; 0 for a literal.
        literal: whether it was read letter by letter and is in no list.
        language: the language it is most likely in; "" where that is not known.
    """

    word: str
    score: float
    log_prob: float
    probability: float
    letters: str
    frequency: int
    literal: bool = False
    language: str = ""


class Candidates(list[Candidate]):
    """The words that a swipe may mean, best first."""

    @property
    def none(self) -> float:
        """The probability that none of them is right: what the words left out and the words never found share."""
        return max(0.0, 1.0 - sum(one.probability for one in self))


NEVER = -1e6  # a score that leaves no probability


@dataclass(frozen=True)
class Scoring:
    """The constants of the search and of the ranking.

    The beam search keeps prefixes by ``beam.Pruning``, whose constants here begin with "pruning". Words are ranked by

        log_prob / length^length_exponent + frequency_weight * max(byte, frequency_floor) + length_bonus * length
        - location_weight * location - shape_weight * shape
        + matcher_weight * match + context_weight * gain

    The first line is the report's (eq. 3) when the floor is 0. The distances in the second come from geometry.py, the
    gain in the third from context.py, where the words before the swipe are known.
    With a decoder, log_prob is (1 - decoder_share) of the encoder's plus decoder_share of the decoder's.
    A literal, read letter by letter, has no frequency; literal_bonus + fluency_weight * fluency is its term in place of
    that. Without a fluency_weight there are no literals.
    "None of them is meant" takes part in the softmax with a score of none_bonus + none_share * the best score.
    With a matcher, a swipe is in doubt where the best word is less likely than ``doubt``. Then the matcher compares the
    finalists, and they are ranked again by the constants in ``matched``, which know what its match is worth.
    """

    length_exponent: float = 0.105  # gamma; these five are the report's English tune
    frequency_weight: float = 0.050  # lambda_f, per unit of the 0-255 byte
    length_bonus: float = 2.488  # beta
    pruning_exponent: float = 0.186  # gamma_p
    pruning_bonus: float = 1.139  # beta_p
    frequency_floor: float = 0.0  # rarer words count as this frequent: low bytes tell little
    location_weight: float = 0.0  # per key width that the swipe strays from the word's keys
    shape_weight: float = 0.0  # per unit of shape distance
    decoder_share: float = 0.5  # weight of the decoder's log-probability against the encoder's
    temperature: float = 1.0  # divides the scores before the softmax of Candidate.probability
    pruning_frequency: float = 0.0  # lambda_p, per unit of the byte; 0 is the report's pruning
    pruning_floor: float = 0.0  # prefixes of rarer words count as this frequent: added words have the lowest bytes
    context_weight: float = 1.0  # per nat that the words before add; it does nothing where they are not known
    matcher_weight: float = 0.0  # per unit of the matcher's score
    literal_bonus: float = 0.0  # of a literal
    fluency_weight: float = 0.0  # per nat of a literal's fluency; 0 reads no literals
    none_bonus: float = NEVER  # of the chance that no word found is meant
    none_share: float = 0.0  # of the best score
    doubt: float = 0.9  # the matcher is asked where the best word is less likely than this
    matched: Scoring | None = None  # the constants where the matcher was asked; None for those without it

    def __post_init__(self) -> None:
        check_numbers(self, "scoring")
        for field in number_fields(self):  # an int would overflow a uint8 array
            object.__setattr__(self, field.name, float(getattr(self, field.name)))
        if self.pruning_frequency < 0:  # the search would prefer prefixes of rare words
            raise ScoringError(f"scoring constant pruning_frequency must not be negative, got {self.pruning_frequency}")
        if not 0 <= self.decoder_share <= 1:
            raise ScoringError(f"scoring constant decoder_share must lie in [0, 1], got {self.decoder_share}")
        if self.temperature <= 0:
            raise ScoringError(f"scoring constant temperature must be positive, got {self.temperature}")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], source: str = "scoring") -> Scoring:
        """Read constants; fields left out keep their defaults, unknown ones are an error."""
        values = read_numbers(cls, data, "scoring", source)
        if values.get("matched") is not None:
            values["matched"] = cls.from_dict(values["matched"], f"{source}, matched")
        return cls(**values)

    @property
    def geometric(self) -> bool:
        """Whether the ranking needs the distances of geometry.py."""
        again = self.matched is not None and self.matched.geometric
        return bool(self.location_weight or self.shape_weight) or again

    def changed(self, values: Mapping[str, float]) -> Scoring:
        """The constants with some of the numbers replaced."""
        return replace(self, **values)  # type: ignore[arg-type]

    def closed(self) -> Scoring:
        """The constants for a lexicon that has every word: no literals, and no chance that none is meant."""
        matched = None if self.matched is None else self.matched.closed()
        return replace(self, literal_bonus=0.0, fluency_weight=0.0, none_bonus=NEVER, none_share=0.0, matched=matched)

    def to_dict(self) -> dict[str, Any]:
        """The JSON form that ``from_dict`` reads."""
        return asdict(self)


def number_fields(constants: Any) -> list[Field[Any]]:
    """The fields of a dataclass of constants, all but ``matched``."""
    return [field for field in fields(constants) if field.name != "matched"]


def check_numbers(constants: Any, kind: str) -> None:
    """Refuse a dataclass of constants in which one is not a finite number."""
    for field in number_fields(constants):
        value = getattr(constants, field.name)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise ScoringError(f"{kind} constant {field.name} must be a finite number, got {value!r}")


def read_numbers(cls: Any, data: Any, kind: str, source: str) -> dict[str, Any]:
    """The fields of a dataclass of constants from JSON: an object, or one that holds it under the name ``kind``."""
    values = data.get(kind, data) if isinstance(data, Mapping) else None
    if not isinstance(values, Mapping):
        raise ScoringError(f"{source}: {kind} constants are a JSON object")
    others = [name for name in ("scoring", "shark2") if name != kind and name in values]
    if others:
        raise ScoringError(f"{source} holds {others[0]} constants, not {kind} constants; see `glissando tune --method`")
    known = {field.name for field in fields(cls)}
    if unknown := sorted(set(values) - known):
        raise ScoringError(f"{source}: no {kind} constant {unknown[0]!r}; known are {', '.join(sorted(known))}")
    return dict(values)


def packaged_scorings() -> tuple[str, ...]:
    """Names of the constants that come with the package: language codes and "general", alone or with a method."""
    folder = resources.files("glissando") / "assets" / "scoring"
    return tuple(sorted(entry.name.removesuffix(".json") for entry in folder.iterdir() if entry.name.endswith(".json")))


def load_scoring(
    scoring: str | Path | Mapping[str, Any] | Scoring = "auto", language: str = "", method: str = "encoder"
) -> Scoring:
    """Find constants: given as such, "auto", a packaged name, or a JSON file.

    "auto" takes those packaged for the lexicon's language and the method ("en-matcher"), else the method's general
    ones, else the language's, else the general ones.
    """
    if isinstance(scoring, Scoring):
        return scoring
    if isinstance(scoring, Mapping):
        return Scoring.from_dict(scoring)
    return Scoring.from_dict(*read_scoring(scoring, language, method))


def read_scoring(scoring: str | Path = "auto", language: str = "", method: str = "encoder") -> tuple[Any, str]:
    """The JSON behind a name or a file, with everything in it, and its name or path."""
    name = str(scoring)
    if name == "auto":
        wanted = (f"{language}-{method}", f"general-{method}", language, "general")
        name = next(name for name in wanted if name in packaged_scorings())
    if name in packaged_scorings():
        text = (resources.files("glissando") / "assets" / "scoring" / f"{name}.json").read_text(encoding="utf-8")
        return json.loads(text), name
    if not (isinstance(scoring, Path) or name.endswith(".json")):
        raise ScoringError(f"no scoring {name!r}; packaged are auto, {', '.join(packaged_scorings())}; or a .json file")
    return read_constants(Path(scoring)), name


def read_constants(path: Path) -> Any:
    """The JSON of a file of constants."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ScoringError(f"cannot read scoring {path}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise ScoringError(f"scoring {path} is not JSON: {error}") from None


def score_words(log_prob: Any, length: Any, frequency: Any, scoring: Any, distances: Any = None) -> Any:
    """Score any number of words (eq. 3 and two distances); all arguments are numpy arrays, or all torch tensors.

    Args:
        log_prob: [...] log-probability of each word's letters, minus the CTC cost.
        length: [...] letters typed.
        frequency: [...] frequency bytes; the byte is a logarithm already, so it enters as it is.
        scoring: a Scoring, or anything with the constants under the same names.
        distances: [..., 2] location and shape of each word, where the constants ask for them.

    Returns:
        [...] scores, higher is better.
    """
    score = (
        log_prob / length.clip(1) ** scoring.length_exponent
        + scoring.frequency_weight * frequency.clip(scoring.frequency_floor)
        + scoring.length_bonus * length
    )
    if distances is None:
        return score
    return score - scoring.location_weight * distances[..., 0] - scoring.shape_weight * distances[..., 1]


def literal_terms(fluency: np.ndarray, scoring: Scoring) -> np.ndarray:
    """What a literal's fluency adds to the score of a word of byte 0; nothing for words. Shape: [n] -> [n]."""
    never_counted = scoring.frequency_weight * max(scoring.frequency_floor, 0.0)
    added = scoring.literal_bonus + scoring.fluency_weight * fluency - never_counted
    return np.where(fluency < 0, added, 0.0)


def shares(scores: np.ndarray, scoring: Scoring) -> np.ndarray:
    """The probability of each word found, of which none may be the one meant. Shape: [n] -> [n], sum below one."""
    if not len(scores):
        return scores
    none = scoring.none_bonus + scoring.none_share * scores.max()
    return softmax(np.append(scores, none), scoring.temperature)[:-1]


def softmax(scores: Sequence[float] | np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """Scores to shares that sum to one. Shape: [n] -> [n]."""
    scaled = np.asarray(scores, dtype=np.float64) / temperature
    weights = np.exp(scaled - scaled.max()) if len(scaled) else scaled
    return weights / weights.sum() if len(scaled) else scaled
