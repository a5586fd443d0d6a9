"""`relax.op` and `relax.const`: operators of the graph, calls and constants as functions.

The functions follow from the operator set: ``relax.op.nn.softmax(x, axis=-1)`` takes the operands
and attributes that `relax.nn.softmax` declares. Numbers take the dtype of the tensors beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
from xdsl.ir import Attribute

from ..dialects.diagnostics import suggestion
from ..dialects.relax import OPERATORS
from ..ir.call_ops import inplace_call, kernel_call, output_type
from ..ir.call_ops import loop as loop_op
from ..ir.callees import ExternFunc, GlobalVar
from ..ir.calls import Call
from ..ir.expr import Constant, Expr, apply_operator, expression
from ..ir.gradients import register_gradient
from ..ir.op import Op
from ..ir.shapes import PrimValue
from ..ir.strings import StringImm
from ..ir.struct_info import ObjectStructInfo
from ..te.expr import PrimExpr
from .shapes import get_shape_of as get_shape_of
from .shapes import make_shape as make_shape
from .shapes import match_cast as match_cast
from .shapes import prim_to_tensor as prim_to_tensor
from .shapes import prim_value as prim_value
from .shapes import shape_of as shape_of
from .shapes import tensor_to_prim as tensor_to_prim
from .shapes import tensor_to_shape as tensor_to_shape

__script_path__ = "relax.op"


def call_tir(gvar: Any, args: Any, out_sinfo: Any = None, tir_vars: Any = None, **old: Any) -> Expr:
    """The call of a PrimFunc, whose results have the types `out_sinfo`.

    `args` is a tensor or a sequence of them, and a list of types stands for several results. Other
    forms are ``out_ty=``, and a shape with ``dtype=``. `tir_vars` are the values of parameters that
    are numbers. Raises ValueError or Diagnostic with one line where the arguments
    do not fit, and TypeError for other keywords.
    """
    return expression(kernel_call(gvar, args, _output(out_sinfo, old), tir_vars))


def call_tir_with_grad(
    gvar: Any,
    args: Any,
    out_sinfo: Any = None,
    te_grad_name: str = "",
    te_grad_kwargs: Mapping[str, Any] | None = None,
    tir_vars: Any = None,
    **old: Any,
) -> Expr:
    """The call of a PrimFunc that has a gradient, otherwise as `call_tir`.

    `te_grad_name` names a function registered by ``relax.training.utils.register_te_gradient``,
    which gets `te_grad_kwargs`. Raises ValueError with one line without a name.
    """
    if not te_grad_name:
        raise ValueError("expected te_grad_name, got none")
    gradient = {"te_grad_name": te_grad_name, "te_grad_kwargs": te_grad_kwargs}
    return expression(kernel_call(gvar, args, _output(out_sinfo, old), tir_vars, **gradient))


def call_tir_inplace(
    gvar: Any,
    args: Any,
    inplace_indices: Any,
    out_sinfo: Any = None,
    tir_vars: Any = None,
    **old: Any,
) -> Expr:
    """The call of a PrimFunc that writes outputs into arguments, otherwise as `call_tir`.

    `inplace_indices` has the position of an argument for each output, or -1 for a new tensor.
    """
    several = isinstance(inplace_indices, list | tuple)
    positions = cast("Sequence[int]", inplace_indices) if several else [inplace_indices]
    return expression(inplace_call(gvar, args, positions, _output(out_sinfo, old), tir_vars))


def call_dps_packed(func: str | ExternFunc, args: Any, out_sinfo: Any = None, **old: Any) -> Expr:
    """The call by name of a function in destination-passing style.

    `func` names a PrimFunc of the module or a registered function, which writes its results; they
    are passed after the arguments. `args` and `out_sinfo` are those of `call_tir`.
    """
    return expression(kernel_call(func, args, _output(out_sinfo, old)))


def _output(out: Any, old: dict[str, Any]) -> Attribute:
    """The type of the results, also from the keywords of older forms."""
    dtype = old.pop("dtype", None)
    for name in ("out_ty", "shape", "out_shape", "output_shape"):
        out = old.pop(name, out)
    if old:
        raise TypeError(f"expected out_sinfo, out_ty, or shape and dtype, got '{next(iter(old))}'")
    if out is None:
        raise ValueError("expected out_sinfo, the type of the result, got none")
    return output_type(out, dtype)


def loop(
    func: GlobalVar,
    carried: Any = (),
    scanned: Any = (),
    given: Any = (),
    trips: Any = None,
    is_while: bool = False,
) -> Expr:
    """The calls ``func(i, *carried, *slices, *given)`` of a graph function for every iteration.

    It returns the next carried tensors, then outputs. The result is the tuple of the last carried
    tensors and of the outputs, stacked along a new first axis. A slice is an element along the
    first axis of a `scanned` tensor, whose elements are the default of `trips`. With `is_while` the
    loop ends before an iteration in which the first carried tensor, a bool, is false.
    """
    return expression(loop_op(func, carried, scanned, given, trips, is_while))


def call_packed(
    func: str | ExternFunc, *args: Any, sinfo_args: Any = None, ty_args: Any = None
) -> Expr:
    """The call of a registered function for its effects, in program order.

    Its result has the type `sinfo_args`, also called `ty_args`. Arguments may be strings or
    numbers.
    """
    called = ExternFunc(func) if isinstance(func, str) else func
    return Call(called, _packed(args), None, sinfo_args, ty_args=ty_args)


def call_pure_packed(
    func: str | ExternFunc, *args: Any, sinfo_args: Any = None, ty_args: Any = None
) -> Expr:
    """The call of a registered function for its result, which has the type `sinfo_args`.

    `ty_args` is another name of it. Arguments may be strings or numbers. Raises ValueError where
    neither is given.
    """
    called = ExternFunc(func) if isinstance(func, str) else func
    op = Op.get("relax.call_pure_packed")
    return Call(op, [called, *_packed(args)], None, sinfo_args, ty_args=ty_args)


def call_inplace_packed(
    func: str | ExternFunc,
    *args: Any,
    inplace_indices: int | Sequence[int],
    sinfo_args: Any = None,
    ty_args: Any = None,
) -> Expr:
    """The call of a registered function that may change arguments, otherwise as `call_pure_packed`.

    `inplace_indices` has the position of an argument for each result, which becomes it, or -1.
    These arguments must not be used afterwards. Raises VerifyException where one is, and for
    positions or types that do not fit.
    """
    called = ExternFunc(func) if isinstance(func, str) else func
    attrs = {"inplace_indices": inplace_indices}
    op = Op.get("relax.call_inplace_packed")
    return Call(op, [called, *_packed(args)], attrs, sinfo_args, ty_args=ty_args)


def _packed(args: Sequence[Any]) -> list[Any]:
    """Arguments of registered functions: strings and numbers are objects, and no tensors."""
    return [*map(_packed_argument, args)]


def _packed_argument(value: Any) -> Any:
    if isinstance(value, str):
        return StringImm(value)
    is_number = isinstance(value, bool | int | float | np.generic | PrimExpr)
    return PrimValue(value) if is_number else value


def null_value() -> Expr:
    """An object that stands for nothing, such as the first state of an effect."""
    return call_pure_packed("vm.builtin.null_value", sinfo_args=ObjectStructInfo())


def call_py_func(func_name: str, args: Any, out_sinfo: Any = None, **old: Any) -> Expr:
    """The call of a Python function of the module, which returns values of the types `out_sinfo`.

    Other forms are those of `call_tir`.
    """
    several = isinstance(args, list | tuple)
    values = cast("Sequence[Any]", args) if several else (args,)
    return call_pure_packed(func_name, *values, sinfo_args=_output(out_sinfo, old))


def print(*values: Any, format: str = "") -> Expr:
    """Values are printed, in program order.

    `format` is one of ``str.format``; without it, values are separated by spaces.
    """
    return Call(Op.get("relax.print"), values, {"format": format})


def assert_op(condition: Any, format_args: Any = (), format: str = "") -> Expr:
    """The program raises AssertionError unless the condition, a bool of rank 0, holds.

    The message is `format`, in which ``{}`` stand for the values `format_args`.
    """
    several = isinstance(format_args, list | tuple)
    values = cast("Sequence[Any]", format_args) if several else (format_args,)
    return Call(Op.get("relax.assert_op"), [condition, *values], {"format": format})


def alloc_tensor(shape: Any, dtype: str = "float32", runtime_device_index: int = 0) -> Expr:
    """A tensor with undefined content.

    Raises ValueError for another device than the first one.
    """
    if runtime_device_index != 0:
        raise ValueError(f"expected device 0, got {runtime_device_index}")
    return Call(Op.get("relax.builtin.alloc_tensor"), [shape], {"dtype": dtype})


@cache
def _function(full_name: str) -> Callable[..., Any]:
    def function(*args: Any, **attributes: Any) -> Any:
        return apply_operator(full_name, args, attributes)

    function.__name__ = function.__qualname__ = full_name.rpartition(".")[2]
    function.__doc__ = OPERATORS[full_name].__doc__
    function.__script_path__ = full_name  # pyright: ignore[reportFunctionMemberAccess]
    return function


class _Namespace:
    """The functions under a prefix of full names, and inner namespaces, as they are registered."""

    _prefix = ""

    def __init__(self, prefix: str):
        self._prefix = prefix

    def __getattr__(self, name: str) -> Any:
        full_name = self._prefix + name
        if full_name in OPERATORS:
            return _function(full_name)
        if name in dir(self):
            return _Namespace(f"{full_name}.")
        shown = full_name.replace("relax.", "relax.op.", 1)
        hint = suggestion(name, dir(self))
        raise AttributeError(f"expected an operator of the graph, got '{shown}'{hint}")

    def __dir__(self) -> list[str]:
        inside = (n.removeprefix(self._prefix) for n in OPERATORS if n.startswith(self._prefix))
        return sorted({n.partition(".")[0] for n in inside})


_OPERATORS = _Namespace("relax.")
builtin = SimpleNamespace(
    alloc_tensor=alloc_tensor, stop_lift_params=_function("relax.builtin.stop_lift_params")
)
"""What TVM keeps among its built-in operations."""
base = SimpleNamespace(register_gradient=register_gradient)
"""What TVM keeps in its module of the registry."""


def __getattr__(name: str) -> Any:
    return getattr(_OPERATORS, name)


def __dir__() -> list[str]:
    return sorted({*dir(_OPERATORS), *(n for n in globals() if not n.startswith("_"))})


def const(value: Any, dtype: Any = None) -> Constant:
    """A constant tensor of a dtype or struct info; without one, of the dtype that the value has.

    Python's ints are int32, its floats float32. Takes numbers, lists, Tensors, NumPy and torch
    arrays, and copies none that needs no conversion. Raises ValueError with one line for another
    shape than the struct info's.
    """
    return Constant(value, dtype)
