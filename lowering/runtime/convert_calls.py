"""Convert calls of a graph function: of kernels, graph functions and registered functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import FunctionType, TupleType
from xdsl.ir import Block, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects import relax, rt, tir
from ...dialects.diagnostics import Diagnostic
from ...dialects.int_expr import IntExpr, sym
from ...dialects.relax.call import verify_outputs
from ...dialects.relax.objects import is_plain
from ...dialects.relax.tuple import Leaf, leaves
from ...dialects.relax.types import tensors_in
from ...dialects.rt.call_packed import ASSERT, PRINT, STRING, VALUE_OF
from ...dialects.sym import exprs_of
from ..loop_types import loop_index
from .destinations import replaced, stored
from .function_memory import FunctionMemory, ModuleCall

PackedCall: TypeAlias = relax.CallDPSPackedOp | relax.CallPackedOp | relax.CallPurePackedOp
"""A call of a registered function."""

PACKED = (relax.CallPackedOp, relax.CallPurePackedOp)
"""Calls of registered functions that return their results."""


def is_for_effects(op: PackedCall) -> bool:
    """Whether nothing uses the result of a call, which is no check of a type either."""
    return isinstance(op, PACKED) and op.result.first_use is None and op.callee.data != VALUE_OF


class CallConverter(FunctionMemory):
    """Converts the calls of one function."""

    def convert_call_tir(self, op: relax.CallTIROp) -> None:
        values = () if op.tir_vars is None else exprs_of(op.tir_vars)
        self.call(op, op.args, values)

    def convert_call_tir_inplace(self, op: relax.CallTIRInplaceOp) -> None:
        inputs = self.inputs_of(op, op.args)
        outputs: list[SSAValue] = []
        for leaf, position in zip(leaves(op.result), op.positions, strict=True):
            if position == -1:
                outputs.append(self.allocate(leaf, f"result of '{op.name}'"))
            elif self.is_written(inputs[position]) or self.may_replace(leaf):
                self.memory[leaf] = inputs[position]
            else:
                place = self.allocate(leaf, f"result of '{op.name}'")
                self.current.add_op(rt.CopyOp(inputs[position], place))
                inputs[position] = place
        # Operands are in the kernel's order: those after the first written one count as written.
        first = min(p for p in op.positions if p != -1)
        values = () if op.tir_vars is None else exprs_of(op.tir_vars)
        self.require(self.call_conditions(op))
        call = rt.CallDPSOp(
            self.calls[op].callee, inputs[:first], [*inputs[first:], *outputs], values
        )
        call.location = op.location
        self.current.add_op(call)

    def convert_call_kernel(self, op: relax.CallKernelOp) -> None:
        operands, written = self.inputs_of(op, op.args), self.calls[op].written
        # Operands are in the kernel's order: those after the first written one count as written.
        first = min(written, default=len(operands))
        values = () if op.tir_vars is None else exprs_of(op.tir_vars)
        self.require(self.call_conditions(op))
        call = rt.CallDPSOp(self.calls[op].callee, operands[:first], operands[first:], values)
        call.location = op.location
        self.current.add_op(call)

    def may_replace(self, leaf: Leaf) -> bool:
        """Whether an output may reuse the memory of an intermediate, which has no other uses."""
        if (origin := replaced(leaf)) is None:
            return False
        memory, place = self.memory[origin], self.destinations.get(leaf)
        if place is not None:
            return rt.memory_of(place) is rt.memory_of(memory)
        outlives = leaf in self.escaping and origin not in self.escaping
        return isinstance(memory.owner, rt.AllocOp) and not outlives

    def convert_call(self, op: relax.CallOp) -> None:
        self.call(op, op.args, self.calls[op].values)

    def call(
        self,
        op: relax.CallTIROp | relax.CallOp,
        args: Sequence[SSAValue],
        values: Sequence[IntExpr],
    ) -> None:
        facts = self.calls[op]
        inputs, outputs = self.inputs_of(op, args), self.outputs_of(op, op.result)
        self.require(self.call_conditions(op))
        call = rt.CallDPSOp(facts.callee, inputs, outputs, values)
        call.location = op.location
        self.current.add_op(call)

    def convert_loop(self, op: relax.LoopOp) -> None:
        """The loop carries its tensors in the memory of its result, and in spare memory.

        An iteration reads one and writes the other. Slices are views. The condition of a while loop
        is copied, so that its place is known.
        """
        carried, scanned, given = (
            self.inputs_of(op, group) for group in (op.carried, op.scanned, op.given)
        )
        results = self.outputs_of(op, op.result)
        state, stacks = results[: len(carried)], results[len(carried) :]
        self.require(self.call_conditions(op))
        self.current.add_ops([rt.CopyOp(a, b) for a, b in zip(carried, state, strict=True)])
        new = [rt.AllocOp(cast(tir.BufferType, memory.type)) for memory in state]
        for alloc, memory in zip(new, state, strict=True):
            alloc.result.name_hint = memory.name_hint
        self.current.add_ops(new)
        spare = [alloc.result for alloc in new]
        index, first = loop_index(op), 0 if op.is_while is None else 1
        types = [memory.type for memory in state[first:]]
        body = Block(arg_types=[*types, *types])
        for arg, memory in zip(body.args, (*state[first:], *spare[first:]), strict=True):
            arg.name_hint = memory.name_hint
        read = [*state[:first], *body.args[: len(types)]]
        written = [*spare[:first], *body.args[len(types) :]]
        slices = [rt.SliceOp(memory, sym(index)) for memory in (*scanned, *stacks)]
        rows = [s.result for s in slices]
        facts = self.calls[op]
        call = rt.CallDPSOp(
            facts.callee,
            [*read, *rows[: len(scanned)], *given],
            [*written, *rows[len(scanned) :]],
            facts.values,
        )
        call.location = op.location
        copies = [rt.CopyOp(a, b) for a, b in zip(spare[:first], state[:first], strict=True)]
        body.add_ops([*slices, call, *copies])
        condition = state[0] if first else None
        self.current.add_op(
            rt.ForOp(index, op.trip_count, condition, state[first:], spare[first:], Region(body))
        )

    def call_conditions(self, op: ModuleCall) -> list[rt.AssertOp]:
        where = f"call of '{op.callee_name}' in {self.label}"
        return [
            rt.AssertOp(
                e.expected,
                "eq",
                e.actual,
                f"{where}: expected a dim of {e.subject} to be {{0}}, got {{1}}",
            )
            for e in self.calls[op].conditions
        ]

    def convert_call_dps_packed(self, op: relax.CallDPSPackedOp) -> None:
        inputs, outputs = self.inputs_of(op, op.args), self.outputs_of(op, op.result)
        call = rt.CallPackedOp(op.callee_name, inputs, outputs, signature=self.structure_of(op))
        call.location = op.location
        self.current.add_op(call)

    def convert_call_pure_packed(self, op: relax.CallPurePackedOp) -> None:
        """What the function may change in place is a copy; a parameter gets its result."""
        inputs = self.inputs_of(op, op.args)
        changed = [len(self.inputs_of(op, op.args[:p])) for p in op.positions if p != -1]
        own = list(inputs)
        for number in changed:
            new = rt.AllocOp(cast(tir.BufferType, inputs[number].type))
            self.current.add_ops([new, rt.CopyOp(inputs[number], new.result)])
            inputs[number] = new.result
        if is_for_effects(op):
            self._call_for_effects(op, inputs)
        else:
            self.call_for_result(op, inputs)
        results = {self.memory.get(leaf) for leaf in leaves(op.result)}
        written = [n for n in changed if self.is_written(own[n]) and own[n] not in results]
        self.current.add_ops([rt.CopyOp(inputs[n], own[n]) for n in written])

    def call_for_result(
        self, op: relax.CallPurePackedOp | relax.CallPackedOp, inputs: Sequence[SSAValue]
    ) -> None:
        """Call a registered function, whose results are copied, or kept if they are unknown."""
        given = leaves(op.result)
        name, signature = op.callee.data, self.structure_of(op)
        text = self._cast_text(op) if name == VALUE_OF else None
        is_kept = op.result.first_use is None or self.kept.keys() & set(given)
        if is_kept and given and not stored(op.result):
            kept = [self.kept.get(leaf, []) for leaf in given]
            call = rt.CallPackedOp(name, inputs, [], True, text, kept, signature)
        else:
            try:
                verify_outputs(op.result.type, op.name)
            except VerifyException as error:
                raise Diagnostic(f"{self.label}: {error}", op) from None
            outputs = self.outputs_of(op, op.result)
            call = rt.CallPackedOp(name, inputs, outputs, True, text, None, signature)
        call.location = op.location
        self.current.add_op(call)

    def _cast_text(self, op: relax.CallPurePackedOp | relax.CallPackedOp) -> str:
        """What messages call the cast of an object."""
        name = op.args[0].name_hint or op.result.name_hint
        subject = "an object" if name is None else f"'{name}'"
        return f"match_cast of {subject} in {self.label}"

    def convert_print(self, op: relax.PrintOp) -> None:
        inputs = self.inputs_of(op, op.values)
        self.current.add_op(rt.CallPackedOp(PRINT, inputs, [], text=op.text))

    def convert_assert(self, op: relax.AssertOp) -> None:
        inputs = self.inputs_of(op, op.values)
        fail = rt.CallPackedOp(ASSERT, inputs, [], text=op.text)
        regions = Region(Block()), Region(Block([fail]))
        self.current.add_op(rt.IfOp(self.condition(op.condition), *regions))

    def convert_call_packed(self, op: relax.CallPackedOp) -> None:
        if op.result.first_use is not None and tensors_in(op.result.type):
            self.call_for_result(op, self.inputs_of(op, op.args))
            return
        if op.result.first_use is not None:
            raise Diagnostic(
                f"expected the result of call_packed '{op.callee.data}' in {self.label} "
                f"not to be used"
            )
        self._call_for_effects(op, self.inputs_of(op, op.args))

    def _call_for_effects(
        self, op: relax.CallPurePackedOp | relax.CallPackedOp, inputs: Sequence[SSAValue]
    ) -> None:
        call = rt.CallPackedOp(op.callee.data, inputs, [], signature=self.structure_of(op))
        call.location = op.location
        self.current.add_op(call)

    def convert_string(self, op: relax.StringOp) -> None:
        """The string becomes an object of the call."""
        outputs = self.outputs_of(op, op.result)
        signature = FunctionType.from_lists([], [relax.ObjectType()])
        text = op.text.data
        self.current.add_op(
            rt.CallPackedOp(STRING, [], outputs, returns=True, text=text, signature=signature)
        )

    def structure_of(self, op: PackedCall) -> FunctionType | None:
        """The types of a call's arguments and result, unless they are tensors alone."""
        given = self.objects.get(op)
        types = [a.type for a in op.args] if given is None else list(given.inputs.data)
        result = op.result.type if given is None else given.outputs.data[0]
        if is_for_effects(op):
            result = TupleType(())  # which has no memory
        return None if is_plain(types, result) else FunctionType.from_lists(types, [result])
