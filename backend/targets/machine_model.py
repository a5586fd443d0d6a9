"""The machine model: times of a core's operations, for the cost model.

`benchmarks/calibrate.py` measures the values of a machine and prints them as the text that
``Target("llvm -model=…")`` takes: fields with hyphens, as in ``fma-latency=4,l2-panel=1.3``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MachineModel:
    """Times are cycles of a core. A vector is one register; rates do not depend on its dtype.

    The defaults are fits to kernels on Zen 4 and Zen 5 with AVX-512, and almost 0 for times that
    were not measured there. LLVM's scheduling models of both have the same rates and latency of
    multiply-adds. Instruction sets in `backend.targets` may have other models.
    """

    clock_ghz: float = 3.0
    """Cycles per nanosecond."""

    # The core.
    fma_rate: float = 2.0
    """Vector multiply-adds per cycle, and vector loads per cycle."""
    narrow_rate: float = 1.0
    """The rate of multiply-adds of half a register, over that of whole ones."""
    fma_latency: float = 5.0
    """The latency of a multiply-add or an addition."""
    row_vectors: float = 10.0
    """Vectors in a tile of one row, enough to saturate memory bandwidth."""
    load: float = 0.15
    """A load that overlaps with independent multiplications."""
    unaligned_load: float = 1.2
    """A vector load that may cross a cache line, among others."""
    loop_start: float = 20.0
    """The overhead of starting and leaving a reduction loop."""
    result: float = 1.0
    """Initializing a vector of sums, or storing it."""
    masked: float = 0.01
    """A masked vector store."""
    shuffle: float = 1.0
    """A shuffle of one or two vectors."""
    operation: float = 0.036
    """An operation on one element in a loop, which LLVM may vectorize."""
    lane_operation: float = 0.012
    """An operation on one lane of a vector."""

    # Memory: per vector, in addition to the multiplications that use it.
    copy: float = 3.5
    """Copying a vector into a packed panel."""
    l2_gap: float = 1.15
    """The interval between two vectors of a panel that are loaded from the second cache."""
    l2_panel: float = 0.03
    """A vector of a panel from the second cache, if multiplications hide the rest."""
    l2_words: float = 0.06
    """The same of words, whose dot products load the other operand by instructions of their own."""
    l3_panel: float = 0.5
    """A vector of a panel larger than the second cache."""
    strided_panel: float = 0.05
    """A vector of a matrix that is read in place, whose rows are on different pages."""
    l3_strided: float = 0.01
    """A vector of such a matrix that is larger than the second cache."""
    l2_operand: float = 0.8
    """A vector of an operand of inner products from the second cache."""
    l3_operand: float = 1.3
    """A vector of an operand of inner products larger than the second cache."""
    l3_result: float = 0.01
    """A cache line of results that are larger than the second cache."""
    l3_update: float = 16.0
    """Adding a vector of a tile to results in the last cache."""
    stream: float = 0.45
    """A vector multiply-add with its result in memory."""
    stream_row: float = 1.6
    """Loading and storing a vector of results, which several rows of an operand share."""
    stream_operand: float = 0.01
    """Loading a vector of the right operand, by all rows that share it, from the second cache."""
    scalar_result: float = 0.01
    """Initializing a scalar result in memory, in a remainder."""
    stream_start: float = 0.01
    """The overhead of starting a row of results."""
    stream_scalar: float = 0.3
    """A scalar multiply-add with its result in memory."""
    access: float = 0.12
    """The upper bound of a memory access."""
    byte: float = 0.03
    """A byte that a loop reads or writes, in a shared cache."""

    # Threads.
    wake: float = 12_000.0
    """The least work for which waking threads is profitable."""
    loop_iteration: float = 0.3
    """The overhead of an iteration of a parallel loop."""
    loop_operation: float = 0.09
    """An operation on one element in it, most of which LLVM vectorizes."""
    loop_vector: float = 0.45
    """An operation on vectors in it."""
    foreign_call: float = 300.0
    """A call of an unknown function in it."""


ZEN_AVX512 = MachineModel()
"""Fits to kernels on Zen 4 and Zen 5: the defaults."""

ZEN4_AVX512 = MachineModel(narrow_rate=2.0)
"""Zen 4, which works on 512 bits in two halves."""

ZEN3_AVX2 = MachineModel(
    clock_ghz=3.4,
    fma_latency=4.0,
    load=0.5,
    unaligned_load=1.3,
    loop_start=1.1,
    result=2.8,
    masked=13.0,
    shuffle=1.5,
    l2_panel=0.016,
    l2_words=0.016,
    l3_panel=0.45,
    strided_panel=0.11,
    l3_strided=1.0,
    l2_operand=0.35,
    l3_operand=0.26,
    l3_result=1.5,
    stream=0.6,
    stream_operand=0.8,
    scalar_result=0.6,
    stream_start=3.0,
    stream_scalar=0.29,
)
"""A fit to 435 matmuls by `benchmarks/calibrate.py`; masked stores are microcode there."""
