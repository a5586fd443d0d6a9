"""`expand-matmul-of-sum`: multiply by each summand of a weight, and add the products.

::

    %0 = relax.add %a, %b : …                  %0 = relax.matmul %x, %a : …
    %1 = relax.matmul %x, %0 : …       ⇒       %1 = relax.matmul %x, %b : …
                                               %2 = relax.add %0, %1 : …

The sum may also be transposed. This is quicker where a summand is a product of thin matrices, as
for low-rank adapters, with `adjust-matmul-order`. A sum that is known before the inputs, by the
attribute `num_input`, is kept: it is computed once. TVM's ``ExpandMatmulOfSum``.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ...dialects.relax.operators.elementwise import AddOp
from ...dialects.relax.operators.linear_algebra import MatmulOp
from ...dialects.relax.operators.manipulation import PermuteDimsOp
from ..functions import graph_functions
from .compile_time import CompileTime
from .graph_builder import GraphBuilder, dims_of, erase_unused, replace_result
from .written import Written, touches, written_values


def _expand(op: MatmulOp, known: CompileTime, written: Written) -> None:
    transposed = op.rhs.owner if isinstance(op.rhs.owner, PermuteDimsOp) else None
    total = op.rhs if transposed is None else transposed.data
    sum_ = total.owner
    if not isinstance(sum_, AddOp) or total in known or touches(sum_, written):
        return
    shapes = [dims_of(v) for v in (sum_.lhs, sum_.rhs, total)]
    if shapes[0] is None or shapes[1:] != shapes[:1] * 2:
        return
    build = GraphBuilder(op)

    def product(weight: SSAValue) -> SSAValue:
        if transposed is not None:
            weight = build("permute_dims", weight, **transposed.attribute_values())
        return build("matmul", op.lhs, weight, **op.attribute_values())

    old = op.rhs
    lhs = product(sum_.lhs)
    replace_result(op, build("add", lhs, product(sum_.rhs)))
    erase_unused([old])


@dataclass(frozen=True)
class ExpandMatmulOfSumPass(ModulePass):
    """Replace a matmul with a sum by the sum of matmuls."""

    name = "expand-matmul-of-sum"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        written = written_values(op)
        for func in graph_functions(op):
            known = CompileTime.of(func)
            for product in [o for o in func.walk() if isinstance(o, MatmulOp)]:
                _expand(product, known, written)
