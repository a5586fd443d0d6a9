"""Tensors that are defined elementwise by functions of their indices, as in TVM's ``te``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from ..dialects.diagnostics import OpError
from ..dialects.dtypes import check_dtype
from ..dialects.int_expr import IntExpr, IntLike
from .arithmetic import const, convert, dim_expr, index_value
from .axes import IterVar, axis_names
from .expr import ExprLike, Imm, Load, PrimExpr, Reduce
from .tag import joined

ShapeLike: TypeAlias = "Sequence[PrimExpr | int]"


class TensorDtype(str):
    """The name of a dtype, which TVM's newest tensors have as a type with this `dtype`."""

    @property
    def dtype(self) -> str:
        """The name."""
        return str(self)


@dataclass(eq=False)
class Tensor:
    """A tensor of a definition: a placeholder, or one output of a `Compute`.

    Calling or subscripting it with indices gives an element. The operators ``+ - * /`` and the
    negation are functions of `topi`: ``x + 1`` is ``topi.add(x, 1)``.
    """

    topi: ClassVar[Mapping[str, Callable[..., Any]]] = {}

    name: str
    shape: tuple[Any, ...]
    dtype: str
    op: Compute | PlaceholderOp | None = None
    index: int = 0

    def __post_init__(self) -> None:
        self.dtype = TensorDtype(self.dtype)

    @property
    def value_index(self) -> int:
        """The position among the outputs of the definition."""
        return self.index

    @property
    def ndim(self) -> int:
        """Number of dims."""
        return len(self.shape)

    def __call__(self, *indices: ExprLike) -> Load:
        if len(indices) != len(self.shape):
            raise ValueError(
                f"expected {len(self.shape)} indices for '{self.name}', got {len(indices)}"
            )
        return Load(self, tuple(convert(i) for i in indices), self.dtype)

    def __getitem__(self, indices: ExprLike | tuple[ExprLike, ...]) -> Any:
        return TensorSlice(self, ())[indices]

    def __iter__(self) -> Any:
        # Python's own iteration subscripts with 0, 1, … until an error, which never comes.
        raise TypeError(f"expected a list of tensors, got the tensor '{self.name}'")

    def __add__(self, other: Any) -> Any:
        return self.topi["add"](self, other)

    def __radd__(self, other: Any) -> Any:
        return self.topi["add"](other, self)

    def __sub__(self, other: Any) -> Any:
        return self.topi["subtract"](self, other)

    def __rsub__(self, other: Any) -> Any:
        return self.topi["subtract"](other, self)

    def __mul__(self, other: Any) -> Any:
        return self.topi["multiply"](self, other)

    def __rmul__(self, other: Any) -> Any:
        return self.topi["multiply"](other, self)

    def __truediv__(self, other: Any) -> Any:
        return self.topi["divide"](self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self.topi["divide"](other, self)

    def __neg__(self) -> Any:
        return self.topi["negative"](self)

    def __repr__(self) -> str:
        return f"Tensor(name={self.name!r}, shape={list(self.shape)}, dtype={self.dtype!r})"


@dataclass(frozen=True)
class TensorSlice:
    """A tensor with its first indices; the others give an element: ``A[i][j]`` is ``A[i, j]``."""

    tensor: Tensor
    indices: tuple[ExprLike, ...]

    def __getitem__(self, indices: ExprLike | tuple[ExprLike, ...]) -> Any:
        more = indices if isinstance(indices, tuple) else (indices,)
        every = (*self.indices, *more)
        is_part = more and len(every) < len(self.tensor.shape)
        return TensorSlice(self.tensor, every) if is_part else self.tensor(*every)

    def __iter__(self) -> Any:
        return iter(self.tensor)


class PlaceholderOp:
    """What a placeholder has for a definition; TVM's ``te.PlaceholderOp``."""

    def __init__(self, tensor: Tensor):
        self.name, self.shape, self.dtype = tensor.name, tensor.shape, tensor.dtype
        self.outputs, self.input_tensors, self.tag = (tensor,), (), ""

    def output(self, index: int) -> Tensor:
        """The placeholder."""
        return self.outputs[index]


@dataclass(eq=False)
class Compute:
    """The definition of one or several tensors over the same axes."""

    name: str
    axes: tuple[IterVar, ...]
    bodies: tuple[PrimExpr, ...]
    outputs: tuple[Tensor, ...] = field(default=())
    tag: str = ""
    attrs: Mapping[str, Any] = field(default_factory=lambda: {})

    @property
    def body(self) -> tuple[PrimExpr, ...]:
        """The expressions of the elements, one for each output."""
        return self.bodies

    @property
    def axis(self) -> tuple[IterVar, ...]:
        """The axes of the outputs."""
        return self.axes

    @property
    def reduce_axis(self) -> tuple[IterVar, ...]:
        """The axes that are reduced over."""
        first = self.bodies[0] if self.bodies else None
        return first.axes if isinstance(first, Reduce) else ()

    @property
    def input_tensors(self) -> tuple[Tensor, ...]:
        """The other tensors that the expressions read, in order of first appearance."""
        return tuple(self.inputs())

    def output(self, index: int) -> Tensor:
        """One of the tensors."""
        return self.outputs[index]

    def inputs(self) -> list[Tensor]:
        """The other tensors that the expressions read, in order of first appearance."""
        loads = [e for e in self.nodes() if isinstance(e, Load)]
        found = dict.fromkeys(e.source for e in loads if isinstance(e.source, Tensor))
        return [t for t in found if t not in self.outputs]

    def expressions(self) -> tuple[PrimExpr, ...]:
        """All expressions of the definition."""
        return self.bodies

    def nodes(self) -> Iterator[PrimExpr]:
        """Every node of the expressions."""
        for expr in self.expressions():
            yield from nodes_of(expr)


def nodes_of(*exprs: PrimExpr) -> Iterator[PrimExpr]:
    """The nodes of expressions from the outside to the inside, each object once."""
    seen: dict[int, PrimExpr] = {}  # keeps the objects, whose numbers are not used again
    work = list(reversed(exprs))
    while work:
        expr = work.pop()
        if id(expr) not in seen:
            seen[id(expr)] = expr
            yield expr
            work += reversed(list(expr.children()))


def shape_of(dims: Sequence[IntLike]) -> tuple[Any, ...]:
    """Dims as users see them: ints where constant, else expressions."""
    return tuple(index_value(IntExpr.of(d)) for d in dims)


def placeholder(shape: ShapeLike, dtype: str = "float32", name: str = "placeholder") -> Tensor:
    """An input tensor of this shape and dtype; TVM's ``te.placeholder``."""
    tensor = Tensor(name, shape_of([dim_expr(d) for d in _as_tuple(shape)]), check_dtype(dtype))
    tensor.op = PlaceholderOp(tensor)
    return tensor


def _as_tuple(shape: ShapeLike | PrimExpr | int) -> tuple[PrimExpr | int, ...]:
    return tuple(shape) if isinstance(shape, Sequence) else (shape,)


def compute(
    shape: ShapeLike,
    fcompute: Callable[..., Any],
    name: str = "compute",
    tag: str = "",
    attrs: Mapping[str, Any] | None = None,
    varargs_names: Sequence[str] | None = None,
) -> Any:
    """A tensor whose element at ``(i, j, …)`` is ``fcompute(i, j, …)``; a tuple gives several.

    `attrs` are annotations of the block that computes it: numbers, strings, and lists and dicts of
    these. The `tag`, by default that of `te.tag_scope`, is for who asks ``tensor.op.tag``. TVM's
    ``te.compute``. Raises ValueError when the function does not take one index for each dim, and
    for a tag in the scope of another, and OpError for a reduction in an expression.
    """
    dims = [dim_expr(d) for d in _as_tuple(shape)]
    names = list(varargs_names) if varargs_names is not None else axis_names(fcompute, len(dims))
    dtype = "int32" if all(d.is_constant for d in dims) else "int64"
    axes = tuple(
        IterVar(n, 0, index_value(d), "spatial", dtype) for n, d in zip(names, dims, strict=True)
    )
    result = fcompute(*axes)
    several = isinstance(result, tuple | list)
    bodies = tuple(_body(b) for b in (result if several else (result,)))  # pyright: ignore[reportUnknownVariableType]
    verify_reductions(name, bodies)
    definition = Compute(name, axes, bodies, tag=joined(tag), attrs=dict(attrs or {}))
    shape_ = tuple(index_value(d) for d in dims)
    definition.outputs = tuple(
        Tensor(f"{name}.v{i}" if several else name, shape_, body.dtype, definition, i)
        for i, body in enumerate(bodies)
    )
    return definition.outputs if several else definition.outputs[0]


def verify_reductions(name: str, bodies: Sequence[PrimExpr]) -> None:
    """Raise OpError unless every element is one and the same reduction, or none has one."""
    first = bodies[0] if bodies else None
    for position, body in enumerate(bodies):
        parts = body.children() if isinstance(body, Reduce) else [body]
        if any(isinstance(e, Reduce) for e in nodes_of(*parts)):
            raise OpError(f"expected a reduction to be the whole body of '{name}'")
        if not isinstance(first, Reduce) and not isinstance(body, Reduce):
            continue
        if not isinstance(first, Reduce) or not isinstance(body, Reduce):
            raise OpError(f"expected every output of '{name}' to be a reduction")
        if body.source is not first.source or body.index != position:
            raise OpError(f"expected the outputs of '{name}' to be one reduction")
    if isinstance(first, Reduce) and len(first.source) != len(bodies):
        raise OpError(f"expected {len(first.source)} outputs of '{name}', got {len(bodies)}")


def _body(value: Any) -> PrimExpr:
    expr = convert(value)
    return const(expr.value, expr.dtype) if isinstance(expr, Imm) else expr


def producer_load(producer: Tensor, indices: Sequence[ExprLike]) -> Load:
    """An element of a tensor, or of one without dims its value; TVM's ``tir.ProducerLoad``."""
    return producer(*indices)
