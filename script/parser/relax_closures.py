"""Function values in graph functions: their calls, and `R.make_closure`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from xdsl.ir import Attribute, Block, Region, SSAValue

from ...dialects import relax
from ...dialects.int_expr import IntExpr, Sym, sym
from ...dialects.relax.symbols import determined_symbols, paired_dims
from ...dialects.relax.type_relations import forget_symbols, says_less
from ...lowering.functions import count_text, unique_name
from ...lowering.graph.object_calls import INVOKE
from ...lowering.substitute import substituted
from .relax_dps import DPSCallParser
from .relax_reader import RelaxReader

_OLD_NAMES = {"ty_args": "sinfo_args"}


class ClosureParser:
    """Reads closures and the calls of function values."""

    def __init__(self, function: RelaxReader, dps: DPSCallParser):
        self.function = function
        self.dps = dps

    def make_closure(self, node: ast.Call) -> SSAValue:
        """``R.make_closure(cls.f, (x,))``: the function whose last arguments are these."""
        function, given = self.function, self._arguments(node, ("func", "args"))
        name, is_sibling = self.dps.callee(node, given["func"])
        signature = function.signature_of(name) if is_sibling else None
        if signature is None:
            raise function.error(node, f"expected a graph function of the module, got '{name}'")
        params, result = signature
        bound = [function.value(n) for n in self.dps.listed(given["args"])]
        if len(bound) > len(params):
            most = count_text(len(params), "argument")
            raise function.error(node, f"expected at most {most} of '{name}', got {len(bound)}")
        block = Block(arg_types=self._open_types(params, bound))
        args = [*block.args, *bound]
        call = relax.CallOp(name, args, result_type(params, args, result))
        back = relax.func.ReturnOp(call.result)
        block.add_ops([call, back])
        call.location = back.location = function.scope.source.location(node)
        names = [f"arg{i}" for i in range(len(block.args))]
        op = relax.LocalFuncOp(name, names, call.result.type, Region(block))
        return function.emit(op, node)

    def _open_types(
        self, params: Sequence[Attribute], bound: Sequence[SSAValue]
    ) -> list[Attribute]:
        """The types of the other parameters; symbols that they share with the function get names.

        Those that the bound values determine are their dims.
        """
        own = params[: len(params) - len(bound)]
        found = _dims(params[len(own) :], [v.type for v in bound])
        taken = {*self.function.declared, *determined_symbols(params)}
        for name in determined_symbols(own):
            if name not in found and name in self.function.declared:
                found[name] = sym(unique_name(name, taken))
                taken.update(found[name].symbols())
        return [substituted(type_, found) for type_ in own]

    def invoke_closure(self, node: ast.Call) -> SSAValue:
        """``R.invoke_closure(f, (x,), sinfo_args=…)``, also of an object that a user passes."""
        given = self._arguments(node, ("closure", "args", "sinfo_args"))
        function = self.function.value(given["closure"])
        args = [self.function.value(n) for n in self.dps.listed(given["args"])]
        annotation = self.function.annotations.type(_only(given["sinfo_args"]))
        if not isinstance(function.type, relax.FuncType):
            op = relax.CallPackedOp(INVOKE, [function, *args], annotation)
            return self.function.emit(op, node)
        result = self.invoke(node, function, args, self.function.declared)
        if says_less(annotation, result.type):
            return result
        return self.function.emit(relax.MatchCastOp(result, annotation), node)

    def invoke(
        self,
        node: ast.Call,
        function: SSAValue,
        args: Sequence[SSAValue],
        around: AbstractSet[str],
    ) -> SSAValue:
        """The call of a function value; the symbols `around` the function are what they are."""
        type_ = function.type
        assert isinstance(type_, relax.FuncType)
        params = type_.params.data
        if len(args) != len(params):
            raise self.function.error(node, f"expected {len(params)} arguments, got {len(args)}")
        result = result_type(params, args, type_.result, around)
        return self.function.emit(relax.InvokeOp(function, args, result), node)

    def _arguments(self, node: ast.Call, names: Sequence[str]) -> dict[str, ast.expr]:
        given = dict(zip(names, node.args, strict=False))
        given |= {_OLD_NAMES.get(k.arg or "", k.arg or "**"): k.value for k in node.keywords}
        if set(given) != set(names) or len(node.args) > len(names):
            listed, count = ", ".join(names), len(node.args) + len(node.keywords)
            raise self.function.error(node, f"expected arguments {listed}, got {count}")
        return given


def _only(node: ast.expr) -> ast.expr:
    """The one element of a tuple or list; other expressions as they are."""
    return node.elts[0] if isinstance(node, ast.Tuple | ast.List) and len(node.elts) == 1 else node


def result_type(
    params: Sequence[Attribute],
    args: Sequence[SSAValue],
    result: Attribute,
    outer: AbstractSet[str] = frozenset(),
) -> Attribute:
    """The type of a call's result: the callee's, with its symbols as they are at this call.

    The `outer` symbols, of a function around the callee, are what they are.
    """
    found = _dims(params, [a.type for a in args], outer)
    return substituted(forget_symbols(result, found.keys() | outer), found)


def _dims(
    params: Sequence[Attribute],
    args: Sequence[Attribute],
    outer: AbstractSet[str] = frozenset(),
) -> dict[str, IntExpr]:
    """What the symbols of parameters are for arguments of these types."""
    found: dict[str, IntExpr] = {}
    for param, arg in zip(params, args, strict=True):
        for dim, actual in paired_dims(param, arg):
            if isinstance(atom := dim.as_atom, Sym) and atom.name not in outer:
                found.setdefault(atom.name, actual)
    return found
