"""The code whose speed is that of the machine: loops of multiply-adds, and sums over memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..backend.target import Target

STEP_BYTES = 1024
"""Bytes that one step of the loop over memory reads."""


def chains(target: Target) -> int:
    """Independent multiply-adds in flight: more than their latency needs, and all in registers."""
    return target.vector_registers * 5 // 8


class _MultiplyAdd(NamedTuple):
    """An instruction that adds products of lanes to sums of 32 bits, as an LLVM intrinsic."""

    intrinsic: str
    element: str
    """The type of the numbers that are multiplied, in vectors as wide as the sums."""
    total: str
    numbers: int
    """Products that each sum takes in."""


def multiply_adds(target: Target) -> dict[str, _MultiplyAdd]:
    """The instructions of a target by the dtype of the numbers."""
    isa, bits = target.isa, target.vector_bits
    found = {"float32": _MultiplyAdd("llvm.fmuladd", "float", "float", 1)}
    if (name := isa.bfdot(bits)) is not None:
        found["bfloat16"] = _MultiplyAdd(name, "bfloat", "float", 2)
    names = [isa.dot(*signs, bits) for signs in ((True, False), (False, False))]
    if (name := next(filter(None, names), None)) is not None:
        found["int8"] = _MultiplyAdd(name, "i8", "i32", 4)
    return found


def machine_code(target: Target) -> str:
    """The functions that are measured, for the widest vectors of the target."""
    parts = [_multiply_add_code(d, m, target) for d, m in multiply_adds(target).items()]
    return "\n".join((*parts, _read_code(target)))


def _multiply_add_code(dtype: str, kind: _MultiplyAdd, target: Target) -> str:
    lanes, counts = target.lanes(32), range(chains(target))
    floats, totals = f"<{lanes} x float>", f"<{lanes} x {kind.total}>"
    factors = f"<{lanes * kind.numbers} x {kind.element}>"
    sums_last = dtype == "float32"

    def arguments(total: str, *factor: str) -> str:
        return ", ".join((*factor, total) if sums_last else (total, *factor))

    name, call = f"xrelax.machine.multiply_add_{dtype}", f"call {totals} @{kind.intrinsic}"
    factor = f"{factors} %factor"
    steps = [f"%c{i} = {call}({arguments(f'{totals} %a{i}', factor, factor)})" for i in counts]
    lines = (
        "%number = sitofp i64 %seed to float",
        f"%one = insertelement {floats} poison, float %number, i32 0",
        f"%all = shufflevector {floats} %one, {floats} poison, <{lanes} x i32> zeroinitializer",
        f"%start = bitcast {floats} %all to {totals}",
        f"%factor = bitcast {floats} %all to {factors}",
        "br label %loop",
        "loop:",
        "%i = phi i64 [0, %entry], [%next, %loop]",
        *(f"%a{i} = phi {totals} [%start, %entry], [%c{i}, %loop]" for i in counts),
        *steps,
        "%next = add i64 %i, 1",
        "%more = icmp slt i64 %next, %count",
        "br i1 %more, label %loop, label %done",
        "done:",
        *(f"%b{i} = bitcast {totals} %c{i} to {floats}" for i in counts),
        *_lane_of_sum(floats, counts),
        "ret float %lane",
    )
    declared = f"declare {totals} @{kind.intrinsic}({arguments(totals, factors, factors)})\n"
    return declared + _function_text(f"{name}(i64 %seed, i64 %count)", target, lines)


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
    return _function_text(
        "xrelax.machine.read(i64 %address, i64 %steps, i64 %count)", target, lines
    )


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


def _function_text(signature: str, target: Target, lines: Iterable[str]) -> str:
    """A function of these lines, in which LLVM uses the target's widest vectors."""
    width = target.vector_bits
    attributes = f'"prefer-vector-width"="{width}" "min-legal-vector-width"="{width}"'
    head = f"define float @{signature} {attributes} {{"
    return "\n".join((head, "entry:", *lines, "}"))
