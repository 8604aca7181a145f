"""What known layouts cost, each on its own keys."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from glissando.design.archive import Found
from glissando.design.config import SearchConfig
from glissando.design.run import exact_costs, make_judge
from glissando.design.spelling import Spelling
from glissando.design.task import make_task
from glissando.layout import Layout
from glissando.train.world import join_world


@torch.no_grad()
def judge_layouts(
    layouts: Sequence[Layout],
    words: Spelling,
    weights: str = "judge",
    config: SearchConfig | None = None,
    device: str | None = None,
) -> list[Found]:
    """Costs of layouts in full precision, nats and seconds per word. Of several keys with one letter the first counts.

    Args:
        layouts: what to judge; all must have the words' letters.
        words: what is written.
        weights: the judge: a packaged encoder, an .onnx file or a .safetensors checkpoint.
        config: its ``view`` counts.
        device: "cuda" or "cpu"; by default a GPU where there is one.
    """
    found = []
    with join_world(device) as world:
        for layout in layouts:
            task = make_task(layout, "".join(words.alphabet))
            judge = make_judge(weights, task, config or SearchConfig(), world, exact=True)
            found += exact_costs(task, words, judge)([task.slots(layout)])
    return found
