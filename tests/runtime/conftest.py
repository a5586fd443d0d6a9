"""Native functions with Python bodies behind C function pointers, and an executable in a file."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from saved_modules import SOURCE

import xrelax as tvm
from xrelax import relax
from xrelax.runtime.executable import Executable
from xrelax.runtime.signature import FunctionSpec
from xrelax.script import from_source

Callback = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_int64, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p
)
Entry = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)


class Frame:
    """What a native function sees of one call."""

    def __init__(self, ctx: int, argv: int, words: int) -> None:
        self.ctx = (ctypes.c_int64 * 8).from_address(ctx)
        self.argv = (ctypes.c_int64 * words).from_address(argv)

    def array(self, address: int, shape: tuple[int, ...], dtype: str = "float32") -> np.ndarray:
        """The memory at an address."""
        nbytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
        memory = (ctypes.c_char * nbytes).from_address(address)
        return np.frombuffer(memory, dtype).reshape(shape)

    def param(self, index: int, shape: tuple[int, ...], dtype: str = "float32") -> np.ndarray:
        """The memory of a parameter or a result."""
        return self.array(self.argv[index], shape, dtype)

    def call_back(self, site: int, args: Sequence[np.ndarray]) -> int:
        """Call back into Python with arrays, as native code does; returns the status."""
        data = (ctypes.c_int64 * max(len(args), 1))(*(a.ctypes.data for a in args))
        dims = [d for a in args for d in a.shape]
        flat = (ctypes.c_int64 * max(len(dims), 1))(*dims)
        return Callback(self.ctx[0])(
            self.ctx[1], site, ctypes.addressof(data), ctypes.addressof(flat)
        )


Body = Callable[[Frame], int]


class PythonLibrary:
    """A library of C function pointers over Python bodies."""

    def __init__(self, bodies: dict[str, tuple[Body, int]]) -> None:
        self.pointers = {name: Entry(self._entry(*item)) for name, item in bodies.items()}

    @staticmethod
    def _entry(body: Body, words: int) -> Callable[[int, int], int]:
        return lambda ctx, argv: body(Frame(ctx, argv, words))

    def address(self, symbol: str) -> int:
        address = ctypes.cast(self.pointers[symbol], ctypes.c_void_p).value
        assert address is not None
        return address


@pytest.fixture(scope="module", autouse=True)
def frozen_heap() -> Iterator[None]:
    """Let the garbage collector skip what the tests of other files left, which takes seconds."""
    gc.freeze()
    yield
    gc.unfreeze()


Build = Callable[..., Executable]


@pytest.fixture
def build() -> Build:
    """build((spec, body), …, constants=…): an executable of native functions."""

    def make(*functions: tuple[FunctionSpec, Body], **options: object) -> Executable:
        bodies = {
            spec.entry: (body, len(spec.params) + len(spec.results) + len(spec.symbols))
            for spec, body in functions
        }
        return Executable([s for s, _ in functions], PythonLibrary(bodies), **options)

    return make


def double(x, y):
    np.multiply(np.asarray(x), 2, out=np.asarray(y))


@pytest.fixture(scope="module")
def weight() -> np.ndarray:
    return np.random.default_rng(1).standard_normal((64, 32), dtype="float32")


@pytest.fixture(scope="module")
def executable(weight) -> Executable:
    tvm.register_func("saving.double", double, override=True)
    return relax.build(from_source(SOURCE), params={"w": weight})


@pytest.fixture
def saved(executable, tmp_path) -> Path:
    path = tmp_path / "model.xrelax"
    executable.save(path)
    return path
