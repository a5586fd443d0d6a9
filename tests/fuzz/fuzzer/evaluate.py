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

from .numbers import EPSILON, RANGE, Array, Value, cast, operate, rounded, storage
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
    old = memory[name]
    data, error = old.data.reshape(-1).copy(), old.bound.reshape(-1).copy()
    at = _flat(place, old.data.shape, count)
    data[at], error[at] = value.data, value.bound
    _store_all(memory, name, data.reshape(old.data.shape), error.reshape(old.data.shape))


def _flat(place: tuple[Array, ...], shape: tuple[int, ...], count: int) -> Array:
    return np.ravel_multi_index(place, shape) if shape else np.zeros(count, int)


def _reduce(
    block: Block, env: Environment, memory: dict[str, Value], count: int, place: tuple[Array, ...]
) -> None:
    """A reduction in the order of the loops; sums and products of floats have a bound."""
    name, dtype = block.stored[0], block.targets[0].dtype
    first, terms = (evaluate(e, env, memory, count) for e in block.exprs)
    old = memory[name]
    shape = old.data.shape
    flat = _flat(place, shape, count)
    data, error = old.data.reshape(-1).copy(), old.bound.reshape(-1).copy()
    total = np.zeros(data.shape)
    largest, least = np.ones(data.shape), np.ones(data.shape)
    length = np.zeros(data.shape)
    # The n-th terms of all elements at once, in the order of the iterations.
    order = np.argsort(flat, kind="stable")
    sorted_flat = flat[order]
    starts = np.searchsorted(sorted_flat, sorted_flat, side="left")
    rank = np.arange(count) - starts
    for step in range(int(rank.max(initial=-1)) + 1):
        now = order[rank == step]
        cells = flat[now]
        if step == 0:
            data[cells], error[cells] = first.data[now], first.bound[now]
            with np.errstate(all="ignore"):
                total[cells] = size = np.abs(first.data[now].astype(float))
                largest[cells], least[cells] = _products(largest[cells], least[cells], size)
        sofar = Value(dtype, data[cells], error[cells] if error[cells].any() else None)
        result = operate(block.combine, dtype, [sofar, terms.at(now)])
        data[cells], error[cells] = result.data, result.bound
        with np.errstate(all="ignore"):
            size = np.abs(terms.data[now].astype(float))
            total[cells] = total[cells] + size
            largest[cells], least[cells] = _products(largest[cells], least[cells], size)
        length[cells] += 1
    if dtype in FLOATS and block.combine in ("add", "mul"):
        with np.errstate(all="ignore"):
            size = total if block.combine == "add" else np.abs(data.astype(float))
            unit = EPSILON["float32" if dtype in ("float16", "bfloat16") else dtype]
            step_error = 2 * (length + 2) * unit * size + 4 * EPSILON[dtype] * length * size
            touched = length > 0
            exact = _whole_sums(terms, first, total, dtype, block.combine)
            grown = error + np.where(touched & ~exact, step_error, 0)
            tiny, most = RANGE[dtype]
            leaves = total > most if block.combine == "add" else (largest > most) | (least < tiny)
            unknown = touched & ~exact & (leaves | ~np.isfinite(data.astype(float)))
            error = np.where(unknown, np.inf, grown)
    _store_all(memory, name, data.reshape(shape), error.reshape(shape))


def _products(largest: Array, least: Array, size: Array) -> tuple[Array, Array]:
    """The products of all factors above and of all below 1, which no order of them leaves."""
    return largest * np.maximum(size, 1), least * np.where(size == 0, 1, np.minimum(size, 1))


def _whole_sums(terms: Value, first: Value, total: Array, dtype: str, combine: str) -> Array:
    """Where sums of whole numbers are small enough to be exact in any order."""
    if combine != "add" or terms.error is not None:
        return np.zeros(total.shape, bool)
    finite = np.isfinite(terms.data.astype(float))
    whole = finite.all() and (terms.data == np.rint(terms.data)).all()
    whole = whole and (first.data == np.rint(first.data)).all()
    return (total < 1 / EPSILON[dtype]) & bool(whole)


def _store_all(memory: dict[str, Value], name: str, data: Array, error: Array) -> None:
    memory[name] = Value(memory[name].dtype, data, error if error.any() else None)


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
    best = {name: Value(memory[name].dtype, memory[name].data.copy()) for name in block.stored}
    value_name, place_name = block.stored
    errors = {name: np.zeros(v.data.shape) for name, v in best.items()}
    started: set[tuple[int, ...]] = set()
    for i in range(count):
        at, at_place = (tuple(int(p[i]) for p in place) for place in places)
        if at not in started:
            started.add(at)
            best[value_name].data[at], best[place_name].data[at_place] = least.data[i], -1
        old, new = best[value_name].data[at], terms.data[i]
        bounds = errors[value_name][at], terms.bound[i]
        keeps = old >= new if block.combine == "max" else old <= new
        is_sure = not any(bounds) or abs(float(old) - float(new)) > sum(bounds)
        if not keeps:
            best[value_name].data[at] = new
            best[place_name].data[at_place] = env[axis].data[i]
        if not keeps or not is_sure:
            errors[value_name][at] = bounds[1] if is_sure else max(bounds)
            errors[place_name][at_place] = 0 if is_sure else np.inf
    for name, found in best.items():
        _store_all(memory, name, found.data, errors[name])


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
        return Value(
            buffer.dtype,
            np.full(count, buffer.data),
            None if buffer.error is None else np.full(count, buffer.error),
        )
    return buffer.at(tuple(i.astype(np.int64) for i in indices))


def _choose(expr: Expr, env: Environment, memory: Mapping[str, Value], count: int) -> Value:
    test = evaluate(expr.args[0], env, memory, count)
    data = np.zeros(count, storage(expr.dtype))
    error = np.zeros(count)
    for chosen, arg in ((test.data, expr.args[1]), (~test.data, expr.args[2])):
        if expr.op == "select":  # both are evaluated everywhere
            value = evaluate(arg, env, memory, count).at(chosen)
        else:
            some = {name: v.at(chosen) for name, v in env.items()}
            value = evaluate(arg, some, memory, int(chosen.sum()))
        data[chosen], error[chosen] = value.data, value.bound
    if test.error is not None:
        error = np.where(test.error > 0, np.inf, error)
    return Value(expr.dtype, data, error if error.any() else None)
