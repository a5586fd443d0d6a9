"""Convert one `relax.func` to an `rt.func`, operation by operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import FunctionType, TupleType, i8
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects import relax, rt, tir
from ...dialects.bounds import is_non_negative
from ...dialects.diagnostics import Diagnostic
from ...dialects.relax.objects import is_plain
from ...dialects.relax.operators.views import MemoryViewOp
from ...dialects.relax.operators.words import PackWordsOp
from ...dialects.relax.tuple import Leaf, in_memory, leaves, tensor_type
from ..call_signature import extra_symbols, leaf_names
from ..functions import blame
from ..scope import locate
from .cast_conditions import cast_conditions
from .convert_calls import PACKED
from .data_sizes import SizeConverter
from .destinations import in_one_place, in_place_of, stored
from .function_memory import CallFacts, buffer_dims, buffer_type
from .range_checks import range_checks


def convert_function(
    func: relax.FuncOp,
    name: str,
    private: bool,
    calls: Mapping[Operation, CallFacts],
    objects: Mapping[Operation, FunctionType],
    recursive: bool = False,
) -> rt.FuncOp:
    """The function as an `rt.func` named `name`; `calls` has the facts of its calls.

    `objects` has the types of functions and calls with objects (`lower_objects`).

    Raises Diagnostic with one line for an operation, parameter or result that has no conversion.
    """
    with blame(func):
        return _FunctionConverter(func, name, private, calls, objects).convert(recursive)


class _FunctionConverter(SizeConverter):
    def convert(self, recursive: bool) -> rt.FuncOp:
        names = self.add_params()
        self.add_results()
        checks = self.entry.last_op
        for op in self.func.body.block.ops:
            self.convert_op(op)
        self.report_sizes()
        if checks is not None:
            self.entry.insert_ops_after(self.prologue, checks)
        elif self.entry.first_op is not None:
            self.entry.insert_ops_before(self.prologue, self.entry.first_op)
        func = rt.FuncOp(
            self.name,
            names,
            len(self.own_results) + len(self.reported),
            Region(self.entry),
            returns_tuple=isinstance(self.func.result_type, TupleType),
            private=self.private,
            recursive=recursive,
            written=self.written_arguments(),
            symbols=extra_symbols(self.func),
            signature=None if self.private else self.signature(),
            reported=[s for read in self.reported for s, _ in read.symbols],
            aliased=self.aliased() if len(self.own_results) < len(self.results) else (),
        )
        func.location = self.func.location
        return func

    def written_arguments(self) -> list[int]:
        return [i for i, arg in enumerate(self.entry.args) if self.is_written(arg)]

    def aliased(self) -> list[int]:
        """For each result, the parameter whose memory it is, or -1."""
        return [
            -1 if memory in self.own_results else self.entry.args.index(memory)
            for memory in self.results
        ]

    def signature(self) -> tuple[Sequence[str], FunctionType] | None:
        types = [p.type for p in self.func.params]
        result = self.func.returned.type
        if (given := self.objects.get(self.func)) is not None:
            return self.func.names, given
        is_stored = not self.reported and not self.kept and self.own_results == self.results
        if is_plain(types, result) and is_stored:
            return None
        return self.func.names, FunctionType.from_lists(types, [result])

    def add_params(self) -> list[str]:
        """Add an argument for each tensor parameter, with a check if the function is public."""
        names: list[str] = []
        for name, param in zip(self.func.names, self.func.params, strict=True):
            self.verify_type(param.type, f"parameter '{name}' of {self.label}")
            own = leaf_names(name, param.type)
            for leaf_name, leaf in zip(own, leaves(param), strict=True):
                subject = f"parameter '{leaf_name}' of {self.label}"
                self.memory[leaf] = self.add_arg(leaf, subject, param.name_hint)
            names += own
        if not self.private:
            self.entry.add_ops(
                [rt.CheckOp(a, n) for a, n in zip(self.entry.args, names, strict=True)]
            )
            self.prologue += range_checks(self.func)
        return names

    def verify_type(self, type_: Attribute, subject: str) -> None:
        """Raise Diagnostic for a type that has no representation as buffers and symbols."""
        match type_:
            case TupleType(types=fields):
                for field in fields.data:
                    self.verify_type(field, subject)
            case relax.TensorType():
                pass
            case relax.ShapeType() if type_.dims is not None:
                pass
            case relax.PrimType():
                pass
            case _:
                raise Diagnostic(
                    f"expected {subject} to be a tensor, a shape, a number or a tuple of them, "
                    f"got {type_}"
                )

    def add_results(self) -> None:
        returned = self.func.returned
        self.verify_type(returned.type, f"the result of {self.label}")
        self.keep_unknown(returned)
        params = len(self.entry.args)
        self.results = [self.result_memory(leaf) for leaf in stored(returned)]
        self.own_results = list(self.entry.args[params:])
        self.destinations = self.place_results(self.func.body.block, returned, self.results)
        self.known[0].update(d for r in self.results for d in buffer_dims(r))

    def result_memory(self, leaf: Leaf) -> SSAValue:
        """A parameter that the function writes and returns, or else an argument for the result."""
        if (origin := in_place_of(leaf)) in self.written:
            return self.memory[origin]
        sized = self.sized_result(leaf)
        if sized is not None:
            return sized
        return self.add_arg(leaf, f"result of {self.label}", leaf[0].name_hint)

    def keep_unknown(self, returned: SSAValue) -> None:
        """Number the results of unknown shape; registered functions that always run return them."""
        unknown = [leaf for leaf in leaves(returned) if not tensor_type(leaf).is_known]
        for number, leaf in enumerate(unknown):
            owner, around = leaf[0].owner, leaf[0].owner.parent_op()
            if isinstance(around, relax.DataflowOp):
                around = around.parent_op()
            if self.private or around is not self.func or not isinstance(owner, PACKED):
                buffer_type(tensor_type(leaf), f"result of {self.label}")
            self.kept.setdefault(leaf, []).append(number)

    def add_arg(self, leaf: Leaf, subject: str, hint: str | None) -> SSAValue:
        arg = self.entry.insert_arg(buffer_type(tensor_type(leaf), subject), len(self.entry.args))
        arg.name_hint = hint
        return arg

    def convert_op(self, op: Operation) -> None:
        convert = _CONVERT.get(type(op))
        if convert is None:
            hint = ": legalize it first" if isinstance(op, relax.OperatorOp) else ""
            raise Diagnostic(
                f"expected operations that run on memory in {self.label}, got '{op.name}'{hint}",
                op,
            )
        last = self.current.last_op
        with blame(op):
            convert(self, op)
        new = self.current.first_op if last is None else last.next_op
        while new is not None:
            locate([new], op.location)
            new = new.next_op

    def convert_dataflow(self, op: relax.DataflowOp) -> None:
        if any(isinstance(nested, relax.TensorToShapeOp) for nested in op.walk()):
            self.convert_ops(op.body.block)  # later operations depend on the sizes, too
            return
        outer, inner = self.current, Block()
        self.outer, self.current = outer, inner
        self.escaping = {
            leaf
            for value in op.output.values
            for own in leaves(value)
            for viewed in in_memory(own)
            for leaf in in_one_place(viewed)
        }
        self.convert_ops(op.body.block)
        self.current, self.outer, self.escaping = outer, None, set()
        if inner.first_op is not None:
            self.current.add_op(rt.DataflowOp(Region(inner)))

    def convert_ops(self, block: Block) -> None:
        """Convert the operations of a dataflow block."""
        for nested in block.ops:
            if not isinstance(nested, relax.OutputOp):
                self.convert_op(nested)

    def convert_if(self, op: relax.IfOp) -> None:
        results = self.outputs_of(op, op.result)
        condition = self.condition(op.condition)
        pairs = zip(op.branches, op.yielded, strict=True)
        regions = [self.convert_branch(block, value, results) for block, value in pairs]
        self.current.add_op(rt.IfOp(condition, *regions))

    def convert_branch(self, block: Block, value: SSAValue, results: list[SSAValue]) -> Region:
        """The branch, which stores its value in the memory of the results."""
        around, self.current = self.current, Block()
        self.known.append(set(self.known[-1]))
        self.destinations |= self.place_results(block, value, results)
        for op in block.ops:
            if not isinstance(op, relax.YieldOp):
                self.convert_op(op)
        self.copy_missing(value, results)
        self.known.pop()
        region, self.current = Region(self.current), around
        return region

    def convert_match_cast(self, op: relax.MatchCastOp) -> None:
        if isinstance(shape := op.value.owner, relax.TensorToShapeOp):
            self.read_sizes(op, shape)
        else:
            self.require(cast_conditions(op, self.label))

    def convert_constant(self, op: relax.ConstantOp) -> None:
        constant = rt.ConstantOp(op.value.data)
        self.define((op.result, 0), constant, constant.result)

    def convert_view(self, op: relax.OperatorOp) -> None:
        leaf, (source,) = (op.result, 0), leaves(op.operands[0])
        if self.is_written(self.memory[source]):  # a view is a value: later writes must not show
            place = self.allocate(leaf, f"result of '{op.name}'")
            type_ = buffer_type(tensor_type(leaf), f"a view in {self.label}")
            memory = self.reinterpret(self.memory[source], type_, self.current)
            self.current.add_op(rt.CopyOp(memory, place))
            return
        outer = self.outer if leaf in self.escaping else None
        type_ = buffer_type(tensor_type(leaf), f"a view in {self.label}")
        memory = self.reinterpret(self.memory[source], type_, outer or self.current)
        if isinstance(memory.owner, rt.ReinterpretOp):
            memory.name_hint = op.result.name_hint
        self.memory[leaf] = memory

    def convert_alloc_tensor(self, op: relax.AllocTensorOp) -> None:
        self.outputs_of(op, op.result)

    def convert_alloc_storage(self, op: relax.AllocStorageOp) -> None:
        self.guard([op.size.data], "storage" if (name := op.result.name_hint) is None else name)
        alloc = rt.AllocOp(tir.BufferType.of([op.size.data], i8))
        alloc.result.name_hint = op.result.name_hint
        self.current.add_op(alloc)
        self.storage[op.result] = alloc.result

    def convert_storage_tensor(self, op: relax.StorageTensorOp) -> None:
        type_ = buffer_type(op.result.type, f"a tensor of {self.label}")
        storage, offset = self.storage[op.storage], op.offset.data
        (size,) = buffer_dims(storage)
        end = offset + type_.size_in_bytes()
        if not is_non_negative(size - end):
            what = "a tensor" if op.result.name_hint is None else f"'{op.result.name_hint}'"
            where = f"expected {what} in {self.label} within the storage"
            self.require([rt.AssertOp(size, "ge", end, f"{where} of {{0}} bytes, got {{1}}")])
        view = rt.ViewOp(storage, offset, type_)
        self.define((op.result, 0), view, view.result)

    def convert_return(self, op: relax.ReturnOp) -> None:
        self.copy_missing(op.value, self.results)


_CONVERT: dict[type[Operation], Callable[[_FunctionConverter, Any], None]] = {
    MemoryViewOp: _FunctionConverter.convert_view,
    PackWordsOp: _FunctionConverter.convert_view,
    relax.AllocTensorOp: _FunctionConverter.convert_alloc_tensor,
    relax.AllocStorageOp: _FunctionConverter.convert_alloc_storage,
    relax.AssertOp: _FunctionConverter.convert_assert,
    relax.CallDPSPackedOp: _FunctionConverter.convert_call_dps_packed,
    relax.CallKernelOp: _FunctionConverter.convert_call_kernel,
    relax.CallOp: _FunctionConverter.convert_call,
    relax.CallPackedOp: _FunctionConverter.convert_call_packed,
    relax.CallPurePackedOp: _FunctionConverter.convert_call_pure_packed,
    relax.CallTIRInplaceOp: _FunctionConverter.convert_call_tir_inplace,
    relax.CallTIROp: _FunctionConverter.convert_call_tir,
    relax.ConstantOp: _FunctionConverter.convert_constant,
    relax.DataflowOp: _FunctionConverter.convert_dataflow,
    relax.IfOp: _FunctionConverter.convert_if,
    relax.KillStorageOp: lambda _, op: None,
    relax.KillTensorOp: lambda _, op: None,
    relax.LoopOp: _FunctionConverter.convert_loop,
    relax.MatchCastOp: _FunctionConverter.convert_match_cast,
    relax.PrimToTensorOp: lambda _, op: None,
    relax.PrimValueOp: lambda _, op: None,
    relax.PrintOp: _FunctionConverter.convert_print,
    relax.ReturnOp: _FunctionConverter.convert_return,
    relax.ShapeOfOp: lambda _, op: None,
    relax.ShapeOp: lambda _, op: None,
    relax.StorageTensorOp: _FunctionConverter.convert_storage_tensor,
    relax.StringOp: _FunctionConverter.convert_string,
    relax.TensorToPrimOp: lambda _, op: None,
    relax.TensorToShapeOp: lambda _, op: None,
    relax.TupleGetItemOp: lambda _, op: None,
    relax.TupleOp: lambda _, op: None,
}
"""How to convert each operation; tuples, shapes and numbers have no operations at run time."""
