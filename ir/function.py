"""Views of the functions of a module, as TVM's users know them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

from xdsl.dialects.builtin import DictionaryAttr, IndexType, ModuleOp, StringAttr
from xdsl.ir import BlockArgument, Operation

from ..dialects.attributes import from_attribute, to_attribute
from ..dialects.diagnostics import Diagnostic
from ..dialects.dims import dim_of
from ..dialects.dtypes import dtype_name
from ..dialects.int_expr import IntExpr
from ..dialects.relax.constant import DataAttr
from ..dialects.relax.func import FuncOp
from ..dialects.relax.types import TensorType
from ..dialects.tir.control import result_of
from ..dialects.tir.func import PrimFuncOp
from ..dialects.tir.types import BufferType, HandleType
from ..display.highlight import stage_language
from ..display.rich import displayed
from ..display.show import show_code
from ..lowering.functions import PRIVATE
from ..lowering.graph.bind_params import bind_params, bind_symbolic_vars
from ..lowering.graph.inline_functions import inline_functions
from ..lowering.verify_calls import written_params
from .assembly import assemble_function
from .blocks import LocalFunction, SeqExpr
from .buffers import parameters
from .expr import Var, tensor_of, view
from .operators import bound_value
from .specialization import specialize
from .struct_info import (
    AnyStructInfo,
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    TupleStructInfo,
    struct_info,
    to_type,
)

if TYPE_CHECKING:
    from .statements import Statement


class History(Protocol):
    """How a module was made of another one, so that a check can start there."""

    @property
    def original(self) -> Any:
        """The `IRModule` before."""
        ...

    def steps(self) -> Iterator[tuple[str, ModuleOp]]:
        """What was done, by name, with the module after it.

        A step without a name changes what callers pass: the module after it is another original.
        """
        ...


def _with_tensors(value: Any) -> Any:
    """The value of an attribute in which tensors are those of the runtime."""
    if isinstance(value, list):
        return [_with_tensors(v) for v in cast("list[Any]", value)]
    return tensor_of(value.data) if isinstance(value, DataAttr) else value


@displayed("programs:function_html")
class BaseFunc:
    """A function: a thin view of the operation `op`, equal to any other view of it.

    `history` is that of the module where this is the only function; see `IRModule`.
    """

    history: History | None = None

    def __init__(self, op: Operation):
        self.op = op

    @staticmethod
    def symbol(name: str) -> StringAttr:
        """The attribute of a function name."""
        return StringAttr(name)

    @property
    def name(self) -> str:
        """The name the function has in its module."""
        name = self.op.properties["sym_name"]
        assert isinstance(name, StringAttr)
        return name.data

    @property
    def __name__(self) -> str:
        """The name, as a Python function has it."""
        return self.name

    @property
    def struct_info(self) -> AnyStructInfo:
        """What is known of the function."""
        raise NotImplementedError

    @property
    def attrs(self) -> Mapping[str, Any] | None:
        """The function's attributes as Python values, `None` where it has none.

        Tensors, such as those of "params", are runtime tensors.
        """
        attrs = self.op.properties.get("attrs")
        if not isinstance(attrs, DictionaryAttr) or not attrs.data:
            return None
        return {k: _with_tensors(from_attribute(v)) for k, v in attrs.data.items()}

    def with_attr(self, key: str | Mapping[str, Any], value: Any = None) -> Self:
        """A copy of the function with an attribute, or several.

        A `Target` is kept as its text, and has no effect: `build` takes the target.
        """
        from ..backend.target import Target

        attrs = self.op.properties.get("attrs")
        entries = dict(attrs.data) if isinstance(attrs, DictionaryAttr) else {}
        new = key if isinstance(key, Mapping) else {key: value}
        entries |= {k: to_attribute(str(v) if isinstance(v, Target) else v) for k, v in new.items()}
        return self._with_attrs(entries)

    def with_attrs(self, attrs: Mapping[str, Any]) -> Self:
        """A copy of the function with several attributes."""
        return self.with_attr(attrs)

    def without_attr(self, key: str) -> Self:
        """A copy of the function without an attribute."""
        attrs = self.op.properties.get("attrs")
        entries = dict(attrs.data) if isinstance(attrs, DictionaryAttr) else {}
        entries.pop(key, None)
        return self._with_attrs(entries)

    def _with_attrs(self, entries: dict[str, Any]) -> Self:
        op = self.op.clone()
        op.properties["attrs"] = DictionaryAttr(entries)
        return type(self)(op)

    def script(self, *, show_meta: bool = False, **options: Any) -> str:
        """The function as TVMScript that parses back; options as of `IRModule.script`."""
        from ..script.printer import options_of, print_function

        assert isinstance(self.op, FuncOp | PrimFuncOp)
        return print_function(self.op, show_meta=show_meta, options=options_of(**options))

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
        """Show the function's TVMScript, or its IR or code at a stage; as `IRModule.show`."""
        if stage is None:
            show_code(self.script(show_meta=show_meta, **options), style, black_format)
            return
        if options:
            raise TypeError(f"expected no {', '.join(options)} at a stage of the pipeline")
        from ..inspection import stage_text

        text = stage_text(self, stage, target)
        show_code(text, style, black_format, stage_language(stage))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BaseFunc) and self.op is other.op

    def same_as(self, other: object) -> bool:
        """Whether the other one is a view of the same function."""
        return self == other

    def __hash__(self) -> int:
        return id(self.op)

    def __str__(self) -> str:
        return self.script()

    def __repr__(self) -> str:
        return self.script()


class PrimFunc(BaseFunc):
    """A function on buffers; TVM's ``tir.PrimFunc``."""

    @property
    def prim_func(self) -> PrimFuncOp:
        """The operation, by its class."""
        assert isinstance(self.op, PrimFuncOp)
        return self.op

    @property
    def params(self) -> list[Any]:
        """The parameters: buffers, and scalars as expressions."""
        return parameters(self.prim_func)

    @property
    def body(self) -> Statement:
        """The statements, to be looked at; in a block "root" if the function has blocks."""
        from .block_views import kernel_body

        return kernel_body(self.prim_func)

    @property
    def struct_info(self) -> AnyStructInfo:
        """What is known of the function: it takes tensors for buffers, and returns a scalar or ().

        It is pure if it stores to no parameter.
        """
        func = self.prim_func
        params = [self._parameter_info(p) for p in func.params]
        returned = result_of(func)
        result: AnyStructInfo = TupleStructInfo([])
        if returned is not None:
            result = PrimStructInfo(dtype_name(returned.element_type))
        return FuncStructInfo(params, result, purity=not written_params(func))

    ty = struct_info

    def _parameter_info(self, param: BlockArgument) -> AnyStructInfo:
        match param.type:
            case BufferType() as buffer:
                return struct_info(TensorType.of(buffer.dims, buffer.element_type))
            case HandleType():
                return ObjectStructInfo()
            case IndexType():
                return PrimStructInfo("int64")
            case _:
                return PrimStructInfo(dtype_name(self.prim_func.element_type_of(param)))

    @property
    def attrs(self) -> Mapping[str, Any] | None:
        """The attributes as Python values; of a function that is not private also its name.

        TVM's ``global_symbol``. `None` if there are none.
        """
        given = {k: v for k, v in (super().attrs or {}).items() if k != PRIVATE}
        is_private = self.prim_func.attr(PRIVATE) is not None
        return {**({} if is_private else {"global_symbol": self.name}), **given} or None

    def specialize(self, param_map: Mapping[Any, Any]) -> PrimFunc:
        """A copy where buffers are like other ones (`tir.decl_buffer`), and numbers have values.

        What a buffer says of symbols holds for all parameters; numbers are no parameters any more.
        Without entries it is the function itself. Raises ValueError where they contradict each
        other or the parameters.
        """
        return PrimFunc(specialize(self.prim_func, param_map)) if param_map else self


class FunctionClass(type):
    """`isinstance` also tells a function inside of another one, which is a value of the graph."""

    def __instancecheck__(cls, instance: object) -> bool:
        return super().__instancecheck__(instance) or isinstance(instance, LocalFunction)


class Function(BaseFunc, metaclass=FunctionClass):
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
        return [view(p) for p in self._func.params]

    @property
    def body(self) -> SeqExpr:
        """The blocks of bindings and the result."""
        return SeqExpr(self._func.body.block)

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
        an unknown parameter, or a value that does not fit.
        """
        module = ModuleOp([self.op.clone()])
        values = {getattr(k, "name_hint", k): v for k, v in binding_map.items()}
        bind_params(module, self.name, {k: bound_value(v, k) for k, v in values.items()})
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
