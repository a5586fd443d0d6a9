"""Views of graph functions: those of a module, and those inside of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.ir import Operation, Region, SSAValue

from ..dialects.attributes import from_attribute, to_attribute
from ..dialects.diagnostics import Diagnostic
from ..dialects.dims import dim_of
from ..dialects.int_expr import IntExpr
from ..dialects.relax.closure import LocalFuncOp
from ..dialects.relax.func import FuncOp
from ..dialects.tir.func import PrimFuncOp
from ..lowering.graph.bind_params import bind_params, bind_symbolic_vars
from ..lowering.graph.inline_functions import inline_functions
from ..lowering.graph.lambda_lift import call_itself, captured_values
from .assembly import assemble_function
from .base_function import BaseFunc
from .blocks import SeqExpr
from .detached import FreeVariable
from .expr import Expr, Var, owner_of, view
from .operators import bound_values
from .prim_func import PrimFunc
from .struct_info import AnyStructInfo, FuncStructInfo, struct_info, to_type


class Function(BaseFunc):
    """A graph function; TVM's ``relax.Function``.

    From parts it is ``Function([x], SeqExpr(blocks, y), TensorStructInfo((4,), "float32"))``. It is
    not verified: `relax.analysis.well_formed` says whether it is.
    """

    def __init__(
        self,
        params: Operation | Sequence[Var],
        body: Any = None,
        ret_struct_info: Any = None,
        is_pure: bool = True,
        attrs: Mapping[str, Any] | None = None,
        *,
        ret_ty: Any = None,
    ):
        if isinstance(params, Operation):
            super().__init__(params)
            return
        result = ret_struct_info if ret_ty is None else ret_ty
        type_ = None if result is None else to_type(result)
        op = assemble_function(params, body, type_, not is_pure)
        if attrs:
            op.attrs = DictionaryAttr({k: to_attribute(v) for k, v in attrs.items()})
        super().__init__(op)

    @property
    def definition(self) -> FuncOp | LocalFuncOp:
        """The operation that the function is defined by."""
        return self._func

    @property
    def _func(self) -> FuncOp:
        assert isinstance(self.op, FuncOp)
        return self.op

    @property
    def attrs(self) -> Mapping[str, Any] | None:
        """The attributes as Python values; of a function that is not private also its name.

        TVM's ``global_symbol``. `None` if there are none.
        """
        own = {} if self._func.private is not None else {"global_symbol": self.name}
        return {**own, **(super().attrs or {})} or None

    @property
    def params(self) -> list[Var]:
        """The parameters."""
        return [view(p) for p in self.definition.params]

    @property
    def body(self) -> SeqExpr:
        """The blocks of bindings and the result."""
        return SeqExpr(self.definition.body.block)

    @property
    def ret_struct_info(self) -> AnyStructInfo:
        """What is known of the result."""
        return struct_info(self._func.result_type)

    ret_ty = ret_struct_info

    @property
    def is_pure(self) -> bool:
        """Whether calls of the function have no effect but their result."""
        return self._func.impure is None

    @property
    def struct_info(self) -> AnyStructInfo:
        """What is known of the function: parameters, result and purity."""
        return FuncStructInfo(
            [p.type for p in self._func.params], self._func.result_type, self.is_pure
        )

    struct_info_ = ty = struct_info

    def bind_symbolic_vars(self, binding_map: Mapping[Any, Any]) -> Function:
        """A copy in which symbols are numbers or expressions, by symbol or name.

        Raises Diagnostic with one line for a symbol that is given twice or is unknown, and for new
        symbols that no parameter determines.
        """
        module = ModuleOp([self.op.clone()])
        values = symbol_values(binding_map)
        bind_symbolic_vars(module, self.name, values)
        (op,) = module.ops
        return Function(op.clone())

    def bind_params(self, binding_map: Mapping[Any, Any]) -> Function:
        """A copy in which parameters are constants, by variable or name.

        A shape or number binds the symbols of its parameter. Raises Diagnostic with one line for
        an unknown parameter, or a value that does not fit, and ValueError for a number that the
        parameter's dtype cannot hold.
        """
        module = ModuleOp([self.op.clone()])
        bind_params(module, self.name, bound_values(self._func, binding_map))
        (op,) = module.ops
        return Function(op.clone())

    def inline_functions(self, function_map: Mapping[Any, Function]) -> Function:
        """A copy with the bodies of functions in place of their calls, by global variable or name.

        Raises ValueError for a function that is given twice, and Diagnostic for one that calls
        itself.
        """
        callees = {getattr(k, "name_hint", k): f._func for k, f in function_map.items()}
        if len(callees) != len(function_map):
            raise ValueError(
                f"expected each function once, got {', '.join(map(str, function_map))}"
            )
        module = ModuleOp([self.op.clone()])
        (op,) = module.ops
        assert isinstance(op, FuncOp)
        inline_functions(op, callees)
        return Function(op.clone())


class LocalFunction(Expr, Function, shows=LocalFuncOp):
    """A function inside of another one: a value of the graph, and a function."""

    @property
    def op(self) -> FuncOp:
        """A copy of the function by itself, in which values of the function around it are free."""
        from .fragments import name_of

        local = self.definition
        outside = captured_values(local)
        free = {v: FreeVariable(name_of(v), v.type).args[0] for v in outside}
        body, type_ = Region(), local.result.type
        local.body.clone_into(body, value_mapper=dict[SSAValue, SSAValue](free))
        call_itself(local, body.block, self.name)
        return FuncOp(self.name, local.names, type_.result, body, type_.impure, attrs=local.attrs)

    @property
    def definition(self) -> LocalFuncOp:
        """The operation that the function is defined by."""
        return owner_of(self, LocalFuncOp)

    @property
    def name(self) -> str:
        """The name that it is defined under."""
        return self.definition.func_name.data

    @property
    def attrs(self) -> Mapping[str, Any] | None:
        """The attributes as Python values, `None` where it has none."""
        attrs = self.definition.attrs
        return None if attrs is None else {k: from_attribute(v) for k, v in attrs.data.items()}

    @property
    def ret_struct_info(self) -> AnyStructInfo:
        """What is known of the result."""
        return struct_info(self.definition.result.type.result)

    ret_ty = ret_struct_info

    @property
    def is_pure(self) -> bool:
        """Whether calls of the function have no effect but their result."""
        return not self.definition.result.type.impure

    def script(self, *, verbose_expr: bool = False, show_meta: bool = False, **options: Any) -> str:
        """The function as part of the one around it; with options of `BaseFunc`, by itself."""
        if show_meta or options:
            return BaseFunc.script(self, show_meta=show_meta, **options)
        return Expr.script(self, verbose_expr=verbose_expr)

    def show(
        self,
        style: str | None = None,
        black_format: bool | None = None,
        *,
        stage: str | None = None,
        target: Any = "llvm",
        show_meta: bool = False,
        **options: Any,
    ) -> None:
        """Show the function, or its IR or code at a stage; as `BaseFunc.show`."""
        named = {"stage": stage, "target": target, "show_meta": show_meta}
        BaseFunc.show(self, style, black_format, **named, **options)

    def _with_attrs(self, entries: dict[str, Any]) -> Any:
        op = self.op
        op.attrs = DictionaryAttr(entries)
        return Function(op)


def copy_with_new_vars(func: Function) -> Function:
    """A copy of a graph function with other variables; TVM's ``relax.utils.copy_with_new_vars``."""
    return Function(func.op.clone())


def symbol_values(binding_map: Mapping[Any, Any]) -> dict[str, IntExpr]:
    """Values of symbols by name; raises Diagnostic for a symbol that is given twice."""
    values = {
        str(k): IntExpr.of(int(v)) if hasattr(v, "__index__") else dim_of(v)
        for k, v in binding_map.items()
    }
    if len(values) != len(binding_map):
        given = ", ".join(map(str, binding_map))
        raise Diagnostic(f"expected each symbol once, got {given}")
    return values


def function_view(op: Operation) -> BaseFunc:
    """The view of a function operation; raises ValueError for any other operation."""
    if isinstance(op, PrimFuncOp):
        return PrimFunc(op)
    if isinstance(op, FuncOp):
        return Function(op)
    raise ValueError(f"expected a graph function or a PrimFunc, got '{op.name}'")
