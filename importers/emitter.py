"""Emits the operations of a graph for importers: operators, constants, shapes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import mul
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import LocationAttr, TupleType, i64
from xdsl.ir import Block, Operation, SSAValue

from ..dialects import relax
from ..dialects.dtypes import FLOATS, element_type
from ..dialects.int_expr import ONE, IntExpr, sym
from ..lowering.functions import unique_name
from ..runtime.dtype import to_bfloat16
from .unsupported import Unsupported

Value: TypeAlias = "SSAValue[Any]"
Number: TypeAlias = int | float | bool


class Functions:
    """The private functions of an import, by name, and the symbols of sizes from data."""

    def __init__(self) -> None:
        self.made: dict[str, relax.FuncOp] = {}
        self.branches = 0
        """The number of functions that are branches; functions then have no dataflow blocks."""
        self._sizes = 0

    def new_size(self, name: str) -> IntExpr:
        """A symbol that begins with a name, and that no function has."""
        self._sizes += 1
        return sym(f"{name}_{self._sizes}")

    def unique(self, name: str) -> str:
        """A name that no function has."""
        return unique_name(name, {"main", *self.made})

    def add(self, function: relax.FuncOp) -> None:
        """Keep a function."""
        self.made[function.sym_name.data] = function


class Emitter:
    """Appends operations to a block, each with the source location of what is imported.

    `functions` are private functions that operations call.
    """

    def __init__(self, block: Block, functions: Functions | None = None):
        self.block = block
        self.functions = Functions() if functions is None else functions
        self.location: LocationAttr | None = None
        self._numbers: dict[tuple[str, str], Value] = {}

    def insert(self, op: Operation) -> None:
        """Append an operation with the source location of the node."""
        if self.location is not None:
            op.location = self.location
        self.block.add_op(op)

    def op(self, operator: str, *operands: Value, **attributes: Any) -> Value:
        """The result of an operator by its name after "relax."; `None` attributes are omitted.

        Raises Unsupported if the compiler has no such operator, ValueError if the operands do not
        match it.
        """
        known = relax.OPERATORS.get(f"relax.{operator}")
        if known is None:
            raise Unsupported(f"the compiler has no operator 'relax.{operator}'")
        given = {name: value for name, value in attributes.items() if value is not None}
        made = known.of(operands, given)
        self.insert(made)
        return made.result

    def fields(self, value: Value) -> tuple[Value, ...]:
        """The tensors of a tuple."""
        if not isinstance(value.type, TupleType):
            raise ValueError(f"expected a tuple, got {value.type}")
        return tuple(self.field(value, i) for i in range(len(value.type.types.data)))

    def field(self, value: Value, index: int) -> Value:
        """One tensor of a tuple."""
        op = relax.TupleGetItemOp(value, index)
        self.insert(op)
        return op.result

    def constant(self, data: relax.TensorData) -> Value:
        """A constant tensor."""
        op = relax.ConstantOp(data)
        self.insert(op)
        return op.result

    def number(self, value: Number | IntExpr, dtype: str) -> Value:
        """A number as a tensor of rank 0, computed at run time if it depends on symbols."""
        if isinstance(value, IntExpr):
            if value.constant is None:
                return self._symbolic_number(value, dtype)
            value = value.constant
        key = (repr(value), dtype)
        if key not in self._numbers:
            self._numbers[key] = self.constant(relax.TensorData.of(_stored(value, dtype), dtype))
        return self._numbers[key]

    def _symbolic_number(self, value: IntExpr, dtype: str) -> Value:
        vector = self.op("arange", start=value, end=value + 1, step=1, dtype="int64")
        return self.astype(self.op("reshape", vector, shape=[]), dtype)

    def astype(self, value: Value, dtype: str) -> Value:
        """The values in another dtype; the same value if it has this dtype already."""
        return value if type_of(value).dtype == dtype else self.op("astype", value, dtype=dtype)

    def as_tensor(self, value: Any, dtype: str) -> Value:
        """A tensor or a number as a tensor of a dtype."""
        return self.astype(value, dtype) if is_tensor(value) else self.number(value, dtype)

    def reshape(self, value: Value, dims: Sequence[IntExpr]) -> Value:
        """The elements in another shape."""
        if list(type_of(value).dims or ()) == list(dims) and type_of(value).dims is not None:
            return value
        return self.op("reshape", value, shape=list(dims))

    def flat(self, value: Value) -> Value:
        """The elements in one dim."""
        return self.reshape(value, [reduce(mul, dims_of(value), ONE)])

    def permute(self, value: Value, axes: Sequence[int]) -> Value:
        """The dims in another order; composes with a preceding permutation."""
        order = list(axes)
        owner = value.owner
        if isinstance(owner, relax.OPERATORS["relax.permute_dims"]):
            inner = permutation(owner)
            value, order = owner.operands[0], [inner[a] for a in order]
        if order == list(range(len(order))):
            return value
        return self.op("permute_dims", value, axes=order)

    def broadcast(self, value: Value, dims: Sequence[IntExpr]) -> Value:
        """The tensor expanded to a shape."""
        if list(type_of(value).dims or ()) == list(dims):
            return value
        return self.op("broadcast_to", value, shape=list(dims))

    def read_sizes(
        self, numbers: Value, dims: Sequence[IntExpr], limits: Sequence[IntExpr] | None = None
    ) -> list[IntExpr]:
        """Declare symbols as the numbers of an int64 vector, which are at most the limits.

        Without limits memory is allocated when calls know the sizes.
        """
        shape = relax.TensorToShapeOp(numbers, limits)
        self.insert(shape)
        self.insert(relax.MatchCastOp(shape.result, relax.ShapeType.of(dims)))
        return list(dims)

    def positions(self, x: Value, count: IntExpr | None = None) -> Value:
        """The positions of elements that are not 0, a column of int64 for each.

        Their number is `count`, by default a new symbol.
        """
        found, rank = self.op("nonzero", x), IntExpr.of(len(dims_of(x)))
        count = self.functions.new_size("nonzero_count") if count is None else count
        cast_op = relax.MatchCastOp(found, relax.TensorType.of([rank, count], i64))
        self.insert(cast_op)
        return cast_op.result

    def fitted(self, value: Value, dims: Sequence[IntExpr]) -> Value:
        """The tensor for a broadcast to a shape: its dims other than 1 equal the shape's last dims.

        Equalities that PyTorch assumes, and that are not provable, are checked at run time.
        """
        own = dims_of(value)
        shared = len(dims) - len(own)
        if shared < 0:
            return value
        wanted = [a if a == ONE else b for a, b in zip(own, dims[shared:], strict=True)]
        return self.match(value, relax.TensorType.of(wanted, element_type(dtype_of(value))))

    def match(self, value: Value, type_: relax.TensorType) -> Value:
        """The value cast to PyTorch's type; dims that are not provably equal are checked on calls.

        Raises ValueError if they cannot be equal.
        """
        if value.type == type_:
            return value
        given = type_of(value)
        pairs = zip(given.dims or (), type_.dims or (), strict=False)
        apart = any(a.is_constant and b.is_constant and a != b for a, b in pairs)
        if given.dtype != type_.dtype or given.rank not in (None, type_.rank) or apart:
            raise ValueError(f"expected the conversion to give {type_}, got {given}")
        cast_op = relax.MatchCastOp(value, type_)
        self.insert(cast_op)
        return cast_op.result


def type_of(value: Value) -> relax.TensorType:
    """The type of a tensor; raises ValueError for other values."""
    if not isinstance(value.type, relax.TensorType):
        raise ValueError(f"expected a tensor, got {value.type}")
    return value.type


def dims_of(value: Value) -> list[IntExpr]:
    """The dims of a tensor; raises ValueError if they are unknown."""
    dims = type_of(value).dims
    if dims is None:
        raise ValueError(f"expected a tensor of known shape, got {value.type}")
    return list(dims)


def dtype_of(value: Value) -> str:
    """The dtype of a tensor."""
    return type_of(value).dtype or ""


def is_tensor(value: Any) -> bool:
    """Whether an argument is a tensor rather than a number."""
    return isinstance(value, SSAValue)


def permutation(op: Operation) -> list[int]:
    """The source dim of each result dim of a `permute_dims`."""
    rank = len(dims_of(op.operands[0]))
    axes = cast("relax.OperatorOp", op).attribute_values()["axes"]
    return list(range(rank))[::-1] if axes is None else [a % rank for a in axes]


def axis_of(dim: int, rank: int) -> int:
    """An axis counted from the front."""
    return dim + rank if dim < 0 else dim


def _stored(value: Number, dtype: str) -> Any:
    if dtype == "bfloat16":
        return to_bfloat16(np.array(value, np.float32))
    if dtype in FLOATS:
        return np.array(value, dtype)
    # PyTorch's conversion truncates towards zero and wraps around.
    return np.array(int(value)).astype(dtype)
