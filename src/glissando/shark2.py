"""SHARK2 template matching (Kristensson and Zhai 2004, section 3): the baseline that needs no training.

Every word has a template, the polyline through the keys of its typed letters. A swipe is compared with the
templates that begin and end near its own ends (endpoint pruning), in two channels:

- shape: both curves at equidistant points, moved to their centroid and scaled by the longer side of their
  bounding box, compared point by point (proportional matching);
- location: the swipe is walked along the template. Inside a tunnel around the template a point costs nothing,
  outside it its distance; every letter costs how far the swipe passes by it; and the two ends, which alpha
  favours in the original, have weights of their own.

A frequency prior completes the score. The walk is where this departs from the original, which pairs points of
equal index in the location channel too: here the order of the letters counts, not their exact share of the
length, so the walk can also ask whether a stretch is swiped in its direction and whether the finger slows at a
letter. Each is a constant, and zero turns it off.

Distances are in key widths, and a key height counts ``row_height`` of them whatever the layout's aspect: fingers
miss by a share of the key they aim at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from glissando.errors import LexiconError, ScoringError
from glissando.geometry import POINTS, ROW_HEIGHT, TOUCH_BIAS, WALK, Ruler, WalkCosts
from glissando.gesture import Points, as_gesture
from glissando.layout import Layout
from glissando.lexicon import Lexicon
from glissando.scoring import Candidate, Scoring, check_numbers, read_constants, read_numbers, softmax
from glissando.templates import MatchWeights, Templates, cost_tables, match_locations, match_shapes, template_shapes
from glissando.threads import map_on_cores


@dataclass(frozen=True)
class Shark2Constants:
    """Radii and weights, lengths in key widths.

    Chosen on swipes of the How We Swipe training people with Android's English list and the targets added: first
    the weights, as the conditional logit that best predicts the target among the survivors, then all of them
    together by an Optuna search of that likelihood and top-1, rounded. Which terms to keep was decided on these and
    on the validation people: each adds a quarter of a point of top-1 or more, most of them a point.
    """

    points: int = POINTS  # equidistant points of swipe and template
    shortlist: int = 400  # survivors whose location is computed: those with the best bound
    start_radius: float = 1.6  # endpoint pruning (theta): how far from the touch-down a template may begin
    end_radius: float = 2.3  # and from the lift-off end; fingers overshoot
    row_height: float = ROW_HEIGHT  # the length of a key height
    touch_bias: float = TOUCH_BIAS  # key heights by which fingers land below the centre
    tunnel: float = WALK.tunnel  # half width of the tunnel around a template
    stray: float = WALK.stray  # location distance of a key width outside the tunnel; a letter missed by one costs 1
    turn: float = WALK.turn  # location distance of swiping at right angles to the template
    haste: float = WALK.haste  # location distance of passing a letter at the swipe's mean speed
    shape_weight: float = 9.0
    location_weight: float = 11.7
    start_weight: float = 4.0
    end_weight: float = 0.9
    frequency_weight: float = 0.0545  # per unit of the 0-255 byte
    frequency_floor: float = 60.0  # rarer words count as this frequent; lower bytes tell little

    def __post_init__(self) -> None:
        check_numbers(self, "shark2")
        for name in ("points", "shortlist"):
            if not isinstance(getattr(self, name), int) or getattr(self, name) < 2:
                raise ScoringError(f"SHARK2 constant {name} must be a whole number from 2, got {getattr(self, name)}")
        for name in ("start_radius", "end_radius", "row_height"):
            if getattr(self, name) <= 0:
                raise ScoringError(f"SHARK2 constant {name} must be positive, got {getattr(self, name)}")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], source: str = "constants") -> Shark2Constants:
        """Read constants; fields left out keep their defaults, unknown ones are an error."""
        return cls(**read_numbers(cls, data, "shark2", source))

    def to_dict(self) -> dict[str, float]:
        """The JSON form that ``from_dict`` reads."""
        return asdict(self)


def load_shark2(constants: str | Path | Mapping[str, Any] | Shark2Constants | Scoring = "auto") -> Shark2Constants:
    """Find SHARK2's constants: given as such, "auto" for the packaged ones, or a JSON file that tuning wrote."""
    if isinstance(constants, Shark2Constants):
        return constants
    if isinstance(constants, Scoring):
        raise ScoringError("a Scoring holds constants of the encoder; SHARK2 takes auto or a .json file")
    if isinstance(constants, Mapping):
        return Shark2Constants.from_dict(constants)
    if str(constants) == "auto":
        return Shark2Constants()
    if not (isinstance(constants, Path) or str(constants).endswith(".json")):
        raise ScoringError(f"no SHARK2 constants {constants!r}; SHARK2 takes auto or a .json file")
    return Shark2Constants.from_dict(read_constants(Path(constants)), str(constants))


@dataclass(frozen=True, eq=False)
class Matches:
    """The templates that may be meant by a swipe, and the terms of their score. m of them.

    Attributes:
        templates: [m] int64 indices into ``Shark2.spellings``.
        likelihoods: [m] float32, the log-likelihood of shape and ends.
        locations: [m] float32, the location distance, which the location weight multiplies.
    """

    templates: np.ndarray
    likelihoods: np.ndarray
    locations: np.ndarray


class Shark2:
    """Decodes swipes on one layout with one lexicon by matching templates.

    Words with the same typed letters share a template; doubled letters count once in it. Where a letter has several
    keys, the location takes the one nearest to the swipe, the shape the one nearest to the letter before.

    Attributes:
        method: "shark2".
        layout, lexicon, constants: what it was made of.
        spellings: the typed letters of every template.
        frequencies: [S] uint8, the byte of every template's likeliest word.
    """

    method = "shark2"

    def __init__(self, layout: Layout, lexicon: Lexicon, constants: Shark2Constants | None = None) -> None:
        self.layout = layout
        self.lexicon = lexicon
        self.constants = constants or Shark2Constants()
        self._weights = MatchWeights(*(float(getattr(self.constants, name)) for name in MatchWeights._fields))
        self._costs = WalkCosts(*(float(getattr(self.constants, name)) for name in WalkCosts._fields))
        self._ruler = Ruler.of(layout, self.constants.row_height, self.constants.touch_bias)
        self._forms = self._group_words()
        self.spellings = tuple(self._forms)
        self.frequencies = lexicon.frequencies[[words[0] for words in self._forms.values()]]
        self._templates = self._make_templates()

    def decode(self, points: Points, k: int = 5) -> list[Candidate]:
        """The ``k`` words a swipe most likely means, best first.

        A candidate's ``log_prob`` is the log-likelihood of shape, location and ends; its ``score`` adds the prior.

        Args:
            points: (x, y, t_ms) triples over the letter area, an [n, 3] array, or a Gesture.
            k: how many candidates at the most.
        """
        found = self.match(points)
        return self._rank(found.templates, found.likelihoods - self.constants.location_weight * found.locations, k)

    def match(self, points: Points) -> Matches:
        """The terms of the score for the templates that survive pruning, in no particular order."""
        gesture = as_gesture(points)
        path = self._ruler.trace(gesture.x, gesture.y, gesture.t, self.constants.points)
        visits, strays = cost_tables(path, self._templates.keys, self._templates.key_starts, self._costs)
        found, partial, bound = match_shapes(path, visits, self._templates, self._weights)
        if len(found) > self.constants.shortlist:
            best = np.argpartition(-bound, self.constants.shortlist)[: self.constants.shortlist]
            found, partial = found[best], partial[best]
        return Matches(found, partial, match_locations(found, visits, strays, self._templates))

    def decode_batch(self, gestures: Sequence[Points], k: int = 5) -> list[list[Candidate]]:
        """Decode many swipes on all cores."""
        return map_on_cores(lambda gesture: self.decode(gesture, k), gestures)

    def _group_words(self) -> dict[str, list[int]]:
        """Word indices by typed letters, each group's most frequent first, ordered by first and last letter."""
        alphabet = tuple(self.layout.keys_of)
        spelled = self.lexicon.spell(frozenset(alphabet))
        forms: dict[str, list[int]] = {}
        for index in np.argsort(-self.lexicon.frequencies.astype(np.int64), kind="stable").tolist():
            if spelled[index]:
                forms.setdefault(spelled[index], []).append(index)
        if not forms:
            raise LexiconError(
                f"lexicon {self.lexicon.name} has no word that layout {self.layout.name!r} can type; "
                f"its letters are {''.join(sorted(alphabet))}"
            )
        order = {letter: index for index, letter in enumerate(alphabet)}
        return dict(sorted(forms.items(), key=lambda form: (order[form[0][0]], order[form[0][-1]])))

    def _make_templates(self) -> Templates:
        """The arrays a swipe is matched against."""
        keys_of = self.layout.keys_of
        keys, key_starts = self._ruler.keys, self._ruler.key_starts
        letters, starts = _letter_numbers(self.spellings, tuple(keys_of))
        ends = letters[starts[:-1]].astype(np.int64) * len(keys_of) + letters[starts[1:] - 1]
        return Templates(
            keys=keys,
            key_starts=key_starts,
            letters=letters,
            starts=starts,
            groups=np.searchsorted(ends, np.arange(len(keys_of) ** 2 + 1)),
            shapes=template_shapes(letters, starts, keys, key_starts, self.constants.points),
            prior=self._prior(self.frequencies).astype(np.float32),
        )

    def _prior(self, frequencies: np.ndarray) -> np.ndarray:
        """The frequency term of the score. Shape: [...] bytes -> [...]."""
        return self.constants.frequency_weight * np.maximum(frequencies, self.constants.frequency_floor)

    def _rank(self, found: np.ndarray, log_prob: np.ndarray, k: int) -> list[Candidate]:
        """The best ``k`` of all words that some templates stand for. Shape: found, log_prob [m]."""
        spellings = [self.spellings[template] for template in found.tolist()]
        groups = [self._forms[spelling] for spelling in spellings]
        owner = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        words = np.array([word for group in groups for word in group])
        frequency = self.lexicon.frequencies[words]
        score = log_prob[owner] + self._prior(frequency)
        share = softmax(score)
        best = np.lexsort((-frequency.astype(np.int64), -score))[: max(k, 0)]  # below the floor the byte decides
        return [
            Candidate(
                self.lexicon.words[words[i]], float(score[i]), float(log_prob[owner[i]]), float(share[i]),
                spellings[owner[i]], int(frequency[i]),
            )
            for i in best
        ]  # fmt: skip


def _letter_numbers(spellings: Sequence[str], alphabet: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """The letters of all spellings as numbers, doubled ones once.

    Returns:
        letters, uint8, all spellings end to end; starts [S + 1], where each begins.
    """
    number = {letter: index for index, letter in enumerate(alphabet)}
    letters = np.array([number[letter] for letter in "".join(spellings)], dtype=np.uint8)
    starts = np.cumsum([0] + [len(spelling) for spelling in spellings])
    kept = np.diff(letters, prepend=letters[:1]) != 0
    kept[starts[:-1]] = True
    return letters[kept], np.concatenate([[0], np.cumsum(kept)])[starts]
