"""The package's front door: light to open, and every name behind it."""

import subprocess
import sys

import pytest

import glissando

HEAVY = ("numpy", "numba", "onnxruntime", "torch", "typer", "rich", "wordfreq", "optuna")
SCRIPT = f"""
import sys, glissando
print({{*{HEAVY}}} & {{*sys.modules}})
import glissando.errors, glissando.layout, glissando.lexicon, glissando.scoring
print({{*{HEAVY}}} & {{*sys.modules}})
try:
    import glissando.train.encoder
except ImportError as error:
    assert error.name == "torch"
print({{*{HEAVY}}} & {{*sys.modules}} - {{"torch"}})
"""


def test_importing_loads_nothing_but_itself_and_training_needs_no_decoder():
    """Training runs on machines with torch and numpy alone."""
    result = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines() == ["set()", "{'numpy'}", "{'numpy'}"]


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
