"""Reductions of a scalar and all lanes of vectors, and the combining operation of each kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, TypeAlias, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, VectorType
from xdsl.dialects.utils import FastMathFlag
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    VarConstraint,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from ..irdl import IRDLOperation, irdl_op_definition

Combiner: TypeAlias = (
    type[arith.FloatingPointLikeBinaryOperation] | type[arith.SignlessIntegerBinaryOperation]
)

COMBINING_KINDS: dict[Combiner, str] = {
    arith.AddfOp: "add",
    arith.AddiOp: "add",
    arith.AndIOp: "and",
    arith.MaxSIOp: "maxsi",
    arith.MaxUIOp: "maxui",
    arith.MaximumfOp: "maximumf",
    arith.MaxnumfOp: "maxnumf",
    arith.MinSIOp: "minsi",
    arith.MinUIOp: "minui",
    arith.MinimumfOp: "minimumf",
    arith.MinnumfOp: "minnumf",
    arith.MulfOp: "mul",
    arith.MuliOp: "mul",
    arith.OrIOp: "or",
    arith.XOrIOp: "xor",
}
"""The combining kind of each operation on two values."""

_COMBINERS = {
    (k, issubclass(op, arith.FloatingPointLikeBinaryOperation)): op
    for op, k in COMBINING_KINDS.items()
}


def combiner_of(kind: CombiningKindAttr, element: Attribute) -> Combiner | None:
    """The operation that combines two elements; `None` if the element type has none."""
    return _COMBINERS.get((kind.data.value, isa(element, AnyFloat)))


@irdl_op_definition
class MultiReductionOp(IRDLOperation):
    """Reduce a value and all lanes of vectors, in any order; MLIR's `vector.multi_reduction`.

    ``%t = loops.multi_reduction <add>, %s, %v, %w fastmath<reassoc> : f32, vector<16xf32>,
    vector<4xf32>``. Floats need the flag ``reassoc``, since the order is unspecified.
    """

    name = "loops.multi_reduction"
    _T: ClassVar = VarConstraint("T", AnyAttr())
    kind = prop_def(CombiningKindAttr)
    acc = operand_def(_T)
    vectors = var_operand_def(VectorType.constr(_T))
    fastmath = opt_prop_def(arith.FastMathFlagsAttr)
    result = result_def(_T)
    traits = traits_def(Pure())
    assembly_format = (
        "$kind `,` $acc `,` $vectors (`fastmath` `` $fastmath^)? attr-dict"
        " `:` type($acc) `,` type($vectors)"
    )

    def __init__(
        self,
        combiner: Combiner,
        acc: SSAValue,
        vectors: Sequence[SSAValue],
        fastmath: arith.FastMathFlagsAttr | None = None,
    ):
        super().__init__(
            operands=[acc, list(vectors)],
            properties={
                "kind": CombiningKindAttr(CombiningKindFlag(COMBINING_KINDS[combiner])),
                "fastmath": fastmath,
            },
            result_types=[acc.type],
        )

    @property
    def combiner(self) -> Combiner:
        """The operation that combines two values."""
        found = combiner_of(self.kind, self.acc.type)
        assert found is not None
        return found

    def verify_(self) -> None:
        if not self.vectors:
            raise VerifyException("expected a vector, got none")
        for vector in self.vectors:
            if len(cast(VectorType, vector.type).get_shape()) != 1:
                raise VerifyException(f"expected vectors of one dim, got {vector.type}")
        if combiner_of(self.kind, self.acc.type) is None:
            raise VerifyException(
                f"expected a reduction of {self.acc.type}, got '{self.kind.data.value}'"
            )
        flags = () if self.fastmath is None else self.fastmath.data
        if isa(self.acc.type, AnyFloat) and FastMathFlag.REASSOC not in flags:
            raise VerifyException("expected fastmath with reassoc for floats in any order")
