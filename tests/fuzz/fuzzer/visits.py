"""The loops that visit a block's iterations: which they are, and what axes they stand for."""

from __future__ import annotations

from dataclasses import dataclass

from .syntax import Axis, Block, Expr, index, number, var


@dataclass(frozen=True)
class Loop:
    """A loop of `extent` iterations from `start`."""

    name: str
    extent: Expr
    kind: str
    start: int = 0


def loops_of(block: Block) -> list[Loop]:
    """The loops around a block, outermost first."""
    loops = [loop for i in range(len(block.axes)) for loop in _loops(block.axes, i)]
    ranks = [*block.order, *range(len(block.order), len(loops))]
    return [loop for _, loop in sorted(zip(ranks, loops, strict=False), key=lambda p: p[0])]


def _loops(axes: tuple[Axis, ...], position: int) -> list[Loop]:
    axis = axes[position]
    outer, inner = f"{axis.name}o", f"{axis.name}i"
    match axis.form:
        case "split":
            tiles = index("floordiv", index("add", axis.extent, axis.width - 1), axis.width)
            return [
                Loop(outer, tiles, axis.kinds[0]),
                Loop(inner, number(axis.width), axis.kinds[1]),
            ]
        case "strided":
            parts = index("floordiv", index("add", axis.extent, axis.width - 1), axis.width)
            return [
                Loop(outer, number(axis.width), axis.kinds[0]),
                Loop(inner, parts, axis.kinds[1]),
            ]
        case "fused":
            return [
                Loop(outer, index("mul", axis.extent, axes[position + 1].extent), axis.kinds[0])
            ]
        case "rest":
            return []
        case "offset":
            return [Loop(outer, axis.extent, axis.kinds[0], axis.width)]
        case _:
            return [Loop(outer, axis.extent, axis.kinds[0])]


def bindings_of(block: Block) -> dict[str, Expr]:
    """What each axis is bound to."""
    found: dict[str, Expr] = {}
    for position, axis in enumerate(block.axes):
        outer, inner = var(f"{axis.name}o"), var(f"{axis.name}i")
        match axis.form:
            case "split":
                found[axis.name] = index("add", index("mul", outer, axis.width), inner)
            case "strided":
                found[axis.name] = index("add", index("mul", inner, axis.width), outer)
            case "fused":
                rest = block.axes[position + 1]
                found[axis.name] = index("floordiv", outer, rest.extent)
                found[rest.name] = index("floormod", outer, rest.extent)
            case "rest":
                pass
            case "offset":
                found[axis.name] = index("sub", outer, axis.width)
            case "reversed":
                found[axis.name] = index("sub", index("sub", axis.extent, 1), outer)
            case _:
                found[axis.name] = outer
    return found


def guards_of(block: Block) -> list[Expr]:
    """What keeps axes in their range where the loops go beyond it."""
    bound = bindings_of(block)
    return [
        Expr("lt", "bool", (bound[a.name], a.extent))
        for a in block.axes
        if a.form in ("split", "strided") and a.width > 1
    ]
