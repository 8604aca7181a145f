"""The shapes of the networks; the defaults of encoder, decoder and embedder are the report's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from glissando.errors import TrainingError
from glissando.model.settings import Config, setting

COUNT = "[1, inf)"
SHARE = "[0, 1)"


@dataclass(frozen=True)
class EncoderConfig(Config):
    """The shape of an encoder. 634,849 trainable parameters by default, whatever ``frames`` is.

    Attributes:
        points: points of the resampled path, T_in.
        frames: emission steps T: half of ``points`` (the report's adapter, stride 2) or all of them (stride 1).
        width: channels of the trunk.
        expansion: the 1x1 convolution inside a block widens the trunk by this factor; the gated linear unit halves it.
        kernel: taps of the stem and of the depthwise convolutions.
        dilations: one block for each.
        hidden: channels after the adapter, H.
        basis: how coefficients become a field: "cosine" (eq. 1) or "grid" (bilinear between N x N values).
        resolution: N; the head emits N * N coefficients.
        blank: "gate" (eq. 6) or "joint" (one softmax over keys and blank).
        dropout: share of a block's output that is dropped before the residual sum.
    """

    points: int = setting(64, COUNT)
    frames: int = setting(32, COUNT)
    width: int = setting(128, COUNT)
    expansion: int = setting(4, COUNT)
    kernel: int = setting(7, COUNT)
    dilations: tuple[int, ...] = setting((1, 2, 3, 5, 8), COUNT)
    hidden: int = setting(256, COUNT)
    basis: Literal["cosine", "grid"] = "cosine"
    resolution: int = setting(8, COUNT)
    blank: Literal["gate", "joint"] = "gate"
    dropout: float = setting(0.1, SHARE)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.points % 2 or self.frames not in (self.points // 2, self.points):
            raise TrainingError(
                f"frames must be half of an even number of points, or all of them; got {self.frames} of {self.points}"
            )
        if self.width % 4 or self.kernel % 2 == 0 or self.width * self.expansion % 2:
            raise TrainingError(
                f"width must be a multiple of 4 and kernel odd; got width {self.width}, kernel {self.kernel}"
            )


@dataclass(frozen=True)
class DecoderConfig(Config):
    """The shape of a decoder. 304,667 trainable parameters by default, for any number of frames.

    Attributes:
        keys: K, the letters of the layout it is bound to; it reads and writes K + 1 log-emissions.
        coefficients: N * N of the encoder it corrects.
        hidden: channels between the blocks, H_d.
        bottleneck: channels that the memory sees, P_d.
        context: frames the memory looks back, and ahead.
        blocks: number of blocks, N_L.
        dropout: share of a block's output that is dropped before the residual sum.
        floor: the network sees lower log-emissions as this one: the key is out of the question.
        skip_floor: the same for the log-emissions that are corrected. None leaves them as they are, so the untrained
            decoder is the identity; with a floor, the correction can rescue any letter.
    """

    keys: int = setting(26, COUNT)
    coefficients: int = setting(64, COUNT)
    hidden: int = setting(256, COUNT)
    bottleneck: int = setting(64, COUNT)
    context: int = setting(7, COUNT)
    blocks: int = setting(8, COUNT)
    dropout: float = setting(0.05, SHARE)
    floor: float = setting(-15.0, "(-inf, 0)")
    skip_floor: float | None = setting(None, "(-inf, 0)")

    @property
    def inputs(self) -> int:
        """Width of a frame of features: log-emissions, coefficients, gate."""
        return self.keys + 1 + self.coefficients + 1


@dataclass(frozen=True)
class EmbedderConfig(Config):
    """The shape of an embedder: two towers, one for swipes and one for words, into one space.

    Attributes:
        points: points of a path.
        keys: letters of the layout it is bound to.
        width: channels of a tower.
        blocks: convolutions of a tower, each halving the points.
        dimensions: of the embedding.
        reach: distance in key widths at which a key's nearness has fallen to 0.6.
        dropout: share of a tower's pooled channels that is dropped.
    """

    points: int = setting(64, COUNT)
    keys: int = setting(26, COUNT)
    width: int = setting(128, COUNT)
    blocks: int = setting(3, COUNT)
    dimensions: int = setting(128, COUNT)
    reach: float = setting(0.8, "(0, inf)")
    dropout: float = setting(0.1, SHARE)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.points % 2**self.blocks:
            raise TrainingError(f"{self.blocks} blocks cannot halve {self.points} points evenly")


@dataclass(frozen=True)
class MatcherConfig(Config):
    """The shape of a matcher. About 306,000 trainable parameters by default, for any number of finalists.

    Attributes:
        points: points of a path.
        width: channels of a token.
        heads: of every attention.
        waves: sines and cosines of a coordinate, each twice as fast as the one before.
        kernel: taps of a convolution along the path.
        dilations: one convolution for each.
        path_blocks: blocks of attention over the path.
        word_blocks: blocks of attention over the letters of a finalist, which look at the path.
        penalty: whether a letter looks less at points of the path that are far from its key.
        dropout: share of the letters' features and of the feed-forward layers that is dropped.
    """

    points: int = setting(64, COUNT)
    width: int = setting(64, COUNT)
    heads: int = setting(4, COUNT)
    waves: int = setting(6, COUNT)
    kernel: int = setting(7, COUNT)
    dilations: tuple[int, ...] = setting((1, 2, 4), COUNT)
    path_blocks: int = setting(2, COUNT)
    word_blocks: int = setting(3, COUNT)
    penalty: bool = True
    dropout: float = setting(0.1, SHARE)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.width % self.heads or self.kernel % 2 == 0:
            raise TrainingError(
                f"width must be a multiple of heads and kernel odd; got width {self.width}, kernel {self.kernel}"
            )
