"""Statements made of their parts, which TVM's programs make one by one.

They belong to no kernel until they are in the body of a `PrimFunc`, which copies them. Variables
are the symbols of ``tir.Var("i", "int64")`` and scalars. Parts may be statements of other kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from xdsl.ir import Attribute

from ..te.arithmetic import convert
from ..te.axes import IterVar
from .block_views import SBlock, SBlockRealize
from .buffers import Buffer
from .kernel_builder import alone
from .leaf_statements import AllocBuffer, AssertStmt, Bind, BufferStore, Evaluate, Return
from .regions import BufferRegion
from .statements import AttrStmt, For, ForKind, IfThenElse, SeqStmt, Statement, While

Parts = dict[str, Any]


class Made:
    """What statements that are made of parts have in common."""

    _parts: Parts

    def same_as(self, other: object) -> bool:
        """Whether the other one is this statement."""
        return self is other

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        parts, kind = ", ".join(self._parts), type(self).__name__
        raise AttributeError(f"expected a part of {kind} ({parts}), got '{name}'")

    def script(self) -> str:
        """The statement as TVMScript, with the names of its variables and buffers."""
        return self._view().script()

    def outside(self) -> dict[str, Attribute]:
        """The names and types of the values in the statement that come from outside of it."""
        return self._view().outside()

    def _view(self) -> Statement:
        assert isinstance(self, Statement)
        return alone(self)


@cache
def _made_class(cls: type[Statement], parts: tuple[str, ...]) -> Any:
    def part(name: str) -> property:
        return property(lambda self: self._parts[name])

    members: dict[str, Any] = {name: part(name) for name in parts}
    members |= {"shown": cls, "__doc__": cls.__doc__}
    return type(cls)(cls.__name__, (Made, cls), members)


def _makes(cls: type[Statement]) -> Callable[[Callable[..., Parts]], Callable[..., Parts]]:
    """Declare the function of the arguments of TVM's class, which checks them and names parts."""

    def register(function: Callable[..., Parts]) -> Callable[..., Parts]:
        def make(*args: Any, **named: Any) -> Statement:
            parts = function(*args, **named)
            kind = _made_class(cls, tuple(parts))
            statement = kind.__new__(kind)
            statement._parts = parts
            return statement

        function.__name__ = function.__qualname__ = cls.__name__  # as errors call it
        Statement.makers[cls] = make
        return function

    return register


def _checked(value: Any, what: str, kind: type[Any]) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"expected {what} to be a {kind.__name__}, got {type(value).__name__}")
    return value


def _statement(value: Any, what: str = "body") -> Statement:
    return _checked(value, what, Statement)


@_makes(For)
def _for(
    loop_var: Any,
    min: Any,
    extent: Any,
    kind: ForKind | int | str,
    body: Statement,
    thread_binding: IterVar | None = None,
    annotations: Mapping[str, Any] | None = None,
    step: Any = None,
    span: Any = None,
) -> Parts:
    return {
        "loop_var": loop_var,
        "min": convert(min),
        "extent": convert(extent),
        "kind": ForKind[kind.upper()] if isinstance(kind, str) else ForKind(kind),
        "body": _statement(body),
        "thread_binding": thread_binding,
        "step": None if step is None else convert(step),
        "annotations": dict(annotations or {}),
    }


@_makes(While)
def _while(condition: Any, body: Statement, span: Any = None) -> Parts:
    return {"condition": convert(condition), "body": _statement(body)}


@_makes(IfThenElse)
def _if(
    condition: Any, then_case: Statement, else_case: Statement | None = None, span: Any = None
) -> Parts:
    return {
        "condition": convert(condition),
        "then_case": _statement(then_case, "then_case"),
        "else_case": None if else_case is None else _statement(else_case, "else_case"),
    }


@_makes(SeqStmt)
def _sequence(seq: Sequence[Statement], span: Any = None) -> Parts:
    return {"seq": [_statement(s, "a statement") for s in seq]}


@_makes(AttrStmt)
def _attribute(node: Any, attr_key: str, value: Any, body: Statement, span: Any = None) -> Parts:
    given = value if isinstance(value, str) else convert(value)
    where = repr(node) if isinstance(node, str) else node  # text of a script, as views have it
    return {"node": where, "attr_key": attr_key, "value": given, "body": _statement(body)}


@_makes(BufferStore)
def _store(
    buffer: Buffer, value: Any, indices: Sequence[Any], predicate: None = None, span: Any = None
) -> Parts:
    rank = _checked(buffer, "buffer", Buffer).type.rank
    if len(indices) != rank:
        raise ValueError(f"expected {rank} indices for '{buffer.name}', got {len(indices)}")
    if predicate is not None:
        raise TypeError("expected a store without a predicate")
    return {"buffer": buffer, "value": convert(value), "indices": [convert(i) for i in indices]}


@_makes(Evaluate)
def _evaluate(value: Any, span: Any = None) -> Parts:
    return {"value": convert(value)}


@_makes(AssertStmt)
def _assertion(
    condition: Any, message: Any, message_parts: Sequence[Any] | None = None, span: Any = None
) -> Parts:
    """With `message_parts`, `message` is the kind of the error."""
    texts = [getattr(m, "value", m) for m in (message, *(message_parts or ()))]
    first, *rest = [_checked(text, "message", str) for text in texts]
    text = "".join(rest)
    whole = text if first == "RuntimeError" else f"{first}: {text}"
    return {"condition": convert(condition), "message": first if message_parts is None else whole}


@_makes(Bind)
def _bind(var: Any, value: Any, span: Any = None) -> Parts:
    return {"var": var, "value": convert(value)}


@_makes(Return)
def _return(value: Any, span: Any = None) -> Parts:
    return {"value": convert(value)}


@_makes(AllocBuffer)
def _allocation(buffer: Buffer, annotations: None = None, span: Any = None) -> Parts:
    return {"buffer": _checked(buffer, "buffer", Buffer)}


@_makes(SBlock)
def _block(
    iter_vars: Sequence[IterVar],
    reads: Sequence[BufferRegion] | None,
    writes: Sequence[BufferRegion] | None,
    name_hint: str,
    body: Statement,
    init: Statement | None = None,
    alloc_buffers: Sequence[Buffer] | None = None,
    match_buffers: Sequence[Any] | None = None,
    annotations: Mapping[str, Any] | None = None,
    span: Any = None,
) -> Parts:
    return {
        "iter_vars": [_checked(v, "an axis", IterVar) for v in iter_vars],
        "reads": None if reads is None else list(reads),
        "writes": None if writes is None else list(writes),
        "name_hint": name_hint,
        "body": _statement(body),
        "init": None if init is None else _statement(init, "init"),
        "alloc_buffers": list(alloc_buffers or ()),
        "match_buffers": list(match_buffers or ()),
        "annotations": dict(annotations or {}),
    }


@_makes(SBlockRealize)
def _realize(iter_values: Sequence[Any], predicate: Any, block: SBlock, span: Any = None) -> Parts:
    count = len(_checked(block, "block", SBlock).iter_vars)
    if len(iter_values) != count:
        raise ValueError(
            f"expected {count} values of axes for block '{block.name_hint}', got {len(iter_values)}"
        )
    values = [convert(v) for v in iter_values]
    return {"iter_values": values, "predicate": convert(predicate), "block": block}
