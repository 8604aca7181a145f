"""Fit the constants of search and score to swipes: the report's two stages, with Optuna.

Stage one finds the pruning constants that keep the most targets in the beam; stage two the scoring constants
that rank them best (tt1mm5), on the beams of stage one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from glissando.errors import CorpusError, MissingExtraError
from glissando.evaluation.stored import StoredBeams, store_beams, tt1mm5
from glissando.gesture import Gesture
from glissando.keyboard import Keyboard
from glissando.lexicon import typed_letters
from glissando.scoring import Scoring

# Wide enough that no optimum seen so far lies on an edge.
PRUNING_SPACE = {"pruning_exponent": (0.0, 1.0), "pruning_bonus": (0.0, 4.0)}
SCORING_SPACE = {"length_exponent": (-0.5, 1.2), "frequency_weight": (0.0, 0.15), "length_bonus": (-1.0, 6.0)}

MIN_SWIPES = 100  # fewer say little about five constants

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class TuningSet:
    """Swipes of one corpus, encoded once: a keyboard, its log-emissions and the letters meant.

    Attributes:
        keyboard: decodes them.
        log_probs: [n, T, L + 1] log-emissions over the layout's letters.
        targets: n strings of typed letters.
    """

    keyboard: Keyboard
    log_probs: np.ndarray
    targets: tuple[str, ...]

    @classmethod
    def encode(cls, keyboard: Keyboard, gestures: Sequence[Gesture], words: Sequence[str]) -> TuningSet:
        """Run the encoder over swipes whose words are known."""
        if len(gestures) < MIN_SWIPES:
            raise CorpusError(f"tuning needs at least {MIN_SWIPES} usable swipes, got {len(gestures)}")
        letters = frozenset(keyboard.layout.letters)
        typed = tuple("".join(typed_letters(word, letters)) for word in words)
        missing = sorted({target for target in typed if not _has_word(keyboard, target)})
        if missing:
            raise CorpusError(
                f"{len(missing)} of the words meant are not in lexicon {keyboard.lexicon.name} "
                f"({', '.join(missing[:3])}, ...): they cannot be ranked; --add-targets puts them in"
            )
        return cls(keyboard, keyboard.letter_log_probs(gestures), typed)

    def beams(self, scoring: Scoring) -> StoredBeams:
        """Search every swipe with these pruning constants."""
        keyboard = Keyboard(
            self.keyboard.layout, self.keyboard.lexicon, self.keyboard.encoder, scoring, self.keyboard.width
        )
        hypotheses = keyboard.hypotheses(self.log_probs)
        return store_beams(hypotheses, self.keyboard.trie, self.keyboard.lexicon.frequencies, self.targets)


def tune_pruning(
    sets: Sequence[TuningSet], scoring: Scoring, trials: int = 50, seed: int = 0, progress: Progress | None = None
) -> Scoring:
    """Stage one: the pruning constants with the highest recall, every corpus counting the same."""

    def recall(choice: dict[str, float]) -> float:
        return float(np.mean([part.beams(replace(scoring, **choice)).recall for part in sets]))

    start = {name: getattr(scoring, name) for name in PRUNING_SPACE}
    return replace(scoring, **_maximise(recall, PRUNING_SPACE, start, trials, seed, progress))


def tune_scoring(
    beams: Sequence[StoredBeams], scoring: Scoring, trials: int = 3000, seed: int = 0, progress: Progress | None = None
) -> Scoring:
    """Stage two: the scoring constants with the highest tt1mm5, every corpus counting the same."""

    def quality(choice: dict[str, float]) -> float:
        return float(np.mean([tt1mm5(part, replace(scoring, **choice))["tt1mm5"] for part in beams]))

    start = {name: getattr(scoring, name) for name in SCORING_SPACE}
    return replace(scoring, **_maximise(quality, SCORING_SPACE, start, trials, seed, progress))


def _maximise(
    objective: Callable[[dict[str, float]], float],
    space: dict[str, tuple[float, float]],
    start: dict[str, float],
    trials: int,
    seed: int,
    progress: Progress | None,
) -> dict[str, float]:
    """Search a box with a tree-structured Parzen estimator, beginning at ``start``."""
    try:
        import optuna
    except ImportError:
        raise MissingExtraError("tuning needs optuna: pip install 'glissando[train]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True, n_startup_trials=min(50, max(trials // 4, 1)))
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.enqueue_trial(start)

    def trial_value(trial: optuna.Trial) -> float:
        return objective({name: trial.suggest_float(name, *bounds) for name, bounds in space.items()})

    def report(study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
        if progress:
            progress(trial.number + 1, trials)

    study.optimize(trial_value, n_trials=trials, callbacks=[report])
    return dict(study.best_params)


def _has_word(keyboard: Keyboard, typed: str) -> bool:
    """Whether the keyboard's lexicon holds a word typed so."""
    node = keyboard.trie.find(typed)
    return node > 0 and bool(keyboard.trie.endings[node + 1] > keyboard.trie.endings[node])
