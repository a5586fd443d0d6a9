"""The functions that `machine` measures, as text of LLVM IR."""

from __future__ import annotations

from collections.abc import Iterable

from ..backend.target import Target

STEP_BYTES = 1024
"""Bytes that one step of the loop over memory reads."""


def chains(target: Target) -> int:
    """Independent multiply-adds in flight: more than their latency needs, and all in registers."""
    return target.vector_registers * 5 // 8


def machine_code(target: Target) -> str:
    """The functions that are measured, for the widest vectors of the target."""
    return "\n".join((_fma_code(target), _read_code(target)))


def _fma_code(target: Target) -> str:
    numbers, vector = range(chains(target)), f"<{target.lanes(32)} x float>"
    phis = [f"%a{i} = phi {vector} [%start, %entry], [%b{i}, %loop]" for i in numbers]
    steps = [
        f"%b{i} = call {vector} @llvm.fmuladd({vector} %factor, {vector} %factor, {vector} %a{i})"
        for i in numbers
    ]
    lines = (
        "%number = sitofp i64 %seed to float",
        f"%one = insertelement {vector} poison, float %number, i32 0",
        f"%factor = shufflevector {vector} %one, {vector} poison, "
        f"<{target.lanes(32)} x i32> zeroinitializer",
        f"%start = fadd {vector} %factor, %factor",
        "br label %loop",
        "loop:",
        "%i = phi i64 [0, %entry], [%next, %loop]",
        *phis,
        *steps,
        "%next = add i64 %i, 1",
        "%more = icmp slt i64 %next, %count",
        "br i1 %more, label %loop, label %done",
        "done:",
        *_lane_of_sum(vector, numbers),
        "ret float %lane",
    )
    declared = f"declare {vector} @llvm.fmuladd({vector}, {vector}, {vector})\n"
    return declared + _function("fma(i64 %seed, i64 %count)", target, lines)


def _read_code(target: Target) -> str:
    """Sums over memory in several accumulators, as often as asked.

    The halves of the memory are read side by side: L2 gives two streams more than one.
    """
    parts, vector = STEP_BYTES * 8 // target.vector_bits, f"<{target.lanes(32)} x float>"
    # A power of two, as the parts are, so that each accumulator takes in as many of them.
    sums = range(min(parts, 1 << (chains(target).bit_length() - 1)))
    last = parts - len(sums)
    lines = (
        "%first = inttoptr i64 %address to ptr",
        f"%half = mul i64 %steps, {STEP_BYTES // 2}",
        "br label %again",
        "again:",
        "%time = phi i64 [0, %entry], [%later, %end]",
        "%total = phi float [0.0, %entry], [%sum, %end]",
        "br label %loop",
        "loop:",
        "%i = phi i64 [0, %again], [%next, %loop]",
        *(f"%a{i} = phi {vector} [zeroinitializer, %again], [%b{i + last}, %loop]" for i in sums),
        f"%offset = mul i64 %i, {STEP_BYTES // 2}",
        "%low = getelementptr i8, ptr %first, i64 %offset",
        "%high = getelementptr i8, ptr %low, i64 %half",
        *_additions(vector, parts, len(sums)),
        "%next = add i64 %i, 1",
        "%more = icmp slt i64 %next, %steps",
        "br i1 %more, label %loop, label %end",
        "end:",
        *_lane_of_sum(vector, range(last, parts)),
        "%sum = fadd float %total, %lane",
        # Without this, one sum would do for all of them.
        'call void asm sideeffect "", "~{memory}"()',
        "%later = add i64 %time, 1",
        "%repeat = icmp slt i64 %later, %count",
        "br i1 %repeat, label %again, label %done",
        "done:",
        "ret float %sum",
    )
    return _function("read(i64 %address, i64 %steps, i64 %count)", target, lines)


def _additions(vector: str, parts: int, accumulators: int) -> list[str]:
    """Each of so many parts of a step is added to one of the accumulators, which take turns."""
    lines: list[str] = []
    for i in range(parts):
        before = f"%a{i}" if i < accumulators else f"%b{i - accumulators}"
        lines += [
            f"%p{i} = getelementptr {vector}, ptr %{'low' if i % 2 else 'high'}, i64 {i // 2}",
            f"%x{i} = load {vector}, ptr %p{i}, align 16",
            f"%b{i} = fadd {vector} {before}, %x{i}",
        ]
    return lines


def _lane_of_sum(vector: str, accumulators: range) -> list[str]:
    """One lane of the sum of all accumulators, none of which can be left out."""
    first, *others = accumulators
    lines = [f"%s{first} = fadd {vector} %b{first}, %b{first}"]
    lines += [f"%s{i} = fadd {vector} %s{i - 1}, %b{i}" for i in others]
    return [*lines, f"%lane = extractelement {vector} %s{accumulators[-1]}, i32 0"]


def _function(signature: str, target: Target, lines: Iterable[str]) -> str:
    """A function of these lines, in which LLVM uses the target's widest vectors."""
    width = target.vector_bits
    attributes = f'"prefer-vector-width"="{width}" "min-legal-vector-width"="{width}"'
    head = f"define float @xrelax.machine.{signature} {attributes} {{"
    return "\n".join((head, "entry:", *lines, "}"))
