import threading

import pytest

from glissando.threads import cores, map_on_cores, use_cores


@pytest.fixture(autouse=True)
def _restored():
    before = cores()
    yield
    use_cores(before)


def test_one_core_means_this_thread():
    use_cores(1)
    assert map_on_cores(lambda _: threading.get_ident(), range(3)) == [threading.get_ident()] * 3


def test_several_cores_mean_other_threads_and_keep_the_order():
    use_cores(3)
    assert cores() == 3
    assert map_on_cores(lambda item: -item, range(10)) == [-item for item in range(10)]
    assert threading.get_ident() not in map_on_cores(lambda _: threading.get_ident(), range(3))
