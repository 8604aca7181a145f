"""GlissandoError and one subclass per thing a caller can fix.

The command line turns a ``GlissandoError`` into one line and exit code 1, the
web into a 4xx with JSON. Anything else that escapes is a bug.
"""


class GlissandoError(Exception):
    """Something a caller can fix; its message names the thing, what it got and what it needs."""


class GestureError(GlissandoError):
    """The points of a swipe cannot be read (NaN, time running backwards, no point at all)."""


class LayoutError(GlissandoError):
    """A layout is unknown, unreadable or not a keyboard."""


class LexiconError(GlissandoError):
    """A word list is unknown, unreadable or has no word the layout can type."""


class VocabularyError(GlissandoError):
    """A person's own words cannot be read, or a string to learn is not a word."""


class HabitsError(GlissandoError):
    """What was learned of a person's swipes cannot be read, or a swipe to learn from is unusable."""


class WeightsError(GlissandoError):
    """A model file is missing, damaged or does not fit."""


class ScoringError(GlissandoError):
    """Scoring constants are unknown or unreadable."""


class ContextError(GlissandoError):
    """Counts of word sequences are unknown, unreadable or damaged."""


class FileError(GlissandoError):
    """A file cannot be written; the message names it and the reason."""


class BundleError(GlissandoError):
    """An exported bundle is missing, damaged or of another version, or its directory holds something else."""


class KitError(GlissandoError):
    """What the page decodes with cannot be found, made or fetched."""


class CorpusError(GlissandoError):
    """A corpus file cannot be read; the message names file and line."""


class StorageError(GlissandoError):
    """The storage of a tuning's study cannot be reached or read."""


class ClusterError(GlissandoError):
    """A Ray cluster cannot be reached or failed, or a folder of results belongs to another job."""


class TrainingError(GlissandoError):
    """A training run cannot start or go on (bad config, NaN, a checkpoint of another model)."""


class DesignError(GlissandoError):
    """A search for layouts cannot start or go on (bad setting, a checkpoint of another search)."""


class MissingExtraError(GlissandoError):
    """An optional dependency is not installed; the message says which extra brings it."""
