"""Which decoder a keyboard can use: one that knows its keys, its encoder and its language."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np

from glissando.errors import WeightsError
from glissando.layout import Layout
from glissando.runtime import DecoderRuntime, EncoderRuntime
from glissando.weights import load_weights, packaged_weights

Method = Literal["encoder", "decoder"]
METHODS: tuple[Method, ...] = ("encoder", "decoder")

# How far a key may lie from where the decoder knows it, as a fraction of the letter area along either side.
SAME_KEY = 0.1


def match_keys(layout: Layout, known: Layout) -> np.ndarray:
    """Where a decoder's keys are on another layout, if the two are the same keyboard.

    They are where they have the same letters, one key each, at most ``SAME_KEY`` apart in x and in y. Coordinates are
    fractions of the letter area, so its size and shape do not matter.

    Args:
        layout: the layout with K keys.
        known: the decoder's.

    Returns:
        [K] for every key of ``known`` the index of that key on ``layout``; empty where they are not the same.
    """
    if len(layout.keys) != len(known.keys) or set(layout.letters) != set(known.letters):
        return np.empty(0, dtype=np.int64)
    # As many keys as letters on either, or the gap below compares a letter's first key alone.
    if len(set(known.letters)) != len(known.letters):
        return np.empty(0, dtype=np.int64)
    places = np.array([layout.keys_of[letter][0] for letter in known.letters])
    gaps = np.abs(layout.centres[places] - known.centres)
    return places if gaps.max() <= SAME_KEY + 1e-6 else np.empty(0, dtype=np.int64)


def choose_decoder(
    layout: Layout,
    language: str,
    encoder: EncoderRuntime,
    method: Method | None = None,
    decoder: str | Path | DecoderRuntime = "decoder",
    threads: int = 1,
) -> DecoderRuntime | None:
    """The decoder for a keyboard, or None where the encoder shall decode alone.

    Args:
        layout: the keyboard's layout.
        language: the language of its words, "" where it is not known.
        encoder: the encoder whose emissions it would correct.
        method: "encoder" wants none, "decoder" wants one whatever the language and fails where it does not fit; None
            takes one where it fits the layout, the encoder and the language it was trained on.
        decoder: a packaged decoder, an ``.onnx`` file, or one that is loaded.
        threads: threads of one that is not.
    """
    if method not in (None, *METHODS):
        raise WeightsError(f"no method {method!r}; a keyboard has {', '.join(METHODS)}")
    missing = decoder == "decoder" and "decoder" not in packaged_weights()
    if method == "encoder" or (missing and method is None):
        return None
    if missing:
        raise WeightsError(f"no decoder for layout {layout.name!r}: none is packaged; use method 'encoder'")
    found = decoder if isinstance(decoder, DecoderRuntime) else DecoderRuntime(load_weights(decoder), threads=threads)
    if method == "decoder":
        return found
    spoken = not language or not found.language or language == found.language
    return found if spoken and not misfit(found, layout, encoder) else None


def misfit(decoder: DecoderRuntime, layout: Layout, encoder: EncoderRuntime) -> str:
    """Why a decoder cannot correct an encoder's emissions on a layout; empty where it can."""
    if not len(match_keys(layout, decoder.layout)):
        return f"the decoder belongs to the letters of layout {decoder.layout.name!r} at their places"
    if decoder.encoder not in (None, encoder.weights.card.get("sha256")):
        return f"the decoder belongs to the encoder {decoder.encoder[:12]}..., not to {encoder.weights.name}"
    if decoder.frames != encoder.frames:
        return f"the decoder takes {decoder.frames} frames, the encoder gives {encoder.frames}"
    return ""


def check_fit(decoder: DecoderRuntime, layout: Layout, encoder: EncoderRuntime) -> None:
    """Refuse a decoder that does not fit."""
    why = misfit(decoder, layout, encoder)
    if why:
        raise WeightsError(f"no decoder for layout {layout.name!r}: {why}; use method 'encoder'")
