"""`use-matrix-products`: sums of dot products of words as products of small matrices.

::

    %s, %t = loops.for %k in (0, 2 n) carry (%c, %d) {
      %b = loops.load %B[%k, 0] : … -> vector<4xi32>
      %e = %c + dot products of %A[0, %k] and each lane of %b
      %f = %d + dot products of %A[1, %k] and each lane of %b
  ⇒
    %l, %h = loops.for %k in (0, n) carry (…) {
      %a = %A[0, 2 %k : 2 %k + 2], %A[1, 2 %k : 2 %k + 2]
      %x, %y = the lanes 0 and 1, and the lanes 2 and 3, of %B[2 %k, 0] and %B[2 %k + 1, 0]
      %g = %l + tir.mmla %a, %x
      %i = %h + tir.mmla %a, %y

A target has such instructions for two rows and two columns of two words, which do twice the
multiplications of dot products. Sums stay in the order of these through the loop. The last
iteration of an odd number is done by dot products, and so is the last of an odd number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.arith import AddfOp, AddiOp
from xdsl.dialects.builtin import IndexType, ModuleOp, VectorType, f32, i32
from xdsl.dialects.vector import BroadcastOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from ...backend.target import Target
from ...backend.targets.architecture import InstructionSet
from ...dialects import loops, tir
from ...dialects.int_expr import ONE, ZERO, IntExpr
from ...dialects.sym import Values, exprs_of
from ..analysis.reductions import is_reordered
from ..scope import Scope, replace_by_block
from .copy_ops import Copier
from .shuffled_load import shuffle

WORDS = VectorType(i32, [4])
_LOW, _HIGH = (0, 1, 4, 5), (2, 3, 6, 7)
"""The first two lanes of two vectors, and the last two."""
_ZIPPED = ((0, 4, 1, 5), (2, 6, 3, 7))
"""The lanes of two vectors in turn: of the first two lanes, and of the last two."""


@dataclass(frozen=True)
class _Sum:
    """A carried sum of dot products of a broadcast word and a vector of words."""

    left: loops.LoadOp
    right: loops.LoadOp
    add: AddiOp | AddfOp
    signs: tuple[bool, bool] | None
    """Whether bytes of the left and the right operand are unsigned; `None` for bf16."""


@dataclass
class _Tile:
    """The sums of a loop by their vectors of the right operand, then by rows."""

    loop: loops.ForOp
    sums: list[_Sum]
    rows: list[loops.LoadOp] = field(default_factory=lambda: [])
    positions: dict[loops.LoadOp, dict[loops.LoadOp, int]] = field(default_factory=lambda: {})

    def is_regular(self) -> bool:
        """Whether each vector is multiplied by the same rows, of which there are two or more."""
        for position, found in enumerate(self.sums):
            self.positions.setdefault(found.right, {})[found.left] = position
        self.rows = list(dict.fromkeys(s.left for s in self.sums))
        if len(self.rows) < 2 or len(self.rows) * len(self.positions) != len(self.sums):
            return False
        return all(set(rows) == set(self.rows) for rows in self.positions.values())

    def pairs(self) -> Iterator[tuple[loops.LoadOp, int, tuple[int, int]]]:
        """A vector, the number of a pair of rows, and the positions of their sums."""
        for right, places in self.positions.items():
            for number in range(0, len(self.rows) - 1, 2):
                first, second = self.rows[number : number + 2]
                yield right, number // 2, (places[first], places[second])

    def single(self) -> list[int]:
        """The positions of the sums of the last of an odd number of rows."""
        odd = self.rows[-1:] if len(self.rows) % 2 else []
        return [places[row] for places in self.positions.values() for row in odd]


def _tile(loop: loops.ForOp, instructions: InstructionSet) -> _Tile | None:
    """The sums of a loop that computes nothing else; `None` for other loops."""
    if (loop.extent.data.constant or 0) < 2 or loop.kind.data != "serial" or not loop.inits:
        return None
    sums = list[_Sum]()
    for carry, result in zip(loop.carry_vars, loop.yielded, strict=True):
        found = _sum(loop, carry, result)
        if found is None or not _has_instruction(found, instructions):
            return None
        sums.append(found)
    allowed = loops.LoadOp | BroadcastOp | tir.DotOp | tir.BFDotOp | AddiOp | AddfOp | loops.YieldOp
    tile = _Tile(loop, sums)
    is_alone = all(isinstance(op, allowed) for op in loop.body.block.ops)
    return tile if is_alone and tile.is_regular() else None


def _has_instruction(found: _Sum, instructions: InstructionSet) -> bool:
    if found.signs is None:
        return instructions.matrix_bfdot() is not None
    return instructions.matrix_dot(*found.signs) is not None


def _sum(loop: loops.ForOp, carry: SSAValue, result: SSAValue) -> _Sum | None:
    """A carried value to which a dot product is added."""
    add, block = result.owner, loop.body.block
    if (
        not isinstance(add, AddiOp | AddfOp)
        or not is_reordered(add)
        or carry.type != result.type
        or not carry.has_one_use()
    ):
        return None
    if add.parent is not block or carry not in add.operands or not result.has_one_use():
        return None
    product = add.rhs if add.lhs is carry else add.lhs
    dot = product.owner
    if not isinstance(dot, tir.DotOp | tir.BFDotOp) or dot.lhs.type != WORDS:
        return None
    if dot.parent is not block or not product.has_one_use():
        return None
    sides = [_loaded(value, block) for value in dot.operands]
    signs = None
    if isinstance(dot, tir.DotOp):
        signs = dot.lhs_unsigned is not None, dot.rhs_unsigned is not None
    if not isinstance(dot.lhs.owner, BroadcastOp):
        sides, signs = sides[::-1], signs and (signs[1], signs[0])
    left, right = sides
    if left is None or right is None or left.result.type != i32 or right.result.type != WORDS:
        return None
    return _Sum(left, right, add, signs) if _follows(left, loop) else None


def _loaded(value: SSAValue, block: Block) -> loops.LoadOp | None:
    """The load of a vector in a block, or of the number in its lanes."""
    op = value.owner
    op = op.source.owner if isinstance(op, BroadcastOp) else op
    if not isinstance(op, loops.LoadOp) or op.mask is not None or op.parent is not block:
        return None
    is_computed = any(
        isinstance(v.owner, Operation) and v.owner.parent is block for v in op.operands_
    )
    return None if is_computed else op


def _follows(op: loops.LoadOp, loop: loops.ForOp) -> bool:
    """Whether the next iteration loads the next word in memory."""
    assert isinstance(op.buffer.type, tir.BufferType)
    values = Values()
    indices, var = values.exprs(op.indices, op.operands_), values.atom(loop.loop_var)
    next_ = {var: values.expr(loop.loop_var) + 1}
    steps = [index.substitute(next_) - index for index in indices]
    is_last = bool(steps) and steps == [ZERO] * (len(steps) - 1) + [ONE]
    return is_last and op.buffer.type.element_strides()[-1] == ONE


def _rewrite(tile: _Tile) -> None:
    loop, block = tile.loop, Block()
    scope = Scope(block, in_place=True)
    lower = scope.expr(loop.lower.data, loop.operands_)
    count = loop.extent.data.constant or 0
    starts = list[SSAValue]()
    for _, _, places in tile.pairs():
        starts += _halves([loop.inits[p] for p in places], scope)
    starts += [loop.inits[p] for p in tile.single()]
    body = Block(arg_types=[IndexType(), *(v.type for v in starts)])
    body.args[0].name_hint = loop.loop_var.name_hint
    new = loops.ForOp(ZERO, IntExpr.of(count // 2), scope.values.list, starts, Region(body))
    scope.emit(new)
    with scope.inside(body):
        scope.meaning[loop.loop_var] = lower + scope.values.expr(body.args[0]) * 2
        body.add_op(loops.YieldOp(_products(tile, scope, body.args[1:])))
    sums = list(loop.inits)
    for number, (_, _, places) in enumerate(tile.pairs()):
        low, high = new.carried[2 * number : 2 * number + 2]
        for place, order in zip(places, (_LOW, _HIGH), strict=True):
            sums[place] = shuffle(low, high, order, _type(sums[place]), scope)
    single = tile.single()
    for place, total in zip(single, new.carried[len(starts) - len(single) :], strict=True):
        sums[place] = total
    if count % 2:
        scope.meaning[loop.loop_var] = lower + (count - 1)
        scope.data |= dict(zip(loop.carry_vars, sums, strict=True))
        sums = Copier(scope).copy_all(loop.body.block)
    replace_by_block(loop, block, sums)


def _halves(rows: Sequence[SSAValue], scope: Scope) -> list[SSAValue]:
    """The first two lanes of two rows, and the last two."""
    first, second = rows
    return [shuffle(first, second, order, _type(first), scope) for order in (_LOW, _HIGH)]


def _products(tile: _Tile, scope: Scope, carried: Sequence[SSAValue]) -> list[SSAValue]:
    """Emit an iteration, which adds products to the sums that are carried."""
    paired = tile.rows[: len(tile.rows) // 2 * 2]
    words = [_load(op, 0, VectorType(i32, [2]), scope) for op in paired]
    lefts = [
        shuffle(first, second, range(4), WORDS, scope)
        for first, second in zip(words[::2], words[1::2], strict=True)
    ]
    vectors = {
        op: (_load(op, 0, WORDS, scope), _load(op, 1, WORDS, scope)) for op in tile.positions
    }
    rights = dict[loops.LoadOp, list[SSAValue]]()
    sums = list[SSAValue]()
    for right, number, (position, _) in tile.pairs():
        if right not in rights:
            even, odd = vectors[right]
            rights[right] = [shuffle(even, odd, order, WORDS, scope) for order in _ZIPPED]
        kind = tile.sums[position]
        for side in rights[right]:
            signs = kind.signs or (False, False)
            element = f32 if kind.signs is None else i32
            product = tir.MatrixDotOp(lefts[number], side, element, *signs)
            scope.emit(product)
            total = carried[len(sums)]
            sums.append(_added(kind.add, total, product.result, scope))
    return sums + _single_row(tile, vectors, scope, carried[len(sums) :])


def _single_row(
    tile: _Tile,
    vectors: dict[loops.LoadOp, tuple[SSAValue, SSAValue]],
    scope: Scope,
    carried: Sequence[SSAValue],
) -> list[SSAValue]:
    """Emit the dot products of a row without another, in two steps."""
    sums = list(carried)
    for step in (0, 1) if sums else ():
        word = BroadcastOp(_load(tile.rows[-1], step, i32, scope), WORDS)
        scope.emit(word)
        for number, position in enumerate(tile.single()):
            kind, right = tile.sums[position], vectors[tile.sums[position].right][step]
            if kind.signs is None:
                product = tir.BFDotOp(word.vector, right)
            else:
                product = tir.DotOp(word.vector, right, *kind.signs)
            scope.emit(product)
            sums[number] = _added(kind.add, sums[number], product.result, scope)
    return sums


def _added(like: AddiOp | AddfOp, total: SSAValue, part: SSAValue, scope: Scope) -> SSAValue:
    if isinstance(like, AddfOp):
        op = AddfOp(total, part, flags=like.fastmath)
    else:
        op = AddiOp(total, part)
    scope.emit(op)
    return op.result


def _load(op: loops.LoadOp, step: int, type_: Attribute, scope: Scope) -> SSAValue:
    """Emit a load of the iteration `step` later, with another number of lanes."""
    loop = op.parent_op()
    assert isinstance(loop, loops.ForOp)
    before = scope.meaning[loop.loop_var]
    scope.meaning[loop.loop_var] = before + step
    indices = scope.exprs(exprs_of(op.indices), op.operands_)
    scope.meaning[loop.loop_var] = before
    new = loops.LoadOp(op.buffer, indices, scope.values.list, type_)
    scope.emit(new)
    return new.result


def _type(value: SSAValue) -> VectorType:
    assert isa(value.type, VectorType)
    return value.type


@dataclass(frozen=True)
class UseMatrixProductsPass(ModulePass):
    """Contract words by products of small matrices, where the target has them."""

    name = "use-matrix-products"
    target: str = "llvm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        instructions = Target(self.target).isa
        for loop in list(op.walk()):
            tile = _tile(loop, instructions) if isinstance(loop, loops.ForOp) else None
            if tile is not None:
                _rewrite(tile)
