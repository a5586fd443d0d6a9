"""x86-64 with SSE2, which is part of the base architecture, AVX and AVX2, or AVX-512."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from .architecture import Architecture, InstructionSet, Intrinsic, NontemporalStores, ThreadCode
from .machine_model import ZEN3_AVX2, ZEN4_AVX512, ZEN_AVX512, MachineModel

_STORES = NontemporalStores(least_bytes=16, fence="llvm.x86.sse.sfence")


@dataclass(frozen=True, kw_only=True)
class SSE2(InstructionSet):
    """Maxima and minima return the second operand if one is NaN; time stamps run at 2 to 5 GHz."""

    vector_registers: int = 16
    saturates_vectors: bool = False
    propagates_nan: bool = False
    nontemporal: NontemporalStores | None = _STORES
    counter: str = "llvm.readcyclecounter"
    counter_interval: int = 1 << 25

    pair_bits: int = 128
    """The widest vectors of i16, of which products are summed: AVX-512 has them with AVX512BW."""

    def pair_products(self, vector_bits: int) -> str | None:
        """`pmaddwd`."""
        return _PAIR_PRODUCTS.get(vector_bits) if vector_bits <= self.pair_bits else None


_PAIR_PRODUCTS = {
    128: "llvm.x86.sse2.pmadd.wd",
    256: "llvm.x86.avx2.pmadd.wd",
    512: "llvm.x86.avx512.pmaddw.d.512",
}


@dataclass(frozen=True, kw_only=True)
class AVX2(SSE2):
    """Vectors of 256 bits, masked accesses to elements of 32 and 64 bits; AVX has these too.

    `dots`: the widths of vectors with dot products of bytes, by AVX-VNNI or AVX512-VNNI; `bfdots`:
    of those with dot products of bf16, by AVX512-BF16.
    """

    vector_bits: int = 256
    dots: tuple[int, ...] = ()
    bfdots: tuple[int, ...] = ()
    masked_bits: int | None = 32
    model: MachineModel = ZEN3_AVX2

    def dot(self, lhs_unsigned: bool, rhs_unsigned: bool, vector_bits: int) -> str | None:
        """`vpdpbusd`, of unsigned and signed bytes."""
        if vector_bits not in self.dots or (lhs_unsigned, rhs_unsigned) != (True, False):
            return None
        return f"llvm.x86.avx512.vpdpbusd.{vector_bits}"

    def bfdot(self, vector_bits: int) -> str | None:
        """`vdpbf16ps`."""
        is_there = vector_bits in self.bfdots
        return f"llvm.x86.avx512bf16.dpbf16ps.{vector_bits}" if is_there else None


@dataclass(frozen=True, kw_only=True)
class AVX512(AVX2):
    """Vectors of 512 bits; `scales`: `vscalef` also works on shorter ones, with AVX512VL."""

    vector_bits: int = 512
    vector_registers: int = 32
    masked_bits: int | None = 8
    unmasks_loads: bool = True
    scales: bool = True
    model: MachineModel = ZEN_AVX512

    def scale(self, element_bits: int, vector_bits: int) -> Intrinsic | None:
        """`vscalef`, which takes a mask, and for whole registers the rounding: the current one."""
        if not self.scales or vector_bits not in (128, 256, 512):
            return None
        mask = (max(vector_bits // element_bits, 8), -1)
        name = f"llvm.x86.avx512.mask.scalef.p{_LETTERS[element_bits]}.{vector_bits}"
        return Intrinsic(name, (mask, (32, 4)) if vector_bits == 512 else (mask,))

    def select_lanes(self, element_bits: int, vector_bits: int) -> str | None:
        """`vpermps` and `vpermpd` of 512 bits."""
        if vector_bits != 512 or element_bits not in _LETTERS:
            return None
        return f"llvm.x86.avx512.permvar.{_LETTERS[element_bits]}f.512"


_LETTERS = {32: "s", 64: "d"}


class X86_64(Architecture):
    """Instruction sets are distinguished by the registers in the code of `probe`."""

    def instruction_set(self, assembly: str) -> InstructionSet:
        """The widest instruction set whose registers are in the assembly."""
        known: dict[str, Any] = {
            "converts_f16": self.converts_f16(assembly),
            "pair_bits": max(b for b, n in _REGISTERS if re.search(f"pmullw.*%{n}", assembly)),
        }
        if "%ymm" not in assembly:
            return SSE2(**known)
        known["fuses"] = "vfmadd" in assembly
        dots = (128, 256) if re.search(r"vpdpbusd.*%[xy]mm", assembly) else ()
        if "%zmm" not in assembly:
            return AVX2(**known, dots=dots)
        scales = re.search(r"vscalef.*%ymm", assembly) is not None
        dots = (*dots, 512) if "vpdpbusd" in assembly else dots
        bfdots = (512,) if _converts_bfloat(assembly, "narrow") else ()
        if bfdots and scales:  # AVX512VL
            bfdots = (128, 256, 512)
        return AVX512(**known, scales=scales, dots=dots, bfdots=bfdots)

    def conflict(self, assembly: str) -> str | None:
        """AVX-NE-CONVERT with AVX-512: LLVM selects `vcvtneps2bf16` of 512 bits for it too."""
        has_short = _converts_bfloat(assembly, "narrow_short")
        if "%zmm" not in assembly or not has_short or _converts_bfloat(assembly, "narrow"):
            return None
        return "with AVX-512 to include '-avxneconvert', or 'avx512bf16' and 'avx512vl'"


def _converts_bfloat(assembly: str, function: str) -> bool:
    """Whether a function of the probe converts to bf16 by an instruction."""
    code = re.search(rf"^_?{function}:.*?^\s+ret", assembly, re.MULTILINE | re.DOTALL)
    return code is not None and "vcvtneps2bf16" in code.group()


_REGISTERS = ((128, "xmm"), (256, "ymm"), (512, "zmm"))

ARCHITECTURE = X86_64(
    names=("x86_64", "x86_64h", "amd64"),
    excluded_cpus=frozenset(
        """athlon athlon-4 athlon-mp athlon-tbird athlon-xp c3 c3-2 geode i386 i486 i586 i686 k6
        k6-2 k6-3 lakemont pentium pentium-m pentium-mmx pentium2 pentium3 pentium3m pentium4
        pentium4m pentium_4 pentium_4_sse3 pentium_ii pentium_iii pentium_iii_no_xmm_regs
        pentium_m pentium_mmx pentium_pro pentiumpro prescott winchip-c6 winchip2 yonah""".split()
    ),
    models={("znver4", 512): ZEN4_AVX512},
    required_features=("64bit", "64bit-mode", "sse"),
    threads=ThreadCode(
        declarations="declare void @llvm.x86.sse2.pause()\n"
        "declare void @llvm.x86.sse.stmxcsr(ptr)\ndeclare void @llvm.x86.sse.ldmxcsr(ptr)",
        pause="call void @llvm.x86.sse2.pause()",
        get_float_state="call void @llvm.x86.sse.stmxcsr(ptr {float_state})",
        set_float_state="call void @llvm.x86.sse.ldmxcsr(ptr {float_state})",
        futex=202,
    ),
    probe=Architecture.probe
    + """
declare <8 x float> @llvm.ldexp.v8f32.v8i32(<8 x float>, <8 x i32>)
define <8 x float> @scale(<8 x float> %x, <8 x i32> %n) {
  %y = call <8 x float> @llvm.ldexp.v8f32.v8i32(<8 x float> %x, <8 x i32> %n)
  ret <8 x float> %y
}
declare float @llvm.fma.f32(float, float, float)
define float @fuse(float %x, float %y, float %z) {
  %sum = call float @llvm.fma.f32(float %x, float %y, float %z)
  ret float %sum
}
define <16 x bfloat> @narrow(<16 x float> %x) "target-features"="$features,-avxneconvert"
    "prefer-vector-width"="512" "min-legal-vector-width"="512" {
  %y = fptrunc <16 x float> %x to <16 x bfloat>
  ret <16 x bfloat> %y
}
define <8 x bfloat> @narrow_short(<8 x float> %x) {
  %y = fptrunc <8 x float> %x to <8 x bfloat>
  ret <8 x bfloat> %y
}
declare i32 @llvm.vector.reduce.add.v16i32(<16 x i32>)
define i32 @dot(<16 x i8> %a, <16 x i8> %b) {
  %x = zext <16 x i8> %a to <16 x i32>
  %y = sext <16 x i8> %b to <16 x i32>
  %z = mul <16 x i32> %x, %y
  %sum = call i32 @llvm.vector.reduce.add.v16i32(<16 x i32> %z)
  ret i32 %sum
}
define <32 x i16> @multiply(<32 x i16> %a, <32 x i16> %b)
    "prefer-vector-width"="512" "min-legal-vector-width"="512" {
  %product = mul <32 x i16> %a, %b
  ret <32 x i16> %product
}
""",
)
