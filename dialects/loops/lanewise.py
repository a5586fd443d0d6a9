"""Operations of `arith` on vectors, for those that xDSL restricts to scalars.

In MLIR, ``arith.cmpf``, ``arith.select`` and conversions support vectors. xDSL's verifiers do not,
so a vector form names the scalar operation. Each lane has the semantics of the scalar operation:
its operand types, its properties, and its results where LLVM's would be undefined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import DictionaryAttr, StringAttr, VectorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import (
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..irdl import IRDLOperation, irdl_op_definition
from ..llvm_ext.types import element_type

LANEWISE: dict[str, type[Operation]] = {
    kind.name: kind
    for kind in (
        arith.CmpfOp,
        arith.CmpiOp,
        arith.ExtSIOp,
        arith.ExtUIOp,
        arith.FPToSIOp,
        arith.FPToUIOp,
        arith.IndexCastOp,
        arith.SIToFPOp,
        arith.SelectOp,
        arith.TruncIOp,
        arith.UIToFPOp,
    )
}
"""The scalar operations by name; all are pure and cannot trap."""


@irdl_op_definition
class LanewiseOp(IRDLOperation):
    """A scalar operation of `LANEWISE`, applied to each lane of vectors of equal length.

    ``%c = loops.lanewise "arith.cmpf"(%x, %y) {predicate = 4 : i64} : (vector<16xf32>,
    vector<16xf32>) -> vector<16xi1>``
    """

    name = "loops.lanewise"
    operation = prop_def(StringAttr)
    inputs = var_operand_def(VectorType)
    options = opt_prop_def(DictionaryAttr)
    result = result_def(VectorType)
    traits = traits_def(Pure())
    assembly_format = (
        "$operation `(` $inputs `)` ($options^)? attr-dict `:` functional-type($inputs, $result)"
    )

    def __init__(
        self,
        operation: str,
        inputs: Sequence[SSAValue],
        result_type: Attribute,
        options: Mapping[str, Attribute] | None = None,
    ):
        super().__init__(
            operands=[list(inputs)],
            properties={
                "operation": StringAttr(operation),
                "options": DictionaryAttr(options) if options else None,
            },
            result_types=[result_type],
        )

    def applied(self, inputs: Sequence[SSAValue], result_type: Attribute) -> Operation:
        """Create the named operation on other values; the caller must erase it.

        Raises KeyError for an operation without a vector form.
        """
        options: Mapping[str, Attribute] = {} if self.options is None else self.options.data
        return LANEWISE[self.operation.data].create(
            operands=inputs, result_types=[result_type], properties=options
        )

    def verify_(self) -> None:
        name = self.operation.data
        if name not in LANEWISE:
            raise VerifyException(f"expected one of {', '.join(LANEWISE)}, got '{name}'")
        shapes = {cast(VectorType, v.type).get_shape() for v in (*self.inputs, self.result)}
        if len(shapes) != 1 or len(next(iter(shapes))) != 1:
            types = ", ".join(str(v.type) for v in (*self.inputs, self.result))
            raise VerifyException(f"expected vectors of one dim and of one length, got {types}")
        elements = Block(arg_types=[element_type(v.type) for v in self.inputs])
        scalar = self.applied(elements.args, element_type(self.result.type))
        try:
            scalar.verify()
        except VerifyException as error:
            text = str(error).strip().splitlines()[-1].strip()
            raise VerifyException(f"expected lanes for which '{name}' is valid: {text}") from None
        finally:
            scalar.erase()
