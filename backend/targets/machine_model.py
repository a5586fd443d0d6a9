"""How long the work of a core takes: what the cost model knows of a processor.

`benchmarks/calibrate.py` measures the values of a machine and prints them as the text that
``Target("llvm -model=…")`` takes: fields with hyphens, as in ``fma-latency=4,l2-panel=1.3``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MachineModel:
    """Times are cycles of a core. A vector is one register; rates do not depend on its dtype.

    The defaults are fits to kernels on Zen 4 and Zen 5 with AVX-512, and next to nothing for what
    was not measured there; LLVM's scheduling models of both have the rates and the latency of
    multiply-adds. Instruction sets of `backend.targets` may have others.
    """

    clock_ghz: float = 3.0
    """Cycles in a nanosecond."""

    # The core.
    fma_rate: float = 2.0
    """Vectors multiplied and added in a cycle, which is also how many are loaded in one."""
    fma_latency: float = 5.0
    """Cycles until the result of a multiplication or an addition can be added to."""
    row_vectors: float = 10.0
    """Vectors of a tile of one row, whose loads keep memory busy."""
    load: float = 0.15
    """A load beside multiplications that it does not wait for."""
    unaligned_load: float = 1.2
    """A load of a vector that may be in two cache lines, beside others."""
    loop_start: float = 20.0
    """Starting a loop over steps and leaving it, beside what its body does."""
    result: float = 1.0
    """Setting a vector of sums to 0, or storing it."""
    masked: float = 0.01
    """Storing a vector of which some lanes are left out."""
    shuffle: float = 1.0
    """Rearranging the lanes of a vector once, or of two."""
    operation: float = 0.036
    """An operation on one element in a loop, which LLVM may vectorize."""
    lane_operation: float = 0.012
    """An operation on one lane of a vector."""

    # Memory: of each vector, beside the multiplications that use it.
    copy: float = 3.5
    """Copying a vector into a packed panel."""
    l2_gap: float = 1.15
    """The time between two vectors of a panel that come from the second cache."""
    l2_panel: float = 0.03
    """A vector of a panel from the second cache, beside multiplications that hide the rest."""
    l3_panel: float = 0.5
    """A vector of a panel that the second cache has no room for."""
    strided_panel: float = 0.05
    """A vector of a matrix that is read in place: its rows are on different pages."""
    l3_strided: float = 0.01
    """The same of a matrix that the second cache has no room for."""
    l2_operand: float = 0.8
    """A vector of an operand of inner products from the second cache."""
    l3_operand: float = 1.3
    """A vector of an operand of inner products that the second cache has no room for."""
    l3_result: float = 0.01
    """A line of results that the second cache has no room for."""
    l3_update: float = 16.0
    """Adding a vector of a tile to results in the last cache."""
    stream: float = 0.45
    """A multiplication with its result in memory."""
    stream_row: float = 1.6
    """Loading and storing a vector of results, which several rows of an operand share."""
    stream_operand: float = 0.01
    """Loading a vector of the right operand, by all rows that share it, from the second cache."""
    scalar_result: float = 0.01
    """Setting one element of results to 0 in memory, beside the vectors."""
    stream_start: float = 0.01
    """Starting on a row of results."""
    stream_scalar: float = 0.3
    """A multiplication of one element with its result in memory."""
    access: float = 0.12
    """An access to memory, at most."""
    byte: float = 0.03
    """A byte that a loop reads or writes, from a cache that cores share."""

    # Threads.
    wake: float = 12_000.0
    """Work that is worth handing to threads that wait for it."""
    loop_iteration: float = 0.3
    """An iteration of a parallel loop, beside what it does."""
    loop_operation: float = 0.09
    """An operation on one element in it, most of which LLVM vectorizes."""
    loop_vector: float = 0.45
    """An operation on vectors in it."""
    foreign_call: float = 300.0
    """A call in it of a function of which nothing is known."""


ZEN_AVX512 = MachineModel()
"""Fits to kernels on Zen 4 and Zen 5: the defaults."""

ZEN3_AVX2 = MachineModel(
    clock_ghz=3.4,
    fma_latency=4.0,
    load=0.4,
    unaligned_load=1.3,
    loop_start=1.1,
    result=2.8,
    masked=27.0,
    shuffle=1.5,
    copy=2.3,
    l2_panel=0.016,
    l3_panel=0.67,
    strided_panel=0.11,
    l3_strided=4.4,
    l2_operand=0.12,
    l3_operand=0.26,
    l3_result=1.5,
    stream=0.6,
    stream_operand=0.8,
    scalar_result=6.0,
    stream_start=2.7,
    stream_scalar=0.29,
)
"""A fit to 235 matmuls by `benchmarks/calibrate.py`; masked stores are microcode there."""
