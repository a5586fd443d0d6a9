"""What a target's vector registers hold, as far as loops ask."""

from __future__ import annotations

from dataclasses import dataclass

from ...backend.target import Target

_MASKED_BITS = {512: 8, 256: 32}
"""The narrowest element whose lanes loads and stores may leave out: AVX-512 and AVX. SSE and NEON
have no such accesses, and one would become a branch for each lane."""


@dataclass(frozen=True)
class VectorUnit:
    """The vector registers of a target: how many, and which elements can be masked in memory."""

    bits: int
    masked_bits: int | None
    registers: int

    @staticmethod
    def of(target: str) -> VectorUnit:
        """The registers of a target, given as its text."""
        known = Target(target)
        bits = known.vector_bits
        return VectorUnit(bits, _MASKED_BITS.get(bits), known.vector_registers)

    def lanes(self, element_bits: int) -> int:
        """Elements of so many bits in a register."""
        return self.bits // element_bits

    def masks(self, element_bits: int) -> bool:
        """Whether memory of elements of so many bits is accessed under masks."""
        return self.masked_bits is not None and element_bits >= self.masked_bits
