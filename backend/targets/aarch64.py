"""AArch64 with NEON, which is part of the base architecture."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .architecture import Architecture, InstructionSet, ThreadCode


@dataclass(frozen=True, kw_only=True)
class NEON(InstructionSet):
    """Vectors of 128 bits; `dots` are the names of its dot products of bytes.

    FEAT_DotProd has those of bytes with the same sign, FEAT_I8MM the other.
    """

    dots: frozenset[str] = frozenset()
    bfdots: bool = False
    """Whether there are dot products of bf16, by FEAT_BF16."""
    fuses: bool = True

    def dot(self, lhs_unsigned: bool, rhs_unsigned: bool, vector_bits: int) -> str | None:
        """`sdot`, `udot`, or `usdot`, of unsigned and signed bytes."""
        names = {(False, False): "sdot", (True, True): "udot", (True, False): "usdot"}
        name = names.get((lhs_unsigned, rhs_unsigned))
        if name not in self.dots or vector_bits != self.vector_bits:
            return None
        return f"llvm.aarch64.neon.{name}.v4i32.v16i8"

    def matrix_dot(self, lhs_unsigned: bool, rhs_unsigned: bool) -> str | None:
        """`smmla`, `ummla`, or `usmmla`, which FEAT_I8MM has beside `usdot`."""
        names = {(False, False): "smmla", (True, True): "ummla", (True, False): "usmmla"}
        name = names.get((lhs_unsigned, rhs_unsigned))
        return f"llvm.aarch64.neon.{name}.v4i32.v16i8" if name and "usdot" in self.dots else None

    def matrix_bfdot(self) -> str | None:
        """`bfmmla`, which FEAT_BF16 has beside `bfdot`."""
        return "llvm.aarch64.neon.bfmmla" if self.bfdots else None

    def pair_sums(self, is_unsigned: bool, vector_bits: int) -> str | None:
        """`saddlp` or `uaddlp`; of products of bytes, with `smull` or `umull`."""
        if vector_bits != self.vector_bits:
            return None
        return f"llvm.aarch64.neon.{'u' if is_unsigned else 's'}addlp.v4i32.v8i16"

    def bfdot(self, vector_bits: int) -> str | None:
        """`bfdot`."""
        is_there = self.bfdots and vector_bits == self.vector_bits
        return "llvm.aarch64.neon.bfdot.v4f32.v8bf16" if is_there else None


class AArch64(Architecture):
    """Instruction sets are distinguished by the instructions in the code of `probe`."""

    def instruction_set(self, assembly: str) -> InstructionSet:
        """The instruction set whose dot products are in the assembly."""
        names = {"usdot"} if re.search(r"\tusdot\b", assembly) else set[str]()
        if re.search(r"\tsdot\b", assembly):
            names |= {"sdot", "udot"}
        bfdots = re.search(r"\tbfcvt\b", assembly) is not None
        converts_f16 = self.converts_f16(assembly)
        return NEON(converts_f16=converts_f16, dots=frozenset(names), bfdots=bfdots)


_PROBE = """
define <4 x i32> @dot_{extension}(<4 x i32> %sum, <16 x i8> %a, <16 x i8> %b) {{
  %x = {extension} <16 x i8> %a to <16 x i32>
  %y = sext <16 x i8> %b to <16 x i32>
  %z = mul <16 x i32> %x, %y
  %dot = call <4 x i32> @llvm.vector.partial.reduce.add.v4i32.v16i32(<4 x i32> %sum, <16 x i32> %z)
  ret <4 x i32> %dot
}}
"""
_DECLARATION = (
    "declare <4 x i32> @llvm.vector.partial.reduce.add.v4i32.v16i32(<4 x i32>, <16 x i32>)\n"
)

_BFLOAT = """
define bfloat @narrow(float %x) {
  %y = fptrunc float %x to bfloat
  ret bfloat %y
}
"""

ARCHITECTURE = AArch64(
    names=("aarch64", "arm64", "arm64e"),
    probe=Architecture.probe
    + _DECLARATION
    + "".join(_PROBE.format(extension=e) for e in ("sext", "zext"))
    + _BFLOAT,
    threads=ThreadCode(
        declarations="declare void @llvm.aarch64.hint(i32)\n"
        "declare i64 @llvm.aarch64.get.fpcr()\ndeclare void @llvm.aarch64.set.fpcr(i64)",
        pause="call void @llvm.aarch64.hint(i32 1)",
        get_float_state="%fpcr = call i64 @llvm.aarch64.get.fpcr()\n"
        "  store i64 %fpcr, ptr {float_state}",
        set_float_state="%fpcr = load i64, ptr {float_state}\n"
        "  call void @llvm.aarch64.set.fpcr(i64 %fpcr)",
        futex=98,
    ),
)
