"""The shared state of the functions of a module during lowering: callees, tables, layouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects import llvm
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, Region

from ...backend.targets.architecture import InstructionSet
from ...backend.targets.machine_model import MachineModel
from ...dialects.tir.types import BufferType
from ..call_signature import Formal
from .interface import Tables
from .layout import Layout
from .types import UNIT, Properties, string

_INTERNAL, _EXTERNAL = llvm.LinkageAttr("internal"), llvm.LinkageAttr("external")
_VISIBLE = IntegerAttr(0, 64)
_C_CALLS = llvm.CallingConventionAttr("ccc")
_PURE = ArrayAttr([string("memory(none)"), string("nounwind"), string("willreturn")])


@dataclass(frozen=True)
class Callee:
    """A function that others call: a kernel, or a private `rt.func`.

    `symbols` are passed after the buffers; the caller's `vars` give the first ones.
    """

    symbol: str
    formals: tuple[Formal, ...]
    symbols: tuple[str, ...]
    can_fail: bool


@dataclass
class ModuleState:
    """The module that is being lowered."""

    lowerings: Mapping[type[Operation], Callable[[Any, Any], None]]
    """How each operation is lowered by the builder of a function: a `builder.Lowering`."""
    tables: Tables
    isa: InstructionSet
    accurate_math: bool
    """Whether math functions are within an ulp, rather than fast."""
    model: MachineModel = field(default_factory=MachineModel)
    """The cost of operations in parallel loops."""
    streaming: set[str] = field(default_factory=lambda: set())
    """Functions with nontemporal stores."""
    private_functions: set[str] = field(default_factory=lambda: set())
    """Graph functions that others call."""
    polling: set[str] = field(default_factory=lambda: set())
    """Those that poll for signals in every call."""
    functions: list[Operation] = field(default_factory=lambda: [])
    callees: dict[str, Callee] = field(default_factory=lambda: {})
    helpers: set[str] = field(default_factory=lambda: set())
    _external: dict[str, llvm.LLVMFunctionType] = field(default_factory=lambda: {})
    _layouts: dict[int, Layout] = field(default_factory=lambda: {})

    def layout(self, type_: BufferType) -> Layout:
        """The layout of a buffer type, by its identity, which is kept as the layout holds it."""
        found = self._layouts.get(id(type_))
        if found is None:
            found = self._layouts[id(type_)] = Layout.of(type_)
        return found

    def add_function(
        self,
        symbol: str,
        region: Region,
        output: Attribute,
        arg_attrs: Sequence[Mapping[str, Attribute]],
        linkage: str,
        properties: Properties,
    ) -> llvm.FuncOp:
        """Add a function with this body; missing `arg_attrs` are empty."""
        entry = region.blocks[0]
        missing: list[Properties] = [{} for _ in entry.args[len(arg_attrs) :]]
        attrs = [*arg_attrs, *missing]
        type_ = llvm.LLVMFunctionType([a.type for a in entry.args], output)
        own: Properties = {"no_unwind": UNIT, **properties}
        if any(attrs):
            own["arg_attrs"] = ArrayAttr([DictionaryAttr(dict(a)) for a in attrs])
        func = _function(symbol, type_, linkage, own, [region])
        self.functions.append(func)
        return func

    def external(
        self, name: str, inputs: Sequence[Attribute], output: Attribute | None, *, pure: bool
    ) -> bool:
        """Declare a C function, once; whether the types agree with an earlier declaration."""
        type_ = llvm.LLVMFunctionType(inputs, output)
        known = self._external.get(name)
        if known is None:
            self._external[name] = type_
            properties: Properties = {"passthrough": _PURE} if pure else {}
            self.functions.append(_function(name, type_, "external", properties, [Region()]))
        return known is None or known == type_


def _function(
    symbol: str,
    type_: llvm.LLVMFunctionType,
    linkage: str,
    properties: Properties,
    regions: Sequence[Region],
) -> llvm.FuncOp:
    return llvm.FuncOp.create(
        properties={
            "sym_name": string(symbol),
            "function_type": type_,
            "CConv": _C_CALLS,
            "linkage": _INTERNAL if linkage == "internal" else _EXTERNAL,
            "visibility_": _VISIBLE,
            **properties,
        },
        regions=regions,
    )
