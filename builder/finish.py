"""The end of a function that was built: parameters, the returned value, verification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Block, Region, SSAValue, Use

from ..dialects import relax
from ..dialects.attributes import to_attribute
from ..dialects.diagnostics import BuilderError, verify
from ..dialects.parameters import value_name
from ..dialects.relax.symbols import determined_symbols
from ..dialects.relax.type_relations import forget_symbols, says_less
from ..ir.detached import VARIABLES
from ..ir.expr import Var
from .module import numbered_name
from .scope import FunctionScope, checked_params


def finish(
    scope: FunctionScope,
    output: SSAValue,
    params: Sequence[Var] | None,
    attrs: Mapping[str, Any] | None = None,
    private: bool = False,
    pure: bool = True,
) -> relax.FuncOp:
    """The function that returns `output`, verified.

    Raises ValueError or Diagnostic with one line where parameters are missing or given twice, and
    where the function is ill-formed.
    """
    scope.require_open()
    if scope.in_dataflow:
        raise BuilderError(f"expected the dataflow block of '{scope.name}' to be closed first")
    returned = scope.resolve(output)
    known = _parameters(scope, params)
    scope.body.add_op(relax.func.ReturnOp(returned))
    names = _enter_params(scope.body, known)
    entries = {k: to_attribute(v) for k, v in (attrs or {}).items()}
    func = relax.FuncOp(
        scope.name,
        names,
        _result_type(scope),
        Region(scope.body),
        not pure,
        private,
        DictionaryAttr(entries) if entries else None,
    )
    scope.is_finished = True
    verify(func)
    return func


def _parameters(scope: FunctionScope, params: Sequence[Var] | None) -> list[Var]:
    if params is not None and scope.params is not None:
        raise BuilderError(f"expected the parameters of '{scope.name}' once, got them twice")
    known = checked_params(scope.name, params or scope.params or ())
    values = {p.borrowed for p in known}
    missing = [v.owner for v in scope.variables if v not in values]
    if missing:
        name = getattr(missing[0], "name", "")
        listed = ", ".join(p.name_hint for p in known) or "none"
        raise BuilderError(
            f"expected '{name}' among the parameters of '{scope.name}', got {listed}"
        )
    return known


def _enter_params(body: Block, params: Sequence[Var]) -> list[str]:
    """Make the parameters arguments of the block, which replace the variables inside of it."""
    names: list[str] = []
    for index, param in enumerate(params):
        names.append(numbered_name(param.name_hint, names))
        arg = body.insert_arg(param.borrowed.type, index)
        arg.name_hint = value_name(param.name_hint)
        VARIABLES[arg] = param.borrowed
        param.borrowed.replace_uses_with_if(arg, lambda use: _is_inside(use, body))
    return names


def _is_inside(use: Use, body: Block) -> bool:
    block = use.operation.parent
    while block is not None and block is not body:
        parent = block.parent_op()
        block = None if parent is None else parent.parent
    return block is body


def _result_type(scope: FunctionScope) -> Any:
    """The type of the returned value as far as the parameters determine it."""
    last = scope.body.last_op
    assert isinstance(last, relax.func.ReturnOp)
    symbols = set(determined_symbols(a.type for a in scope.body.args))
    type_ = forget_symbols(last.value.type, symbols)
    source = scope.source
    if source is not None and says_less(source.result_type, type_):
        return source.result_type
    return type_
