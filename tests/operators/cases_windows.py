"""Cases of convolutions and pools over one to three spatial dims."""

from __future__ import annotations

from typing import Any

from cases_nn import grouped_symbols, summed
from drawing import FLOATS, Draw
from harness import Case, torch

LETTERS = {1: "W", 2: "HW", 3: "DHW"}
KERNELS = ("OI{}", "{}IO", "O{}I")
"""Layouts of weights, PyTorch's first."""


def window(d: Draw, rank: int, least: int, size: str | None):
    """Attributes of windows, and sizes of data that hold them."""
    sizes = [d.integer(1, 3) for _ in range(rank)]
    dilation = [d.pick((1, 1, 2)) for _ in range(rank)]
    limits = [(s - 1) * t for s, t in zip(sizes, dilation, strict=True)]
    before = [d.integer(0, limit // 2) for limit in limits]
    reach = [limit + 1 for limit in limits]
    data = [max(r - 2 * b, 1) + d.integer(least, 7) for r, b in zip(reach, before, strict=True)]
    strides = [d.pick((1, 1, 2, 3)) for _ in range(rank)]
    attributes: dict[str, Any] = {"strides": strides, "padding": before, "dilation": dilation}
    return data, sizes, attributes if size is None else {size: sizes, **attributes}


def convolution(rank: int):
    def draw(d: Draw):
        data, sizes, attributes = window(d, rank, 0, None)
        groups, own, each = d.pick((1, 1, 2, 3)), d.integer(1, 3), d.integer(1, 3)
        if d.chance(25):
            groups, own, each = d.integer(2, 5), 1, 1
        x = d.array((d.size(), groups * own, *data))
        kernel = d.pick([form.format(LETTERS[rank]) for form in KERNELS])
        dims = dict(zip(f"OI{LETTERS[rank]}", (groups * each, own, *sizes), strict=True))
        last = d.chance(30)
        layout = f"N{LETTERS[rank]}C" if last else f"NC{LETTERS[rank]}"
        attributes |= {"groups": groups, "kernel_layout": kernel, "data_layout": layout}
        x = x.transpose(0, *range(2, 2 + rank), 1) if last else x
        return [x.copy(), d.array([dims[c] for c in kernel])], attributes

    return draw


def first(x: Any, layout: str):
    return x.movedim(-1, 1) if layout.endswith("C") else x


def convolve(rank: int, name: str):
    def run(x: Any, w: Any, kernel_layout: str, data_layout: str, strides: Any, **options: Any):
        own = f"OI{LETTERS[rank]}"
        if "transpose" in name:
            own = own.replace("OI", "IO")
        weight = w.permute([kernel_layout.index(c) for c in own])
        data = first(x, data_layout)
        # PyTorch has not all of them for integers; without instructions for bf16 it sums in bf16.
        data, weight = data.double(), weight.double()
        result = getattr(torch.nn.functional, name)(data, weight, stride=strides, **options)
        result = (result if x.is_floating_point() else result.long()).to(x.dtype)
        return result.movedim(1, -1) if data_layout.endswith("C") else result

    return run


def transposed(rank: int):
    def draw(d: Draw):
        data, sizes, attributes = window(d, rank, 1, None)
        groups, own, each = d.pick((1, 1, 2, 3)), d.integer(1, 3), d.integer(1, 3)
        extra = [d.integer(0, s - 1) for s in attributes["strides"]]
        size = [
            (n - 1) * s - 2 * p + (k - 1) * t + 1 + e
            for n, s, p, k, t, e in zip(
                data, attributes["strides"], attributes["padding"], sizes,
                attributes["dilation"], extra, strict=True,
            )
        ]  # fmt: skip
        if min(size) < 1:
            attributes["padding"] = [0] * rank
        x = d.array((d.size(), groups * own, *data))
        w = d.array((groups * own, each, *sizes))
        layouts = {"kernel_layout": f"IO{LETTERS[rank]}", "data_layout": f"NC{LETTERS[rank]}"}
        return [x, w], {**attributes, "output_padding": extra, "groups": groups, **layouts}

    return draw


def pool(rank: int, with_dilation: bool, special: bool = True):
    def draw(d: Draw):
        data, _, attributes = window(d, rank, 0, "pool_size")
        if not with_dilation:
            sizes = attributes["pool_size"]
            attributes |= {"dilation": [1] * rank, "padding": [d.integer(0, s // 2) for s in sizes]}
            data = [max(n, s) for n, s in zip(data, sizes, strict=True)]
        else:
            pairs = zip(attributes["pool_size"], attributes["padding"], strict=True)
            attributes["padding"] = [min(s // 2, p) for s, p in pairs]
            reach = zip(attributes["pool_size"], attributes["dilation"], strict=True)
            data = [max(n, (s - 1) * t + 1) for n, (s, t) in zip(data, reach, strict=True)]
        attributes |= {"ceil_mode": d.chance(40), "count_include_pad": d.chance(50)}
        return [
            d.array((d.size(1), d.size(1), *data), special=special and d.chance(30))
        ], attributes

    return draw


def max_pool(rank: int):
    def run(x: Any, pool_size: Any, strides: Any, count_include_pad: bool, **options: Any):
        return getattr(torch.nn.functional, f"max_pool{rank}d")(x, pool_size, strides, **options)

    return run


def indexed_max_pool(rank: int):
    def run(x: Any, pool_size: Any, strides: Any, count_include_pad: bool, **options: Any):
        function = getattr(torch.nn.functional, f"max_pool{rank}d_with_indices")
        return function(x, pool_size, strides, **options)

    return run


def avg_pool(rank: int):
    def run(x: Any, pool_size: Any, strides: Any, dilation: Any, **options: Any):
        return getattr(torch.nn.functional, f"avg_pool{rank}d")(x, pool_size, strides, **options)

    return run


def adaptive(rank: int):
    def draw(d: Draw):
        data = [d.size(1) for _ in range(rank)]
        size = [d.integer(1, 5) for _ in range(rank)]
        return [d.array((d.size(1), d.size(1), *data))], {"output_size": size}

    return draw


def adaptive_case(kind: str, rank: int) -> Case:
    name = f"adaptive_{kind}_pool{rank}d"

    def run(x: Any, output_size: Any):
        return getattr(torch.nn.functional, name)(x, output_size)

    return summed(f"relax.nn.{name}", adaptive(rank), run)


CONVOLVED = (*FLOATS, "int8", "int32")
POOLED = (*FLOATS, "int8", "int32", "uint8")

CASES = (
    *(
        summed(
            f"relax.nn.conv{r}d",
            convolution(r),
            convolve(r, f"conv{r}d"),
            CONVOLVED,
            symbolic=grouped_symbols,
        )
        for r in LETTERS
    ),
    *(
        summed(
            f"relax.nn.conv{r}d_transpose",
            transposed(r),
            convolve(r, f"conv_transpose{r}d"),
            symbolic=grouped_symbols,
        )
        for r in LETTERS
    ),
    *(
        Case(f"relax.nn.max_pool{r}d", pool(r, True), max_pool(r), POOLED if r == 2 else FLOATS)
        for r in LETTERS
    ),
    *(
        Case(
            f"relax.nn.max_pool{r}d_with_indices",
            pool(r, True, False),
            indexed_max_pool(r),
            POOLED if r == 2 else FLOATS,
        )
        for r in LETTERS
    ),
    *(summed(f"relax.nn.avg_pool{r}d", pool(r, False), avg_pool(r)) for r in LETTERS),
    *(adaptive_case(kind, rank) for kind in ("avg", "max") for rank in LETTERS),
)
