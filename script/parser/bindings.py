"""Assignments of TensorIR scripts: stores, scalars, buffers and Python values get their names."""

from __future__ import annotations

import ast
from typing import Any

from ...dialects import tir
from ...dialects.dtypes import DTYPES, element_type
from ...dialects.int_expr import ZERO
from ...dialects.parameters import value_hint
from ...te.arithmetic import cast, convert, dim_expr, promote
from ...te.expr import Imm, Index, IntrinCall, Load, PrimExpr, Value, Var
from .buffers import Alias, Buffer, DataPointer
from .intrinsics import handle_type
from .regions import HINTS, RegionParser
from .script_calls import META
from .statement_reader import StatementReader
from .vector_stores import VectorStoreParser

ALLOCATIONS = ("T.alloc_buffer", "T.sblock_alloc_buffer", "T.decl_buffer")
BUFFERS = (*ALLOCATIONS, "T.match_buffer")
"""Calls that declare a buffer."""
INDEX_DTYPES = ("int32", "int64")


def _is_alias(call: ast.Call, path: str) -> bool:
    """``T.decl_buffer((256,), data=A.data)`` and ``T.Buffer((256,), data=A.data)``."""
    return path in ("T.decl_buffer", "T.Buffer") and any(k.arg == "data" for k in call.keywords)


class BindingParser:
    """Reads what stands on both sides of ``=``."""

    def __init__(self, statements: StatementReader):
        self.statements = statements
        self.exprs = statements.exprs
        self.regions = RegionParser(statements)
        self.vectors = VectorStoreParser(statements)

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        """``target = value``, for every kind of target."""
        path = self.statements.called(value)
        if isinstance(target, ast.Subscript) and (index := self.vectors.vector(target)) is not None:
            self.vectors.store(target, index, value)
        elif isinstance(target, ast.Subscript):
            self._store(target, self.exprs.expr(value))
        elif isinstance(target, ast.Tuple):
            self._unpack(target, value)
        elif isinstance(value, ast.Call) and _is_alias(value, path):
            self._alias(target, value)
        elif isinstance(value, ast.Call) and path in ALLOCATIONS:
            self._alloc_buffer(target, value)
        elif isinstance(value, ast.Call) and path == "T.match_buffer":
            self._declare(target, self.regions.match_buffer(value))
        elif isinstance(value, ast.Call) and path in META and len(value.args) == 1:
            self._meta(target, value.args[0])
        elif isinstance(target, ast.Name) and _is_declaration(value, path):
            self.statements.scope.bind(target.id, Var(target.id, path.removeprefix("T.")))
        elif path.startswith("T.axis."):
            raise self.statements.error(value, "expected T.axis at the start of a block")
        else:
            self.bind(target, value)

    def _meta(self, target: ast.expr, node: ast.expr) -> None:
        """``x = T.meta_var(value)``: the value itself under a name, without a variable for it."""
        if isinstance(target, ast.Tuple):
            values = list(self.exprs.eval(node))
            self._check_count(target, len(values))
        else:
            values = [self.exprs.eval(node)]
        for name, value in zip(self.exprs.elements(target), values, strict=True):
            if not isinstance(name, ast.Name):
                raise self.statements.error(name, "expected a name on the left")
            self.statements.scope.bind(name.id, value)

    def annotated(self, node: ast.AnnAssign) -> None:
        """``x: T.int32 = value``; other annotations are Python's own and say nothing."""
        if node.value is None:
            raise self.statements.error(node, "expected a value")
        annotation = self._let_type(node.annotation)
        path = self.exprs.path(annotation)
        dtype = path.removeprefix("T.")
        if dtype in DTYPES:
            self._name(node.target, cast(dtype, self.exprs.expr(node.value)))
        elif (pointer := handle_type(self.exprs, annotation)) is not None:
            value = self.exprs.eval(node.value)
            if isinstance(value, IntrinCall) and value.dtype == "handle":
                value.pointer = pointer
            self._name(node.target, value)
        elif path.startswith("T.") and path != "T.let":
            raise self.statements.error(
                node.annotation, f"expected a scalar type such as T.int32, got '{path}'"
            )
        else:
            self.assign(node.target, node.value)

    def _let_type(self, annotation: ast.expr) -> ast.expr:
        """The type in ``T.let[T.handle]``, which `T.handle` alone means too."""
        match annotation:
            case ast.Subscript(value=head, slice=type_) if self.exprs.path(head) == "T.let":
                return type_
            case _:
                return annotation

    def bind(self, target: ast.expr, value: ast.expr) -> None:
        """Give a name to a scalar, a buffer or a Python value."""
        self._name(target, self.exprs.eval(value))

    def bind_declared(self, target: ast.expr, value: ast.expr, *, shadows: bool) -> None:
        """Give a value to a name of ``x = T.float32()``, or to a new one, in this scope.

        Where it `shadows`, an enclosing scope may have the name too.
        """
        found = self.exprs.eval(value)
        if isinstance(target, ast.Name):
            declared = self.statements.scope.bound(target.id)
            if self._lacks_value(declared):
                found = self._of_dtype(declared, found, value)
            if shadows or self._lacks_value(declared):
                self.statements.scope.bind(target.id, None)
        self._name(target, found)

    def _lacks_value(self, declared: Any) -> bool:
        is_variable = isinstance(declared, Var | Index)
        return is_variable and declared not in self.statements.emitter.meanings

    def _of_dtype(self, declared: Any, value: Any, node: ast.expr) -> Any:
        """A value for a variable whose dtype was said before; literals and indices adapt."""
        emitter = self.statements.emitter
        # Symbols have no dtype of their own: `n = T.int32()` may be a dim too.
        wanted = INDEX_DTYPES if isinstance(declared, Index) else (declared.dtype,)
        number = convert(value)
        if isinstance(number, Imm) and number.weak:
            _, number = promote(declared, number)
        elif (
            number.dtype in INDEX_DTYPES
            and declared.dtype in INDEX_DTYPES
            and emitter.try_index(number) is not None
        ):
            number = cast(declared.dtype, number)
        if number.dtype not in wanted:
            message = f"expected a value of {declared.dtype} for '{declared.name}'"
            raise self.statements.error(node, f"{message}, got {number.dtype}")
        return number

    def _unpack(self, target: ast.Tuple, node: ast.expr) -> None:
        elements = self.exprs.elements(node)
        if any(self._declares(e) for e in elements):
            self._check_count(target, len(elements))
            for name, element in zip(target.elts, elements, strict=True):
                self.assign(name, element)
            return
        values = [self._computed(v) for v in self.exprs.eval(node)]
        self._check_count(target, len(values))
        for name, value in zip(target.elts, values, strict=True):
            if isinstance(name, ast.Subscript):
                self._store(name, value)
            else:
                self._name(name, value)

    def _check_count(self, target: ast.Tuple, count: int) -> None:
        if len(target.elts) != count:
            raise self.statements.error(target, f"expected {count} names, got {len(target.elts)}")

    def _declares(self, node: ast.expr) -> bool:
        return self.statements.called(node) in BUFFERS

    def _computed(self, value: Any) -> Any:
        """A scalar read now, before any of the other names is bound or stored to."""
        if isinstance(value, PrimExpr) and value.reads_memory():
            return Value(self.statements.emitter.value(value), value.dtype)
        return value

    def _name(self, target: ast.expr, value: Any) -> None:
        if not isinstance(target, ast.Name):
            raise self.statements.error(target, "expected a name")
        self._check_new(target)
        scope, emitter = self.statements.scope, self.statements.emitter
        if not isinstance(value, PrimExpr) or isinstance(value, Imm):
            scope.bind(target.id, value)
            return
        index = emitter.try_index(value)
        if index is not None:
            variable = Var(target.id, value.dtype)
            emitter.meanings[variable] = index
            scope.bind(target.id, variable)
            return
        ssa = emitter.value(value)
        if ssa.name_hint is None:
            ssa.name_hint = value_hint(target.id)
        scope.bind(target.id, Value(ssa, value.dtype))

    def _check_new(self, target: ast.Name) -> None:
        """A scalar changes only where it is bound: a loop or branch would not change it."""
        outer = self.statements.scope.enclosing(target.id)
        if isinstance(outer, PrimExpr | int | float | str):
            raise self.statements.error(
                target,
                f"expected a new name, got '{target.id}' of an enclosing scope: "
                "use a buffer for a value that changes",
            )

    def _alloc_buffer(self, target: ast.expr, call: ast.Call) -> None:
        given = dict(zip(("shape", "dtype"), call.args, strict=False))
        given |= {k.arg: k.value for k in call.keywords if k.arg is not None}
        unknown = set(given) - {"shape", "dtype", "scope", "strides", "elem_offset", *HINTS}
        if "shape" not in given or unknown or len(call.args) > 2:
            shown = ", ".join(sorted(unknown)) or f"{len(call.args)} arguments"
            raise self.statements.error(
                call, f"expected shape, dtype, scope, strides and align of a buffer, got {shown}"
            )
        offset = given.get("elem_offset")
        if offset is not None and dim_expr(self.exprs.expr(offset)) != ZERO:
            raise self.statements.error(offset, "expected elem_offset of a new buffer to be 0")
        type_ = self._new_type(given)
        if "strides" in given:
            self._verify_compact(given["strides"], type_)
        self._declare(target, tir.AllocBufferOp(type_))

    def _verify_compact(self, node: ast.expr, type_: tir.BufferType) -> None:
        """New memory is compact; `storage_align` makes gaps between its rows."""
        strides, compact = tuple(map(dim_expr, self.exprs.shape(node))), type_.element_strides()
        if strides and strides != compact:
            expected, got = (", ".join(map(str, s)) for s in (compact, strides))
            raise self.statements.error(
                node, f"expected the strides of compact memory, [{expected}], got [{got}]"
            )

    def _alias(self, target: ast.expr, call: ast.Call) -> None:
        """``B = T.decl_buffer((256,), data=A.data)``: the memory of A with another shape."""
        given = dict(zip(("shape", "dtype"), call.args, strict=False))
        given |= {k.arg: k.value for k in call.keywords if k.arg is not None}
        unknown = set(given) - {"shape", "dtype", "data", "elem_offset", "scope", *HINTS}
        if "shape" not in given or unknown or len(call.args) > 2:
            shown = ", ".join(sorted(unknown)) or f"{len(call.args)} arguments"
            message = f"expected shape, dtype, data and elem_offset of an alias, got {shown}"
            raise self.statements.error(call, message)
        pointer = self.exprs.eval(given["data"])
        if isinstance(pointer, PrimExpr) and pointer.dtype == "handle":
            self._at_pointer(target, pointer, given)
            return
        if not isinstance(target, ast.Name) or not isinstance(pointer, DataPointer):
            raise self.statements.error(call, "expected name = T.decl_buffer(…, data=buffer.data)")
        base, offset = pointer.buffer, convert(0)
        if "elem_offset" in given:
            offset = self.exprs.expr(given["elem_offset"])
        if isinstance(base, Alias):
            base, offset = base.base, base.offset + offset
        dtype = self.exprs.dtype(given["dtype"]) if "dtype" in given else "float32"
        if dtype != base.dtype or not base.type.is_dense:
            message = f"expected a compact buffer of {dtype}, got '{base.name}' of {base.dtype}"
            raise self.statements.error(given["data"], message)
        shape = [dim_expr(d) for d in self.exprs.shape(given["shape"])]
        type_ = tir.BufferType.of(shape, element_type(dtype), scope=base.type.scope.data)
        self._check_new_buffer(target)
        alias = Alias(target.id, base.ssa, base, type_, offset)
        self.statements.scope.bind(target.id, alias)

    def _at_pointer(self, target: ast.expr, pointer: PrimExpr, given: dict[str, ast.expr]) -> None:
        """``B = T.decl_buffer((256,), data=pointer)``: the memory at a handle."""
        type_ = self._new_type(given)
        self._declare(target, tir.DeclBufferOp(self.statements.emitter.value(pointer), type_))

    def _new_type(self, given: dict[str, ast.expr]) -> tir.BufferType:
        shape = [dim_expr(d) for d in self.exprs.shape(given["shape"])]
        dtype = self.exprs.dtype(given["dtype"]) if "dtype" in given else "float32"
        scope = self.exprs.text(given["scope"]) if "scope" in given else tir.types.GLOBAL
        return tir.BufferType.of(shape, element_type(dtype), scope=scope)

    def _check_new_buffer(self, target: ast.Name) -> None:
        if isinstance(self.statements.scope.frames[-1].get(target.id), Buffer):
            message = f"expected a new name for the buffer, got '{target.id}' twice"
            raise self.statements.error(target, message)

    def _declare(
        self, target: ast.expr, op: tir.AllocBufferOp | tir.DeclBufferOp | tir.MatchBufferOp
    ) -> None:
        """Emit an operation that gives a buffer, and bind the buffer's name."""
        if not isinstance(target, ast.Name):
            raise self.statements.error(target, "expected a name for the buffer")
        self._check_new_buffer(target)
        self.statements.emitter.add(op)
        op.result.name_hint = value_hint(target.id)
        buffer = Buffer(target.id, op.result)
        self.statements.emitter.buffers[buffer] = op.result
        self.statements.scope.bind(target.id, buffer)

    def _store(self, target: ast.Subscript, value: Any) -> None:
        access = self.exprs.eval(target)
        if not isinstance(access, Load):
            raise self.statements.error(target, "expected an element of a buffer")
        emitter = self.statements.emitter
        emitter.store(emitter.buffers[access.source], access.indices, value)


def _is_declaration(value: ast.expr, path: str) -> bool:
    """Whether a value says the dtype of a variable whose value comes later: ``T.float32()``."""
    is_empty = isinstance(value, ast.Call) and not value.args and not value.keywords
    return is_empty and path.removeprefix("T.") in DTYPES
