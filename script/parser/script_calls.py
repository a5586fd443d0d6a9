"""Calls in TensorIR expressions, ``T.exp(x)``, and elements and boxes of buffers: ``X[a:b, c]``."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...dialects.diagnostics import suggestion
from ...dialects.dtypes import DTYPES, is_float
from ...dialects.tir.calls import INTRINSICS
from ...te.arithmetic import cast, const, convert
from ...te.expr import Let, Load, PrimExpr, Var
from ...te.intrinsics import FUNCTIONS
from ..namespace import ScriptName
from .buffers import Alias, Buffer, BufferSlice, DataPointer, EnvThread, describe_value
from .expr_reader import ExprReader
from .intrinsics import (
    access_pointer,
    address_of,
    extern_call,
    handle_type,
    intrinsic_call,
    kernel_call,
    kernel_name,
    retyped,
)
from .lanes import BROADCASTS, RAMPS, lane_value

_DTYPE_FIRST = ("Cast", "reinterpret", "min_value", "max_value", "infinity", "IntImm", "FloatImm")
_PYTHON_FUNCTIONS: dict[Any, str] = {min: "min", max: "max", abs: "abs"}


@dataclass(frozen=True)
class Method:
    """A method of an expression, such as ``x.astype``."""

    owner: PrimExpr
    name: str

    def call(self, args: list[Any]) -> PrimExpr:
        """Call it; raises ValueError for an unknown method."""
        if self.name != "astype" or len(args) != 1:
            raise ValueError(f"expected the method astype(dtype) of an expression, got {self.name}")
        return cast(args[0], self.owner)


def buffer_attribute(buffer: Buffer, name: str) -> Any:
    """``X.shape`` and the like; raises ValueError for anything else."""
    if name == "data":
        return DataPointer(buffer)  # `extern_call` refuses that of an alias
    if name == "access_ptr":
        return access_pointer(buffer)
    if name in ("shape", "strides", "dtype", "name", "elem_offset"):
        return getattr(buffer, name)
    raise ValueError(
        "expected access_ptr, data, dtype, elem_offset, name, shape or strides of a buffer, "
        f"got '{name}'"
    )


def call(exprs: ExprReader, node: ast.Call) -> Any:
    """The value of a call."""
    if (kernel := kernel_name(exprs, node)) is not None:
        return kernel_call(exprs, node, kernel)
    function = exprs.eval(node.func)
    if isinstance(function, ScriptName):
        return _script_call(exprs, node, function.path)
    args = exprs.arguments(node.args)
    keywords = {k.arg: exprs.scalar(k.value) for k in node.keywords if k.arg is not None}
    if isinstance(function, Method):
        return function.call([*args, *keywords.values()])
    if not callable(function) or any(isinstance(a, Buffer | BufferSlice) for a in args):
        raise exprs.error(node, f"expected a function, got {describe_value(function)}")
    if any(isinstance(a, PrimExpr) for a in args) and function in _PYTHON_FUNCTIONS:
        return apply(exprs, node, _PYTHON_FUNCTIONS[function], args)
    return function(*args, **keywords)


META = ("I.meta_var", "T.meta_var")
"""Functions whose value is that of their argument, without a variable for it."""


def _script_call(exprs: ExprReader, node: ast.Call, path: str) -> Any:
    name = path.removeprefix("T.")
    if path in (*META, "R.prim_value") and len(node.args) == 1 and not node.keywords:
        return exprs.eval(node.args[0])
    name = "bool" if name == "boolean" else name
    if path in ("R.dtype", "R.str") and len(node.args) == 1:
        return exprs.text(node.args[0])
    if path in ("tir.const", "T.const") and len(node.args) == 2:
        number = exprs.eval(node.args[0])
        if not isinstance(number, int | float):
            shown = describe_value(number)
            raise exprs.error(node.args[0], f"expected a number, got {shown}")
        return const(number, exprs.dtype(node.args[1]))
    if not path.startswith("T."):
        raise exprs.error(node.func, f"expected a function of TensorIR, got '{path}'")
    if name in DTYPES:
        return _typed_literal(exprs, node, name)
    if name == "env_thread" and len(node.args) == 1:
        return EnvThread(exprs.text(node.args[0]))
    if name == "target" and len(node.args) == 1:
        return _target(exprs, node)
    if path in (*RAMPS, *BROADCASTS):
        return lane_value(exprs, node, path)
    if name == "Let":
        return _let(exprs, node)
    if name == "call_extern":
        return extern_call(exprs, node)
    if name == "address_of":
        return address_of(exprs, node)
    if name == "handle":
        return handle_type(exprs, node)
    if name == "llvm_lookup_intrinsic_id" and len(node.args) == 1:
        return exprs.text(node.args[0])
    if name == "reinterpret" and (pointer := retyped(exprs, node)) is not None:
        return pointer
    if name in INTRINSICS:
        return intrinsic_call(exprs, node, name)
    if name not in FUNCTIONS:
        hint = suggestion(name, [*FUNCTIONS, *DTYPES, *INTRINSICS, "call_extern", "address_of"])
        raise exprs.error(node.func, f"expected a function of TensorIR, got '{path}'{hint}")
    if name in _DTYPE_FIRST and node.args:
        args = [exprs.dtype(node.args[0]), *exprs.arguments(node.args[1:])]
    else:
        args = exprs.arguments(node.args)
    return apply(exprs, node, name, args)


def _target(exprs: ExprReader, node: ast.Call) -> Any:
    """``T.target("llvm", host="llvm")`` of an attribute: its text or dict, with the host's."""
    named = {k.arg: exprs.eval(k.value) for k in node.keywords if k.arg is not None}
    value = exprs.eval(node.args[0])
    if not set(named) <= {"host"} or not isinstance(value, str | dict):
        raise exprs.error(node, "expected T.target(text or dict, host=…)")
    config: dict[str, Any] = {"kind": value} if isinstance(value, str) else value  # pyright: ignore[reportUnknownVariableType]
    return {**config, **named} if named else value  # pyright: ignore[reportUnknownVariableType]


def _let(exprs: ExprReader, node: ast.Call) -> PrimExpr:
    """``T.Let(x + 1, where={x: 4})``: an expression in which names have values."""
    match node:
        case ast.Call(
            args=[body],
            keywords=[ast.keyword(arg="where", value=ast.Dict(keys=keys, values=values))],
        ) if all(isinstance(k, ast.Name) for k in keys):
            names = [k.id for k in keys if isinstance(k, ast.Name)]
        case _:
            raise exprs.error(node, "expected T.Let(expression, where={name: value})")
    given = [exprs.expr(v) for v in values]
    variables = [Var(name, value.dtype) for name, value in zip(names, given, strict=True)]
    with exprs.scope.nested():
        for variable in variables:
            exprs.scope.bind(variable.name, variable)
        result = exprs.expr(body)
    for variable, value in reversed([*zip(variables, given, strict=True)]):
        result = Let(variable, value, result)
    return result


def apply(exprs: ExprReader, node: ast.Call, name: str, args: list[Any]) -> PrimExpr:
    """Apply a function of TensorIR; a script error for a wrong number of arguments.

    A call may state the dtype of its result, as TVM prints it: ``T.exp(x, dtype="float32")``.
    """
    function: Callable[..., PrimExpr] = FUNCTIONS[name]
    signature = inspect.signature(function)
    is_option = "dtype" in signature.parameters
    stated = [k.value for k in node.keywords if k.arg == "dtype" and not is_option]
    given = [k for k in node.keywords if k.value not in stated]
    keywords = {k.arg: exprs.eval(k.value) for k in given if k.arg is not None}
    try:
        signature.bind(*args, **keywords)
    except TypeError:
        expected = ", ".join(signature.parameters)
        count = len(args) + len(keywords)
        raise exprs.error(node, f"expected T.{name}({expected}), got {count} arguments") from None
    result = function(*args, **keywords)
    for value in stated:
        if (dtype := exprs.dtype(value)) != result.dtype:
            raise exprs.error(value, f"expected T.{name} to give {dtype}, got {result.dtype}")
    return result


def _typed_literal(exprs: ExprReader, node: ast.Call, dtype: str) -> PrimExpr:
    if len(node.args) != 1 or node.keywords:
        count = len(node.args) + len(node.keywords)
        raise exprs.error(node, f"expected T.{dtype}(value), got {count} arguments")
    value = exprs.scalar(node.args[0])
    if isinstance(value, str):
        if not is_float(dtype) or value not in ("inf", "-inf", "nan"):
            raise exprs.error(node, f"expected a number for T.{dtype}, got '{value}'")
        return const(float(value), dtype)
    if isinstance(value, PrimExpr):
        return cast(dtype, value)
    if not isinstance(value, bool | int | float):
        value = exprs.expr(node.args[0])
        return cast(dtype, value)
    if isinstance(value, float) and not is_float(dtype) and not value.is_integer():
        raise exprs.error(node, f"expected an integer for T.{dtype}, got {value}")
    return const(value, dtype)


def load(exprs: ExprReader, node: ast.Subscript, buffer: Buffer) -> Load:
    """One element; a script error for another number of indices, or one that is no integer."""
    indices = exprs.exprs(node.slice)
    _check_rank(exprs, node, buffer, len(indices))
    if exprs.lane is not None:
        several = [e for e in exprs.elements(node.slice) if _has_lanes(exprs, e)]
        if len(several) > 1:
            shown = ", ".join(map(ast.unparse, exprs.elements(node.slice)))
            raise exprs.error(several[1], f"expected one slice or ramp, got '{shown}'")
    for index in indices:
        if is_float(index.dtype):
            raise exprs.error(node.slice, f"expected an integer index, got {index.dtype}")
    if isinstance(buffer, Alias):
        return Load(buffer.base, tuple(buffer.base_indices(indices)), buffer.dtype)
    return Load(buffer, tuple(indices), buffer.dtype)


def _has_lanes(exprs: ExprReader, node: ast.expr) -> bool:
    """Whether an index has a slice or a ramp, and is another one for each lane."""
    return any(
        isinstance(n, ast.Slice) or (isinstance(n, ast.Call) and exprs.path(n.func) in RAMPS)
        for n in ast.walk(node)
    )


def _check_rank(exprs: ExprReader, node: ast.AST, buffer: Buffer, count: int) -> None:
    rank = buffer.type.rank
    if count != rank:
        raise exprs.error(node, f"expected {rank} indices for '{buffer.name}', got {count}")


def buffer_slice(exprs: ExprReader, node: ast.expr) -> BufferSlice:
    """A region; a buffer without indices stands for all of it."""
    base = node.value if isinstance(node, ast.Subscript) else node
    buffer = exprs.eval(base)
    if not isinstance(buffer, Buffer):
        raise exprs.error(base, f"expected a buffer, got {describe_value(buffer)}")
    if isinstance(buffer, Alias):
        message = f"expected a region of '{buffer.base.name}', whose memory '{buffer.name}' has"
        raise exprs.error(base, message)
    if not isinstance(node, ast.Subscript):
        return BufferSlice(buffer, tuple((convert(0), convert(d)) for d in buffer.shape))
    parts = exprs.elements(node.slice)
    _check_rank(exprs, node, buffer, len(parts))
    pairs = zip(parts, buffer.shape, strict=True)
    return BufferSlice(buffer, tuple(_range(exprs, part, dim) for part, dim in pairs))


def _range(exprs: ExprReader, node: ast.expr, dim: Any) -> tuple[PrimExpr, PrimExpr | None]:
    if not isinstance(node, ast.Slice):
        return exprs.expr(node), None
    if node.step is not None:
        raise exprs.error(node, "expected a slice without a step")
    start = convert(0) if node.lower is None else exprs.expr(node.lower)
    stop = convert(dim) if node.upper is None else exprs.expr(node.upper)
    return start, stop - start
