"""Build one LLVM function: its constants, and the scopes of values of the source."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.dialects import llvm
from xdsl.dialects.builtin import UNKNOWN_LOC, i1, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects import llvm_ext
from ...dialects.diagnostics import Diagnostic
from ...dialects.int_expr import Sym
from ...dialects.llvm_ext.types import element_type
from ...dialects.parameters import value_hint
from .cursor import Cursor, Source
from .module_state import ModuleState
from .types import NE, PLAIN, PTR, RARELY, Properties, integer_attr, lane_count


class FunctionBuilder(Cursor):
    """Builds the body of one function with the native name `symbol`; `label` names it in messages.

    The entry block holds constants and stack memory alone. With a `parent`, the function is
    outlined from it: values that it does not know are captured, each as one more argument.
    """

    def __init__(
        self, module: ModuleState, symbol: str, label: str, parent: FunctionBuilder | None = None
    ):
        self.module = module
        self.symbol = symbol
        self.label = label
        self.parent = parent
        self.entry = Block()
        super().__init__(Region(self.entry))
        self.location = UNKNOWN_LOC if parent is None else parent.location
        self.is_private = True
        self.is_recursive = False
        self.polls = False
        """Whether the function polls for signals between kernels."""
        self.always_polls = False
        """Whether it does so in every call, not only in a branch or loop."""
        self.has_called = False
        self.nested_memory: SSAValue | None = None
        """The memory of one of the nested calls of a function that may call itself."""
        self.can_fail = False
        self.written: set[SSAValue] = set()
        """Buffers of the source that the function writes, or may write."""
        self.noalias: set[SSAValue] = set()
        """Buffers of the source that no other pointer of the function reaches."""
        self.escaping: set[SSAValue] = set()
        """Buffers of the source that are passed to external code."""
        self.escaped: set[SSAValue] = set()
        """Buffers of the source that are passed to outlined functions through memory."""
        self.aligned: set[SSAValue] = set()
        """Buffers of the source that start at a cache line."""
        self.slot: SSAValue | None = None
        """In an outlined function, the number of the thread that runs it."""
        self.captured: list[Source | None] = []
        """The arguments of an outlined function as values of its parent; the context is `None`."""
        self._integers: dict[tuple[int, Attribute], SSAValue] = {}
        self._constants: dict[Attribute, SSAValue] = {}
        self._context: SSAValue | None = None
        self._failing: Block | None = None
        self._scratch: dict[Attribute, SSAValue] = {}
        self._outlined = 0

    def find(self, old: Source) -> tuple[SSAValue, int]:
        """The value of a value or symbol of the source, and the level that knows it."""
        levels = self.levels
        depth = len(levels)
        while depth:
            depth -= 1
            value = levels[depth].values.get(old)
            if value is not None:
                return value, depth
        value = levels[0].values[old] = self._find_outside(old)
        return value, 0

    def value(self, old: Source) -> SSAValue:
        """The value of a value or symbol of the source."""
        return self.find(old)[0]

    def values(self, old: Sequence[SSAValue]) -> list[SSAValue]:
        """The values of operands of the source."""
        find = self.find
        return [find(v)[0] for v in old]

    def define(self, old: Source, new: SSAValue) -> None:
        """Define a value in the current region."""
        self.levels[-1].values[old] = new

    def _find_outside(self, old: Source) -> SSAValue:
        if self.parent is None:
            what = f"symbol '{old.name}'" if isinstance(old, Sym) else "a value"
            raise Diagnostic(f"in '{self.label}': expected {what} to be defined before its use")
        value = self.parent.value(old)
        if isinstance(owner := value.owner, llvm.ConstantOp):
            return self.constant(owner.value, value.type)
        return self._capture(old, value.type)

    def _capture(self, old: Source | None, type_: Attribute) -> SSAValue:
        self.captured.append(old)
        return self.entry.insert_arg(type_, len(self.entry.args))

    @property
    def context(self) -> SSAValue:
        """The pointer to the words of this call."""
        if self._context is None:
            if self.parent is None:
                raise AssertionError("a function gets its context with its arguments")
            self._context = self._capture(None, PTR)
        return self._context

    def add_context(self) -> SSAValue:
        """Make the context the next argument."""
        self._context = self.add_argument(PTR)
        return self._context

    def add_argument(self, type_: Attribute, name: str | None = None) -> SSAValue:
        """One more argument of the function."""
        arg = self.entry.insert_arg(type_, len(self.entry.args))
        arg.name_hint = None if name is None else value_hint(name)
        return arg

    def constant(self, value: Attribute, type_: Attribute) -> SSAValue:
        """A constant, once per function."""
        found = self._constants.get(value)
        if found is None:
            op = llvm.ConstantOp.create(result_types=(type_,), properties={"value": value})
            self.entry.add_op(op)
            found = self._constants[value] = op.results[0]
        return found

    def integer(self, value: int, type_: Attribute = i64) -> SSAValue:
        """An integer constant, splat over the lanes of a vector type."""
        found = self._integers.get((value, type_))
        if found is None:
            found = self._integers[value, type_] = self._integer(value, type_)
        return found

    def _integer(self, value: int, type_: Attribute) -> SSAValue:
        if lane_count(type_):
            return self.splat(self.integer(value, element_type(type_)), type_)
        return self.constant(integer_attr(value, type_), type_)

    def splat(self, constant: SSAValue, type_: Attribute) -> SSAValue:
        """A constant in every lane of a vector."""
        op = llvm_ext.SplatOp.create(operands=[constant], result_types=[type_])
        self.entry.add_op(op)
        return op.results[0]

    def alloca(self, type_: Attribute, alignment: int) -> SSAValue:
        """Stack memory for one value of a type, taken once per call."""
        op = llvm.AllocaOp.create(
            operands=[self.integer(1)],
            result_types=(PTR,),
            properties={"elem_type": type_, "alignment": integer_attr(alignment, i64)},
        )
        self.entry.add_op(op)
        return op.results[0]

    def scratch(self, type_: Attribute) -> SSAValue:
        """Stack memory for a short-lived value, shared by all values of its type."""
        found = self._scratch.get(type_)
        if found is None:
            found = self._scratch[type_] = self.alloca(type_, 8)
        return found

    def return_unless_zero(self, status: SSAValue) -> None:
        """Return a status at once if it is not 0."""
        self.can_fail = True
        if self._failing is None:
            self._failing = Block(arg_types=[i32])
        failed = self.emit(llvm.ICmpOp, [status, self.integer(0, i32)], i1, NE)
        following = self.add_block()
        self.branch_if(failed, self._failing, following, [status], (), RARELY)
        self.continue_in(following)

    def fail(self, op: Operation, message: str) -> Diagnostic:
        """The exception for an operation that has no lowering, with its location if known."""
        return Diagnostic(f"in '{self.label}': {message}", op)

    def lower_block(self, block: Block) -> None:
        """Lower the operations of a block into the current region, without its final jump."""
        lowerings, outer = self.module.lowerings, self.location
        op = block.first_op
        while op is not None:
            lower = lowerings.get(type(op))
            if lower is None:
                raise self.fail(op, f"expected an operation that has LLVM IR, got '{op.name}'")
            self.location = outer if op.location is UNKNOWN_LOC else op.location
            lower(self, op)
            op = op.next_op
        self.location = outer

    def next_outlined(self) -> int:
        """The number of the next function outlined from this one."""
        self._outlined += 1
        return self._outlined - 1

    def finish(
        self,
        arg_attrs: Sequence[Mapping[str, Attribute]] = (),
        linkage: str = "internal",
        properties: Properties = PLAIN,
        status: SSAValue | None = None,
    ) -> llvm.FuncOp:
        """Add the function to the module; unless it failed before it returns `status`, or 0."""
        self.run(llvm.ReturnOp, [self.integer(0, i32) if status is None else status])
        if self._failing is not None:
            self.region.add_block(self._failing)
            self._failing.add_op(llvm.ReturnOp.create(operands=[self._failing.args[0]]))
        self.entry.add_op(llvm.BrOp.create(successors=[self.region.blocks[1]]))
        output = i32 if status is None else status.type
        func = self.module.add_function(
            self.symbol, self.region, output, arg_attrs, linkage, properties
        )
        func.location = self.location
        return func


Lowering: TypeAlias = Callable[[FunctionBuilder, Any], None]
"""Lowers one operation into the current region."""
