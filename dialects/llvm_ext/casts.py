"""Conversions between integers, floats and pointers."""

from math import prod

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from .types import element_type, lanes, sort


class CastKind(StrEnum):
    """The LLVM instruction of a cast."""

    SITOFP = "sitofp"
    UITOFP = "uitofp"
    FPTOSI = "fptosi"
    FPTOUI = "fptoui"
    FPEXT = "fpext"
    FPTRUNC = "fptrunc"
    BITCAST = "bitcast"
    PTRTOINT = "ptrtoint"
    INTTOPTR = "inttoptr"


@irdl_attr_definition
class CastKindAttr(EnumAttribute[CastKind], SpacedOpaqueSyntaxAttribute):
    """The kind of a cast: `#llvm_ext<cast_kind fptosi>`."""

    name = "llvm_ext.cast_kind"


_CAST_SIDES: dict[CastKind, tuple[str, str]] = {
    CastKind.SITOFP: ("integer", "float"),
    CastKind.UITOFP: ("integer", "float"),
    CastKind.FPTOSI: ("float", "integer"),
    CastKind.FPTOUI: ("float", "integer"),
    CastKind.FPEXT: ("float", "float"),
    CastKind.FPTRUNC: ("float", "float"),
    CastKind.PTRTOINT: ("pointer", "integer"),
    CastKind.INTTOPTR: ("integer", "pointer"),
}


def element_bits(type: Attribute) -> int:
    element = element_type(type)
    return element.bitwidth if isinstance(element, FixedBitwidthType) else 0


@irdl_op_definition
class CastOp(IRDLOperation):
    """A conversion between integers, floats and pointers, elementwise on vectors.

    `%r = llvm_ext.cast fptosi %x : vector<8xf32> to vector<8xi32>`

    Conversions to bf16, and from f64 to f16, round to nearest even on every target. They are
    expanded where LLVM would call the compiler's runtime library, which a JIT lacks.
    """

    name = "llvm_ext.cast"

    kind = prop_def(CastKindAttr)
    arg = operand_def()
    res = result_def()

    traits = traits_def(Pure())

    assembly_format = "$kind $arg attr-dict `:` type($arg) `to` type($res)"

    def __init__(self, kind: CastKind, arg: SSAValue | Operation, result_type: Attribute):
        super().__init__(
            operands=[arg], result_types=[result_type], properties={"kind": CastKindAttr(kind)}
        )

    def verify_(self) -> None:
        source, result, kind = self.arg.type, self.res.type, self.kind.data
        if kind == CastKind.BITCAST:
            return self._verify_bitcast()
        if (sort(source), sort(result)) != _CAST_SIDES[kind]:
            expected = " to ".join(_CAST_SIDES[kind])
            raise VerifyException(f"expected {kind} from {expected}, got {source} to {result}")
        if lanes(source) != lanes(result):
            raise VerifyException(f"expected {kind} to keep the shape, got {source} to {result}")
        bits = element_bits(source), element_bits(result)
        if kind == CastKind.FPEXT and bits[0] >= bits[1]:
            raise VerifyException(f"expected fpext to a wider float, got {source} to {result}")
        if kind == CastKind.FPTRUNC and bits[0] <= bits[1]:
            raise VerifyException(f"expected fptrunc to a narrower float, got {source} to {result}")

    def _verify_bitcast(self) -> None:
        source, result = self.arg.type, self.res.type
        bits = [element_bits(type) * prod(lanes(type)) for type in (source, result)]
        if bits[0] != bits[1] or not bits[0]:
            raise VerifyException(
                f"expected bitcast between types of the same width, got {source} to {result}"
            )
