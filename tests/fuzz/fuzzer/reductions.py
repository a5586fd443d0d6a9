"""Smaller programs: a step, block, loop form, or part of an expression less."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from .evaluate import run
from .kernels import KernelProgram, inputs_of
from .syntax import INDEX, Axis, Block, Buffer, Expr, Kernel, number


def reductions_of(program: Any) -> Iterator[Any]:
    """Programs that are smaller by one thing, those that may be much smaller first."""
    if not isinstance(program, KernelProgram):
        yield from program.smaller()
        return
    steps = program.steps
    size = len(steps)
    while size:
        for start in range(0, len(steps), size):
            yield replace(program, steps=steps[:start] + steps[start + size :])
        size //= 2
    if program.is_left:
        yield replace(program, is_left=False)
    for kernel in _kernels(program.kernel):
        smaller = kernel.without_unused()
        if smaller != program.kernel and _is_legal(smaller):
            yield replace(program, kernel=smaller)


def _is_legal(kernel: Kernel) -> bool:
    """Whether the evaluation accepts a kernel: nothing is read that is not there."""
    stored: set[str] = {b.name for b in kernel.inputs}
    for block in kernel.blocks:
        loads = {e.value for x in block.exprs for e in x.walk() if e.op == "load"}
        if not loads <= stored:
            return False
        stored |= set(block.stored)
    if not {b.name for b in kernel.outputs} <= stored:
        return False
    try:
        for sizes in kernel.sizes:
            run(kernel, sizes, inputs_of(kernel, sizes))
    except (IndexError, ValueError, KeyError):
        return False
    return True


def _kernels(kernel: Kernel) -> Iterator[Kernel]:
    for sizes in kernel.sizes if len(kernel.sizes) > 1 else ():
        yield replace(kernel, sizes=(sizes,))
    for i, block in enumerate(kernel.blocks):
        others = kernel.blocks[:i] + kernel.blocks[i + 1 :]
        yield replace(kernel, blocks=others, outputs=_outputs(kernel, others))
        yield from _without(kernel, i)
        for smaller in _blocks(block):
            yield replace(kernel, blocks=(*kernel.blocks[:i], smaller, *kernel.blocks[i + 1 :]))
    for symbol in kernel.symbols:
        yield _with_numbers(kernel, symbol)
    yield from _sizes(kernel)
    for i, buffer in enumerate(kernel.inputs):
        if buffer.layout != "packed":
            packed = replace(buffer, layout="packed")
            yield replace(kernel, inputs=(*kernel.inputs[:i], packed, *kernel.inputs[i + 1 :]))
    if any(b.content not in ("small", "place", "symbol") for b in kernel.inputs):
        simple = tuple(
            b if b.content in ("place", "symbol") else replace(b, content="small")
            for b in kernel.inputs
        )
        yield replace(kernel, inputs=simple)


def _outputs(kernel: Kernel, blocks: tuple[Block, ...]) -> tuple[Buffer, ...]:
    stored = {name for b in blocks for name in b.stored}
    return tuple(b for b in kernel.outputs if b.name in stored)


def _without(kernel: Kernel, i: int) -> Iterator[Kernel]:
    """Let scratch memory that a block fills be an input, or the output."""
    for name in kernel.blocks[i].stored:
        scratch = next((b for b in kernel.scratch if b.name == name), None)
        if scratch is None:
            continue
        rest = tuple(b for b in kernel.scratch if b is not scratch)
        after = kernel.blocks[i + 1 :]
        yield replace(
            kernel, scratch=rest, inputs=(*kernel.inputs, scratch), blocks=kernel.blocks[:i] + after
        )
        yield replace(kernel, scratch=rest, outputs=(scratch,), blocks=kernel.blocks[: i + 1])


def _blocks(block: Block) -> Iterator[Block]:
    if block.order:
        yield replace(block, order=())
    for i, axis in enumerate(block.axes):
        for changed in _axes(axis):
            axes = list(block.axes)
            axes[i] = changed
            if axis.form == "fused" and changed.form == "plain":
                axes[i + 1] = replace(axes[i + 1], form="plain")
            yield replace(block, axes=tuple(axes))
    if block.form in ("let", "branch", "while"):
        for value in block.exprs[-2:]:
            yield replace(block, form="plain", exprs=(value,))
    for i, expr in enumerate(block.exprs):
        for smaller in _exprs(expr):
            yield replace(block, exprs=(*block.exprs[:i], smaller, *block.exprs[i + 1 :]))
    for i, target in enumerate(block.targets):
        for j, arg in enumerate(target.args):
            for place in _exprs(arg):
                if place.op == "var":
                    args = (*target.args[:j], place, *target.args[j + 1 :])
                    yield replace(
                        block,
                        targets=(
                            *block.targets[:i],
                            replace(target, args=args),
                            *block.targets[i + 1 :],
                        ),
                    )


def _axes(axis: Axis) -> Iterator[Axis]:
    if axis.form in ("split", "strided", "fused", "offset", "reversed"):
        yield replace(axis, form="plain", width=1)
    if axis.kinds != ("range", "range"):
        yield replace(axis, kinds=("range", "range"))
    if axis.width > 2:
        yield replace(axis, width=2)


def _exprs(expr: Expr) -> Iterator[Expr]:
    """A part of an expression, a number, or the expression with a part made smaller."""
    for part in expr.walk():
        if part is not expr and part.dtype == expr.dtype:
            yield part
    if expr.op != "const":
        yield number({"bool": True, INDEX: 0}.get(expr.dtype, _one(expr.dtype)), expr.dtype)
    if expr.op == "var":
        return
    for i, arg in enumerate(expr.args):
        for smaller in _exprs(arg):
            yield replace(expr, args=(*expr.args[:i], smaller, *expr.args[i + 1 :]))


def _one(dtype: str) -> Any:
    return 1.0 if "float" in dtype else 1


def _with_numbers(kernel: Kernel, symbol: str) -> Kernel:
    """The kernel with a symbol replaced by its number in the first call."""
    place = kernel.symbols.index(symbol)
    size = kernel.sizes[0][place]
    changed = _mapped(kernel, lambda e: number(size) if e.op == "var" and e.value == symbol else e)
    return replace(
        changed,
        inputs=tuple(
            b for b in changed.inputs if not (b.content == "symbol" and b.dims[0].op != "var")
        ),
        symbols=tuple(s for s in kernel.symbols if s != symbol),
        sizes=tuple(dict.fromkeys(s[:place] + s[place + 1 :] for s in kernel.sizes[:1])),
    )


def _sizes(kernel: Kernel) -> Iterator[Kernel]:
    """The kernel with a smaller extent, everywhere."""
    extents = {a.extent.value for b in kernel.blocks for a in b.axes if a.extent.op == "const"}
    for extent in sorted(extents, reverse=True):
        for smaller in dict.fromkeys((1, 2, extent // 2, extent - 1)):
            if 0 < smaller < extent:
                yield _mapped(kernel, lambda e, s=smaller, x=extent: _resized(e, x, s))
    for i, size in enumerate(kernel.sizes[0] if len(kernel.sizes) == 1 else ()):
        for smaller in dict.fromkeys((0, 1, 2, size // 2, size - 1)):
            if 0 <= smaller < size:
                one = (*kernel.sizes[0][:i], smaller, *kernel.sizes[0][i + 1 :])
                yield replace(kernel, sizes=(one,))


def _resized(expr: Expr, extent: int, smaller: int) -> Expr:
    if expr.op == "const" and expr.dtype == INDEX and expr.value == extent:
        return number(smaller)
    return expr


def _mapped(kernel: Kernel, change: Any) -> Kernel:
    """The kernel with a change of every expression."""

    def expr(e: Expr) -> Expr:
        return change(replace(e, args=tuple(map(expr, e.args))))

    def buffer(b: Buffer) -> Buffer:
        return replace(b, dims=tuple(map(expr, b.dims)))

    def block(b: Block) -> Block:
        return replace(
            b,
            axes=tuple(replace(a, extent=expr(a.extent)) for a in b.axes),
            targets=tuple(map(expr, b.targets)),
            exprs=tuple(map(expr, b.exprs)),
        )

    return replace(
        kernel,
        inputs=tuple(map(buffer, kernel.inputs)),
        scratch=tuple(map(buffer, kernel.scratch)),
        outputs=tuple(map(buffer, kernel.outputs)),
        blocks=tuple(map(block, kernel.blocks)),
    )
