"""A module with functions that Python calls natively, and what tests of such calls need."""

from __future__ import annotations

import numpy as np

from xrelax import relax
from xrelax.runtime.call import CompiledFunction
from xrelax.runtime.native_call import NativeFunction
from xrelax.runtime.tensor import Tensor, array
from xrelax.script import from_source

try:
    import torch
except ImportError:
    torch = None

SOURCE = """
@R.function
def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("n", 4), "float32")):
    return R.add(R.multiply(x, x), y)

@R.function
def two(x: R.Tensor((3, 4), "float32")):
    return (R.add(x, x), R.multiply(x, x))

@R.function
def large(x: R.Tensor((200, 200), "float32")):
    return R.exp(x)

@R.function
def half(x: R.Tensor((3, 4), "bfloat16")):
    return R.negative(x)

@R.function
def number(x: R.Tensor((), "int64")):
    return R.add(x, x)

@R.function
def chain(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 4), "float32")):
    return R.matmul(R.matmul(R.matmul(x, w), w), w)

@R.function
def checked(x: R.Tensor(("n",), "int64"), y: R.Tensor(("m",), "int64")):
    n = T.int64()
    z = R.match_cast(y, R.Tensor((n,), "int64"))
    return R.add(x, z)

@T.prim_func
def fill(X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
    T.func_attr({"global_symbol": "fill"})
    for i in range(4):
        with T.block("Y"):
            v = T.axis.spatial(4, i)
            Y[v] = X[v] + T.float32(1)
"""


def build():
    """The executable of the module."""
    return relax.build(from_source(f"@I.ir_module\nclass Module:{indented(SOURCE)}"))


def indented(text):
    return text.replace("\n", "\n    ").replace("    \n", "\n")


def in_python(function):
    """The same function without the native entry."""
    assert type(function) is NativeFunction
    same = CompiledFunction.__new__(CompiledFunction)
    same.__dict__.update(function.__dict__)
    return same


class Count:
    """How many calls of a function Python does, by its `learn`, which it calls after each."""

    def __init__(self, function):
        self.calls, self._learn = 0, function.learn
        function.learn = self._counted

    def _counted(self, plan):
        self.calls += 1
        self._learn(plan)


def fresh(executable, name):
    """A function of the executable that has learned nothing."""
    executable._functions.pop(name, None)
    return executable[name]


def pair(n=3):
    x = np.arange(4.0 * n, dtype="float32").reshape(n, 4)
    return x, x + 1


KINDS = ["numpy", "tensor"] + ["torch"] * (torch is not None)


def made(kind, a):
    return {"numpy": lambda: a, "tensor": lambda: array(a), "torch": lambda: torch.tensor(a)}[
        kind
    ]()


def values(a):
    return a.numpy() if isinstance(a, Tensor) else np.asarray(a)


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a
