"""Cases of operators on images: resizing, sampling."""

from __future__ import annotations

from typing import Any

from drawing import FLOATS, Draw
from harness import Case, all_symbolic, torch

LETTERS = {1: "W", 2: "HW", 3: "DHW"}
RESIZED = {"float32": 5e-5, "float16": 1e-2, "bfloat16": 6e-2, "float64": 1e-12}
"""Coordinates of float32 have errors, which are multiplied by differences of elements."""


def image(d: Draw, rank: int, layout: str) -> Any:
    """A tensor of a layout, with the sizes of its spatial dims."""
    sizes = [d.pick((2, 3, 4, 5, 7, 9)) for _ in range(rank)]
    dims = {"N": d.size(1), "C": d.size(1), **dict(zip(LETTERS[rank], sizes, strict=True))}
    return d.array([dims[c] for c in layout]), sizes


def resize(rank: int, method: str):
    """Sizes of a result that PyTorch can compute too."""

    def draw(d: Draw):
        x, sizes = image(d, rank, f"NC{LETTERS[rank]}")
        size = tuple(s if d.chance(20) else d.integer(1, 11) for s in sizes)
        attributes: dict[str, Any] = {"size": size, "method": method}
        if method == "nearest_neighbor":
            exact = d.chance(50)
            attributes["coordinate_transformation_mode"] = "half_pixel" if exact else "asymmetric"
            attributes["rounding_method"] = "floor" if not exact else "round"
        else:
            corners = d.chance(40)
            if corners:
                attributes["coordinate_transformation_mode"] = "align_corners"
            # PyTorch's antialiasing to a width of 1 depends on the memory format.
            if rank == 2 and not corners and size[-1] > 1 and d.chance(50):
                attributes |= {"antialias": True, "cubic_exclude": True, "cubic_alpha": -0.5}
        return [x], attributes

    return draw


def interpolate(
    x: Any,
    size: Any,
    method: str,
    coordinate_transformation_mode: str = "half_pixel",
    antialias: bool = False,
    **_: Any,
):
    modes = {1: {"linear": "linear"}, 2: {"linear": "bilinear", "cubic": "bicubic"}}
    corners = {"align_corners": coordinate_transformation_mode == "align_corners"}
    mode = modes.get(x.ndim - 2, {"linear": "trilinear"}).get(method)
    if mode is None:
        mode, corners = "nearest", {}
        if coordinate_transformation_mode == "half_pixel":
            mode = "nearest-exact"
    if antialias:
        corners["antialias"] = True
    return torch.nn.functional.interpolate(x, size, mode=mode, **corners)


def any_resize(rank: int):
    """Options that PyTorch does not have."""

    def draw(d: Draw):
        last = d.chance(30)
        layout = f"N{LETTERS[rank]}C" if last else f"NC{LETTERS[rank]}"
        x, sizes = image(d, rank, layout)
        mode = d.pick((
            "half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel",
            "tf_half_pixel_for_nn", "tf_crop_and_resize", "half_pixel_symmetric",
        ))  # fmt: skip
        attributes: dict[str, Any] = {
            "layout": layout,
            "size": tuple(d.integer(1, 9) for _ in range(rank)),
            "method": d.pick(("nearest_neighbor", "linear", "cubic")),
            "coordinate_transformation_mode": mode,
            "rounding_method": d.pick(("round", "floor", "ceil", "round_prefer_floor", "")),
            "cubic_exclude": d.chance(40),
            "antialias": d.chance(30),
        }
        if mode == "tf_crop_and_resize":
            starts, ends = [d.pick((0.25, -0.125, 0.0)) for _ in range(rank)], []
            ends = [d.pick((0.75, 1.125, 1.0)) for _ in range(rank)]
            attributes |= {"roi": [*starts, *ends], "extrapolation_value": 2.5}
        elif d.chance(40):
            scales = [d.pick((0.5, 0.75, 1.5, 2.0, 2.5)) for _ in range(rank)]
            size = tuple(max(int(s * f), 1) for s, f in zip(sizes, scales, strict=True))
            attributes |= {"scales": scales, "size": size}
        return [x], attributes

    return draw


def grid(rank: int, method: str):
    def draw(d: Draw):
        x, _ = image(d, rank, f"NC{LETTERS[rank]}")
        points = d.array((x.shape[0], rank, *(d.size(1) for _ in range(rank))), -1.7, 1.7)
        attributes = {
            "method": method,
            "layout": f"NC{LETTERS[rank]}",
            "padding_mode": d.pick(("zeros", "border", "reflection")),
            "align_corners": d.chance(50),
        }
        return [x, points], attributes

    return draw


def grid_symbols(shapes: Any, attributes: Any) -> Any:
    """Symbols for sizes other than 1, but not for the number of coordinates."""
    (data, points), attributes = all_symbolic(shapes, attributes)
    return [data, (points[0], shapes[1][1], *points[2:])], attributes


def grid_sample(x: Any, grid: Any, method: str, layout: str, **options: Any):
    return torch.nn.functional.grid_sample(x, grid.movedim(1, -1), method, **options)


def affine(d: Draw):
    size = d.pick((7, (2, 4), (5, 3), (2, 3, 4)))
    rank = 3 if size == (2, 3, 4) else 2
    data = d.array((d.size(1), rank, rank + 1), -2, 2)
    return [data], {"size": size, "align_corners": d.chance(50)}


def affine_grid(data: Any, size: Any, align_corners: bool):
    sizes = (size, size) if isinstance(size, int) else size
    grid = torch.nn.functional.affine_grid(data, (data.shape[0], 1, *sizes), align_corners)
    return grid.movedim(-1, 1)


def affine_symbols(shapes: Any, attributes: Any) -> Any:
    """The batch and the sizes are symbolic, the matrices are not."""
    (data,), attributes = all_symbolic(shapes, attributes)
    return [(data[0], *shapes[0][1:])], attributes


CASES = (
    Case(
        "relax.image.affine_grid",
        affine,
        affine_grid,
        FLOATS,
        atol=RESIZED,
        symbolic=affine_symbols,
    ),
    *(
        Case(
            "relax.image.grid_sample",
            grid(rank, method),
            grid_sample if rank > 1 else None,
            ("float32", "float64"),
            atol=RESIZED,
            symbolic=grid_symbols,
            note=f"{method}-{rank}d",
        )
        for method in ("nearest", "bilinear", "bicubic")
        for rank in LETTERS
        if method != "bicubic" or rank == 2
    ),
    *(
        Case(
            f"relax.image.resize{r}d",
            resize(r, method),
            interpolate,
            FLOATS,
            atol=RESIZED,
            note=method,
        )
        for r in LETTERS
        for method in ("nearest_neighbor", "linear", "cubic")
        if method != "cubic" or r == 2
    ),
    *(
        Case(
            f"relax.image.resize{r}d",
            any_resize(r),
            None,
            FLOATS,
            atol=RESIZED,
            note="options",
        )
        for r in LETTERS
    ),
)
