"""Write the text of one LLVM function: numbered values, blocks, phis, metadata."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, DictionaryAttr, IntegerAttr, UnitAttr
from xdsl.dialects.llvm import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..dialects import llvm_ext
from .debug_info import DebugInfo
from .errors import BackendError
from .llvm_types import type_text

_KNOWN_ATTRIBUTES: dict[type[Operation], dict[str, type[Attribute]]] = {
    llvm.LoadOp: {llvm_ext.INVARIANT: UnitAttr},
    llvm.BrOp: {llvm_ext.LOOP: DictionaryAttr},
    llvm.CondBrOp: {llvm_ext.LOOP: DictionaryAttr, llvm_ext.BRANCH_WEIGHTS: DenseArrayBase},
}


def check_attributes(op: Operation) -> None:
    """Raise `BackendError` for an attribute of `op` that has no LLVM IR."""
    known = _KNOWN_ATTRIBUTES.get(type(op), {})
    for key, value in op.attributes.items():
        if key not in known:
            raise BackendError(f"unknown attribute '{key}'")
        if not isinstance(value, known[key]):
            raise BackendError(f"expected '{key}' to be a {known[key].name}, got {value}")


Emitter = Callable[["FunctionWriter", Any], None]
"""Appends the lines of one operation."""

Emitters = Mapping[type[Operation], Emitter]
"""Emitters by type of operation."""


class ModuleState:
    """State that the functions of a module share: declared intrinsics and numbered metadata.

    `converts_f16` says whether the processor has instructions for conversions of f16,
    `converts_bf16` whether it has one that rounds f32 to bf16. With
    `debug_info` instructions have the source locations of their operations.
    """

    __slots__ = (
        "_metadata",
        "_metadata_ids",
        "converts_bf16",
        "converts_f16",
        "debug_info",
        "declarations",
    )

    def __init__(
        self, converts_f16: bool = True, converts_bf16: bool = False, debug_info: bool = False
    ) -> None:
        self.converts_f16 = converts_f16
        self.converts_bf16 = converts_bf16
        self.debug_info = DebugInfo(self.metadata, self.distinct) if debug_info else None
        self.declarations: dict[str, str] = {}
        self._metadata: list[str] = []
        self._metadata_ids: dict[str, str] = {}

    def metadata(self, body: str) -> str:
        """Reference, `!3`, to the metadata node with this body; equal bodies share a node."""
        name = self._metadata_ids.get(body)
        if name is None:
            name = self._metadata_ids[body] = f"!{len(self._metadata)}"
            self._metadata.append(f"{name} = {body}")
        return name

    def distinct(self, body: str) -> str:
        """Reference to a new node, which is no other one even if that has the same body."""
        name = f"!{len(self._metadata)}"
        self._metadata.append(f"{name} = distinct {body}")
        return name

    def loop_metadata(self, properties: DictionaryAttr) -> str:
        """Reference to a new, distinct loop id with these `llvm.loop.*` properties."""
        nodes = [self.metadata(_loop_property(*item)) for item in properties.data.items()]
        name = f"!{len(self._metadata)}"
        self._metadata.append(f"{name} = distinct !{{{', '.join((name, *nodes))}}}")
        return name

    def metadata_lines(self) -> list[str]:
        """All nodes, in the order of their numbers, and what lists them."""
        flags = [] if self.debug_info is None else self.debug_info.flag_lines()
        return [*self._metadata, *flags]


def _loop_property(key: str, value: Attribute) -> str:
    match value:
        case UnitAttr():
            return f'!{{!"llvm.loop.{key}"}}'
        case IntegerAttr():
            type, number = type_text(value.type), value.value.data
            literal = ("true" if number else "false") if type == "i1" else str(number)
            return f'!{{!"llvm.loop.{key}", {type} {literal}}}'
        case _:
            raise BackendError(f"expected loop property '{key}' to be unit, i1 or i32, got {value}")


class FunctionWriter:
    """Writes the body of one function; `emitters` has an entry for each type of operation."""

    __slots__ = (
        "_edges",
        "_incoming",
        "_label",
        "_labels",
        "_phis",
        "_trampolines",
        "_types",
        "debug_info",
        "lines",
        "module",
        "names",
        "number",
        "subprogram",
    )

    def __init__(self, module: ModuleState):
        self.module = module
        self.lines: list[str] = []
        self.names: dict[SSAValue, str] = {}
        self.number = 0
        self.debug_info = module.debug_info
        self.subprogram = ""
        self._types: dict[int, str] = {}
        self._labels: dict[Block, str] = {}
        self._incoming: dict[Block, list[tuple[str, Sequence[SSAValue]]]] = {}
        self._phis: list[tuple[int, Block, int]] = []
        self._edges: set[Block] = set()
        self._trampolines: list[str] = []
        self._label = ""

    def fresh(self) -> str:
        """A new value name; LLVM requires definitions in the order of these numbers."""
        self.number = number = self.number + 1
        return f"%{number}"

    def define(self, value: SSAValue) -> str:
        """A new name for `value`."""
        self.number = number = self.number + 1
        self.names[value] = name = f"%{number}"
        return name

    def type(self, value: SSAValue) -> str:
        """Text of the type of `value`."""
        attr = value.type
        text = self._types.get(id(attr))
        return self.type_text(attr) if text is None else text

    def typed(self, value: SSAValue) -> str:
        """`float %3`: type and name of `value`."""
        attr = value.type
        text = self._types.get(id(attr))
        if text is None:
            text = self.type_text(attr)
        return f"{text} {self.names[value]}"

    def type_text(self, attr: Attribute) -> str:
        """Text of a type that the module keeps alive; cached by identity, as hashing is slow."""
        text = self._types.get(id(attr))
        if text is None:
            text = self._types[id(attr)] = type_text(attr)
        return text

    def append(self, line: str) -> None:
        """Add an instruction."""
        self.lines.append(f"  {line}")

    def edge(self, block: Block, args: Sequence[SSAValue]) -> str:
        """Label, `%b3`, of the target of a branch to `block` with `args`.

        A second edge from one block to a block with arguments is split by a new block, since a phi
        has one incoming value for each predecessor.
        """
        if len(args) != len(block.args):
            raise BackendError(
                f"expected {len(block.args)} arguments for the target block, got {len(args)}"
            )
        label = self._labels[block]
        if not args:
            return f"%{label}"
        if block not in self._edges:
            self._edges.add(block)
            self._incoming[block].append((self._label, args))
            return f"%{label}"
        trampoline = f"{self._label}e{len(self._trampolines) // 2}"
        self._trampolines += (f"{trampoline}:", f"  br label %{label}")
        self._incoming[block].append((trampoline, args))
        return f"%{trampoline}"

    def write(self, func: FuncOp, emitters: Emitters) -> list[str]:
        """The lines of the body of `func`, in reverse post order of its reachable blocks."""
        if self.debug_info is not None:
            self.subprogram = self.debug_info.subprogram(func)
        order = _reverse_post_order(func.body.blocks[0])
        for number, block in enumerate(order):
            self._labels[block] = f"b{number}"
            self._incoming[block] = []
        for arg in order[0].args:
            self.define(arg)
        for block in order:
            self._write_block(block, emitters, is_entry=block is order[0])
        self._fill_phis()
        return self.lines

    def _write_block(self, block: Block, emitters: Emitters, *, is_entry: bool) -> None:
        self._label = self._labels[block]
        self._edges.clear()
        self.lines.append(f"{self._label}:")
        if not is_entry:
            for index, arg in enumerate(block.args):
                self.define(arg)
                self._phis.append((len(self.lines), block, index))
                self.lines.append("")
        op = block.first_op
        while op is not None:
            emit = emitters.get(type(op))
            if emit is None:
                raise BackendError(f"cannot emit '{op.name}'")
            try:
                if op.attributes:
                    check_attributes(op)
                start = len(self.lines)
                emit(self, op)
            except KeyError as error:
                raise BackendError(f"cannot emit '{op.name}': {_key_message(error)}") from None
            except BackendError as error:
                raise BackendError(f"cannot emit '{op.name}': {error}") from None
            if self.debug_info is not None:
                suffix = f", !dbg {self.debug_info.location(op, self.subprogram)}"
                self.lines[start:] = [line + suffix for line in self.lines[start:]]
            op = op.next_op
        self.lines += self._trampolines
        self._trampolines.clear()

    def _fill_phis(self) -> None:
        for line, block, index in self._phis:
            arg = block.args[index]
            pairs = [
                f"[ {self._incoming_name(args[index])}, %{label} ]"
                for label, args in self._incoming[block]
            ]
            self.lines[line] = f"  {self.names[arg]} = phi {self.type(arg)} {', '.join(pairs)}"

    def _incoming_name(self, value: SSAValue) -> str:
        if (name := self.names.get(value)) is None:
            raise BackendError("block argument without a definition in a reachable block")
        return name


def _key_message(error: KeyError) -> str:
    key = error.args[0]
    if isinstance(key, SSAValue):
        return "an operand is used before its definition"
    return f"unknown {key!r}"


def _reverse_post_order(entry: Block) -> list[Block]:
    """Reachable blocks in an order with definitions before uses; first successors come first."""
    post_order: list[Block] = []
    seen = {entry}
    stack = [(entry, _successors(entry))]
    while stack:
        block, pending = stack[-1]
        if not pending:
            post_order.append(block)
            stack.pop()
        elif (successor := pending.pop()) is entry:
            raise BackendError("expected no branch to the entry block")
        elif successor not in seen:
            seen.add(successor)
            stack.append((successor, _successors(successor)))
    return post_order[::-1]


def _successors(block: Block) -> list[Block]:
    last = block.last_op
    if last is None:
        raise BackendError("expected each block to end in a terminator, got an empty block")
    return list(last.successors)
