"""`T.bfdot` on each instruction set: compared with NumPy and the reference, and its assembly."""

import re

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

ELEMENTWISE = """
@T.prim_func
def f(a: T.handle, b: T.handle, z: T.handle, y: T.handle):
    m, n = T.int64(), T.int64()
    A = T.match_buffer(a, (m, n), "uint32")
    B = T.match_buffer(b, (m, n), "uint32")
    Z = T.match_buffer(z, (m, n), "float32")
    Y = T.match_buffer(y, (m, n), "float32")
    for i, j in T.grid(m, n):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            {body}
"""

FORMS = {
    "alone": ("Y[vi, vj] = T.bfdot(A[vi, vj], B[vi, vj])", lambda d, z: d),
    "with an accumulator": ("Y[vi, vj] = T.bfdot(A[vi, vj], B[vi, vj], Z[vi, vj])", np.add),
    "added": ("Y[vi, vj] = T.bfdot(A[vi, vj], B[vi, vj]) + Z[vi, vj]", np.add),
    "subtracted": ("Y[vi, vj] = Z[vi, vj] - T.bfdot(A[vi, vj], B[vi, vj])", lambda d, z: z - d),
    "used twice": (
        "d: T.float32 = T.bfdot(A[vi, vj], B[vi, vj])\n            Y[vi, vj] = (d + Z[vi, vj]) * d",
        lambda d, z: (d + z) * d,
    ),
    "two of them added": (
        "Y[vi, vj] = T.bfdot(A[vi, vj], B[vi, vj]) + T.bfdot(B[vi, vj], A[vi, vj])",
        lambda d, z: d + d,
    ),
    "added to itself": (
        "d: T.float32 = T.bfdot(A[vi, vj], B[vi, vj])\n            Y[vi, vj] = d + d",
        lambda d, z: d + d,
    ),
    "added in a branch": (
        """d: T.float32 = T.bfdot(A[vi, vj], B[vi, vj])
            if Z[vi, vj] < T.float32(0):
                Y[vi, vj] = d + Z[vi, vj]
            else:
                Y[vi, vj] = Z[vi, vj]""",
        lambda d, z: np.where(z < 0, d + z, z),
    ),
}
"""Uses of a dot product, and the results by the dot product and `Z`."""

PRODUCT = """
@T.prim_func
def f(A: T.Buffer(({m}, {k}), "uint32"), B: T.Buffer(({k}, {n}), "uint32"),
      C: T.Buffer(({m}, {n}), "float32")):
    for i, j, k in T.grid({m}, {n}, {k}):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + T.bfdot(A[vi, vk], B[vk, vj])
"""

IN_TWO_BLOCKS = """
@T.prim_func
def f(A: T.Buffer((4, {n}), "uint32"), B: T.Buffer((4, {n}), "uint32"),
      Z: T.Buffer((4, {n}), "float32"), Y: T.Buffer((4, {n}), "float32")):
    D = T.alloc_buffer((4, {n}), "float32")
    for i, j in T.grid(4, {n}):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = T.bfdot(A[vi, vj], B[vi, vj])
    for i, j in T.grid(4, {n}):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = D[vi, 0] + (D[vi, vj] + Z[vi, vj])
"""


def words(shape, seed, numbers=None):
    """Words of two bf16: of normal ones, or of some of these numbers."""
    rng, pairs = np.random.default_rng(seed), (*shape, 2)
    given = rng.standard_normal(pairs) if numbers is None else rng.choice(numbers, pairs)
    return (given.astype("float32").view("uint32") >> 16).astype("uint16").view("uint32")[..., 0]


def dot(a, b):
    """The dot products of words as float64."""
    halves = [np.ascontiguousarray(w)[..., None].view("uint16").astype("uint32") for w in (a, b)]
    lhs, rhs = ((half << 16).view("float32").astype("float64") for half in halves)
    with np.errstate(invalid="ignore"):
        return (lhs * rhs).sum(-1)


@pytest.mark.sampled
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("target", TARGETS)
def test_uses(target, form):
    body, result = FORMS[form]
    executable = xrelax.build(from_source(ELEMENTWISE.format(body=body)), target, check=True)
    for columns in range(1, 21):  # all numbers of words beyond the last whole vector
        a, b = words((3, columns), 0), words((3, columns), 1)
        z = np.random.default_rng(2).standard_normal(a.shape).astype("float32")
        found = np.zeros_like(z)
        executable["f"](a, b, z, found)
        np.testing.assert_allclose(found, result(dot(a, b), z), rtol=1e-5, atol=1e-5)


@pytest.mark.sampled
@pytest.mark.parametrize("columns", range(1, 21))
@pytest.mark.parametrize("target", TARGETS)
def test_sums_in_registers(target, columns):
    """A contraction with the default schedule, against the float64 sums of the same numbers."""
    a, b, found = words((7, 9), 0), words((9, columns), 1), np.zeros((7, columns), "float32")
    text = PRODUCT.format(m=7, n=columns, k=9)
    xrelax.build(from_source(text), target, check=True)["f"](a, b, found)
    np.testing.assert_allclose(found, dot(a[:, :, None], b).sum(1), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_the_reference(form):
    body, result = FORMS[form]
    a, b, z = words((3, 4), 0), words((3, 4), 1), np.linspace(-2, 2, 12, dtype="float32")
    arrays = [a, b, z.reshape(3, 4), np.zeros((3, 4), "float32")]
    module = module_of(from_source(ELEMENTWISE.format(body=body)))
    *_, found = evaluate(module, "f", arrays, float64=True)
    np.testing.assert_allclose(found, result(dot(a, b), arrays[2]), rtol=1e-14, atol=1e-14)


@pytest.mark.sampled
@pytest.mark.parametrize("columns", (1, 7, 16, 20))
def test_sums_of_another_block(columns):
    target = TARGETS[columns % len(TARGETS)]
    a, b, z = words((4, columns), 0), words((4, columns), 1), np.zeros((4, columns), "float32")
    z[:], found, d = np.arange(columns), np.zeros_like(z), dot(a, b)
    xrelax.build(from_source(IN_TWO_BLOCKS.format(n=columns)), target, check=True)["f"](
        a, b, z, found
    )
    np.testing.assert_allclose(found, d[:, :1] + d + z, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
def test_infinities_and_nan(target):
    a, b = (words((16, 16), i, [np.inf, -np.inf, np.nan, 0.0, -2.0, 1.5]) for i in (0, 1))
    found, zero = np.zeros((16, 16), "float32"), np.zeros((16, 16), "float32")
    body, _ = FORMS["alone"]
    xrelax.build(from_source(ELEMENTWISE.format(body=body)), target)["f"](
        a, b, np.zeros_like(found), found
    )
    np.testing.assert_array_equal(found, dot(a, b))


@pytest.mark.parametrize("target", TARGETS)
def test_infinities_and_nan_in_sums(target):
    """A row or column with one is not finite; the others are what they are without it."""
    a, b, found = words((7, 9), 0), words((9, 20), 1), np.zeros((7, 20), "float32")
    a[2, 4], a[3, 8], b[0, 17] = 0x7F803F80, 0x3F80FF80, 0x7FC00000  # infinities in halves; NaN
    text = PRODUCT.format(m=7, n=20, k=9)
    xrelax.build(from_source(text), target)["f"](a, b, found)
    expected = dot(a[:, :, None], b).sum(1)
    assert np.isinf(expected).sum() == 2 * 19 and np.isnan(expected).sum() == 7
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
def test_denormal_numbers(target):
    """Those of operands and of results stay, or are zeros; sums with others do not change."""
    small, normal = [2.0**-133, -(2.0**-127), 2.0**-126], [1.0, -(2.0**-10), 2.0**20, 0.0]
    a, b, found = words((4, 37), 0, small), words((4, 37), 1, normal), np.zeros((4, 37), "float32")
    b &= 0xFFFF  # one product
    executable = xrelax.build(from_source(ELEMENTWISE.format(body=FORMS["added"][0])), target)
    executable["f"](a, b, np.zeros_like(found), found)
    exact = dot(a, b)
    assert np.all((found == exact) | (found == 0))
    is_normal = (np.abs(exact) >= 2.0**-126) & (a & 0x7F80 != 0)
    assert is_normal.any()
    np.testing.assert_array_equal(found[is_normal], exact[is_normal])
    executable["f"](a, np.full_like(b, 0x3F80), np.ones_like(found), found)
    np.testing.assert_array_equal(found, 1)


def code(target):
    """The assembly of a contraction with the default schedule."""
    return stage_text(from_source(PRODUCT.format(m=8, n=64, k=16)), "asm", target)


@pytest.mark.parametrize(
    ("cpu", "instruction"),
    [
        ("znver4", r"\tvdpbf16ps\t.*%zmm"),
        ("sapphirerapids", r"\tvdpbf16ps\t.*%zmm"),
        ("skylake-avx512", None),
        ("alderlake", None),
        ("haswell", None),
        ("neoverse-v1", r"\tbfmmla\tv\d+\.4s, v\d+\.8h"),
        ("apple-m1", None),
        ("cortex-a53", None),
    ],
)
def test_instructions(cpu, instruction):
    """Each one fills a register, and adds to the sum; without it, there are multiply-adds."""
    arch = "aarch64" if cpu in ("neoverse-v1", "apple-m1", "cortex-a53") else "x86_64"
    text = code(f"llvm -mtriple={arch}-linux-gnu -mcpu={cpu}")
    names = re.findall(r"\t(vdpbf16ps|bfdot|bfmmla)\t", text)
    if instruction is None:
        assert not names and re.search(r"\t(vfmadd\w+|fmla)\t", text)
    else:
        assert len(re.findall(instruction, text)) == len(names) > 0
        assert not re.search(r"\t(vaddps|fadd|vfmadd\w+|fmla)\t", text)


@needs_emulator
@pytest.mark.sampled
@pytest.mark.parametrize(("rows", "columns", "depth"), [(8, 16, 9), (7, 20, 8), (1, 16, 4)])
def test_sums_on_arm(rows, columns, depth, tmp_path):
    """Pairs of rows and of steps, and those that are left."""
    a, b, found = (
        words((rows, depth), 0),
        words((depth, columns), 1),
        np.zeros((rows, columns), "f4"),
    )
    function = from_source(PRODUCT.format(m=rows, n=columns, k=depth))
    found = emulated(function, "neoverse-v1", [a, b, found], tmp_path)
    np.testing.assert_allclose(found, dot(a[:, :, None], b).sum(1), rtol=1e-5, atol=1e-5)
