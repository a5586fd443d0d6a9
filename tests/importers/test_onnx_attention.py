"""Attention and rotary embeddings against ONNX Runtime, with symbolic dims."""

import numpy as np
import pytest
from onnx import helper
from onnx_models import by_reference, check, compare, model

from xrelax.importers.onnx.compiled_model import compile_onnx
from xrelax.importers.onnx.frontend import from_onnx
from xrelax.importers.unsupported import UnsupportedError

RNG = np.random.default_rng(0)
MICROSOFT = "com.microsoft"
B, S, L, H, D, DV = 2, 3, 5, 4, 8, 6
TOLERANCE = 2e-5


def drawn(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def ints(*values):
    return np.array(values, np.int32)


def one_node(operator, feeds, outputs=("y",), constants=None, order=None, symbolic=True, **given):
    """A model of ONNX Runtime's operator with symbols; `order` has "" for absent inputs."""
    names = [*feeds, *(constants or {})] if order is None else order
    node = helper.make_node(operator, names, list(outputs), domain=MICROSOFT, **given)
    inputs = {
        name: (x.dtype.name, [f"{name}{i}" if symbolic and x.ndim > 2 and i < x.ndim - 1
                              and d not in (1, H, 2) else d for i, d in enumerate(x.shape)])
        for name, x in feeds.items()
    }  # fmt: skip
    return model(node, inputs, outputs, 17, constants, {MICROSOFT: 1})


def run(operator, feeds, **given):
    return check(one_node(operator, feeds, **given), feeds, tolerance=TOLERANCE)


def projected():
    return {"q": drawn(B, S, H * D), "k": drawn(B, L, H * D), "v": drawn(B, L, H * DV)}


def test_heads():
    run("MultiHeadAttention", projected(), num_heads=H)
    feeds = projected() | {"b": drawn(H * (2 * D + DV))}
    run("MultiHeadAttention", feeds, num_heads=H, scale=0.3)


@pytest.mark.parametrize("mask", [ints([1, 1, 1, 0, 0], [1, 1, 1, 1, 0]), ints(3, 4)])
def test_padded_keys(mask):
    feeds = projected() | {"m": mask}
    order = ["q", "k", "v", "", "m"]
    run("MultiHeadAttention", feeds, order=order, num_heads=H, symbolic=mask.ndim > 1)


def test_bias_of_pairs():
    feeds = projected() | {"a": drawn(1, H, S, L)}
    run("MultiHeadAttention", feeds, order=["q", "k", "v", "", "", "a"], num_heads=H)


@pytest.mark.parametrize("unidirectional", [0, 1])
def test_past_keys(unidirectional):
    feeds = {name: drawn(B, S, H * D) for name in "qkv"}
    feeds |= {"pk": drawn(B, H, 7, D), "pv": drawn(B, H, 7, D)}
    run(
        "MultiHeadAttention", feeds, outputs=["y", "a", "b"], num_heads=H,
        order=["q", "k", "v", "", "", "", "pk", "pv"], unidirectional=unidirectional,
    )  # fmt: skip


def test_keys_with_heads_first():
    feeds = {"q": drawn(B, S, H * D), "k": drawn(B, H, L, D), "v": drawn(B, H, L, D)}
    run("MultiHeadAttention", feeds, num_heads=H)


MASKS = {
    "number of each key": ints([1, 1, 0], [1, 0, 0]),
    "number of each pair": np.tril(np.ones((B, S, S), np.int32)),
    "lengths": ints(2, 3),
    "ends and starts": ints(3, 2, 1, 0),
}


@pytest.mark.parametrize("mask", MASKS)
def test_masks_of_self_attention(mask):
    feeds = {"x": drawn(B, S, 12), "m": MASKS[mask]}
    constants = {"w": drawn(12, 3 * H * D), "b": drawn(3 * H * D)}
    order = ["x", "w", "b", "m"]
    run("Attention", feeds, constants=constants, order=order, num_heads=H, symbolic=False)


def test_self_attention_with_past():
    feeds = {"x": drawn(B, S, 12), "past": drawn(2, B, H, 7, D)}
    constants = {"w": drawn(12, 3 * H * D), "b": drawn(3 * H * D)}
    run(
        "Attention", feeds, constants=constants, order=["x", "w", "b", "", "past"],
        outputs=["y", "present"], num_heads=H, unidirectional=1,
    )  # fmt: skip


def test_values_of_another_width():
    widths = [H * D, H * D, H * DV]
    constants = {"w": drawn(12, sum(widths)), "b": drawn(sum(widths))}
    feeds = {"x": drawn(B, S, 12)}
    run("Attention", feeds, constants=constants, num_heads=H, qkv_hidden_sizes=widths)


TABLES = {"cos": drawn(16, D), "sin": drawn(16, D)}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"do_rotary": 1},
        {"do_rotary": 1, "rotary_interleaved": 1},
        {"local_window_size": 2},
        {"softcap": 0.7},
        {"causal": 0},
    ],
)
def test_prompts_of_grouped_queries(given):
    feeds = grouped(5, 0)
    constants = TABLES if "do_rotary" in given else {}
    run(
        "GroupQueryAttention", feeds, constants=constants, outputs=["y", "a", "b"],
        num_heads=H, kv_num_heads=2, **given,
    )  # fmt: skip


def grouped(length, past):
    size = 2 * D
    feeds = {"q": drawn(B, length, H * size)}
    feeds |= {name: drawn(B, length, 2 * size) for name in "kv"}
    feeds |= {name: drawn(B, 2, past, size) for name in ("pk", "pv")}
    total = past + length
    return feeds | {"n": ints(*[total - 1] * B), "t": np.array(total, np.int32)}


def test_one_token_behind_past_keys():
    feeds = grouped(1, 6)
    outputs = ["y", "a", "b"]
    given = {"num_heads": H, "kv_num_heads": 2, "do_rotary": 1}
    run("GroupQueryAttention", feeds, constants=TABLES, outputs=outputs, **given)


def test_packed_prompt():
    feeds = grouped(5, 0)
    feeds["q"] = drawn(B, 5, (H + 4) * 2 * D)
    del feeds["k"], feeds["v"]
    order = ["q", "", "", "pk", "pv", "n", "t"]
    run(
        "GroupQueryAttention", feeds, order=order, outputs=["y", "a", "b"],
        num_heads=H, kv_num_heads=2,
    )  # fmt: skip


@pytest.mark.parametrize("interleaved", [0, 1])
def test_rotary_embedding(interleaved):
    for positions in (np.array([[0, 3, 2], [1, 1, 5]]), np.array([2])):
        feeds = {"x": drawn(B, S, H * 2 * D), "p": positions}
        run("RotaryEmbedding", feeds, constants=TABLES, interleaved=interleaved)
    node = helper.make_node(
        "RotaryEmbedding", ["x", "cos", "sin", "p"], ["y"], interleaved=interleaved, num_heads=H
    )
    inputs = {"x": ("float32", ["b", "s", H * 2 * D]), "p": ("int64", ["b", "s"])}
    feeds["p"] = np.array([[0, 3, 2], [1, 1, 5]])
    check(model(node, inputs, ["y"], 23, TABLES), feeds, tolerance=TOLERANCE)


def test_heads_narrower_than_tables():
    node = helper.make_node("RotaryEmbedding", ["x", "cos", "sin", "p"], ["y"])
    inputs = {"x": ("float32", [B, H, S, "d"]), "p": ("int64", [B, S])}
    compiled = compile_onnx(model(node, inputs, ["y"], 23, TABLES))
    with pytest.raises(ValueError, match="expected"):
        compiled.run(None, {"x": drawn(B, H, S, 2), "p": np.zeros((B, S), "int64")})


@pytest.mark.parametrize("given", [{}, {"is_causal": 1}, {"softcap": 0.5, "scale": 0.7}])
def test_attention_of_onnx(given):
    """Grouped queries and a mask with symbolic lengths; both causal masks of equal lengths."""
    node = helper.make_node("Attention", ["q", "k", "v", "m"], ["y"], **given)
    inputs = {
        "q": ("float32", ["b", H, "s", D]),
        "k": ("float32", ["b", 2, "l", D]),
        "v": ("float32", ["b", 2, "l", DV]),
        "m": ("bool", ["s", "l"]),
    }
    feeds = {"q": drawn(B, H, S, D), "k": drawn(B, 2, L, D), "v": drawn(B, 2, L, DV)}
    feeds["m"] = np.tril(np.ones((S, L), bool), 1)
    check(model(node, inputs, ["y"], 23), feeds, by="reference", tolerance=TOLERANCE)


@pytest.mark.parametrize("dtype", ["float64", "int64"])
@pytest.mark.parametrize("outputs", [["y"], ["y", "", "", "products"]])
def test_numbers_of_a_mask_have_the_dtype_of_queries(dtype, outputs):
    """A mask of numbers is added, also one of fewer keys than there are."""
    feeds = {"q": drawn(B, H, S, D), "k": drawn(B, H, L, D), "v": drawn(B, H, L, DV)}
    feeds |= {"m": np.arange(S * 4).reshape(S, 4).astype("float32"), "n": np.array([4, 3])}

    def made(mask):
        node = helper.make_node("Attention", ["q", "k", "v", "m", "", "", "n"], outputs)
        types = {n: (x.dtype.name, x.shape) for n, x in feeds.items()} | {"m": (mask, (S, 4))}
        return model(node, types, [o for o in outputs if o], 24)

    found = compile_onnx(made(dtype)).run(None, feeds | {"m": feeds["m"].astype(dtype)})
    compare(found, by_reference(made("float32"), feeds), TOLERANCE)


@pytest.mark.parametrize("most", [1, 2**63 - 1])
@pytest.mark.parametrize("side", ["left", "right"])
def test_windows(side, most):
    """Keys before or behind a query; the largest number of them does not overflow."""
    given = {f"{side}_window_size": most}
    node = helper.make_node("Attention", ["q", "k", "v"], ["y"], **given)
    feeds = {"q": drawn(B, H, S, D), "k": drawn(B, H, L, D), "v": drawn(B, H, L, DV)}
    made = model(node, {n: ("float32", x.shape) for n, x in feeds.items()}, ["y"], 26)
    check(made, feeds, by="reference", tolerance=TOLERANCE)


def test_attention_of_onnx_with_past():
    node = helper.make_node(
        "Attention", ["q", "k", "v", "", "pk", "pv"], ["y", "a", "b"], is_causal=1,
        q_num_heads=H, kv_num_heads=H,
    )  # fmt: skip
    feeds = {name: drawn(B, S, H * D) for name in "qkv"}
    inputs = {name: ("float32", ["b", "s", H * D]) for name in "qkv"}
    feeds |= {name: drawn(B, H, 4, D) for name in ("pk", "pv")}
    inputs |= {name: ("float32", ["b", H, "p", D]) for name in ("pk", "pv")}
    made = model(node, inputs, ["y", "a", "b"], 23)
    check(made, feeds, by="reference", tolerance=TOLERANCE)


@pytest.mark.parametrize(
    ("operator", "feeds", "given", "message"),
    [
        ("MultiHeadAttention", {"q": drawn(B, S, 10), "k": drawn(B, L, 10), "v": drawn(B, L, 10)},
         {"num_heads": 4}, "expected a width of 4 equal heads, got 10"),
        ("MultiHeadAttention", {"q": drawn(B, S, 8), "k": drawn(B, L, 8), "v": drawn(B, 6, 8)},
         {"num_heads": 4, "symbolic": False}, "expected dims of one size, got 5 and 6"),
        ("Attention", {"x": drawn(B, S, 8), "w": drawn(8, 25), "b": drawn(25)},
         {"num_heads": 4, "symbolic": False}, "expected the conversion to give "
         "!relax.tensor<[2, 3, 24], f32>, got !relax.tensor<[2, 3, 25], f32>"),
        ("Attention", {"x": drawn(B, S, 8), "w": drawn(8, 24), "b": drawn(24)},
         {"num_heads": 4, "do_rotary": 1},
         "rotary embeddings, or past and present keys in one buffer"),
        ("RotaryEmbedding", {"x": drawn(B, S, 32), "p": np.array([0])},
         {"constants": TABLES, "scale": 2.0}, "packed batches, or a scale"),
    ],
)  # fmt: skip
def test_wrong_models(operator, feeds, given, message):
    with pytest.raises(UnsupportedError) as caught:
        from_onnx(one_node(operator, feeds, **given))
    (problem,) = caught.value.problems
    assert problem.reason == message
