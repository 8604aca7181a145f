"""The numbers of the decode path that are in no graph and in no table, for ports: a bundle and a kit hold them."""

from __future__ import annotations

from typing import Any

from glissando import beam, context, draft, geometry, gesture, habits, languages, literal, sentence, vocabulary
from glissando.dictionary import OWN_WIDTH
from glissando.keyboard import MATCHED, PLAIN, Keyboard
from glissando.lexicon import MAX_WORD, TYPED_AS
from glissando.runtime import LONGEST


def decode_constants(width: int = Keyboard.width) -> dict[str, Any]:
    """What one keyboard decodes with, but for its scoring; ``width`` is how many hypotheses the beam keeps."""
    return {
        "path": {"points": gesture.PATH_POINTS, "rate_hz": round(1000 / gesture.FRAME_MS)},
        "search": {"width": width, "sure_blank": beam.SURE_BLANK},
        "geometry": {
            "points": geometry.POINTS,
            "row_height": geometry.ROW_HEIGHT,
            "touch_bias": geometry.TOUCH_BIAS,
            **geometry.WALK._asdict(),
            "max_speed": float(geometry.MAX_SPEED),
        },
        "matcher": {"finalists": MATCHED, "longest": LONGEST},
        "context": {
            "step": context.STEP,
            "trust": context.TRUST,
            "min_trust": context.MIN_TRUST,
            "max_trust": context.MAX_TRUST,
            "tail": context.TAIL,
        },
        "literals": {
            "strings": literal.LITERALS,
            "longest": LONGEST,
            "plain": PLAIN,
            "width": literal.WIDTH,
            "restricted_width": literal.RESTRICTED_WIDTH,
            "fluency": literal.FLUENCY,
            "letter": literal.LETTER,
            "unlikely": literal.UNLIKELY,
            "step": literal.STEP,
        },
        "vocabulary": {
            "width": OWN_WIDTH,
            "words": vocabulary.MAX_WORDS,
            "longest": MAX_WORD,
            "first": vocabulary.FIRST,
            "decade": vocabulary.DECADE,
            "highest": vocabulary.HIGHEST,
            "half_life": vocabulary.HALF_LIFE,
            "max_count": vocabulary.MAX_COUNT,
        },
        "typed_as": TYPED_AS,
    }


def page_constants() -> dict[str, Any]:
    """What a program needs beyond that to build keyboards of any languages, write sentences and follow its person."""
    return {
        **decode_constants(),
        "fluency": {
            "order": literal.LONGEST_GRAM,
            "max_grams": literal.MAX_GRAMS,
            "step": literal.STEP,
            "frequency": literal.FREQUENCY,
        },
        "languages": {
            "decade": languages.DECADE,
            "tail": languages.TAIL,
            "memory": languages.MEMORY,
            "switch": languages.SWITCH,
            "main": languages.MAIN,
            "lacking": languages.LACKING,
            "typed": languages.TYPED,
        },
        "sentence": {
            "words": sentence.WORDS,
            "sequences": sentence.SEQUENCES,
            "margin": sentence.MARGIN,
            "window": draft.WINDOW,
        },
        "habits": {
            "memory": habits.MEMORY,
            "finalists": habits.FINALISTS,
            "penalty": habits.PENALTY,
            "stiffness": habits.STIFFNESS,
            "lowest": habits.LOWEST,
            "highest": habits.HIGHEST,
            "every": habits.EVERY,
            "limit": habits.LIMIT,
        },
    }
