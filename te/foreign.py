"""Tensors that functions in C or Python compute, as with ``te.extern``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ..dialects.dtypes import check_dtype
from .arithmetic import cast as cast_expr
from .arithmetic import convert, dim_expr
from .expr import Address, ExternCall, IntrinCall, Load, PrimExpr
from .extern import Extern, IRBuilder
from .tag import joined
from .tensor import ShapeLike, Tensor, nodes_of, shape_of


@dataclass(frozen=True)
class TensorPointer:
    """The memory of a tensor, as C functions take it."""

    tensor: Tensor


@dataclass(frozen=True)
class ExternBuffer:
    """A tensor as functions of `extern` see it: ``x.data`` is its memory, ``x[i]`` an element."""

    tensor: Tensor

    @property
    def name(self) -> str:
        """The name of the tensor."""
        return self.tensor.name

    @property
    def shape(self) -> tuple[Any, ...]:
        """The dims."""
        return self.tensor.shape

    @property
    def dtype(self) -> str:
        """The dtype of the elements."""
        return self.tensor.dtype

    @property
    def data(self) -> TensorPointer:
        """The memory."""
        return TensorPointer(self.tensor)

    def access_ptr(self, access_mask: str = "rw") -> TensorPointer:
        """The memory, whatever the call does with it."""
        return self.data

    def __getitem__(self, indices: Any) -> Load:
        given = cast("tuple[Any, ...]", indices if isinstance(indices, tuple) else (indices,))
        return self.tensor(*given)

    def __iter__(self) -> Any:
        return iter(self.tensor)


def call_extern(dtype: str, func_name: str, *args: Any) -> ExternCall:
    """A call of a C function in the process, for its result of a dtype; "" or "void" for effects.

    Arguments are numbers, expressions, and the memory of buffers that `extern` gives. TVM's
    ``tir.call_extern``. Raises TypeError for anything else.
    """
    given = [a.tensor if isinstance(a, TensorPointer) else convert(a) for a in args]
    returned = "void" if dtype in ("", "void") else check_dtype(dtype)
    return ExternCall(func_name, tuple(given), returned)


def call_packed(func_name: str, *args: Any) -> IntrinCall:
    """A call of a registered function, which gets buffers as tensors; its result is an int32.

    Arguments are numbers, expressions, strings, and buffers that `extern` gives. TVM's
    ``tir.call_packed``. Raises TypeError for anything else.
    """
    given = (a.tensor if isinstance(a, ExternBuffer) else packed_argument(a) for a in args)
    return IntrinCall("call_packed", (func_name, *given), "int32")


def packed_argument(value: Any) -> Any:
    """A scalar or string that a registered function gets, which knows signed integers only.

    Raises TypeError for what is no argument.
    """
    if isinstance(value, str | Address):
        return value
    expr = convert(value)
    return cast_expr("int64", expr) if expr.dtype.startswith("uint") else expr


def extern(
    shape: ShapeLike | Sequence[ShapeLike],
    inputs: Sequence[Tensor],
    fcompute: Callable[[list[ExternBuffer], list[ExternBuffer]], Any],
    name: str = "extern",
    dtype: str | Sequence[str] | None = None,
    *,
    tag: str = "",
    attrs: Mapping[str, Any] | None = None,
) -> Any:
    """A tensor, or for a list of shapes a list of tensors, that C or Python functions compute.

    ``fcompute(inputs, outputs)`` returns one or several calls of `call_extern` or `call_packed`.
    The dtypes are by default those of the inputs. TVM's ``te.extern``. Raises ValueError where
    inputs of several dtypes leave it open, for another number of dtypes than of shapes, or where
    the calls get other tensors, and TypeError where `fcompute` returns anything else.
    """
    shapes = _shapes(shape)
    definition = Extern(name, (), (), tag=joined(tag), attrs=dict(attrs or {}))
    definition.sources = tuple(inputs)
    dtypes = _dtypes(len(shapes), inputs, dtype)
    if len(dtypes) != len(shapes):
        raise ValueError(f"expected {len(shapes)} dtypes for '{name}', got {len(dtypes)}")
    definition.outputs = tuple(
        Tensor(f"{name}.v{i}" if len(shapes) > 1 else name, shape_of(dims), d, definition, i)
        for i, (dims, d) in enumerate(zip(shapes, dtypes, strict=True))
    )
    placeholders = [[ExternBuffer(t) for t in ts] for ts in (inputs, definition.outputs)]
    calls = _calls(name, fcompute(*placeholders))
    _verify_reads(name, calls, [*inputs, *definition.outputs])
    definition.input_placeholders, definition.output_placeholders = map(tuple, placeholders)

    def evaluate(ib: IRBuilder) -> None:
        for call in calls:
            ib.evaluate(call)

    definition.statements = evaluate
    outputs = list(definition.outputs)
    return outputs if len(outputs) > 1 else outputs[0]


def _shapes(shape: Any) -> list[list[Any]]:
    """The dims of each output."""
    if isinstance(shape, int | PrimExpr):
        return [[dim_expr(shape)]]
    given = cast("Sequence[Any]", shape)
    is_list = given and isinstance(given[0], Sequence)
    return [[dim_expr(d) for d in s] for s in (given if is_list else [given])]


def _dtypes(
    count: int, inputs: Sequence[Tensor], dtype: str | Sequence[str] | None
) -> Sequence[str]:
    if dtype is None:
        known = list(dict.fromkeys(t.dtype for t in inputs))
        if len(known) != 1:
            shown = ", ".join(known) or "none"
            raise ValueError(f"expected dtype, or inputs of one dtype, got {shown}")
        return known * count
    return [check_dtype(d) for d in ([dtype] if isinstance(dtype, str) else dtype)]


def _calls(name: str, found: Any) -> list[ExternCall]:
    calls: list[Any] = list(found) if isinstance(found, list | tuple) else [found]  # pyright: ignore[reportUnknownArgumentType]
    for call in calls:
        if not isinstance(call, ExternCall):
            shown = type(call).__name__
            raise TypeError(
                f"expected call_extern(…) or call_packed(…) as the computation of '{name}', "
                f"got {shown}"
            )
    return calls


def _verify_reads(name: str, calls: Sequence[ExternCall], known: Sequence[Tensor]) -> None:
    """Raise ValueError unless calls get only the memory and elements of these tensors."""
    every = list(nodes_of(*calls))
    read = [e.source for e in every if isinstance(e, Load)]
    read += [a for e in every if isinstance(e, ExternCall) for a in e.args if isinstance(a, Tensor)]
    for tensor in read:
        if tensor not in known:
            raise ValueError(f"expected '{tensor.name}' among the inputs of '{name}'")
