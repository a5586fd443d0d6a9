"""Calls of intrinsics and calls through pointers, which `llvm.call` lacks."""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, IntegerType, StringAttr, VectorType, i1
from xdsl.dialects.llvm import FastMathAttr, LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    opt_result_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind
from xdsl.utils.exceptions import VerifyException

from .types import FLOAT_TYPES, element_type, like, verify_fastmath

RESULT = -1
"""The position of the result in `Signature.mangled`; operands count from zero."""

_PURE: frozenset[MemoryEffectKind] = frozenset()
_READ = frozenset({MemoryEffectKind.READ})
_WRITE = frozenset({MemoryEffectKind.WRITE})
_READ_WRITE = _READ | _WRITE


@dataclass(frozen=True, slots=True)
class Signature:
    """The types of an intrinsic; `mangled` are the positions whose types are part of its name.

    A signature has one letter for each operand, then one for the result. Equal letters stand for
    equal types:

        F     float, or vector of floats        V  any vector, E its element, M its i1 mask
        I     integer, or vector of integers    G  vector of pointers
        P, Q  pointer                           L  scalar integer
        B     i1                                Y  i8
        C     i32                               K  i64
        N     vector of i1                      O  (I, i1) struct of an overflow check
        T     i1 in the shape of F
    """

    operands: str
    result: str
    mangled: tuple[int, ...]
    effects: frozenset[MemoryEffectKind]

    def verify(self, name: str, operands: Sequence[Attribute], results: Sequence[Attribute]):
        """Raise VerifyException unless the types match."""
        if len(operands) != len(self.operands):
            raise VerifyException(
                f"expected '{name}' to have {len(self.operands)} operands, got {len(operands)}"
            )
        if len(results) != len(self.result):
            raise VerifyException(
                f"expected '{name}' to have {len(self.result)} results, got {len(results)}"
            )
        bound: dict[str, Attribute] = {}
        places = [(f"operand #{i}", *pair) for i, pair in enumerate(zip(self.operands, operands))]
        places += [("the result", *pair) for pair in zip(self.result, results)]
        for place, letter, type in sorted(places, key=lambda place: place[1] in _DEPENDENT):
            _bind(f"{place} of '{name}'", letter, type, bound)


def _bind(place: str, letter: str, type: Attribute, bound: dict[str, Attribute]):
    expected = bound.get(letter)
    if expected is None and letter in _DEPENDENT:
        expected = _DEPENDENT[letter](bound)
    if expected is not None and expected != type:
        raise VerifyException(f"expected {place} to have type {expected}, got {type}")
    if expected is None and not _CLASSES[letter][1](type):
        raise VerifyException(f"expected {place} to be {_CLASSES[letter][0]}, got {type}")
    bound[letter] = type


def _is_integer(*widths: int) -> Callable[[Attribute], bool]:
    return lambda t: isinstance(t, IntegerType) and (not widths or t.bitwidth in widths)


def _is_pointer(type: Attribute) -> bool:
    return isinstance(type, LLVMPointerType)


def _is_vector(type: Attribute) -> bool:
    return isinstance(type, VectorType)


_Class = tuple[str, Callable[[Attribute], bool]]

_FLOAT: _Class = (
    "a float or a vector of floats",
    lambda t: isinstance(element_type(t), FLOAT_TYPES),
)
_INTEGER: _Class = ("an integer or a vector of integers", lambda t: _is_integer()(element_type(t)))
_POINTER: _Class = ("a pointer", _is_pointer)

_CLASSES: dict[str, _Class] = {
    "F": _FLOAT,
    "I": _INTEGER,
    "P": _POINTER,
    "Q": _POINTER,
    "V": ("a vector", _is_vector),
    "G": ("a vector of pointers", lambda t: _is_vector(t) and _is_pointer(element_type(t))),
    "N": ("a vector of i1", lambda t: _is_vector(t) and element_type(t) == i1),
    "L": ("an integer", _is_integer()),
    "B": ("i1", _is_integer(1)),
    "Y": ("i8", _is_integer(8)),
    "C": ("i32", _is_integer(32)),
    "K": ("i64", _is_integer(64)),
}

_DEPENDENT: dict[str, Callable[[dict[str, Attribute]], Attribute]] = {
    "E": lambda bound: element_type(bound["V"]),
    "M": lambda bound: like(bound["V"], i1),
    "T": lambda bound: like(bound["F"], i1),
    "O": lambda bound: LLVMStructType.from_type_list([bound["I"], like(bound["I"], i1)]),
}


def _signature(line: str, mangled: str, effects: frozenset[MemoryEffectKind]) -> Signature:
    operands, _, result = line.replace(" ", "").partition("->")
    positions = (operands.find(letter) for letter in mangled)  # -1, not found, is RESULT
    return Signature(operands, result, tuple(positions), effects)


def _family(
    names: str, line: str, mangled: str, effects: frozenset[MemoryEffectKind] = _PURE
) -> dict[str, Signature]:
    signature = _signature(line, mangled, effects)
    return {f"llvm.{name}": signature for name in names.split()}


SIGNATURES: Mapping[str, Signature] = {
    **_family("fabs sqrt sin cos tan asin acos atan sinh cosh tanh", "F -> F", "F"),
    **_family("exp exp2 exp10 log log2 log10 canonicalize", "F -> F", "F"),
    **_family("arithmetic.fence", "F -> F", "F"),
    **_family("floor ceil trunc rint nearbyint round roundeven", "F -> F", "F"),
    **_family("pow atan2 copysign maxnum minnum maximum minimum", "F F -> F", "F"),
    **_family("maximumnum minimumnum", "F F -> F", "F"),
    **_family("fma fmuladd", "F F F -> F", "F"),
    **_family("powi ldexp", "F I -> F", "FI"),
    **_family("fptosi.sat fptoui.sat lrint llrint lround llround", "F -> I", "IF"),
    **_family("is.fpclass", "F C -> T", "F"),
    **_family("smax smin umax umin", "I I -> I", "I"),
    **_family("sadd.sat uadd.sat ssub.sat usub.sat sshl.sat ushl.sat expect", "I I -> I", "I"),
    **_family("ctpop bswap bitreverse", "I -> I", "I"),
    **_family("abs ctlz cttz", "I B -> I", "I"),
    **_family("fshl fshr", "I I I -> I", "I"),
    **_family("sadd.with.overflow uadd.with.overflow ssub.with.overflow", "I I -> O", "I"),
    **_family("usub.with.overflow smul.with.overflow umul.with.overflow", "I I -> O", "I"),
    **_family("vector.reduce.add vector.reduce.mul vector.reduce.and", "V -> E", "V"),
    **_family("vector.reduce.or vector.reduce.xor", "V -> E", "V"),
    **_family("vector.reduce.smax vector.reduce.smin", "V -> E", "V"),
    **_family("vector.reduce.umax vector.reduce.umin", "V -> E", "V"),
    **_family("vector.reduce.fmax vector.reduce.fmin", "V -> E", "V"),
    **_family("vector.reduce.fmaximum vector.reduce.fminimum", "V -> E", "V"),
    **_family("vector.reduce.fadd vector.reduce.fmul", "E V -> E", "V"),
    **_family("vector.reverse", "V -> V", "V"),
    **_family("stepvector", "-> I", "I"),
    **_family("get.active.lane.mask", "L L -> N", "NL"),
    **_family("masked.load", "P M V -> V", "VP", _READ),
    **_family("masked.store", "V P M ->", "VP", _WRITE),
    **_family("masked.gather", "G M V -> V", "VG", _READ),
    **_family("masked.scatter", "V G M ->", "VG", _WRITE),
    **_family("masked.expandload", "P M V -> V", "V", _READ),
    **_family("masked.compressstore", "V P M ->", "V", _WRITE),
    **_family("memcpy memmove memcpy.inline", "P Q L B ->", "PQL", _READ_WRITE),
    **_family("memset memset.inline", "P Y L B ->", "PL", _WRITE),
    **_family("prefetch", "P C C C ->", "P", _READ_WRITE),
    **_family("lifetime.start lifetime.end", "P ->", "P", _READ_WRITE),
    **_family("stacksave", "-> P", "P", _READ_WRITE),
    **_family("stackrestore", "P ->", "P", _READ_WRITE),
    **_family("assume", "B ->", "", _READ_WRITE),
    **_family("trap debugtrap sideeffect", "->", "", _READ_WRITE),
    **_family("readcyclecounter readsteadycounter", "-> K", "", _READ_WRITE),
}
"""The signatures of known intrinsics by name without type suffixes, such as `llvm.fma`."""


class _IntrinsicEffects(MemoryEffect):
    """The memory effects of an intrinsic from the table; unknown if it has explicit overloads."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance] | None:
        assert isinstance(op, IntrinsicOp)
        signature = SIGNATURES.get(op.intrinsic.data)
        return None if signature is None else {EffectInstance(kind) for kind in signature.effects}


@irdl_op_definition
class IntrinsicOp(IRDLOperation):
    """A call of an LLVM intrinsic by its name without types; the backend appends them.

    `%r = llvm_ext.intrinsic "llvm.maximum"(%a, %b) fastmath<nsz> : (f32, f32) -> f32`

    The types of intrinsics in `SIGNATURES` are verified. Any other intrinsic lists the types in its
    name: `overloads [f32]`, or `overloads []` for none. `align n` is the alignment of all pointer
    operands in bytes.
    """

    name = "llvm_ext.intrinsic"

    intrinsic = prop_def(StringAttr)
    args = var_operand_def()
    fastmath = opt_prop_def(FastMathAttr, prop_name="fastmathFlags")
    alignment = opt_prop_def(IntegerAttr[IntegerType])
    overloads = opt_prop_def(ArrayAttr[Attribute])
    res = opt_result_def()

    traits = traits_def(_IntrinsicEffects())

    assembly_format = (
        "$intrinsic `(` $args `)` (`fastmath` $fastmathFlags^)? (`align` $alignment^)?"
        " (`overloads` $overloads^)? attr-dict `:` functional-type($args, results)"
    )

    def __init__(
        self,
        intrinsic: str,
        args: Sequence[SSAValue | Operation],
        result_type: Attribute | None = None,
        *,
        fastmath: FastMathAttr | None = None,
        alignment: int | None = None,
        overloads: Sequence[Attribute] | None = None,
    ):
        super().__init__(
            operands=[args],
            result_types=[result_type],
            properties={
                "intrinsic": StringAttr(intrinsic),
                "fastmathFlags": fastmath,
                "alignment": None if alignment is None else IntegerAttr(alignment, 64),
                "overloads": None if overloads is None else ArrayAttr(overloads),
            },
        )

    def verify_(self) -> None:
        name = self.intrinsic.data
        signature = SIGNATURES.get(name)
        if self.overloads is None and signature is None:
            raise VerifyException(f"expected a known intrinsic or overloads, got '{name}'")
        if self.overloads is None and signature is not None:
            signature.verify(name, self.operand_types, self.result_types)
        if self.alignment is not None and self.alignment.value.data.bit_count() != 1:
            raise VerifyException(
                f"expected the alignment of '{name}' to be a power of two,"
                f" got {self.alignment.value.data}"
            )
        verify_fastmath(name, self.fastmath, self.res.type if self.res is not None else None)


@irdl_op_definition
class CallPtrOp(IRDLOperation):
    """A call through a pointer, in the C calling convention.

    `%r = llvm_ext.call_ptr %f(%a, %b) : (i64, !llvm.ptr) -> i32`
    """

    name = "llvm_ext.call_ptr"

    callee = operand_def(LLVMPointerType())
    args = var_operand_def()
    res = opt_result_def()

    assembly_format = "$callee `(` $args `)` attr-dict `:` functional-type($args, results)"

    def __init__(
        self,
        callee: SSAValue | Operation,
        args: Sequence[SSAValue | Operation],
        result_type: Attribute | None = None,
    ):
        super().__init__(operands=[callee, args], result_types=[result_type])
