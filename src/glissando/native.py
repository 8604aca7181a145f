"""Compiled functions without the compiler: numba builds them once, later runs load the machine code alone.

Importing numba and calling one of its functions takes some 120 MB and half a second, even where the code itself is
cached. So ``njit`` here waits for numba until a function is called, and a ``Kernel``, once compiled, is kept as object
code in the cache, from which llvmlite loads it. That works for functions that neither allocate nor raise: they need
nothing of numba, only the mathematics of the C library.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from glissando.files import cache_directory, load_arrays, save_arrays

VERSION = 2  # of the files
FILLING = ("memcpy", "memmove", "memset")  # what LLVM may call on its own account
_OWNERS: list[Any] = []  # what owns the code of the functions in use
C_TYPES = {"int64": ctypes.c_int64, "float32": ctypes.c_float, "float64": ctypes.c_double}  # all else is a pointer


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """As numba's ``njit``, without importing numba before the function is called."""
    return lambda function: LazyFunction(function, options)


class LazyFunction:
    """A function that numba compiles when it is first called, from Python or from another one.

    The body may say ``numba.prange``: numba is put among its module's names by then.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.options = options
        self.stamp = _stamp(function.__code__.co_filename)

    def __call__(self, *arguments: Any) -> Any:
        """Call it, compiled."""
        return self.dispatcher(*arguments)

    @functools.cached_property
    def dispatcher(self) -> Any:
        """numba's own object."""
        import numba

        self.py_func.__globals__.setdefault("numba", numba)
        options = dict(self.options)
        if options.get("cache") and _stamp(self.py_func.__code__.co_filename) != self.stamp:
            options["cache"] = False  # numba would file it under the source as it is now
        return numba.njit(**options)(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        """What numba asks objects for that it meets in the functions it compiles."""
        return self.dispatcher._numba_type_


class Kernel:
    """A function over pointers and numbers, loaded as machine code where it was compiled before.

    Args:
        module: the module that defines it.
        name: its name there; a plain function that makes arrays of its pointers by ``numba.carray``.
        arguments: the type of each: "int64", "float32", or a pointer such as "float32*".
        sources: modules whose functions it calls; a change in any of them compiles it anew.
    """

    def __init__(self, module: str, name: str, arguments: Sequence[str], sources: Sequence[str] = ()) -> None:
        self.module, self.name, self.arguments = module, name, tuple(arguments)
        self.sources = (module, *sources)
        self.stamps = {name: _stamp(sys.modules[name].__file__) for name in self.sources if name in sys.modules}

    @functools.cached_property
    def call(self) -> Callable[..., None]:
        """The function; pointers are given as addresses. Threads may run it side by side."""
        kinds: list[Any] = [C_TYPES.get(kind, ctypes.c_void_p) for kind in self.arguments]
        prototype = ctypes.CFUNCTYPE(None, *kinds)
        key = self._key()
        path = cache_directory() / f"kernel-{VERSION}-{key[:32]}.npz" if key else None
        address = _load(path) if path else None
        if address is None:
            compiled = self._compile()
            if path:
                _save(path, compiled)
            _OWNERS.append(compiled)
            address = compiled.address
        return prototype(address)

    def _key(self) -> str | None:
        """A hash of all that the machine code depends on; None where a source is not the one that was imported."""
        from importlib import metadata

        import llvmlite.binding as llvm

        digest = hashlib.sha256(repr((self.name, self.arguments)).encode())
        for source in self.sources:
            file = import_module(source).__file__
            stamp = _stamp(file)
            if file is None or stamp is None or stamp != self.stamps.get(source, stamp):
                return None
            digest.update(Path(file).read_bytes())
        versions = [metadata.version(package) for package in ("numba", "llvmlite")]
        machine = [llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()]
        digest.update(json.dumps([versions, machine]).encode())
        return digest.hexdigest()

    def _compile(self) -> Any:
        """Have numba compile it; returns numba's C callback."""
        import numba

        module = import_module(self.module)
        vars(module).setdefault("numba", numba)
        types = [_numba_type(kind) for kind in self.arguments]
        return numba.cfunc(numba.void(*types))(getattr(module, self.name))


def _stamp(file: str | None) -> tuple[int, int] | None:
    """When a source was changed, and its size; None where there is no such file."""
    try:
        found = os.stat(file or "")
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def address(array: np.ndarray) -> int:
    """Where an array's numbers are; it must be contiguous and outlive the call."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]
    except (TypeError, ValueError):  # read-only, or empty: numpy knows too, four times as slowly
        return array.__array_interface__["data"][0]


def _numba_type(kind: str) -> Any:
    """numba's type of an argument."""
    from numba import types

    return types.CPointer(getattr(types, kind[:-1])) if kind.endswith("*") else getattr(types, kind)


def _save(path: Path, compiled: Any) -> None:
    """Keep a compiled function's machine code, unless it needs more than the C library."""
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(compiled.inspect_llvm())
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name != compiled.native_name:
            value.linkage = "internal"  # so that what is not called goes away, numba's error handling with it
    machine = _machine()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
    builder.getModulePassManager().run(module, builder)
    needs = [one.name for one in module.functions if one.is_declaration and not one.name.startswith("llvm.")]
    if any(name.startswith(("numba", "NRT", "Py")) for name in needs):
        return
    facts = json.dumps({"name": compiled.native_name, "needs": needs}).encode()
    code = machine.emit_object(module)
    check = hashlib.sha256(facts + code).digest()
    arrays = {"facts": facts, "code": code, "sha256": check}
    save_arrays(path, {name: np.frombuffer(data, dtype=np.uint8) for name, data in arrays.items()})


def _load(path: Path) -> int | None:
    """The address of a function kept before; None where there is none, or it is damaged or cannot be linked."""
    arrays = load_arrays(path)
    if arrays is None or not {"facts", "code", "sha256"} <= set(arrays):
        return None
    facts, code, check = (arrays[part].tobytes() for part in ("facts", "code", "sha256"))
    if hashlib.sha256(facts + code).digest() != check:
        return None
    import llvmlite.binding as llvm

    known = json.loads(facts)
    library = ctypes.CDLL("ucrtbase" if os.name == "nt" else None)
    for need in (*known["needs"], *FILLING):
        # Looked up beforehand: to LLVM a missing symbol is the end of the process.
        if not hasattr(library, need):
            return None
        llvm.add_symbol(need, ctypes.cast(getattr(library, need), ctypes.c_void_p).value)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _OWNERS.append(engine)
    return engine.get_function_address(known["name"]) or None


def _machine() -> Any:
    """The processor this runs on, to LLVM."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=3,
        codemodel="jitdefault",
        jit=True,
    )
