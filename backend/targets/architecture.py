"""What may differ between processors; the values here are those of a plain one."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .machine_model import ZEN_AVX512, MachineModel


@dataclass(frozen=True)
class Intrinsic:
    """A function of LLVM, with what follows its operands: integer constants as (bits, value)."""

    name: str
    constants: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class NontemporalStores:
    """Stores of vectors that go past the caches, to addresses that are multiples of their size."""

    least_bytes: int
    """The size of the shortest one; longer ones are powers of two."""
    fence: str
    """The intrinsic that orders them before what follows it, as other threads see them."""


@dataclass(frozen=True, kw_only=True)
class InstructionSet:
    """What code may be made of on one processor: by default one with plain vectors of 128 bits."""

    vector_bits: int = 128
    """Width of a vector register."""
    vector_registers: int = 32
    masked_bits: int | None = None
    """The narrowest element whose lanes loads and stores may leave out; `None`: such an access
    would become a branch for each lane."""
    converts_f16: bool = True
    """Whether instructions convert between f16 and f32; LLVM would call a library elsewhere."""
    saturates_vectors: bool = True
    """Whether an instruction gives vectors of the integers nearest to floats, 0 for NaN; LLVM would
    take vectors apart elsewhere."""
    propagates_nan: bool = True
    """Whether an instruction gives the larger or smaller one of two floats, and NaN if one is."""
    nontemporal: NontemporalStores | None = None
    """Stores that need not read a line first; `None` where there are none, or they do not pay."""
    counter: str = "llvm.readsteadycounter"
    """The intrinsic that reads a counter of time in a few cycles."""
    counter_interval: int = 1 << 20
    """What the counter grows by in some 10 ms; at least in 1 ms, where its speed is not known."""

    model: MachineModel = ZEN_AVX512
    """How long the work of a core takes, if the target's text does not say it."""

    def lanes(self, element_bits: int) -> int:
        """Elements of so many bits in a register."""
        return self.vector_bits // element_bits

    def masks(self, element_bits: int) -> bool:
        """Whether memory of elements of so many bits is accessed under masks."""
        return self.masked_bits is not None and element_bits >= self.masked_bits

    def scale(self, element_bits: int, vector_bits: int) -> Intrinsic | None:
        """An instruction for ``x * 2^n`` of vectors of floats, whose operands are x, n and x.

        It takes n as integral floats, infinities or NaN, and rounds once. `None` where vectors of
        so many bits have none.
        """
        return None


@dataclass(frozen=True, kw_only=True)
class ThreadCode:
    """LLVM IR for the thread pool, of what LLVM has no common intrinsic for."""

    declarations: str = ""
    pause: str = ""
    """Tells the processor that a thread waits in a loop."""
    get_float_state: str = ""
    """Stores rounding and the treatment of denormals at ``{float_state}``, in 64 bits."""
    set_float_state: str = ""
    futex: int | None = None
    """The number of Linux's system call; without it loops run on their callers."""


_F16_LIBRARY = re.compile(r"\b_+(extendhfsf2|truncsfhf2|gnu_h2f_ieee|gnu_f2h_ieee)\b")


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """What the processors of one architecture share, and how they are told apart.

    Which instruction set a processor has is read from the code that LLVM generates for it, so that
    names of processors and features stay LLVM's.
    """

    names: tuple[str, ...] = ()
    """First words of triples."""
    excluded_cpus: frozenset[str] = frozenset()
    """Processors of LLVM's list that have no code of 64 bits."""
    required_features: tuple[str, ...] = ()
    """Features that every processor has, without which LLVM ends the process."""
    threads: ThreadCode = ThreadCode()
    probe: str = """
define void @add(ptr %p) "prefer-vector-width"="512" "min-legal-vector-width"="512" {
  %x = load <16 x float>, ptr %p
  %y = fadd <16 x float> %x, %x
  store <16 x float> %y, ptr %p
  ret void
}
define void @convert(ptr %p, ptr %q) {
  %x = load half, ptr %p
  %y = load float, ptr %q
  %wide = fpext half %x to float
  %narrow = fptrunc float %y to half
  store half %narrow, ptr %p
  store float %wide, ptr %q
  ret void
}
"""
    """LLVM IR, the code for which tells instruction sets apart."""

    def instruction_set(self, assembly: str) -> InstructionSet:
        """The instruction set of a processor for which LLVM made `assembly` of `probe`."""
        return InstructionSet(converts_f16=self.converts_f16(assembly))

    @staticmethod
    def converts_f16(assembly: str) -> bool:
        """Whether the code of `probe` converts f16 without calls of a library."""
        return not _F16_LIBRARY.search(assembly)
