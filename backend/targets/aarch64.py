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
    fuses: bool = True

    def dot(self, lhs_unsigned: bool, rhs_unsigned: bool, vector_bits: int) -> str | None:
        """`sdot`, `udot`, or `usdot`, of unsigned and signed bytes."""
        names = {(False, False): "sdot", (True, True): "udot", (True, False): "usdot"}
        name = names.get((lhs_unsigned, rhs_unsigned))
        if name not in self.dots or vector_bits != self.vector_bits:
            return None
        return f"llvm.aarch64.neon.{name}.v4i32.v16i8"


class AArch64(Architecture):
    """Instruction sets are distinguished by the instructions in the code of `probe`."""

    def instruction_set(self, assembly: str) -> InstructionSet:
        """The instruction set whose dot products are in the assembly."""
        names = {"usdot"} if re.search(r"\tusdot\b", assembly) else set[str]()
        if re.search(r"\tsdot\b", assembly):
            names |= {"sdot", "udot"}
        return NEON(converts_f16=self.converts_f16(assembly), dots=frozenset(names))


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

ARCHITECTURE = AArch64(
    names=("aarch64", "arm64", "arm64e"),
    probe=Architecture.probe
    + _DECLARATION
    + "".join(_PROBE.format(extension=e) for e in ("sext", "zext")),
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
