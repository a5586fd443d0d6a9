"""`T.dp4a` on each instruction set: compared with NumPy and the reference, and its assembly."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from emulation import emulated, needs_emulator

import xrelax
from xrelax.backend.target import Target
from xrelax.inspection import module_of, stage_text
from xrelax.reference.evaluate import evaluate
from xrelax.script import from_source

IS_X86 = Target("llvm").triple.startswith("x86_64")
TARGETS = ("llvm", "llvm -mcpu=haswell", "llvm -mcpu=x86-64") if IS_X86 else ("llvm",)
SIGNS = list(itertools.product(("uint32", "int32"), repeat=2))
BYTES = {"uint32": (0, 1, 127, 128, 255), "int32": (-128, -127, -1, 0, 127)}
"""The ends of bytes, and numbers beside them."""
VIEWS = {"uint32": np.uint8, "int32": np.int8}
ROWS = len(BYTES["int32"]) ** 2 + 4
COLUMNS = range(1, 21)
"""All numbers of words beyond the last whole vector."""

ELEMENTWISE = """
@T.prim_func
def f(a: T.handle, b: T.handle, z: T.handle, y: T.handle):
    m, n = T.int64(), T.int64()
    A = T.match_buffer(a, (m, n), "{lhs}")
    B = T.match_buffer(b, (m, n), "{rhs}")
    Z = T.match_buffer(z, (m, n), "int32")
    Y = T.match_buffer(y, (m, n), "int32")
    for i, j in T.grid(m, n):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            {body}
"""

FORMS = {
    "alone": ("Y[vi, vj] = T.dp4a(A[vi, vj], B[vi, vj])", lambda d, z: d),
    "with an accumulator": ("Y[vi, vj] = T.dp4a(A[vi, vj], B[vi, vj], Z[vi, vj])", np.add),
    "added": ("Y[vi, vj] = Z[vi, vj] + T.dp4a(A[vi, vj], B[vi, vj])", np.add),
    "subtracted": (
        "Y[vi, vj] = Z[vi, vj] - T.dp4a(A[vi, vj], B[vi, vj])",
        lambda d, z: z - d,
    ),
    "used twice": (
        "d: T.int32 = T.dp4a(A[vi, vj], B[vi, vj])\n            Y[vi, vj] = (d + Z[vi, vj]) ^ d",
        lambda d, z: (d + z) ^ d,
    ),
    "added to itself": (
        "d: T.int32 = T.dp4a(A[vi, vj], B[vi, vj])\n            Y[vi, vj] = d + d",
        lambda d, z: d + d,
    ),
    "two of them added": (
        "Y[vi, vj] = T.dp4a(A[vi, vj], B[vi, vj]) + T.dp4a(B[vi, vj], A[vi, vj])",
        lambda d, z: d + d,
    ),
    "a sum of them added": (
        "Y[vi, vj] = Z[vi, vj] + (T.dp4a(A[vi, vj], B[vi, vj]) + T.dp4a(B[vi, vj], A[vi, vj]))",
        lambda d, z: z + d + d,
    ),
    "a sum of them with itself added": (
        """d: T.int32 = T.dp4a(A[vi, vj], B[vi, vj]) + T.dp4a(B[vi, vj], A[vi, vj])
            Y[vi, vj] = Z[vi, vj] + (d + T.dp4a(A[vi, vj], B[vi, vj])) + d""",
        lambda d, z: z + 5 * d,
    ),
    "added in a branch": (
        """d: T.int32 = T.dp4a(A[vi, vj], B[vi, vj])
            if Z[vi, vj] < 0:
                Y[vi, vj] = d + Z[vi, vj]
            else:
                Y[vi, vj] = Z[vi, vj]""",
        lambda d, z: np.where(z < 0, d + z, z),
    ),
}
"""Uses of a dot product, and the results by the dot product and `Z`."""

PRODUCT = """
@T.prim_func
def f(A: T.Buffer(({m}, {k}), "{lhs}"), B: T.Buffer(({k}, {n}), "{rhs}"),
      C: T.Buffer(({m}, {n}), "int32")):
    for i, j, k in T.grid({m}, {n}, {k}):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] = C[vi, vj] + T.dp4a(A[vi, vk], B[vk, vj])
"""

IN_TWO_BLOCKS = """
@T.prim_func
def f(A: T.Buffer((4, {n}), "{lhs}"), B: T.Buffer((4, {n}), "{rhs}"),
      Z: T.Buffer((4, {n}), "int32"), Y: T.Buffer((4, {n}), "int32")):
    D = T.alloc_buffer((4, {n}), "int32")
    for i, j in T.grid(4, {n}):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = T.dp4a(A[vi, vj], B[vi, vj])
    for i, j in T.grid(4, {n}):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = D[vi, 0] + (D[vi, vj] + Z[vi, vj])
"""


def words(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray:
    """Words of extreme bytes."""
    draw = np.random.default_rng(seed).choice(BYTES[dtype], (*shape, 4))
    return draw.astype(VIEWS[dtype]).view(dtype)[..., 0]


def operands(lhs: str, rhs: str, columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows with each pair of extreme bytes four times, then of mixed ones, and numbers to add."""
    pairs = np.array([*itertools.product(BYTES[lhs], BYTES[rhs])])
    a, b = (words((ROWS, columns), t, i) for i, t in enumerate((lhs, rhs)))
    for array, part in ((a, pairs[:, 0]), (b, pairs[:, 1])):
        same = np.repeat(part[:, None], 4, 1).astype(VIEWS[array.dtype.name])
        array[: len(pairs)] = same.view(array.dtype)
    ends = [-(1 << 31), -5, 0, 7, (1 << 31) - 1]
    z = np.random.default_rng(columns).choice(np.array(ends, np.int32), a.shape)
    return a, b, z


def integers(array: np.ndarray) -> np.ndarray:
    """The integers of words, in a last axis."""
    return np.ascontiguousarray(array)[..., None].view(VIEWS[array.dtype.name]).astype(np.int64)


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (integers(a) * integers(b)).sum(-1)


def wrapped(exact: np.ndarray) -> np.ndarray:
    """Integers modulo 2 ** 32."""
    return exact.astype(np.uint64).astype(np.uint32).view(np.int32)


@pytest.mark.sampled
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("lhs", "rhs"), SIGNS)
@pytest.mark.parametrize("target", TARGETS)
def test_uses(target: str, lhs: str, rhs: str, form: str):
    """Dot products do not saturate, and sums with them wrap around."""
    body, result = FORMS[form]
    function = from_source(ELEMENTWISE.format(lhs=lhs, rhs=rhs, body=body))
    executable = xrelax.build(function, target, check=True)
    for columns in COLUMNS:
        a, b, z = operands(lhs, rhs, columns)
        expected = wrapped(result(dot(a, b), z.astype(np.int64)))
        found = np.zeros_like(z)
        executable["f"](a, b, z, found)
        np.testing.assert_array_equal(found, expected, err_msg=f"{columns} columns")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("lhs", "rhs"), SIGNS)
def test_the_reference(lhs: str, rhs: str, form: str):
    body, result = FORMS[form]
    module = module_of(from_source(ELEMENTWISE.format(lhs=lhs, rhs=rhs, body=body)))
    a, b, z = operands(lhs, rhs, 3)
    *_, found = evaluate(module, "f", [a, b, z, np.zeros_like(z)])
    np.testing.assert_array_equal(found, wrapped(result(dot(a, b), z.astype(np.int64))))


@pytest.mark.sampled
@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("signs", range(len(SIGNS)))
def test_sums_in_registers(signs: int, columns: int):
    """A contraction with the default schedule; targets take turns."""
    (lhs, rhs), target = SIGNS[signs], TARGETS[(signs + columns) % len(TARGETS)]
    text = PRODUCT.format(lhs=lhs, rhs=rhs, m=7, n=columns, k=9)
    a, b, found = words((7, 9), lhs, 0), words((9, columns), rhs, 1), np.zeros((7, columns), "i4")
    xrelax.build(from_source(text), target, check=True)["f"](a, b, found)
    np.testing.assert_array_equal(found, dot(a[:, :, None], b).sum(1))


@pytest.mark.sampled
@pytest.mark.parametrize("columns", (1, 7, 16, 20))
@pytest.mark.parametrize("signs", range(len(SIGNS)))
def test_sums_of_another_block(signs: int, columns: int):
    (lhs, rhs), target = SIGNS[signs], TARGETS[(signs + columns) % len(TARGETS)]
    text = IN_TWO_BLOCKS.format(lhs=lhs, rhs=rhs, n=columns)
    a, b, z = (x[-4:].copy() for x in operands(lhs, rhs, columns))
    found, d = np.zeros_like(z), dot(a, b)
    xrelax.build(from_source(text), target, check=True)["f"](a, b, z, found)
    np.testing.assert_array_equal(found, wrapped(d[:, :1] + d + z))


ZNVER4, ALDERLAKE, HASWELL = (
    f"llvm -mtriple=x86_64-linux-gnu -mcpu={cpu}" for cpu in ("znver4", "alderlake", "haswell")
)
V1, M1, A53 = (
    f"llvm -mtriple=aarch64-linux-gnu -mcpu={cpu}"
    for cpu in ("neoverse-v1", "apple-m1", "cortex-a53")
)
INSTRUCTION = re.compile(r"\t(vpdp\w+|[us]{1,2}dot|[us]{1,2}mmla)\t")


def code(lhs: str, rhs: str, target: str) -> str:
    """The assembly of a contraction with the default schedule."""
    return stage_text(from_source(PRODUCT.format(lhs=lhs, rhs=rhs, m=8, n=64, k=16)), "asm", target)


@pytest.mark.parametrize(
    ("target", "lhs", "rhs", "names"),
    [
        *((target, *signs, {"vpdpbusd"}) for target in (ZNVER4, ALDERLAKE) for signs in SIGNS),
        (HASWELL, "uint32", "int32", set()),
        (V1, "uint32", "int32", {"usmmla"}),
        (V1, "int32", "uint32", {"usdot"}),
        (V1, "int32", "int32", {"smmla"}),
        (V1, "uint32", "uint32", {"ummla"}),
        (M1, "uint32", "int32", set()),
        (M1, "int32", "int32", {"sdot"}),
        (M1, "uint32", "uint32", {"udot"}),
        *((A53, *signs, set()) for signs in SIGNS),
    ],
)
def test_instructions(target: str, lhs: str, rhs: str, names: set[str]):
    """The signs for which there is an instruction; x86 converts others to those of its own."""
    assert set(INSTRUCTION.findall(code(lhs, rhs, target))) == names


@pytest.mark.parametrize(
    ("target", "operands", "add"),
    [
        (ZNVER4, r"\tvpdpbusd\t.*%zmm", r"\tvpaddd"),
        (ALDERLAKE, r"\tvpdpbusd\t.*%ymm", r"\tvpaddd"),
        (V1, r"\tusmmla\tv\d+\.4s, v\d+\.16b", r"\tadd\tv"),
    ],
)
def test_whole_registers_with_their_sums(target: str, operands: str, add: str):
    """Each instruction fills a register, and adds to the sum."""
    text = code("uint32", "int32", target)
    assert len(re.findall(operands, text)) == len(INSTRUCTION.findall(text)) > 0
    assert not re.search(add, text)


@pytest.mark.parametrize(("lhs", "rhs"), SIGNS)
@pytest.mark.parametrize("cpu", ["haswell", "x86-64", "skylake-avx512"])
def test_products_of_sixteen_bits(cpu: str, lhs: str, rhs: str):
    """Without the instruction, x86 adds products of pairs of bytes as 16 bits."""
    text = code(lhs, rhs, f"llvm -mtriple=x86_64-linux-gnu -mcpu={cpu}")
    assert re.search(r"\tv?pmaddwd\t", text) and not re.search(r"\tv?pmulld\t", text)


def inner_loops(text: str) -> list[str]:
    """The bodies of the loops of assembly without inner ones."""
    pattern = re.compile(r"^(\.LBB\d+_\d+):.*\n((?:\t.*\n)*?)\tb\.\w+\t\1$", re.MULTILINE)
    return [body for _, body in pattern.findall(text)]


@pytest.mark.parametrize(("lhs", "rhs"), SIGNS)
def test_products_of_sixteen_bits_on_arm(lhs: str, rhs: str):
    """Without the instruction, products of bytes are added in pairs, and stay in registers."""
    text = code(lhs, rhs, A53)
    multiply, add = {
        ("uint32", "uint32"): (r"umull\tv\d+\.8h", "uadalp"),
        ("int32", "int32"): (r"smull\tv\d+\.8h", "sadalp"),
    }.get((lhs, rhs), (r"mul\tv\d+\.8h", "sadalp"))
    assert len(re.findall(rf"\t{multiply}", text)) == len(re.findall(rf"\t{add}\t", text)) > 0
    loop = next(body for body in inner_loops(text) if add in body)
    assert "[sp" not in loop


def test_products_of_matrices():
    """Each adds two rows and two columns of eight bytes; all sums stay in registers."""
    text = from_source(PRODUCT.format(lhs="uint32", rhs="int32", m=60, n=64, k=16))
    (loop,) = (b for b in inner_loops(stage_text(text, "asm", V1)) if "mmla" in b)
    assert loop.count("\tusmmla\t") == 24 and loop.count("\tzip") == 8
    assert "dot" not in loop and "[sp" not in loop


@needs_emulator
@pytest.mark.sampled
@pytest.mark.parametrize("columns", (1, 3, 7, 16, 33))
@pytest.mark.parametrize(("lhs", "rhs"), SIGNS)
@pytest.mark.parametrize("cpu", ["cortex-a53", "apple-m1", "neoverse-v1"])
def test_sums_on_arm(cpu: str, lhs: str, rhs: str, columns: int, tmp_path: Path):
    """Odd numbers of rows and of steps, and numbers of columns that are no whole vectors."""
    text = PRODUCT.format(lhs=lhs, rhs=rhs, m=7, n=columns, k=9)
    a, b, found = words((7, 9), lhs, 0), words((9, columns), rhs, 1), np.zeros((7, columns), "i4")
    found = emulated(from_source(text), cpu, [a, b, found], tmp_path)
    np.testing.assert_array_equal(found, dot(a[:, :, None], b).sum(1))


@pytest.mark.parametrize(("cpu", "widest"), [("sandybridge", "ymm"), ("knl", "zmm")])
def test_no_instruction_for_the_widest_vectors(cpu: str, widest: str):
    """LLVM aborts on an instruction that a processor does not have."""
    text = code("uint32", "int32", f"llvm -mtriple=x86_64-linux-gnu -mcpu={cpu}")
    assert f"%{widest}" in text and not re.search(rf"pmaddwd.*%{widest}", text)


def test_a_broadcast_word_is_converted_as_a_scalar():
    """LLVM 22.1's code generation does not end where 512 bits are flipped after a broadcast."""
    product = from_source(PRODUCT.format(lhs="int32", rhs="int32", m=8, n=64, k=16))
    flips = re.findall(r"llvm\.xor .* : (.+)", stage_text(product, "llvm", ZNVER4))
    assert flips and set(flips) == {"i32"}


def test_a_convolution_of_signed_words():
    """One vector of columns, so that each broadcast word has a single use."""
    function = from_source("""
@R.function
def main(x: R.Tensor((2, 3, 9, 9), "int32"), w: R.Tensor((7, 3, 3, 3), "int32")):
    return R.nn.conv2d_words(x, w, padding=[1, 1, 1, 1], strides=[2, 1])
""")
    x, w = words((2, 3, 9, 9), "int32", 0), words((7, 3, 3, 3), "int32", 1)
    around = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
    windows = np.lib.stride_tricks.sliding_window_view(around, (3, 3), (2, 3))[:, :, ::2]
    expected = np.einsum("ncyxhwb,ochwb->noyx", integers(windows), integers(w))
    np.testing.assert_array_equal(xrelax.build(function)["main"](x, w).numpy(), expected)
