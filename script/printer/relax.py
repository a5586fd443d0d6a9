"""`relax.func` as a decorated Python function: one line for each binding."""

from __future__ import annotations

from xdsl.dialects.builtin import DictionaryAttr, TupleType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...dialects.int_expr import Sym
from ...dialects.relax import (
    AssertOp,
    CallKernelOp,
    CallPackedOp,
    ConstantOp,
    DataflowOp,
    FuncOp,
    IfOp,
    KillStorageOp,
    KillTensorOp,
    LocalFuncOp,
    OutputOp,
    OwnFuncOp,
    PrimType,
    PrintOp,
    ReturnOp,
    SymbolCallOp,
    TupleOp,
    YieldOp,
)
from ...dialects.relax.types import type_symbols
from .literals import call_text, dictionary_text
from .metadata import Metadata
from .options import Options
from .relax_values import ValueTexts
from .writer import Names, Writer

_EFFECTS = (AssertOp, CallKernelOp, CallPackedOp, KillStorageOp, KillTensorOp, PrintOp)
"""Operations that often stand for their effect alone."""


class FunctionPrinter(ValueTexts):
    """Writes one graph function; `module_name` is the class it stands in, if any."""

    def __init__(
        self,
        writer: Writer,
        func: FuncOp,
        metadata: Metadata,
        module_name: str | None,
        options: Options = Options(),
    ):
        super().__init__(metadata, module_name, options)
        self.writer = writer
        self.func = func
        callees = [o.callee_name for o in func.walk() if isinstance(o, SymbolCallOp)]
        self._calls_module = bool(callees) and module_name is not None
        reserved = () if module_name is None else (module_name, options.module_alias)
        self.names = Names([*callees, *reserved])
        self._own_symbols: dict[str, str] = {}
        self._wanted: dict[SSAValue, str] = {}
        """Names of values that a branch ends with: both branches bind the name of the choice."""

    def write(self) -> None:
        """Write the decorator, the signature on one line, and the body."""
        func = self.func
        for name, param in zip(func.names, func.params, strict=True):
            self.values[param] = self.names.fresh(name)
        used = {s for op in func.walk() for r in op.results for s in type_symbols(r.type)}
        used |= {s for param in func.params for s in type_symbols(param.type)}
        used |= type_symbols(func.result_type)
        self._own_symbols = self._parameter_symbols()
        for symbol in sorted(used):
            self.symbols[symbol] = self._own_symbols.get(symbol) or self.names.fresh(symbol)
        params = [f"{self.values[p]}: {self._parameter_type(p)}" for p in func.params]
        result = self.types.text(func.result_type, True)
        self.writer.line(self._decorator())
        with self.writer.indented(f"def {func.sym_name.data}({', '.join(params)}) -> {result}:"):
            self._prologue()
            self._block(func.body.block, "gv")

    def _parameter_symbols(self) -> dict[str, str]:
        """The symbols that are integer parameters of their names, which only later types use."""
        func, found = self.func, dict[str, str]()
        for position, param in enumerate(func.params):
            later = [p.type for p in func.params[position + 1 :]] + [func.result_type]
            name = _symbol_of(param.type)
            if name is None or name != self.values[param]:
                continue
            if any(name in type_symbols(p.type) for p in func.params[:position]):
                continue
            if any(name in type_symbols(t) for t in later):
                found[name] = name
        return found

    def _parameter_type(self, param: SSAValue) -> str:
        is_own = _symbol_of(param.type) == self.values[param] in self._own_symbols
        return 'R.Prim("int64")' if is_own else self.types.text(param.type, True)

    def _decorator(self) -> str:
        arguments = [
            *(["private=True"] if self.func.private is not None else []),
            *(["pure=False"] if self.func.impure is not None else []),
        ]
        return "@R.function" + (f"({', '.join(arguments)})" if arguments else "")

    def _prologue(self) -> None:
        for name in sorted(set(self.symbols.values()) - set(self._own_symbols)):
            self.writer.line(f"{name} = T.int64()")
        self._attributes(self.func.attrs)
        if self._calls_module and self.options.module_alias:
            self.writer.line(f"{self.options.module_alias} = {self.module_name}")

    def _attributes(self, attrs: DictionaryAttr | None) -> None:
        if attrs is not None and attrs.data:
            text = dictionary_text(attrs.data, self.metadata.reference)
            self.writer.line(f"R.func_attr({text})")

    def _block(self, block: Block, stem: str) -> None:
        for op in block.ops:
            match op:
                case ConstantOp():
                    pass
                case TupleOp() if _is_inlined(op):
                    pass
                case DataflowOp():
                    self._dataflow(op)
                case IfOp():
                    self._choice(op, stem)
                case LocalFuncOp():
                    self._local_func(op)
                case OwnFuncOp():
                    self.values[op.result] = self.values[op.function.result]
                case OutputOp() | YieldOp():
                    pass
                case ReturnOp():
                    self.writer.line(f"return {self.value(op.value)}")
                case _:
                    self._bind(op, stem)

    def _bind(self, op: Operation, stem: str) -> None:
        text = self._text(op)
        result = op.results[0]
        if isinstance(op, _EFFECTS) and not result.uses:
            is_void = isinstance(result.type, TupleType) and not result.type.types.data
            if is_void or result.name_hint in (None, "_"):
                self.writer.line(text if is_void else f"{self.annotated('_', op)} = {text}")
                return
        name = self.values[result] = self._name(result, stem)
        self.writer.line(f"{self.annotated(name, op)} = {text}")

    def _name(self, result: SSAValue, stem: str) -> str:
        wanted = self._wanted.get(result)
        return wanted or self._fresh(result.name_hint or _output_hint(result), stem)

    def _choice(self, op: IfOp, stem: str) -> None:
        name = self._name(op.result, stem)
        with self.writer.indented(f"if {self.value(op.condition)}:"):
            self._branch(op.branches[0], op.yielded[0], name)
        with self.writer.indented("else:"):
            self._branch(op.branches[1], op.yielded[1], name)
        self.values[op.result] = name

    def _local_func(self, op: LocalFuncOp) -> None:
        name = self.values[op.result] = self._fresh(op.func_name.data, "gv")
        for own, param in zip(op.names, op.params, strict=True):
            self.values[param] = self.names.fresh(own)
        params = [f"{self.values[p]}: {self.types.text(p.type)}" for p in op.params]
        result = self.types.text(op.result.type.result)
        impure = op.result.type.impure
        self.writer.line("@R.function(pure=False)" if impure else "@R.function")
        with self.writer.indented(f"def {name}({', '.join(params)}) -> {result}:"):
            self._attributes(op.attrs)
            self._block(op.body.block, "gv")

    def _branch(self, block: Block, value: SSAValue, name: str) -> None:
        last = None if block.last_op is None else block.last_op.prev_op
        if value.owner is last and not _is_elsewhere(last):
            self._wanted[value] = name
        self._block(block, "gv")
        if value not in self._wanted:
            self.writer.line(f"{self.typed(name, value)} = {self.value(value)}")

    def _fresh(self, hint: str | None, stem: str) -> str:
        return self.names.numbered(stem) if hint is None else self.names.fresh(hint)

    def _dataflow(self, op: DataflowOp) -> None:
        with self.writer.indented("with R.dataflow():"):
            self._block(op.body.block, "lv")
            outputs = [
                self._output(inner, outer, op)
                for inner, outer in zip(op.output.values, op.outputs, strict=True)
            ]
            self.writer.line(call_text("R.output", *outputs))

    def _output(self, inner: SSAValue, outer: SSAValue, op: DataflowOp) -> str:
        """The name a value has outside; one from elsewhere or that leaves twice gets a new name."""
        name = self.values.get(inner)
        already = any(name == self.values.get(o) for o in op.outputs)
        local = isinstance(inner.owner, Operation) and inner.owner.parent is op.body.block
        if name is None or already or not local:
            text = self.value(inner)
            name = self._fresh(outer.name_hint, "gv")
            self.writer.line(f"{self.typed(name, outer)} = {text}")
        self.values[outer] = name
        return name


def _symbol_of(type_: Attribute) -> str | None:
    """The symbol that an int64 of the graph is."""
    if not isinstance(type_, PrimType) or type_.expr is None or type_.dtype != "int64":
        return None
    atom = type_.expr.as_atom
    return atom.name if isinstance(atom, Sym) else None


def _output_hint(value: SSAValue) -> str | None:
    """The name of the dataflow output that a nameless value becomes."""
    for use in value.uses:
        if isinstance(use.operation, OutputOp):
            dataflow = use.operation.parent_op()
            return dataflow.results[use.index].name_hint if dataflow is not None else None
    return None


def _is_inlined(op: TupleOp) -> bool:
    """A nameless tuple that a function or branch ends with is part of that statement."""
    uses = list(op.result.uses)
    return (
        op.result.name_hint is None
        and len(uses) == 1
        and isinstance(uses[0].operation, ReturnOp | YieldOp)
        and uses[0].operation.parent is op.parent
    )


def _is_elsewhere(op: Operation | None) -> bool:
    """Whether an operation is no statement that binds the name of its value."""
    return isinstance(op, ConstantOp | DataflowOp) or (isinstance(op, TupleOp) and _is_inlined(op))
