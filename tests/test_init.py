"""The package's front door: light to open, and every name behind it."""

import subprocess
import sys

import pytest

import glissando

HEAVY = ("numpy", "numba", "onnxruntime", "torch", "typer", "rich", "wordfreq")


def test_importing_loads_nothing_but_itself():
    script = f"import sys, glissando; print({{*{HEAVY}}} & {{*sys.modules}}, glissando.__version__)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout == f"set() {glissando.__version__}\n"


@pytest.mark.parametrize("module", ["errors", "layout", "lexicon", "scoring", "train.encoder"])
def test_what_training_imports_needs_no_decoder(module):
    """These run on machines with torch and numpy alone."""
    if "." in module:
        pytest.importorskip("torch")
    heavy = ("numba", "onnxruntime", "typer", "rich", "wordfreq", "optuna")
    script = f"import sys, glissando.{module}; print({{*{heavy}}} & {{*sys.modules}})"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (result.returncode, result.stdout) == (0, "set()\n"), result.stderr


def test_every_name_resolves():
    assert sorted(glissando.__all__) == list(glissando.__all__)
    for name in glissando.__all__:
        assert getattr(glissando, name) is not None
        if name[0].isupper():
            assert getattr(glissando, name).__name__ == name


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = glissando.nonsense
    assert not hasattr(glissando, "nonsense")


def test_the_version_is_the_installed_one():
    from importlib.metadata import version

    assert version("glissando") == glissando.__version__
