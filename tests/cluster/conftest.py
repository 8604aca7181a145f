import pytest


@pytest.fixture(scope="package")
def cluster():
    """A real Ray on this machine, with two workers."""
    pytest.importorskip("ray", reason="Ray is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from glissando.cluster.connection import connect

    with connect("local", 2) as joined:
        yield joined
