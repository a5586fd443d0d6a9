"""What default schedules become on processors that tests need not run on."""

from __future__ import annotations

import re

import pytest

from xrelax.inspection import stage_text
from xrelax.script import from_source

HASWELL = "llvm -mtriple=x86_64-linux-gnu -mcpu=haswell"
NEON = "llvm -mtriple=aarch64-linux-gnu -mcpu=cortex-a76"
MULTIPLY_ADD = {HASWELL: r"vfmadd\d+ps\t.*%ymm", NEON: r"fmla\tv\d+\.4s"}
STACK = re.compile(r"\[sp\b|\(%rsp\)|\[rsp\b")
FRAME = re.compile(r"\(%rbp\)")
"""The stack as well, in code in which this register is not one like the others."""

PRODUCTS = {
    "product": ("R.nn.relu(R.add(R.matmul(x, w), b))", (96, 96), (96, 96), (96,)),
    "linear of rows": ("R.linear(x, w, b)", (32, 512), (256, 512), (256,)),
    "linear of few rows": ("R.linear(x, w, b)", (4, 300), (120, 300), (120,)),
    "linear of a row": ("R.linear(x, w, b)", (1, 512), (256, 512), (256,)),
    "convolution": ("R.nn.conv2d(x, w, padding=1)", (1, 32, 28, 28), (64, 32, 3, 3)),
    "strided convolution": ("R.nn.conv2d(x, w, strides=2)", (1, 32, 29, 29), (64, 32, 3, 3)),
}
LEAST = 8
"""Multiply-adds in a loop: the latency of one, times those that start in a cycle."""

ROWS = {
    "softmax": ("R.nn.softmax(x)", (32, 512)),
    "layer norm": ("R.nn.layer_norm(x, w, b, axes=[-1])", (32, 512), (512,), (512,)),
    "gelu": ("R.nn.gelu(x)", (32, 512)),
    "row sums": ("R.sum(x, axis=1)", (32, 512)),
    "column sums": ("R.sum(x, axis=0)", (32, 512)),
}


def assembly(result: str, *shapes: tuple[int, ...], target: str) -> str:
    declared = ", ".join(
        f'{name}: R.Tensor({shape}, "float32")' for name, shape in zip("xwb", shapes, strict=False)
    )
    text = f"@R.function\ndef main({declared}):\n    return {result}\n"
    return stage_text(from_source(text), "asm", target)


def pieces(text: str) -> list[tuple[bool, list[str]]]:
    """The lines from each label or branch to the next, and whether they are a loop alone."""
    found: list[tuple[bool, list[str]]] = []
    label, body = "", list[str]()
    for line in text.splitlines():
        if branch := re.match(r"\t(?:j|b\.|cb|tb)[a-z]+\t(?:.*, )?(\S+)$", line):
            found.append((branch[1] == label, body))
            label, body = "", []
        elif start := re.match(r"(\S+):", line):
            found.append((False, body))
            label, body = start[1], []
        else:
            body.append(line)
    return found


@pytest.mark.sampled
@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("target", MULTIPLY_ADD)
def test_products_stay_in_registers(target: str, name: str):
    multiply_add = re.compile(MULTIPLY_ADD[target])

    def count(piece: list[str]) -> int:
        return sum(bool(multiply_add.search(line)) for line in piece)

    text = assembly(*PRODUCTS[name], target=target)
    found = pieces(text)
    loop = max((body for _, body in found), key=count)
    assert count(loop) >= LEAST
    assert not [line for line in loop if STACK.search(line)]
    if "movq\t%rsp, %rbp" in text:
        assert not [line for line in loop if FRAME.search(line)]


@pytest.mark.parametrize("name", ROWS)
def test_rows_are_vectors_on_neon(name: str):
    loops = [body for is_loop, body in pieces(assembly(*ROWS[name], target=NEON)) if is_loop]
    assert any(re.search(r"\tf\w+\tv\d+\.4s", line) for loop in loops for line in loop)
    for loop in loops:
        assert not [x for x in loop if re.search(r"\tbl\t|\tf\w+\t[sd]\d", x) or STACK.search(x)]
