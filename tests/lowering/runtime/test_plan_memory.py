"""The pass on random programs: values in a simulated arena are intact until their last use."""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Block, Operation, Region, SSAValue

from xrelax.dialects import get_context, rt
from xrelax.dialects.int_expr import IntExpr, sym
from xrelax.dialects.tir import BufferType
from xrelax.lowering.runtime.plan_memory import PlanMemoryPass, straight_line
from xrelax.runtime.memory import ALIGNMENT

n, m = sym("n"), sym("m")
SHAPES = ((4,), (n,), (n, m), (m,), (n, 2), (100,), (0,))


@dataclass
class Program:
    """A random function: calls that read values made before and make new ones."""

    draw: st.DrawFn
    block: Block = field(default_factory=Block)
    values: list[SSAValue] = field(default_factory=list)

    def build(self) -> ModuleOp:
        types = [BufferType.of((n, m), f32), BufferType.of((n,), f32)]
        for position, type_ in enumerate(types):
            self.values.append(self.block.insert_arg(type_, position))
        for _ in range(self.draw(st.integers(1, 6))):
            self.add_group()
        func = rt.FuncOp("main", ["x", "y"], 0, Region(self.block))
        return ModuleOp([func])

    def add_group(self) -> None:
        """A few calls, in a dataflow region or not; their memory is allocated before or in it."""
        inner = Block() if self.draw(st.booleans()) else None
        inside: list[SSAValue] = []
        for _ in range(self.draw(st.integers(1, 4))):
            is_local = inner is not None and self.draw(st.booleans())
            known = [*self.values, *inside]
            inputs = self.draw(st.lists(st.sampled_from(known), max_size=3))
            allocs = [
                rt.AllocOp(t) for t in self.draw(st.lists(buffer_types(), min_size=1, max_size=2))
            ]
            outputs = [a.result for a in allocs]
            (inner if inner is not None and is_local else self.block).add_ops(allocs)
            (inside if is_local else self.values).extend(outputs)
            (self.block if inner is None else inner).add_op(self.call(inputs, outputs))
        if inner is not None:
            self.block.add_op(rt.DataflowOp(Region(inner)))

    def call(self, inputs: list[SSAValue], outputs: list[SSAValue]) -> Operation:
        return self.draw(st.sampled_from([rt.CallDPSOp, rt.CallPackedOp]))("f", inputs, outputs)


def buffer_types() -> st.SearchStrategy[BufferType]:
    return st.sampled_from(SHAPES).map(lambda shape: BufferType.of(shape, f32))


@st.composite
def programs(draw: st.DrawFn) -> ModuleOp:
    return Program(draw).build()


def run(module: ModuleOp, symbols: dict[str, int]) -> None:
    """Run the calls on an arena of tokens: each call leaves its own in what it writes."""

    def value(expr: IntExpr) -> int:
        return expr.evaluate(lambda s: symbols[s.name])

    func = module.body.block.first_op
    assert isinstance(func, rt.FuncOp)
    arena: list[object] = []
    places: dict[SSAValue, range] = {}
    content: dict[SSAValue, object] = {}
    for op in straight_line(func):
        if isinstance(op, rt.ArenaOp):
            arena = [None] * value(op.size.data)
        elif isinstance(op, rt.ViewOp):
            start = value(op.offset.data)
            places[op.result] = range(start, start + value(op.result.type.size_in_bytes()))
            assert start % ALIGNMENT == 0 and places[op.result].stop <= len(arena)
        elif isinstance(op, rt.CallDPSOp | rt.CallPackedOp):
            for output in op.outputs:
                content[output] = token = object()
                for byte in places[output]:
                    arena[byte] = token
            # Checked after the outputs are written: they must lie on none of the inputs.
            for used in (*op.inputs, *op.outputs):
                assert all(arena[byte] is content[used] for byte in places.get(used, ()))


@settings(max_examples=80, deadline=None)
@given(programs())
def test_values_are_intact_until_their_last_use(module: ModuleOp):
    module.verify()
    PlanMemoryPass().apply(get_context(), module)
    module.verify()
    assert not any(isinstance(op, rt.AllocOp) for op in module.walk())
    for symbols in ({"n": 1, "m": 1}, {"n": 5, "m": 33}, {"n": 17, "m": 2}, {"n": 0, "m": 3}):
        run(module, symbols)


@settings(max_examples=20, deadline=None)
@given(programs())
def test_the_plan_is_deterministic(module: ModuleOp):
    again = module.clone()
    for copy in (module, again):
        PlanMemoryPass().apply(get_context(), copy)
    assert str(module) == str(again)
