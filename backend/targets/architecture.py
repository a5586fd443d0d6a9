"""The properties in which processors may differ, with the defaults of a plain one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from .machine_model import ZEN_AVX512, MachineModel


@dataclass(frozen=True)
class Intrinsic:
    """An LLVM intrinsic, with trailing constant operands as (bits, value)."""

    name: str
    constants: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class NontemporalStores:
    """Vector stores that bypass the caches, to addresses aligned to the vector."""

    least_bytes: int
    """The size of the shortest one; longer ones are powers of two."""
    fence: str
    """The intrinsic that orders them before later stores, as seen by other threads."""


@dataclass(frozen=True, kw_only=True)
class InstructionSet:
    """The instruction set of a processor; by default, with plain vectors of 128 bits."""

    vector_bits: int = 128
    """Width of a vector register."""
    vector_registers: int = 32
    masked_bits: int | None = None
    """The narrowest element, in bits, of masked loads and stores. `None` if there are none: masked
    accesses would become a branch for each lane."""
    unmasks_loads: bool = False
    """Whether LLVM may fold a masked load into an instruction with the same mask, and forget the
    mask where it takes the load out again (LLVM 22)."""
    converts_f16: bool = True
    """Whether instructions convert between f16 and f32; otherwise LLVM would call a library."""
    saturates_vectors: bool = True
    """Whether an instruction converts vectors of floats to integers with saturation, and NaN to 0;
    otherwise LLVM would scalarize the conversion."""
    fuses: bool = False
    """Whether an instruction multiplies and adds floats with one rounding; otherwise LLVM would
    call a library."""
    propagates_nan: bool = True
    """Whether an instruction computes the maximum or minimum of floats, and propagates NaN."""
    nontemporal: NontemporalStores | None = None
    """Nontemporal stores, which do not read a line first; `None` if there are none or they never
    pay."""
    counter: str = "llvm.readsteadycounter"
    """The intrinsic that reads a time counter in a few cycles."""
    counter_interval: int = 1 << 20
    """Ticks of the counter in about 10 ms; in at least 1 ms if its frequency is not known."""

    model: MachineModel = ZEN_AVX512
    """The machine model, unless the target's text has one."""

    def lanes(self, element_bits: int) -> int:
        """The number of elements of this width in a register."""
        return self.vector_bits // element_bits

    def masks(self, element_bits: int) -> bool:
        """Whether elements of this width have masked loads and stores."""
        return self.masked_bits is not None and element_bits >= self.masked_bits

    def scale(self, element_bits: int, vector_bits: int) -> Intrinsic | None:
        """An instruction for ``x * 2^n`` of vectors of floats, whose operands are x, n and x.

        It takes n as floats, which it rounds down, infinities or NaN, and rounds once. `None` if
        there is none for vectors of this width.
        """
        return None

    def select_lanes(self, element_bits: int, vector_bits: int) -> str | None:
        """The LLVM intrinsic that selects floats of a vector by the low bits of integers.

        Its operands are the vector and integers of the same width. `None` if there is none for
        vectors of this width.
        """
        return None

    def dot(self, lhs_unsigned: bool, rhs_unsigned: bool, vector_bits: int) -> str | None:
        """The LLVM intrinsic that adds dot products of four pairs of bytes to lanes of i32.

        Its operands are the sums and two vectors of bytes. `None` if there is none for vectors of
        this width.
        """
        return None

    def pair_products(self, vector_bits: int) -> str | None:
        """The LLVM intrinsic that adds the products of two pairs of i16 to a lane of i32.

        Its operands are two vectors of i16. `None` if there is none for vectors of this width.
        """
        return None

    def pair_sums(self, is_unsigned: bool, vector_bits: int) -> str | None:
        """The LLVM intrinsic for the sums of pairs of i16 as i32, in the number of these lanes.

        `vector_bits` is the width of its operand, and of its result. `None` if there is none.
        """
        return None

    def matrix_dot(self, lhs_unsigned: bool, rhs_unsigned: bool) -> str | None:
        """The LLVM intrinsic that adds a product of two rows and two columns of eight bytes.

        Its operands are four sums of i32 and two vectors of 16 bytes; see `tir.mmla`.
        """
        return None

    def matrix_bfdot(self) -> str | None:
        """The LLVM intrinsic that adds a product of two rows and two columns of four bf16."""
        return None

    def bfdot(self, vector_bits: int) -> str | None:
        """The LLVM intrinsic that adds dot products of two pairs of bf16 to lanes of f32.

        Its operands are the sums and two vectors of bf16. `None` if there is none for vectors of
        this width.
        """
        return None

    @property
    def converts_bf16(self) -> bool:
        """Whether an instruction rounds f32, scalars and vectors, to bf16.

        Processors with dot products of bf16 of the shortest vectors have one.
        """
        return self.bfdot(128) is not None


@dataclass(frozen=True, kw_only=True)
class ThreadCode:
    """LLVM IR for the thread pool, for which LLVM has no target-independent intrinsic."""

    declarations: str = ""
    pause: str = ""
    """The hint that a thread spins."""
    get_float_state: str = ""
    """Stores the rounding mode and denormal handling at ``{float_state}``, in 64 bits."""
    set_float_state: str = ""
    futex: int | None = None
    """The number of Linux's futex system call; without it, loops run on the calling thread."""


_F16_LIBRARY = re.compile(r"\b_+(extendhfsf2|truncsfhf2|gnu_h2f_ieee|gnu_f2h_ieee)\b")


@dataclass(frozen=True, kw_only=True)
class Architecture:
    """The common properties of an architecture, and how to detect a processor's instruction set.

    The instruction set is detected from the code that LLVM generates for `probe`, so that names of
    processors and features are LLVM's.
    """

    names: tuple[str, ...] = ()
    """First words of triples."""
    excluded_cpus: frozenset[str] = frozenset()
    """Processors of LLVM's list without 64-bit code."""
    required_features: tuple[str, ...] = ()
    """Features of every processor, without which LLVM aborts the process."""
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
    """LLVM IR whose code distinguishes instruction sets; ``$features`` are those of the target."""
    models: Mapping[tuple[str, int], MachineModel] = field(default_factory=lambda: {})
    """The machine models of processors that differ from their instruction set's, by the name and
    the width of a register."""

    def instruction_set(self, assembly: str) -> InstructionSet:
        """The instruction set of a processor for which LLVM compiles `probe` to `assembly`."""
        return InstructionSet(converts_f16=self.converts_f16(assembly))

    def conflict(self, assembly: str) -> str | None:
        """What is expected of the features instead, if LLVM aborts for some code of theirs."""
        return None

    @staticmethod
    def converts_f16(assembly: str) -> bool:
        """Whether the code of `probe` converts f16 without calls of a library."""
        return not _F16_LIBRARY.search(assembly)
