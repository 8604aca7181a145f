import pytest

from glissando.evaluation.bench import Timing

pytest.importorskip("matplotlib")


def test_both_pictures_name_their_axes(tmp_path):
    from glissando.figures.latency import draw_latency
    from glissando.figures.style import save

    by_width = {10: Timing(1.0, 1.5), 100: Timing(1.2, 2.0)}
    by_words = {1000: Timing(0.9, 1.1), 90_000: Timing(1.2, 2.0)}
    files = save(draw_latency(by_width, by_words), tmp_path / "latency")
    assert [file.name for file in files] == ["latency.png", "latency.svg"]
    assert files[0].read_bytes().startswith(b"\x89PNG")
    assert files[1].stat().st_size > 1000
