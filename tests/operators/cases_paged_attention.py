"""Cases of attention to keys and values in pages."""

from __future__ import annotations

from typing import Any

from drawing import Draw
from harness import Case, all_symbolic, torch

SUMS = {"float32": 2e-5, "float16": 2e-3, "bfloat16": 1.6e-2}


def drawn(d: Draw):
    sequences, key_heads, shared = d.pick((1, 2, 3)), d.pick((1, 2)), d.pick((1, 2, 3))
    size, width, places = d.pick((1, 4, 16)), d.pick((1, 5, 16)), d.pick((1, 4, 16))
    pages, count = d.integer(1, 9) if d.chance(85) else 0, d.integer(1, 4)
    stored = d.pick(("float16", "float32", "bfloat16", "int8"))
    limit = 127 if stored == "int8" else 2
    operands = [
        d.array((sequences, key_heads * shared, size)),
        d.array((pages, key_heads, size, places), -limit, limit, stored),
        d.array((pages, key_heads, places, width), -limit, limit, stored),
        d.array((sequences, count), 0, max(pages - 1, 0), "int32"),
        d.array((sequences,), d.pick((1, 1, 1, 0)), count * places, "int32"),
    ]
    if stored == "int8":
        operands += [d.array((pages, key_heads, places), 0, 0.02, "float32") for _ in range(2)]
    options = {"scale": (None, 0.3), "window": (0, 0, 1, 5), "softcap": (None, None, 0.5)}
    return operands, {name: d.pick(values) for name, values in options.items()}


def attend(
    query: Any,
    keys: Any,
    values: Any,
    table: Any,
    lengths: Any,
    key_scales: Any = None,
    value_scales: Any = None,
    scale: Any = None,
    window: int = 0,
    softcap: Any = None,
):
    if not len(keys):
        return query.new_zeros((*query.shape[:2], values.shape[3]))
    keys, values = keys.double(), values.double()
    if key_scales is not None:
        keys, values = keys * key_scales[:, :, None], values * value_scales[..., None]
    shared = query.shape[1] // keys.shape[1]
    found = []
    for row, own, length in zip(query.double(), table.long(), lengths.tolist(), strict=True):
        key = keys[own].permute(1, 0, 3, 2).flatten(1, 2)
        value = values[own].permute(1, 0, 2, 3).flatten(1, 2)
        first = max(0, length - window) if window else 0
        parts = [p[:, first:length].repeat_interleave(shared, 0) for p in (key, value)]
        products = row[:, None] @ parts[0].mT * (query.shape[2] ** -0.5 if scale is None else scale)
        if softcap is not None:
            products = torch.tanh(products / softcap) * softcap
        attended = torch.softmax(products, -1) @ parts[1]
        found.append(attended if length else attended.fill_(torch.nan))
    return torch.cat(found, 1).transpose(0, 1).to(query.dtype)


def symbols(shapes: Any, attributes: Any) -> Any:
    """Symbols for sizes other than 1, but not for heads if several share the keys of one."""
    heads, key_heads = shapes[0][1], shapes[1][1]
    changed = all_symbolic(shapes, attributes)[0]
    if heads != key_heads:
        for number, count in enumerate((heads, key_heads, key_heads)):
            dims = changed[number]
            changed[number] = (dims[0], count, *dims[2:])
    return changed, attributes


CASES = (
    Case(
        "relax.nn.paged_attention",
        drawn,
        attend,
        ("float32", "float16", "bfloat16"),
        SUMS,
        SUMS,
        symbolic=symbols,
    ),
)
