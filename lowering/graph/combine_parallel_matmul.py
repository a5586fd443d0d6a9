"""`combine-parallel-matmul`: multiply a tensor by several matrices at once.

::

    %1 = relax.matmul %x, %a : …               %0 = relax.concat %a, %b : …     along the last axis
    %2 = relax.matmul %x, %b : …        ⇒      %3 = relax.matmul %x, %0 : …
                                               %4 = relax.split %3 : …
                                               %1 = relax.tuple_get_item %4[0]
                                               %2 = relax.tuple_get_item %4[1]

A bias and an activation that follow every one of the matmuls are combined too. Matrices of other
ranks, dtypes or batch dims stay apart. At most one has a symbolic number of columns, and is the
last. TVM's ``CombineParallelMatmul``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects import relax
from ...dialects.int_expr import IntExpr
from ...dialects.relax.operators.activation import ReluOp, SiluOp
from ...dialects.relax.operators.elementwise import AddOp
from ...dialects.relax.operators.gelu import GeluOp, GeluTanhOp
from ...dialects.relax.operators.linear_algebra import MatmulOp
from ..functions import graph_functions
from .graph_builder import GraphBuilder, dims_of, erase_unused, replace_result
from .written import Written, touches, written_values

Check: TypeAlias = Callable[[SSAValue, Sequence[SSAValue], Sequence[SSAValue]], bool]
"""Whether a tensor, some matrices, and their biases or none of them, are to be combined."""

ACTIVATIONS = (ReluOp, GeluOp, GeluTanhOp, SiluOp)


@dataclass(frozen=True)
class _Branch:
    """A matmul with the bias and the activation that follow it."""

    product: MatmulOp
    add: AddOp | None
    activation: relax.OperatorOp | None

    @property
    def columns(self) -> int | None:
        """The number of columns of the matrix; `None` if it is symbolic."""
        return _dims(self.product.rhs)[-1].constant

    @property
    def last(self) -> relax.OperatorOp:
        """The operator whose result is replaced."""
        return self.activation or self.add or self.product

    def without_activation(self) -> _Branch:
        return _Branch(self.product, self.add, None)

    def without_bias(self) -> _Branch:
        return _Branch(self.product, None, None)


def combine_parallel_matmul(module: ModuleOp, check: Check | None = None) -> None:
    """Combine the matmuls of each tensor, in place, if `check` agrees."""
    written = written_values(module)
    for func in graph_functions(module):
        groups: dict[object, list[_Branch]] = {}
        for op in func.walk():
            if isinstance(op, MatmulOp) and not touches(op, written) and _is_known(op):
                groups.setdefault(_key(op), []).append(_branch(op, written))
        for branches in groups.values():
            _combine(branches, check)


def _dims(value: SSAValue) -> tuple[IntExpr, ...]:
    """The dims of a tensor; none if they are not known."""
    return dims_of(value) or ()


def _is_known(op: MatmulOp) -> bool:
    lhs, rhs = dims_of(op.lhs), dims_of(op.rhs)
    return lhs is not None and rhs is not None and min(len(lhs), len(rhs)) >= 2


def _key(op: MatmulOp) -> object:
    """What the matmuls that may be combined share."""
    assert isinstance(op.rhs.type, relax.TensorType)
    dims = _dims(op.rhs)
    attributes = tuple(op.attribute_values().items())
    return op.lhs, op.parent, len(dims), dims[:-2], op.rhs.type.dtype, attributes


def _branch(op: MatmulOp, written: Written) -> _Branch:
    add = _only_user(op, written)
    columns, bias = _dims(op.rhs)[-1], None
    if isinstance(add, AddOp) and add.lhs is op.result:
        bias = dims_of(add.rhs)
    if not bias or bias[-1] != columns or not isinstance(add, AddOp):
        add = None
    activation = _only_user(op if add is None else add, written)
    if not isinstance(activation, ACTIVATIONS):
        activation = None
    return _Branch(op, add, activation)


def _only_user(op: relax.OperatorOp, written: Written) -> Operation | None:
    users = [use.operation for use in op.result.uses]
    if len(users) != 1 or users[0].parent is not op.parent or touches(users[0], written):
        return None
    return users[0]


def _combine(branches: list[_Branch], check: Check | None) -> None:
    block = branches[0].product.parent
    if len(branches) < 2 or block is None:
        return
    positions = {op: i for i, op in enumerate(block.ops)}
    branches = _followed_alike(branches)
    branches.sort(key=lambda b: b.columns is None)  # a stable sort
    static = sum(b.columns is not None for b in branches)
    branches = branches[: static + 1]
    first = min((b.last for b in branches), key=positions.__getitem__)
    branches = [b for b in branches if all(_is_before(v, first, positions) for v in _operands(b))]
    if len(branches) < 2:
        return
    matrices = [b.product.rhs for b in branches]
    biases = [b.add.rhs for b in branches if b.add is not None]
    if check is not None and not check(branches[0].product.lhs, matrices, biases):
        return
    _replace(branches, matrices, biases, min((b.last for b in branches), key=positions.__getitem__))


def _followed_alike(branches: list[_Branch]) -> list[_Branch]:
    """The branches without biases and activations that not all of them have."""
    kinds = {type(b.activation) for b in branches}
    biases = [b.add for b in branches if b.add is not None]
    shapes = {_dims(a.rhs)[:-1] for a in biases}
    if biases and (len(biases) < len(branches) or len(shapes) > 1):
        return [b.without_bias() for b in branches]
    return branches if len(kinds) == 1 else [b.without_activation() for b in branches]


def _operands(branch: _Branch) -> list[SSAValue]:
    return [branch.product.rhs, *([branch.add.rhs] if branch.add is not None else [])]


def _is_before(value: SSAValue, op: Operation, positions: dict[Operation, int]) -> bool:
    """Whether a value is defined when an operation runs."""
    owner = value.owner
    if isinstance(owner, Block) or owner.parent is not op.parent:
        return True
    return positions[owner] < positions[op]


def _replace(
    branches: list[_Branch], matrices: list[SSAValue], biases: list[SSAValue], first: Operation
) -> None:
    build, product = GraphBuilder(first), branches[0].product
    rank = len(_dims(product.rhs))
    attributes = product.attribute_values()
    assert isinstance(product.result.type, relax.TensorType)
    found = build(
        "matmul",
        product.lhs,
        build("concat", *matrices, axis=rank - 1),
        **attributes | {"out_dtype": product.result.type.dtype},
    )
    if biases:
        axis = len(_dims(biases[0])) - 1
        found = build("add", found, build("concat", *biases, axis=axis))
    if (activation := branches[0].activation) is not None:
        name = activation.name.removeprefix("relax.")
        found = build(name, found, **activation.attribute_values())
    ends = [*accumulate(b.columns or 0 for b in branches[:-1])]
    axis = len(_dims(found)) - 1
    parts = build("split", found, indices_or_sections=ends, axis=axis)
    for position, branch in enumerate(branches):
        item = relax.TupleGetItemOp(parts, position)
        rest = [op for op in (branch.add, branch.product) if op is not None and op != branch.last]
        replace_result(branch.last, GraphBuilder(branch.last).inserted(item))
        erase_unused([op.result for op in rest])


@dataclass(frozen=True)
class CombineParallelMatmulPass(ModulePass):
    """Multiply a tensor by several matrices at once."""

    name = "combine-parallel-matmul"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        combine_parallel_matmul(op)
