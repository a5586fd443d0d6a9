"""The graph of a function: operations, calls and fused groups as boxes, tensors as edges."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from functools import partial

from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..dialects import relax
from ..dialects.nesting import SAFE_DEPTH, on_deep_stack
from ..dialects.relax.call import NamedCallOp, SymbolCallOp
from ..dialects.tir.func import PrimFuncOp
from .picture import Box, Edge, GraphPicture, drawn

Origins = list[tuple[int, Attribute]]
"""The boxes that a value comes from, each with the type of what it gives."""


class _Builder:
    """Boxes and edges, by a walk over the operations in order."""

    def __init__(self, functions: Mapping[str, Operation], kernels: Container[str]) -> None:
        self.functions, self.kernels = functions, kernels
        self.boxes: list[Box] = []
        self.edges: list[Edge] = []
        self.origins: dict[SSAValue, Origins] = {}
        self.constants: dict[SSAValue, int] = {}
        self.fields: dict[SSAValue, list[SSAValue]] = {}

    def box(self, kind: str, *lines: str) -> int:
        self.boxes.append(Box(kind, tuple(filter(None, lines))))
        return len(self.boxes) - 1

    def connect(self, values: Iterable[SSAValue], target: int, role: str = "") -> None:
        for value in values:
            for source, type_ in self.origins.get(value, []):
                self.edges.append(Edge(source, target, (*filter(None, [role]), *_size(type_))))

    def block(self, block: Block) -> None:
        for op in block.ops:
            self.operation(op)

    def operation(self, op: Operation) -> None:
        match op:
            case relax.ConstantOp():
                self.constants[op.result] = getattr(op.result.type, "known_bytes", 0) or 0
            case relax.DataflowOp():
                self.block(op.body.block)
                last = op.body.block.last_op
                assert isinstance(last, relax.OutputOp)
                for inner, outer in zip(last.values, op.outputs, strict=True):
                    self.alias(outer, inner)
            case relax.TupleOp():
                self.fields[op.result] = [*op.fields]
                self.origins[op.result] = [o for f in op.fields for o in self.origins.get(f, [])]
            case relax.TupleGetItemOp():
                self.item(op)
            case relax.MatchCastOp():
                found = self.origins.get(op.value, [])
                self.origins[op.result] = [(box, op.result.type) for box, _ in found]
            case relax.IfOp():
                self.choice(op)
            case relax.ReturnOp():
                self.connect([op.value], self.box("output", "result"))
            case relax.OutputOp() | relax.YieldOp():
                pass
            case _:
                self.call(op)

    def alias(self, value: SSAValue, of: SSAValue) -> None:
        self.origins[value] = self.origins.get(of, [])
        if of in self.fields:
            self.fields[value] = self.fields[of]

    def item(self, op: relax.TupleGetItemOp) -> None:
        if op.tuple_value in self.fields:
            self.alias(op.result, self.fields[op.tuple_value][op.index.data])
        else:
            found = self.origins.get(op.tuple_value, [])
            self.origins[op.result] = [(box, op.result.type) for box, _ in found]

    def choice(self, op: relax.IfOp) -> None:
        """Both branches, then a box that the condition and their results lead to."""
        yielded: list[SSAValue] = []
        for region in (op.true_region, op.false_region):
            self.block(region.block)
            last = region.block.last_op
            assert isinstance(last, relax.YieldOp)
            yielded.append(last.value)
        box = self.box("choice", "if")
        for role, value in zip(
            ("condition", "then", "else"), [op.condition, *yielded], strict=True
        ):
            self.connect([value], box, role)
        self.origins[op.result] = [(box, op.result.type)]

    def call(self, op: Operation) -> None:
        """An operation or a call; what it takes of constants is said in its box."""
        inside = (o for inner in op.walk() for o in inner.operands)
        operands = list(dict.fromkeys(inside))
        used = [self.constants[o] for o in operands if o in self.constants]
        sources = [o for o in operands if self.origins.get(o)]
        if isinstance(op, relax.ShapeOp | relax.PrimValueOp):
            return  # what an operation takes of numbers is no tensor
        note = f"{_number(used)}, {sum(used):,} bytes" if used else ""
        box = self.box(*self.name(op), note)
        self.connect(sources, box)
        for result in op.results:
            self.origins[result] = [(box, result.type)]

    def name(self, op: Operation) -> tuple[str, ...]:
        """The kind of box, its title, and of a group the operations in it."""
        called = op.callee_name if isinstance(op, SymbolCallOp | relax.LoopOp) else ""
        if called in self.functions:
            return "group", _title(op), ", ".join(_operations(self.functions[called]))
        if isinstance(op, NamedCallOp) and _title(op) not in self.kernels:
            return "library", _title(op)
        is_call = isinstance(op, SymbolCallOp | NamedCallOp)
        return "kernel" if is_call else "operation", _title(op)


def graph_picture(module: ModuleOp, function: str | None = None) -> GraphPicture:
    """The picture of a graph function of a module: of "main", or else the first one.

    Raises ValueError for a name that is no graph function of the module, and ImportError where
    grandalf, which places the boxes, is not installed.
    """
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, relax.FuncOp)}
    name = function or ("main" if "main" in functions else next(iter(functions), "main"))
    if name not in functions:
        known = ", ".join(functions) or "none"
        raise ValueError(f"expected a graph function to draw ({known}), got '{name}'")
    kernels = {op.sym_name.data for op in module.ops if isinstance(op, PrimFuncOp)}
    builder, func = _Builder(functions, kernels), functions[name]
    for param in func.params:
        box = builder.box("input", param.name_hint or "parameter")
        builder.origins[param] = [(box, param.type)]
    builder.block(func.body.block)
    draw = partial(drawn, name, builder.boxes, builder.edges)
    # grandalf recurses along paths.
    return on_deep_stack(draw) if len(builder.boxes) > SAFE_DEPTH else draw()


def _operations(func: Operation) -> list[str]:
    """The operators of a fused function, in order."""
    skipped = (relax.ConstantOp, relax.DataflowOp, relax.OutputOp, relax.ReturnOp, relax.FuncOp)
    ops = [op for op in func.walk() if not isinstance(op, skipped)]
    return [_title(op) for op in ops]


def _title(op: Operation) -> str:
    """The function that a call is of, else the operation."""
    if isinstance(op, relax.LoopOp):
        return f"loop of {op.callee_name}"
    if isinstance(op, SymbolCallOp):
        return op.callee_name
    if isinstance(op, NamedCallOp):
        return op.callee.data
    return op.name.removeprefix("relax.")


def _number(constants: list[int]) -> str:
    return f"{len(constants)} constant{'' if len(constants) == 1 else 's'}"


def _size(type_: Attribute) -> tuple[str, ...]:
    """Dtype and shape of a tensor, and its bytes where they are known; else what it is."""
    if isinstance(type_, TupleType):
        return (f"{len(type_.types.data)} values",)
    if not isinstance(type_, relax.TensorType):
        return (str(getattr(type_, "name", type_)).removeprefix("relax."),)
    if type_.dims is None:
        return (f"{type_.dtype or 'tensor'} of unknown shape",)
    shape = ", ".join(map(str, type_.dims))
    text = f"{type_.dtype or 'unknown'} ({shape}{',' if len(type_.dims) == 1 else ''})"
    return (text,) if type_.known_bytes is None else (text, f"{type_.known_bytes:,} bytes")
