"""Layers that emit into the function that is being built; TVM's ``relax.testing.nn``.

A `Module` is called on expressions inside of ``with bb.function(…)``, and its parameters are
parameters of that function. `relax.frontend.nn` has layers that make functions themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast
from weakref import WeakKeyDictionary

from ..ir.expr import Expr, Var, apply_operator
from ..ir.struct_info import TensorStructInfo
from .block_builder import BlockBuilder

_used: WeakKeyDictionary[BlockBuilder, Counter[str]] = WeakKeyDictionary()


def emit(expr: Expr, name_hint: str = "") -> Any:
    """Emit an expression into the function that is being built; the variable.

    Raises RuntimeError with one line outside of one.
    """
    builder = BlockBuilder.current()
    if builder is None:
        raise RuntimeError("expected nn.emit inside of 'with bb.function(…)'")
    return builder.emit(expr, name_hint)


def _unique(name: str) -> str:
    """The name, with a number if the builder has had it before: ``weight``, ``weight1``."""
    builder = BlockBuilder.current()
    if builder is None:
        return name
    used = _used.setdefault(builder, Counter())
    used[name] += 1
    return name if used[name] == 1 else f"{name}{used[name] - 1}"


class Placeholder(Var):
    """An input of the function that is being built."""

    def __init__(self, shape: Sequence[Any], dtype: str = "float32", name: str = "data"):
        super().__init__(_unique(name), TensorStructInfo(shape, dtype))


class Parameter(Placeholder):
    """A weight of a `Module`."""

    def __init__(self, shape: Sequence[Any], dtype: str = "float32", name: str = "param"):
        super().__init__(shape, dtype, name)


class Module:
    """A layer: a subclass has `forward`, and parameters and modules as attributes."""

    def parameters(self) -> list[Parameter]:
        """The parameters of the layer and of those inside of it, in order, each once."""
        return list(dict.fromkeys(_parameters(vars(self))))

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The result of the layer on expressions."""
        raise NotImplementedError

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)


def _parameters(value: Any) -> Iterator[Parameter]:
    if isinstance(value, Parameter):
        yield value
    elif isinstance(value, Module):
        yield from _parameters(vars(value))
    elif isinstance(value, dict):
        for field in cast("Mapping[str, Any]", value).values():
            yield from _parameters(field)
    elif isinstance(value, list | tuple):
        for field in cast("Sequence[Any]", value):
            yield from _parameters(field)


class Sequential(Module):
    """Layers one after the other."""

    def __init__(self, *modules: Module):
        self.modules = modules

    def __iter__(self) -> Iterator[Module]:
        return iter(self.modules)

    def __getitem__(self, index: int) -> Module:
        return self.modules[index]

    def __len__(self) -> int:
        return len(self.modules)

    def forward(self, input: Expr) -> Any:
        """The result of the last layer."""
        value = input
        for module in self.modules:
            value = module(value)
        return value


class ReLU(Module):
    """``max(x, 0)``."""

    def forward(self, input: Expr) -> Any:
        """The operator, emitted."""
        return emit(apply_operator("relax.nn.relu", [input], {}))


class LogSoftmax(Module):
    """The logarithm of the softmax along the last axis."""

    def forward(self, input: Expr) -> Any:
        """The operator, emitted."""
        return emit(apply_operator("relax.nn.log_softmax", [input], {}))


class Linear(Module):
    """``x @ weight + bias``; the weight has the shape ``(in_features, out_features)``."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True):
        self.weight = Parameter((in_features, out_features), name="linear_weight")
        self.bias = Parameter((out_features,), name="linear_bias") if bias else None

    def forward(self, input: Expr) -> Any:
        """The operators, emitted."""
        product = emit(apply_operator("relax.matmul", [input, self.weight], {}))
        if self.bias is None:
            return product
        return emit(apply_operator("relax.add", [product, self.bias], {}))
