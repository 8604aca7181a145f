import importlib
import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from glissando import native
from glissando.files import cache_directory, load_arrays, save_arrays
from glissando.native import Kernel, address, njit

KERNELS = """
import numpy as np
from glissando.native import njit

@njit(nogil=True, error_model="numpy")
def _double(values, out):
    for i in range(len(values)):
        out[i] = 2 * np.log1p(values[i])

@njit(error_model="numpy")
def _sorted(values, out):
    out[:] = np.sort(values)

def plain(values, n, out):
    _double(numba.carray(values, (n,)), numba.carray(out, (n,)))

def allocating(values, n, out):
    _sorted(numba.carray(values, (n,)), numba.carray(out, (n,)))
"""
VALUES = np.array([3, 1, 2], dtype=np.float32)


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """Makes kernels of a module of their own, in a cache of their own."""
    (tmp_path / "kernels_for_a_test.py").write_text(KERNELS, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("GLISSANDO_CACHE", str(tmp_path / "cache"))
    importlib.invalidate_caches()
    yield lambda name: Kernel("kernels_for_a_test", name, ("float32*", "int64", "float32*"))
    sys.modules.pop("kernels_for_a_test", None)


def run(kernel):
    out = np.zeros(3, dtype=np.float32)
    kernel.call(address(VALUES), 3, address(out))
    return out


def test_an_array_is_found_where_numpy_has_it():
    fixed = VALUES.copy()
    fixed.setflags(write=False)
    for array in (VALUES, VALUES[1:], fixed, np.zeros((2, 0)), np.zeros((3, 4))[1:]):
        assert address(array) == array.__array_interface__["data"][0]


def kept():
    return list(cache_directory().glob("kernel-*.npz"))


def refuse(self):
    raise AssertionError("compiled again")


def test_a_kernel_is_compiled_once_and_loaded_ever_after(kernel, monkeypatch):
    expected = 2 * np.log1p(VALUES)
    np.testing.assert_allclose(run(kernel("plain")), expected, rtol=1e-6)
    assert len(kept()) == 1
    monkeypatch.setattr(Kernel, "_compile", refuse)
    np.testing.assert_allclose(run(kernel("plain")), expected, rtol=1e-6)


def test_a_kernel_that_allocates_works_and_is_not_kept(kernel):
    np.testing.assert_array_equal(run(kernel("allocating")), [1, 2, 3])
    assert not kept()


def test_another_source_is_compiled_anew(kernel, tmp_path, monkeypatch):
    run(kernel("plain"))
    file = tmp_path / "kernels_for_a_test.py"
    file.write_text(KERNELS.replace("2 * np.log1p", "3 * np.log1p"), encoding="utf-8")
    sys.modules.pop("kernels_for_a_test")
    np.testing.assert_allclose(run(kernel("plain")), 3 * np.log1p(VALUES), rtol=1e-6)
    assert len(kept()) == 2


def test_a_source_that_changed_since_it_was_imported_is_not_filed_under_what_it_says_now(kernel, tmp_path):
    importlib.import_module("kernels_for_a_test")
    old = kernel("plain")
    (tmp_path / "kernels_for_a_test.py").write_text(KERNELS.replace("2 * np.log1p", "3 * np.log1p"), encoding="utf-8")
    np.testing.assert_allclose(run(old), 2 * np.log1p(VALUES), rtol=1e-6)  # what this process imported
    assert not kept()
    sys.modules.pop("kernels_for_a_test")
    np.testing.assert_allclose(run(kernel("plain")), 3 * np.log1p(VALUES), rtol=1e-6)
    assert len(kept()) == 1


@pytest.mark.parametrize("damage", ["cut", "changed", "emptied", "needs more"])
def test_a_file_that_cannot_be_used_is_made_again(kernel, damage):
    run(kernel("plain"))
    (path,) = kept()
    arrays = load_arrays(path)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-100])
    elif damage == "changed":
        arrays["code"][40] ^= 255
        save_arrays(path, arrays)
    elif damage == "emptied":
        save_arrays(path, {"facts": arrays["facts"]})
    else:  # a function that no library has: to LLVM this would be the end of the process
        facts = json.loads(arrays["facts"].tobytes())
        data = json.dumps({**facts, "needs": ["no_such_function"]}).encode()
        check = native.hashlib.sha256(data + arrays["code"].tobytes()).digest()
        arrays |= {"facts": np.frombuffer(data, np.uint8), "sha256": np.frombuffer(check, np.uint8)}
        save_arrays(path, arrays)
    assert native._load(path) is None
    np.testing.assert_allclose(run(kernel("plain")), 2 * np.log1p(VALUES), rtol=1e-6)
    assert native._load(path) is not None


def test_a_lazy_function_is_compiled_when_called_and_can_be_called_by_another():
    @njit()
    def inner(x):
        return x + 1

    @njit()
    def outer(x):
        return 2 * inner(x)

    assert "dispatcher" not in vars(inner)
    assert outer(3) == 8
    assert outer.py_func(3) == 8
    assert inner.dispatcher.signatures
    assert outer.__name__ == "outer"


def test_a_second_process_decodes_without_numba(tiny_weights):
    code = f"""
        import sys, glissando
        keyboard = glissando.load("qwerty", lexicon={{"were": 2, "type": 1}}, weights={str(tiny_weights)!r})
        keyboard.decode([(0.1, 0.2, 0), (0.3, 0.4, 150), (0.8, 0.2, 400)])
        print(*sorted({{"numba", "wordfreq", "torch", "scipy"}} & set(sys.modules)))
    """
    call = [sys.executable, "-c", textwrap.dedent(code)]
    for _ in range(2):
        done = subprocess.run(call, capture_output=True, text=True, check=True, env=dict(os.environ))
    assert done.stdout.strip() == ""
