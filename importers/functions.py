"""The graph function of an import: dataflow blocks with the operations, and its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute, Block, Region

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
    attrs: Mapping[str, Attribute] | None = None,
    private: bool = False,
) -> relax.FuncOp:
    """A function with the parameters of `entry`, which returns values of `body`.

    Operations with regions stand between dataflow blocks, see `in_dataflow`. The result is a tuple,
    but a single value with `unwrap` is none; with `tuple_outside` it is created after them.
    """
    returned, single = list(values), unwrap and len(values) == 1
    if not single and not tuple_outside:
        packed = relax.TupleOp(returned)
        body.add_op(packed)
        returned = [packed.result]
    returned = in_dataflow(body, entry, returned)
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


def hint(name: str) -> str | None:
    """The name as a name hint of an SSA value, if it is valid."""
    return value_hint(name) if name.isidentifier() else None
