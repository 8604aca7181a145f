"""glissando: a finger's path across any keyboard, and the word it says."""

__version__ = "0.1.0"
