"""`fuse-ops`: outline groups of kernel calls as primitive functions.

::

    %0 = relax.call_tir @matmul(%x, %w) : …
    %1 = relax.call_tir @add(%0, %b) : …
    %2 = relax.call_tir @relu(%1) : …

⇒

::

    %2 = relax.call @fused_matmul_add_relu(%x, %w, %b) : …

    relax.func private @fused_matmul_add_relu(%x: …, %w: …, %b: …) -> …
        attributes {Primitive = true} {
      %gv = relax.dataflow -> … { … the calls … }
      relax.return %gv : …
    }

`fusion_groups` chooses the groups; equal ones share a function. TVM's ``FuseOps``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...dialects import relax, tir
from ...dialects.int_expr import Atom, IntExpr, IntLike, Sym
from ...dialects.relax.symbols import determined_symbols
from ...dialects.sym import exprs_of
from ..functions import functions_by_name, graph_functions, unique_name
from ..verify_calls import unify_call
from .fusion_groups import fusion_groups, is_kernel_call
from .fusion_patterns import OPAQUE, KernelSummary, summarize
from .outlined import outlined_call, outlined_function

PRIMITIVE = "Primitive"
"""The attribute of a graph function that `fuse-tir` makes one kernel."""

MAX_NAME = 80
"""Characters of a fused function's name, apart from a number that makes it unique."""


def is_primitive(op: Operation) -> bool:
    """Whether the operation is a graph function that `fuse-tir` makes one kernel."""
    if not isinstance(op, relax.FuncOp) or op.attrs is None:
        return False
    value = op.attrs.data.get(PRIMITIVE)
    return isinstance(value, IntegerAttr) and value.value.data != 0


def fuse_ops(module: ModuleOp) -> None:
    """Group the kernel calls of all graph functions that are not groups themselves."""
    fuser = _Fuser(module)
    for func in graph_functions(module):
        if not is_primitive(func):
            fuser.fuse_function(func)


Key: TypeAlias = tuple[object, ...]


@dataclass
class _Fuser:
    module: ModuleOp
    functions: dict[str, Operation] = field(init=False)
    summaries: dict[str, KernelSummary] = field(default_factory=lambda: {})
    certain: dict[Key, bool] = field(default_factory=lambda: {})
    made: dict[Key, relax.FuncOp] = field(default_factory=lambda: {})

    def __post_init__(self) -> None:
        self.functions = functions_by_name(self.module)

    def fuse_function(self, func: relax.FuncOp) -> None:
        """Replace the groups in every block of a function."""
        blocks = [b for op in func.walk() for r in op.regions for b in r.blocks]
        for block in blocks:
            for ops in list(fusion_groups(block, self.summarize)):
                calls = [op for op in ops if isinstance(op, relax.CallTIROp)]
                self._replace(_Contents(calls), func)

    def summarize(self, op: Operation) -> KernelSummary:
        """Classify an operation for fusion; calls with run-time checks are not fused."""
        if not is_kernel_call(op) or not isinstance(op, relax.CallTIROp):
            return OPAQUE
        callee = self.functions.get(op.callee_name)
        if not isinstance(callee, tir.PrimFuncOp):
            return OPAQUE
        if op.callee_name not in self.summaries:
            self.summaries[op.callee_name] = summarize(callee)
        summary = self.summaries[op.callee_name]
        return summary if summary is OPAQUE or self._is_certain(op) else OPAQUE

    def _is_certain(self, call: relax.CallTIROp) -> bool:
        """Whether shapes are known and provably correct."""
        types = tuple(a.type for a in call.args)
        key = (call.callee_name, types, call.result.type, call.tir_vars)
        if key not in self.certain:
            known = all(isinstance(t, relax.TensorType) and t.dims is not None for t in types)
            unified = unify_call(call, self.functions) if known else None
            self.certain[key] = unified is not None and not unified.undecided
        return self.certain[key]

    def _replace(self, contents: _Contents, user: relax.FuncOp) -> None:
        key = contents.key()
        if key not in self.made:
            name = _name([c.callee_name for c in contents.calls], self.functions)
            func = self.made[key] = contents.function(name)
            self.functions[name] = func
            self.module.body.block.insert_op_before(func, user)
        last = contents.calls[-1]
        name = self.made[key].sym_name.data
        new = outlined_call(name, contents.inputs, contents.undetermined, last.results, last)
        Rewriter.replace_op(last, new)
        for op in reversed(contents.calls[:-1]):
            op.detach()
            op.erase()


class _Contents:
    """The calls of a group in order, and the values and symbols that they capture."""

    def __init__(self, calls: Sequence[relax.CallTIROp]):
        self.calls = calls
        made: set[SSAValue] = {c.result for c in calls}
        self.inputs = list(dict.fromkeys(a for c in calls for a in c.args if a not in made))
        determined = set(determined_symbols(v.type for v in self.inputs))
        used = [s for e in self._exprs() for s in sorted(e.symbols())]
        self.undetermined = [s for s in dict.fromkeys(used) if s not in determined]

    def _exprs(self) -> Iterable[IntExpr]:
        for value in (*self.inputs, *(c.result for c in self.calls)):
            assert isinstance(value.type, relax.TensorType)
            yield from value.type.dims or ()
        for call in self.calls:
            yield from () if call.tir_vars is None else exprs_of(call.tir_vars)

    def key(self) -> Key:
        """A key that is equal for groups that can share a function; symbols count by their order.

        Ranks and dtypes are those of the kernels' parameters.
        """
        names = dict.fromkeys(s for e in self._exprs() for s in sorted(e.symbols()))
        mapping: dict[Atom, IntLike] = {Sym(s): Sym(f"${i}") for i, s in enumerate(names)}
        numbers: dict[SSAValue, int] = {v: i for i, v in enumerate(self.inputs)}
        steps: list[object] = []
        for call in self.calls:
            steps.append((call.callee_name, tuple(numbers[a] for a in call.args)))
            numbers[call.result] = len(numbers)
        return (
            tuple(steps),
            tuple(e.substitute(mapping) for e in self._exprs()),
            tuple(mapping[Sym(s)] for s in self.undetermined),
        )

    def function(self, name: str) -> relax.FuncOp:
        """A function that makes the calls."""
        attrs = {PRIMITIVE: IntegerAttr.from_bool(True)}
        return outlined_function(name, self.inputs, self.undetermined, self._copy, attrs)

    def _copy(self, block: Block, values: dict[SSAValue, SSAValue]) -> list[SSAValue]:
        for call in self.calls:
            args = [values[a] for a in call.args]
            new = relax.CallTIROp(call.callee_name, args, call.result.type, call.tir_vars)
            new.location = call.location
            new.result.name_hint = call.result.name_hint
            values[call.result] = new.result
            block.add_op(new)
        return [values[self.calls[-1].result]]


def _name(callees: Sequence[str], taken: dict[str, Operation]) -> str:
    """``fused_matmul_add_relu``, truncated if it is too long."""
    name = "fused"
    for callee in callees:
        if len(name) + len(callee) >= MAX_NAME:
            break
        name = f"{name}_{callee}"
    return unique_name(name, taken, separator="")


@dataclass(frozen=True)
class FuseOpsPass(ModulePass):
    """Group kernel calls that can be fused in functions of their own."""

    name = "fuse-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        fuse_ops(op)
