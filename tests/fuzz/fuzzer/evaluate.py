"""What a drawn kernel computes, worked out from its data structure with NumPy alone.

Every expression is evaluated at all points of its block's loops at once. Where only some points
reach an expression, as the branches of `if_then_else`, it is evaluated at those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from .cells import Cells, Sizes, or_none
from .numbers import Array, Value, cast, operate, rounded, storage
from .syntax import FLOATS, INDEX, Block, Expr, Kernel
from .visits import bindings_of, guards_of, loops_of

Environment = dict[str, Value]


def size_of(expr: Expr, symbols: Mapping[str, int]) -> int:
    """The number that an expression of symbols is."""
    env = {name: Value(INDEX, np.array([size])) for name, size in symbols.items()}
    return int(evaluate(expr, env, {}, 1).data[0])


def run(kernel: Kernel, sizes: tuple[int, ...], arrays: Mapping[str, Array]) -> dict[str, Value]:
    """All buffers by name after a call with these inputs."""
    symbols = dict(zip(kernel.symbols, sizes, strict=True))
    memory = {name: Value(kernel.buffers[name].dtype, a) for name, a in arrays.items()}
    for buffer in (*kernel.scratch, *kernel.outputs):
        shape = tuple(size_of(d, symbols) for d in buffer.dims)
        if buffer.name not in memory:
            memory[buffer.name] = Value(buffer.dtype, np.zeros(shape, storage(buffer.dtype)))
    for block in kernel.blocks:
        _run_block(block, symbols, memory)
    return memory


def points_of(kernel: Kernel) -> int:
    """The largest number of iterations of a block, over all calls."""
    named = [dict(zip(kernel.symbols, sizes, strict=True)) for sizes in kernel.sizes]
    return max(
        prod(size_of(loop.extent, symbols) for loop in loops_of(block))
        for block in kernel.blocks
        for symbols in named
    )


def _run_block(block: Block, symbols: Mapping[str, int], memory: dict[str, Value]) -> None:
    if any(size_of(a.extent, symbols) == 0 for a in block.axes if a.role == "reduce"):
        for start in _starts(block):
            _run_block(start, symbols, memory)
        return
    loops = loops_of(block)
    extents = [size_of(loop.extent, symbols) for loop in loops]
    count = prod(extents)
    points = np.indices(extents).reshape(len(extents), count)
    env = {s: Value(INDEX, np.full(count, n)) for s, n in symbols.items()}
    for loop, p in zip(loops, points, strict=True):
        env[loop.name] = Value(INDEX, p + loop.start)
    bindings = bindings_of(block)
    inside = np.ones(count, bool)
    for guard in guards_of(block):
        inside &= evaluate(guard, env, memory, count).data
    env = {name: value.at(inside) for name, value in env.items()}
    count = int(inside.sum())
    axes = {a.name: evaluate(bindings[a.name], env, memory, count) for a in block.axes}
    env |= axes
    places = [tuple(evaluate(i, env, memory, count).data for i in t.args) for t in block.targets]
    if block.form == "reduce":
        _reduce(block, env, memory, count, places[0])
    elif block.form == "argument":
        _argument(block, env, memory, count, places)
    else:
        value = _value(block, env, memory, count)
        _store(memory, block.stored[0], places[0], value, count)


def _starts(block: Block) -> list[Block]:
    """What a reduction over nothing stores: that which it starts with."""
    axes = tuple(a for a in block.axes if a.role == "spatial")
    firsts = {"reduce": block.exprs[:1], "argument": (block.exprs[-1], None)}[block.form]
    return [
        replace(
            block,
            axes=axes,
            targets=(target,),
            form="plain",
            exprs=(Expr("const", target.dtype, (), -1) if first is None else first,),
            order=(),
        )
        for target, first in zip(block.targets, firsts, strict=True)
    ]


def _value(block: Block, env: Environment, memory: dict[str, Value], count: int) -> Value:
    """What each iteration stores."""
    exprs = block.exprs
    match block.form:
        case "plain":
            return evaluate(exprs[0], env, memory, count)
        case "let":
            return operate("max", exprs[0].dtype, [evaluate(e, env, memory, count) for e in exprs])
        case "branch":
            chosen = Expr("if_then_else", exprs[1].dtype, exprs)
            return evaluate(chosen, env, memory, count)
        case "while":
            return evaluate(exprs[0] if block.count else exprs[1], env, memory, count)
        case _:
            raise AssertionError(block.form)


def _store(
    memory: dict[str, Value], name: str, place: tuple[Array, ...], value: Value, count: int
) -> None:
    cells = Cells(memory[name])
    cells.put(_flat(place, memory[name].data.shape, count), value)
    memory[name] = cells.value()


def _flat(place: tuple[Array, ...], shape: tuple[int, ...], count: int) -> Array:
    return np.ravel_multi_index(place, shape) if shape else np.zeros(count, int)


def _reduce(
    block: Block, env: Environment, memory: dict[str, Value], count: int, place: tuple[Array, ...]
) -> None:
    """A reduction in the order of the loops; sums and products of floats have a bound."""
    name, dtype = block.stored[0], block.targets[0].dtype
    first, terms = (evaluate(e, env, memory, count) for e in block.exprs)
    found = Cells(memory[name])
    flat = _flat(place, memory[name].data.shape, count)
    sizes = Sizes(found.data.shape)
    # The n-th terms of all elements at once, in the order of the iterations.
    order = np.argsort(flat, kind="stable")
    sorted_flat = flat[order]
    starts = np.searchsorted(sorted_flat, sorted_flat, side="left")
    rank = np.arange(count) - starts
    steps = np.split(order[np.argsort(rank, kind="stable")], np.cumsum(np.bincount(rank))[:-1])
    for step, now in enumerate(steps if count else ()):
        cells, term = flat[now], terms.at(now)
        if step == 0:
            found.put(cells, first.at(now))
            sizes.take(cells, first.data[now])
        found.put(cells, operate(block.combine, dtype, [found.at(cells), term]))
        sizes.take(cells, term.data)
    if dtype in FLOATS and block.combine in ("add", "mul") and count:
        sizes.widen(found, block.combine, _is_whole(first) and _is_whole(terms))
    memory[name] = found.value()
    if block.combine == "add" and any(e.op == "div" for e in block.exprs[-1].walk()):
        memory[name] = _of_common_divisor(memory[name])


def _of_common_divisor(sums: Value) -> Value:
    """Sums of quotients: LLVM adds terms first, so that infinite ones of both signs may cancel."""
    if sums.dtype not in FLOATS or not (lost := np.isnan(sums.data)).any():
        return sums
    return replace(sums, error=np.where(lost, np.inf, sums.bound))


def _is_whole(terms: Value) -> bool:
    """Whether all are whole numbers, whose sums are exact where they are small enough."""
    data = terms.data.astype(float)
    return terms.error is None and bool((np.isfinite(data) & (data == np.rint(data))).all())


def _argument(
    block: Block,
    env: Environment,
    memory: dict[str, Value],
    count: int,
    places: list[tuple[Array, ...]],
) -> None:
    """The extreme and where it is first met."""
    axis = next(a.name for a in block.axes if a.role == "reduce")
    terms = evaluate(block.exprs[0], env, memory, count)
    least = evaluate(block.exprs[1], env, memory, count)
    value_name, place_name = block.stored
    best, found = Cells(memory[value_name]), Cells(memory[place_name])
    cells = [
        _flat(p, memory[n].data.shape, count) for p, n in zip(places, block.stored, strict=True)
    ]
    started: set[int] = set()
    term_bounds = terms.bound
    for i, (at, at_place) in enumerate(zip(*cells, strict=True)):
        if at not in started:
            started.add(at)
            best.put(at, least.at(i))
            found.data[at_place], found.error[at_place] = -1, 0
        old, new = best.data[at], terms.data[i]
        bounds = best.error[at], term_bounds[i]
        keeps = old >= new if block.combine == "max" else old <= new
        is_sure = not any(bounds) or abs(float(old) - float(new)) > sum(bounds)
        if not keeps:
            best.put(at, terms.at(i))
            found.data[at_place] = env[axis].data[i]
        if not keeps or not is_sure:
            best.error[at] = bounds[1] if is_sure else max(bounds)
            found.error[at_place] = 0 if is_sure else np.inf
        best.zeros[at] |= old == new == 0 and np.signbit(old) != np.signbit(new)
    memory[value_name], memory[place_name] = best.value(), found.value()


def evaluate(expr: Expr, env: Environment, memory: Mapping[str, Value], count: int) -> Value:
    """An expression at `count` points, at which `env` has the axes and symbols."""
    match expr.op:
        case "const":
            return Value(expr.dtype, _constant(expr, count))
        case "var":
            return env[expr.value]
        case "load":
            return _load(expr, env, memory, count)
        case "cast":
            return cast(evaluate(expr.args[0], env, memory, count), expr.dtype)
        case "select" | "if_then_else" | "ternary":
            return _choose(expr, env, memory, count)
        case _:
            return operate(
                expr.op, expr.dtype, [evaluate(a, env, memory, count) for a in expr.args]
            )


def _constant(expr: Expr, count: int) -> Array:
    value: Any = float(expr.value) if isinstance(expr.value, str) else expr.value
    return np.full(count, rounded(np.asarray(value), expr.dtype))


def _load(expr: Expr, env: Environment, memory: Mapping[str, Value], count: int) -> Value:
    """Elements; an index out of bounds is a mistake of the generator."""
    buffer = memory[expr.value]
    indices = tuple(evaluate(a, env, memory, count).data for a in expr.args)
    for found, size in zip(indices, buffer.data.shape, strict=True):
        if ((found < 0) | (found >= size)).any():
            raise IndexError(f"an index of {expr.value} leaves [0, {size})")
    if not indices:
        return buffer.at((np.newaxis,)).at(np.zeros(count, int))
    return buffer.at(tuple(i.astype(np.int64) for i in indices))


def _choose(expr: Expr, env: Environment, memory: Mapping[str, Value], count: int) -> Value:
    test = evaluate(expr.args[0], env, memory, count)
    data = np.zeros(count, storage(expr.dtype))
    error, zeros = np.zeros(count), np.zeros(count, bool)
    for chosen, arg in ((test.data, expr.args[1]), (~test.data, expr.args[2])):
        if expr.op == "select":  # both are evaluated everywhere
            value = evaluate(arg, env, memory, count).at(chosen)
        else:
            some = {name: v.at(chosen) for name, v in env.items()}
            value = evaluate(arg, some, memory, int(chosen.sum()))
        data[chosen], error[chosen] = value.data, value.bound
        zeros[chosen] = value.either_zero
    if test.error is not None:
        error = np.where(test.error > 0, np.inf, error)
    return Value(expr.dtype, data, *or_none(error, zeros))
