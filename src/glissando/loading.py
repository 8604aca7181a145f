"""Making a keyboard: the only place that binds layout, words, networks, constants and a person together."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from glissando.context import Predictor
from glissando.errors import WeightsError
from glissando.habits import Habits
from glissando.keyboard import METHODS, Keyboard, Method
from glissando.languages import Languages, load_contexts
from glissando.layout import Layout, load_layout
from glissando.lexicon import Lexicon, load_lexicon
from glissando.runtime import DecoderRuntime, EncoderRuntime, MatcherRuntime
from glissando.scoring import Scoring, load_scoring
from glissando.vocabulary import Vocabulary
from glissando.weights import load_weights


def load(
    layout: str | Path | Layout = "qwerty",
    language: str | Sequence[str] | None = None,
    *,
    lexicon: str | Path | Mapping[str, float] | Lexicon | None = None,
    scoring: str | Path | Mapping[str, Any] | Scoring = "auto",
    weights: str | Path | EncoderRuntime = "encoder",
    decoder: str | Path | DecoderRuntime = "decoder",
    matcher: str | Path | MatcherRuntime = "matcher",
    method: Method = "auto",
    context: str | Path | Predictor | None = "auto",
    vocabulary: Vocabulary | None = None,
    habits: Habits | None = None,
    width: int = 100,
    threads: int = 1,
) -> Keyboard:
    """Make a keyboard.

    Args:
        layout: a built-in name, a JSON file, or a Layout.
        language: a language code; by default the layout's own. Several are ("de", "en") or "de,en", the main one first.
        lexicon: a word list instead of the language's: a file, a mapping of counts, or a Lexicon.
        scoring: "auto" (the constants packaged for language and method), a name, a file, or a Scoring.
        weights: a packaged encoder, an ``.onnx`` file, or an encoder that is loaded.
        decoder: a packaged decoder, an ``.onnx`` file, or a decoder that is loaded.
        matcher: a packaged matcher, an ``.onnx`` file, or a matcher that is loaded.
        method: what helps the encoder: "matcher", on any layout; "decoder", an error on layouts that it was not made
            for; "encoder", nothing; "auto", the matcher, unless the constants given know none.
            ``Keyboard.method`` says which.
        context: which words follow which: "auto" (those packaged for the language, where there are any), a packaged
            name, a ``.context`` file, a Context, or None.
        vocabulary: the person's own words, for example from ``Vocabulary.load``; by default none yet.
        habits: what is known of how the person swipes; by default nothing yet.
        width: hypotheses the beam keeps.
        threads: threads of the networks.

    >>> import glissando
    >>> keyboard = glissando.load("qwerty", language="en")  # doctest: +SKIP
    """
    if method not in METHODS:
        raise WeightsError(f"no method {method!r}; choose one of {', '.join(METHODS)}")
    layout = load_layout(layout)
    if language is not None and not isinstance(language, str):
        language = ",".join(language)
    lexicon = load_lexicon(lexicon if lexicon is not None else language or layout.language or "en")
    if language and language != lexicon.language and len(lexicon.languages) == 1:
        lexicon = dataclasses.replace(lexicon, language=language, languages=(language,))
    encoder = weights if isinstance(weights, EncoderRuntime) else EncoderRuntime(load_weights(weights), threads=threads)
    asked = "matcher" if method == "auto" else method
    constants = load_scoring(scoring, lexicon.language, asked)
    if constants.matched is None and method == "matcher":
        raise WeightsError(
            "these constants know no matcher: they lack 'matched'; see `glissando tune --method matcher`"
        )
    parts: dict[str, Any] = {"vocabulary": vocabulary, "habits": habits}
    if asked == "decoder":
        loaded = isinstance(decoder, DecoderRuntime)
        parts["decoder"] = decoder if loaded else DecoderRuntime(load_weights(decoder), threads=threads)  # type: ignore[arg-type]
    elif asked == "matcher" and constants.matched is not None:
        loaded = isinstance(matcher, MatcherRuntime)
        parts["matcher"] = matcher if loaded else MatcherRuntime(load_weights(matcher), threads=threads)  # type: ignore[arg-type]
    parts = {name: part for name, part in parts.items() if part is not None}
    context = load_contexts(Languages(lexicon), context)
    return Keyboard(layout, lexicon, encoder, constants, width, context=context, **parts)
