"""Calls of C functions and of intrinsics: ``T.call_extern``, ``T.tvm_storage_sync``, pointers."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any, cast

from ...dialects.dtypes import element_type
from ...dialects.tir import HandleType
from ...dialects.tir.calls import FIRST, INTRINSICS, LLVM_INTRINSICS, PACKED_CALLS, STATED
from ...dialects.tir.types import GLOBAL
from ...te.arithmetic import convert
from ...te.expr import Address, ExternCall, Imm, IntrinCall, KernelCall, Load, PrimExpr
from ...te.foreign import packed_argument
from .buffers import Alias, Buffer, DataPointer, unflattened
from .expr_reader import ExprReader
from .scope import ModuleName


def extern_call(exprs: ExprReader, node: ast.Call) -> ExternCall:
    """``T.call_extern("float32", "fmaf", a, b, c)``; the dtype "void" is for no result.

    The dtype may also come last, as ``dtype="float32"``; "" is "void" as well.
    """
    last = [k.value for k in node.keywords if k.arg == "dtype"]
    operands = [*last, *node.args]
    if len(operands) < 2 or len(last) != len(node.keywords):
        raise exprs.error(node, "expected T.call_extern(dtype, name, …)")
    returned, name, *rest = operands
    is_void = exprs.eval(returned) in ("void", "")
    args = tuple(_argument(exprs, arg) for arg in rest)
    return ExternCall(exprs.text(name), args, "void" if is_void else exprs.dtype(returned))


def intrinsic_call(exprs: ExprReader, node: ast.Call, name: str) -> IntrinCall:
    """``T.tvm_warp_shuffle(mask, x, 0, 32, 32)``, an intrinsic of `INTRINSICS`.

    Where its dtype does not follow from the arguments, the call says it: ``dtype="handle"``.
    """
    rule = INTRINSICS[name]
    stated = [k.value for k in node.keywords if k.arg == "dtype"]
    rest = list(node.args)
    if rule == FIRST and not stated and rest:
        stated = [rest.pop(0)]
    if len(node.keywords) > 1 or (node.keywords and not stated):
        raise exprs.error(node, f"expected no keyword of T.{name} but dtype")
    read = _array_argument if name in PACKED_CALLS else _argument
    args = tuple(read(exprs, arg) for arg in rest)
    if name in LLVM_INTRINSICS:
        args = _without_count(args)
    if rule in (STATED, FIRST):
        if not stated:
            raise exprs.error(node, f"expected T.{name}(…, dtype=…)")
        return _typed(exprs, stated[0], name, args)
    if isinstance(rule, str):
        return IntrinCall(name, args, rule)
    if len(args) <= rule or not isinstance(args[rule], PrimExpr):
        raise exprs.error(node, f"expected argument {rule + 1} of T.{name} to be a scalar")
    return IntrinCall(name, args, args[rule].dtype)


def _without_count(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of an intrinsic of LLVM without how many of them its name depends on."""
    match args:
        case [str() as name, Imm(dtype="uint32", value=count), *rest] if count <= len(rest):
            return (name, *rest)
        case _:
            return args


def _typed(exprs: ExprReader, node: ast.expr, name: str, args: tuple[Any, ...]) -> IntrinCall:
    value = exprs.eval(node)
    if isinstance(value, HandleType):
        return IntrinCall(name, args, "handle", value)
    return IntrinCall(name, args, "handle" if value == "handle" else exprs.dtype(node))


def _argument(exprs: ExprReader, node: ast.expr) -> Any:
    """A scalar, a string, a buffer for its memory, or the address of an element."""
    value = exprs.eval(node)
    if isinstance(value, DataPointer):
        return memory_at(value)
    return value if isinstance(value, str | Address) else exprs.expr(node)


def _array_argument(exprs: ExprReader, node: ast.expr) -> Any:
    """An argument of a registered function: a scalar, a string, or a buffer as an array.

    The memory of a buffer alone, ``X.data``, is the address of its first element.
    """
    value = exprs.eval(node)
    if isinstance(value, Buffer):
        return value
    found = _argument(exprs, node)
    if isinstance(found, Buffer):
        return Address(found, (convert(0),) * found.type.rank)
    return packed_argument(found)


def memory_at(pointer: DataPointer) -> Any:
    """The buffer whose memory starts at a pointer, or the address of an element of it."""
    buffer, offset = pointer.buffer, convert(pointer.offset)
    if isinstance(buffer, Alias):
        buffer, offset = buffer.base, buffer.offset + offset
    if isinstance(offset, Imm) and not offset.value:
        return buffer
    if not buffer.type.is_dense:
        raise ValueError(f"expected an element of the compact buffer, got '{buffer.name}'")
    return Address(buffer, tuple(unflattened(offset, buffer.shape)))


def access_pointer(buffer: Buffer) -> Callable[..., DataPointer]:
    """The method ``X.access_ptr("r", offset=8, extent=4)`` of a buffer."""

    def access_ptr(access_mask: str = "rw", *, offset: Any = 0, extent: Any = None) -> DataPointer:
        if access_mask not in _MASKS:
            raise ValueError(f"expected access_mask to be r, w or rw, got '{access_mask}'")
        return DataPointer(buffer, access_mask, offset, extent)

    return access_ptr


_MASKS = {"r": 1, "w": 2, "rw": 3}


def opaque_access(pointer: DataPointer) -> IntrinCall:
    """``T.tvm_access_ptr`` of a pointer that is no argument: an access that is not known."""
    memory, count = memory_at(pointer), pointer.extent
    if count is None:
        count = math.prod(pointer.buffer.shape, start=convert(1)) - pointer.offset
    dtype = IntrinCall("type_annotation", (), pointer.buffer.dtype)
    args = (dtype, memory, convert(0), convert(count), convert(_MASKS[pointer.access_mask]))
    return IntrinCall("tvm_access_ptr", args, "handle")


def retyped(exprs: ExprReader, node: ast.Call) -> IntrinCall | None:
    """``T.reinterpret(T.handle("float32").ty, pointer)`` of the pointer that a call gives."""
    if len(node.args) != 2 or not isinstance(type_ := exprs.eval(node.args[0]), HandleType):
        return None
    value = exprs.eval(node.args[1])
    if not isinstance(value, IntrinCall) or value.dtype != "handle":
        raise exprs.error(node.args[1], "expected the call of an intrinsic that gives a pointer")
    return IntrinCall(value.callee, value.args, "handle", type_)


def kernel_name(exprs: ExprReader, node: ast.Call) -> str | None:
    """The kernel of the module that ``Module.square(x)`` calls; `None` for other calls."""
    func = node.func
    if node.args and exprs.path(func) == "tir.call_tir":
        func = node.args[0]
    base = func.value if isinstance(func, ast.Attribute) else None
    if not isinstance(func, ast.Attribute) or not isinstance(base, ast.Name):
        return None
    return func.attr if isinstance(exprs.scope.bound(base.id), ModuleName) else None


def kernel_call(exprs: ExprReader, node: ast.Call, name: str) -> KernelCall:
    """A call of a kernel, whose annotation says the dtype of the result."""
    if name not in exprs.scope.results:
        raise exprs.error(node.func, f"expected a kernel of the module, got '{name}'")
    if node.keywords:
        raise exprs.error(node, f"expected arguments of '{name}' without keywords")
    given = node.args[1:] if exprs.path(node.func) == "tir.call_tir" else node.args
    args = tuple(_argument(exprs, arg) for arg in given)
    return KernelCall(name, args, result_dtype(exprs, exprs.scope.results[name]) or "void")


def result_dtype(exprs: ExprReader, annotation: ast.expr | None) -> str | None:
    """The dtype that a kernel is annotated to return: `None` for ``-> None`` and none at all."""
    is_none = isinstance(annotation, ast.Constant) and annotation.value is None
    return None if annotation is None or is_none else exprs.dtype(annotation)


def address_of(exprs: ExprReader, node: ast.Call) -> Address:
    """``T.address_of(X[i, j])``; of a buffer the address of its first element."""
    dtypes = [k for k in node.keywords if k.arg == "dtype" and exprs.eval(k.value) == "handle"]
    if len(node.args) != 1 or len(dtypes) != len(node.keywords):
        raise exprs.error(node, "expected T.address_of(X[i, j])")
    value = exprs.eval(node.args[0])
    if isinstance(value, Alias):
        raise exprs.error(node.args[0], f"expected an element of '{value.base.name}'")
    if isinstance(value, Buffer):
        return Address(value, (convert(0),) * value.type.rank)
    if isinstance(value, Load):
        return Address(value.source, value.indices)
    raise exprs.error(node.args[0], "expected an element of a buffer")


def handle_type(exprs: ExprReader, node: ast.expr) -> HandleType | None:
    """The type of ``T.handle``, ``T.handle("float32")``, ``T.handle("float32", "shared")``.

    `None` for anything else.
    """
    head = node.func if isinstance(node, ast.Call) else node
    if exprs.path(head) != "T.handle":
        return None
    named = {k.arg: k.value for k in node.keywords} if isinstance(node, ast.Call) else {}
    args = node.args if isinstance(node, ast.Call) else []
    given = dict(zip(("dtype", "storage_scope"), args, strict=False)) | named
    if set(given) - {"dtype", "storage_scope"} or len(args) > 2:
        raise exprs.error(node, "expected T.handle(dtype, storage_scope)")
    dtype, scope = given.get("dtype"), given.get("storage_scope")
    is_void = dtype is None or exprs.eval(dtype) == "void"
    element = None if is_void else element_type(exprs.dtype(cast(ast.expr, dtype)))
    return HandleType.of(element, GLOBAL if scope is None else exprs.text(scope))
