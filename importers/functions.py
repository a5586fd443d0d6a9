"""The graph function of an import: dataflow blocks with the operations, and its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import DictionaryAttr, TupleType
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.rewriter import Rewriter

from ..dialects import relax
from ..dialects.parameters import value_hint
from ..dialects.relax.symbols import determined_symbols
from ..dialects.relax.type_relations import forget_symbols
from .dataflow import in_dataflow
from .emitter import Value


def graph_function(
    name: str,
    names: Sequence[str],
    entry: Block,
    body: Block,
    values: Sequence[Value],
    *,
    unwrap: bool = False,
    tuple_outside: bool = False,
    whole_tuples: bool = False,
    attrs: Mapping[str, Attribute] | None = None,
    private: bool = False,
    has_dataflow: bool = True,
) -> relax.FuncOp:
    """A function with the parameters of `entry`, which returns values of `body`.

    Operations with regions stand between dataflow blocks, see `in_dataflow`. The result is a tuple,
    but a single value with `unwrap` is none; with `tuple_outside` it is created after them. With
    `whole_tuples`, all fields of a tuple in their order are that tuple. Without `has_dataflow`, all
    operations stand outside of dataflow blocks.
    """
    returned, single = list(values), unwrap and len(values) == 1
    if whole_tuples and (whole := _tuple_of(values)) is not None:
        returned, single = [whole], True
    if not single and not tuple_outside:
        packed = relax.TupleOp(returned)
        body.add_op(packed)
        returned = [packed.result]
    if has_dataflow:
        returned = in_dataflow(body, entry, returned)
    else:
        for op in list(body.ops):
            op.detach()
            entry.add_op(op)
    if tuple_outside and not single:
        outside = relax.TupleOp(returned)
        entry.add_op(outside)
        returned = [outside.result]
    result = returned[0]
    entry.add_op(relax.ReturnOp(result))
    dictionary = DictionaryAttr(attrs) if attrs else None
    known = set(determined_symbols(a.type for a in entry.args))
    type_ = forget_symbols(result.type, known)  # those of sizes that depend on data
    return relax.FuncOp(name, list(names), type_, Region(entry), private=private, attrs=dictionary)


def _tuple_of(values: Sequence[Value]) -> Value | None:
    """The tuple whose fields the values are, if they are all of them in their order."""
    fields = [v.owner for v in values if isinstance(v.owner, relax.TupleGetItemOp)]
    if not fields or len(fields) != len(values):
        return None
    whole = fields[0].operands[0]
    is_whole = isinstance(whole.type, TupleType) and len(whole.type.types) == len(fields)
    in_order = all(f.operands[0] is whole and f.index.data == n for n, f in enumerate(fields))
    return whole if is_whole and in_order else None


def take_tuple(values: Sequence[Value]) -> Value | None:
    """The tuple whose fields the values are, which then replaces those without another use."""
    whole = _tuple_of(values)
    for value in () if whole is None else values:
        if isinstance(value.owner, Operation) and not list(value.uses):
            Rewriter.erase_op(value.owner)
    return whole


def hint(name: str) -> str | None:
    """The name as a name hint of an SSA value, if it is valid."""
    return value_hint(name) if name.isidentifier() else None
