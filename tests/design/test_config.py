from pathlib import Path

import pytest
from design.fakes import ALPHABET

from glissando.design.config import DesignRequest, SearchConfig
from glissando.errors import DesignError, GlissandoError


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("climbers=0", r"climbers must lie in \[1, inf\), got 0"),
        ("kick=[3,1]", "kick must be"),
        ("view=sideways", "view must be one of upright, turned"),
        ("minutes=0", r"minutes must lie in \(0, inf\)"),
        ("pace=1", "no setting pace"),
        ("climbers", "name=value"),
    ],
)
def test_settings_that_make_no_sense(setting, message):
    with pytest.raises(GlissandoError, match=message):
        SearchConfig().changed([setting])


def test_a_request_needs_a_grid_or_a_start():
    with pytest.raises(DesignError, match="a grid such as"):
        DesignRequest(Path()).read_task(ALPHABET)
    assert DesignRequest(Path(), start="qwerty", language="de").read_task(ALPHABET).grid.language == "de"
