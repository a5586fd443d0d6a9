"""Attention: blocks of queries, causal masks, and memory that is linear in the length."""

import re

import numpy as np
import pytest
from test_contraction import TARGETS, kernels

import xrelax as tvm
from xrelax import relax
from xrelax.dialects import tir
from xrelax.inspection import stage_text
from xrelax.reference.evaluate import evaluate
from xrelax.runtime.dtype import bfloat16_to_float32, to_bfloat16
from xrelax.script import from_source

ZNVER4 = "llvm -mcpu=znver4 -mtriple=x86_64-linux-gnu"

CASES = (
    # batch, queries, keys, heads, key heads, size, value size
    (1, 64, 64, 2, 2, 16, 16),
    (2, 70, 90, 4, 2, 24, 20),
    (1, 90, 70, 3, 1, 18, 33),
    (1, 9, 2, 2, 2, 8, 8),
)


def attention(batch, queries, keys, heads, key_heads, size, value_size, **options):
    """A function of query, key, value and, as option `bias`, an additive mask."""
    dtype = options.pop("dtype", "float32")
    has_bias = options.pop("bias", False)
    arguments = ", ".join(f"{name}={value!r}" for name, value in options.items())
    bias = f', m: R.Tensor(({batch!r}, 1, {queries!r}, {keys!r}), "{dtype}")'
    return f"""
@R.function
def main(q: R.Tensor(({batch!r}, {queries!r}, {heads}, {size}), "{dtype}"),
         k: R.Tensor(({batch!r}, {keys!r}, {key_heads}, {size}), "{dtype}"),
         v: R.Tensor(({batch!r}, {keys!r}, {key_heads}, {value_size}), "{dtype}"){bias * has_bias}):
    return R.nn.attention(q, k, v{", m" * has_bias}, {arguments})
"""


def operands(batch, queries, keys, heads, key_heads, size, value_size, dtype=np.float32):
    rng = np.random.default_rng(0)
    shapes = [(batch, queries, heads, size), (batch, keys, key_heads, size)]
    shapes += [(batch, keys, key_heads, value_size), (batch, 1, queries, keys)]
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]


def expected(q, k, v, bias=0, causal_mask=None):
    """The result in float64; a query that sees no key gives zeros."""
    k, v = (np.repeat(x, q.shape[2] // x.shape[2], 2).astype(np.float64) for x in (k, v))
    scores = np.einsum("bihd,bjhd->bhij", q.astype(np.float64), k) * q.shape[3] ** -0.5 + bias
    if causal_mask is not None:
        offset = k.shape[1] - q.shape[1] if causal_mask == "BottomRight" else 0
        visible = np.tri(q.shape[1], k.shape[1], offset, dtype=bool)
        scores = np.where(visible, scores, -np.inf)
    top = scores.max(-1, keepdims=True, initial=-1e300)
    weights = np.exp(scores - top)
    weights = weights / np.maximum(weights.sum(-1, keepdims=True), 1e-300)
    return np.einsum("bhij,bjhd->bihd", weights, v)


def close(got, want, tolerance=1e-5):
    assert np.abs(np.asarray(got, np.float64).reshape(want.shape) - want).max() <= tolerance


@pytest.mark.sampled(4)
@pytest.mark.parametrize("causal_mask", [None, "TopLeft", "BottomRight"])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("target", [*TARGETS, ZNVER4])
def test_scheduled_kernels_agree_with_the_definition(target, case, causal_mask):
    q, k, v, _ = operands(*case)
    module = kernels(attention(*case, causal_mask=causal_mask), target)
    close(evaluate(module, "main", [q, k, v]), expected(q, k, v, causal_mask=causal_mask))


@pytest.mark.parametrize("causal_mask", [None, "TopLeft", "BottomRight"])
@pytest.mark.parametrize("has_bias", [False, True])
def test_builds(causal_mask, has_bias):
    for case in CASES:
        q, k, v, bias = operands(*case)
        text = attention(*case, causal_mask=causal_mask, bias=has_bias)
        given = [q, k, v, bias][: 3 + has_bias]
        got = relax.build(from_source(text))["main"](*given).numpy()
        close(got, expected(q, k, v, bias if has_bias else 0, causal_mask))


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [("float64", 1e-12), ("float16", 4e-3), ("bfloat16", 4e-2)]
)
def test_dtypes(dtype, tolerance):
    case = (1, 70, 90, 2, 2, 16, 16)
    given = [tvm.nd.array(x, dtype=dtype) for x in operands(*case)[:3]]
    text = attention(*case, dtype=dtype, causal_mask="BottomRight")
    got = relax.build(from_source(text))["main"](*given).numpy()
    want = expected(*(x.numpy() for x in given), causal_mask="BottomRight")
    close(got, want, tolerance)


@pytest.mark.parametrize("causal_mask", [None, "TopLeft", "BottomRight"])
def test_symbolic_lengths(causal_mask):
    text = attention(1, "n", "m", 4, 2, 24, 24, causal_mask=causal_mask)
    compiled = relax.build(from_source(text))
    for queries, keys in ((1, 1), (1, 90), (5, 3), (64, 64), (70, 90), (130, 65)):
        q, k, v, _ = operands(1, queries, keys, 4, 2, 24, 24)
        close(compiled["main"](q, k, v).numpy(), expected(q, k, v, causal_mask=causal_mask))


@pytest.mark.parametrize("keys", [512, 2048])
@pytest.mark.parametrize("target", [*TARGETS, ZNVER4])
def test_memory_is_linear_in_the_length(target, keys):
    """Scratch memory is that of a block of queries, and of the panels of a head."""
    module = kernels(attention(1, keys, keys, 8, 8, 64, 64), target)
    allocated = [op.result.type for op in module.walk() if isinstance(op, tir.AllocBufferOp)]
    sizes = [type_.known_bytes for type_ in allocated]
    assert max(sizes) <= 64 * 4 * keys * 1.2


def test_what_the_mask_hides_is_not_computed():
    text = stage_text(
        from_source(attention(1, 512, 512, 8, 8, 64, 64, causal_mask="TopLeft")), "tir"
    )
    loops = [line for line in text.splitlines() if "tir.for %j" in line]
    assert any("min(" in line for line in loops)
    text = stage_text(from_source(attention(1, 512, 512, 8, 8, 64, 64)), "tir")
    assert "min(" not in "".join(line for line in text.splitlines() if "tir.for %j" in line)


@pytest.mark.parametrize("causal_mask", ["TopLeft", "BottomRight"])
def test_hidden_values_do_not_count_in_other_blocks(causal_mask):
    """A key that is infinite changes the results of the queries that see it."""
    case = (1, 200, 200, 1, 1, 16, 16)
    q, k, v, _ = operands(*case)
    k[0, 150], v[0, 150] = np.inf, np.inf
    text = attention(*case, causal_mask=causal_mask)
    got = relax.build(from_source(text))["main"](q, k, v).numpy()
    want = expected(q[:, :64], k[:, :64], v[:, :64], causal_mask="TopLeft")
    close(got[:, :64], want)
    assert not np.isfinite(got[0, 199]).all()


def test_rows_of_a_partial_block_of_queries_are_vectorized():
    text = stage_text(
        from_source(
            attention(1, 70, 512, 8, 8, 64, 64),
        ),
        "tir",
        target=ZNVER4,
    )
    lines = text.splitlines()
    for name in ("T_max", "T_exp", "T_sum"):
        (at,) = (n for n, line in enumerate(lines) if f'tir.block "{name}"' in line)
        assert lines[at - 1].endswith("(0, 512) vectorized {")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("causal_mask", [None, "TopLeft", "BottomRight"])
@pytest.mark.parametrize("case", [*CASES, (1, 130, 75, 2, 1, 32, 16)])
def test_words_of_bfloat16(case, causal_mask):
    """On processors with dot products of bfloat16 these are used, with tiles of whole words."""
    q, k, v, _ = operands(*case)
    given = [to_bfloat16(x) for x in (q, k, v)]
    text = attention(*case, dtype="bfloat16", causal_mask=causal_mask)
    module = kernels(text, ZNVER4)
    assert "attention_words" in str(module)
    want = expected(*map(bfloat16_to_float32, given), causal_mask=causal_mask)
    got = np.asarray(evaluate(module, "main", given))
    close(bfloat16_to_float32(got), want, 3e-2)


def test_a_causal_mask_hides_words():
    text = attention(1, 512, 512, 8, 8, 64, 64, dtype="bfloat16", causal_mask="TopLeft")
    lowered = stage_text(from_source(text), "tir", target=ZNVER4)
    scores, weighted = (lowered.index(f'"{name}_init"') for name in ("T_scores", "T_weighted"))
    blocks = lowered[:scores].rindex("tir.for %j ")
    assert "min(" in lowered[blocks : lowered.index("\n", blocks)]
    assert re.search(r"tir.for %j_\d+ in \(0, min\(", lowered[weighted:])
    assert "where" not in lowered[blocks:scores]


@pytest.mark.parametrize("causal_mask", [None, "TopLeft", "BottomRight"])
@pytest.mark.parametrize("keys", ["n", "m"])
def test_words_of_symbolic_lengths_are_vectorized(keys, causal_mask):
    """Also where a last word is of one key, whose scratch memory is that of a block of queries."""
    text = attention(1, "n", keys, 8, 8, 64, 64, dtype="bfloat16", causal_mask=causal_mask)
    lines = stage_text(from_source(text), "tir", target=ZNVER4).splitlines()
    for name in ("T_exp", "T_words"):
        (at,) = (n for n, line in enumerate(lines) if f'tir.block "{name}"' in line)
        assert lines[at - 1].endswith("vectorized {"), name
    allocated = [line for line in lines if "tir.alloc_buffer" in line]
    assert allocated and not any("[1, 8, n, " in line for line in allocated)
