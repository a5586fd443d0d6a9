"""`BlockBuilder`: modules built binding by binding, with kernels from tensor expressions."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from ..dialects import relax
from ..dialects.diagnostics import BuilderError
from ..ir.base_function import BaseFunc
from ..ir.blocks import Binding, DataflowBlock, MatchCast, SeqExpr
from ..ir.call_parts import with_operands
from ..ir.callees import ExternFunc, GlobalVar
from ..ir.expr import Expr, Var, expression, view
from ..ir.module import IRModule
from ..ir.operators import to_value
from ..ir.struct_info import to_type
from ..ir.te_calls import Kernel
from ..te.attributes import dictionary
from .finish import finish
from .module import ModuleBuilder
from .scope import FunctionScope


class BlockBuilder:
    """Builds a module; TVM's ``relax.BlockBuilder``.

    ::

        bb = relax.BlockBuilder()
        with bb.function("main", [x]):
            with bb.dataflow():
                y = bb.emit(relax.op.nn.relu(x))
                out = bb.emit_output(y)
            bb.emit_func_output(out)
        mod = bb.get()
    """

    _active: ClassVar[list[BlockBuilder]] = []

    def __init__(self, mod: IRModule | None = None):
        self._module = ModuleBuilder(mod)
        self._scopes: list[_OpenFunction] = []

    @staticmethod
    def current() -> BlockBuilder | None:
        """The builder whose function is being built, if there is one."""
        return BlockBuilder._active[-1] if BlockBuilder._active else None

    @contextmanager
    def function(
        self,
        name: str,
        params: Var | Sequence[Var] | None = None,
        attrs: Mapping[str, Any] | None = None,
        private: bool = False,
        pure: bool = True,
    ) -> Generator[None]:
        """Build a function inside; its parameters are given here or to `emit_func_output`.

        Raises ValueError with one line where it ends without `emit_func_output`.
        """
        given = [params] if isinstance(params, Var) else params
        scope = FunctionScope(name, given)
        with self.building(scope, attrs, private, pure):
            yield
            if not scope.is_finished:
                raise BuilderError(f"expected emit_func_output in function '{name}'")

    @contextmanager
    def building(
        self,
        scope: FunctionScope,
        attrs: Mapping[str, Any] | None = None,
        private: bool = False,
        pure: bool = True,
    ) -> Generator[None]:
        """Emit into a function inside, whatever was built before."""
        self._scopes.append(_OpenFunction(scope, attrs, private, pure))
        BlockBuilder._active.append(self)
        try:
            yield
        finally:
            self._scopes.pop()
            BlockBuilder._active.pop()

    @contextmanager
    def dataflow(self) -> Generator[None]:
        """Build a dataflow block inside: pure bindings, of which only outputs are seen outside."""
        self.begin_dataflow_block()
        try:
            yield
        except BaseException:
            self.scope.abandon_block()
            raise
        self.end_block()

    def begin_dataflow_block(self) -> None:
        """Open a dataflow block; `end_block` closes it."""
        self.scope.begin_dataflow()

    def begin_binding_block(self) -> None:
        """Open a block of bindings, which needs nothing."""

    def end_block(self) -> DataflowBlock | None:
        """Close the dataflow block, if one is open and not empty."""
        if not self.scope.in_dataflow:
            return None
        op = self.scope.end_dataflow()
        return None if op is None else DataflowBlock(op)

    # TVM's names of these
    _begin_dataflow_block, _begin_binding_block = begin_dataflow_block, begin_binding_block
    _end_block = end_block

    @property
    def scope(self) -> FunctionScope:
        """The function that is being built; raises ValueError outside of one."""
        return self._open.scope

    @property
    def is_outside(self) -> bool:
        """Whether no function is being built."""
        return not self._scopes and _AROUND.get() is None

    @property
    def _open(self) -> _OpenFunction:
        if not self._scopes and (outer := _AROUND.get()) is not None:
            return outer._open  # pyright: ignore[reportPrivateUsage]
        if not self._scopes:
            raise BuilderError("expected to be inside of 'with bb.function(…)'")
        return self._scopes[-1]

    def current_block_is_dataflow(self) -> bool:
        """Whether a dataflow block is open."""
        return self.scope.in_dataflow

    def emit(self, expr: Any, name_hint: str = "") -> Any:
        """Bind an expression, and what it is made of, in the current block; returns the variable.

        What was emitted before is not emitted again. An expression, such as a call, that was
        emitted into another function is repeated here. Raises ValueError with one line for a
        variable of another function. Of a `SeqExpr` all bindings are emitted. An `ExternFunc` is
        returned, as calls have the names of registered functions.
        """
        if isinstance(expr, SeqExpr):
            return self._emit_body(expr, name_hint)
        if isinstance(expr, ExternFunc):
            return expr
        value = to_value(expr)
        if isinstance(expr, Expr) and not isinstance(expr, Var):
            value = self.scope.again(value)
        return view(self.scope.emit(value, name_hint))

    def _emit_body(self, body: SeqExpr, name_hint: str) -> Any:
        for block in body.blocks:
            for line in block.bindings:
                self.emit_normalized(line)
        return self.emit(body.body, name_hint)

    def emit_te(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Bind the call of a kernel that a function on tensors defines; returns the variable.

        Tensors among the arguments, also in lists and dictionaries, become placeholders; other
        arguments and keywords are passed through. The PrimFunc is called after the function, or
        after `primfunc_name_hint`; one that computes the same is used again.
        """
        hint = kwargs.pop("name_hint", "")
        return self.emit(self.call_te(func, *args, **kwargs), hint)

    def call_te(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """As `emit_te`, without a binding."""
        kernel = Kernel(func, args, kwargs)
        name = self._module.add_kernel(kernel.func, kernel.name).name_hint
        return expression(kernel.call(name))

    def call_te_with_grad(
        self,
        func: Callable[..., Any],
        *args: Any,
        te_grad_name: str,
        te_grad_kwargs: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        """As `call_te`, with a registered gradient, as for ``relax.op.call_tir_with_grad``."""
        call = self.call_te(func, *args, **kwargs)
        call.operation.te_grad_name = StringAttr(te_grad_name)
        call.operation.te_grad_kwargs = dictionary(te_grad_kwargs) if te_grad_kwargs else None
        return call

    def emit_output(self, output: Any, name_hint: str = "") -> Any:
        """Let a value be seen outside of the dataflow block; returns its variable."""
        return view(self.scope.output(to_value(output), name_hint))

    def match_cast(self, value: Any, struct_info: Any, name_hint: str = "") -> Any:
        """Bind a value under another type, which is checked when the program runs."""
        return self.emit(expression(_match_cast(value, struct_info)), name_hint)

    def emit_normalized(self, binding: Binding) -> None:
        """Emit a binding; its variable stands for the value from here on."""
        value: Any = binding.value
        if isinstance(binding, MatchCast):
            value = expression(_match_cast(value, binding.struct_info))
        repeated = self.scope.again(to_value(value))
        emitted = self.scope.emit(repeated, binding.var.name_hint)
        self.scope.remap[binding.var.borrowed] = emitted

    def normalize(self, expr: Any) -> Any:
        """Emit what an expression is made of; returns the expression, which is not emitted.

        Outside of functions nothing is emitted.
        """
        if self.is_outside:
            return view(to_value(expr))
        op = to_value(expr).owner
        if not isinstance(op, Operation) or op.parent is not None:
            return view(to_value(expr))
        return expression(with_operands(op, [self.scope.resolve(o) for o in op.operands]))

    def emit_func_output(self, output: Any, params: Var | Sequence[Var] | None = None) -> GlobalVar:
        """End the function with what it returns; returns its global variable.

        Raises ValueError or Diagnostic with one line for a second end, parameters given twice, a
        variable that is no parameter, or an ill-formed function.
        """
        given = [params] if isinstance(params, Var) else params
        state = self._open
        scope = state.scope
        func = finish(scope, to_value(output), given, state.attrs, state.private, state.pure)
        return self._module.add(func, scope.name)

    def lookup_binding(self, var: Any) -> Any:
        """What a variable is bound to; `None` for parameters."""
        owner = to_value(var).owner
        if not isinstance(owner, Operation):
            return None
        return view(owner.operands[0]) if _is_cast(owner) else expression(owner)

    def add_func(self, func: BaseFunc, func_name: str) -> GlobalVar:
        """Add a function under a name that no other has; an equal one is used again."""
        return self._module.add_view(func, func_name)

    def update_func(self, gv: GlobalVar | str, updated_func: BaseFunc) -> None:
        """Put a function in the place of another, or add it under a name that is not there yet."""
        self._module.update(gv, updated_func)

    def get_unique_name(self, name_prefix: str) -> str:
        """A name that no function of the module has."""
        return self._module.unique_name(name_prefix)

    def get(self) -> IRModule:
        """The module so far, as a copy; raises ValueError while a function is being built."""
        return self._module.get()

    def finalize(self) -> IRModule:
        """The complete module, verified; raises Diagnostic or ValueError with one line."""
        if self._scopes:
            raise BuilderError(f"expected function '{self.scope.name}' to end before finalize")
        return self._module.verified()


_AROUND: ContextVar[BlockBuilder | None] = ContextVar("builder_around", default=None)


@contextmanager
def inside_of(builder: BlockBuilder) -> Generator[None]:
    """Builders that build no function of their own work on the one of `builder` inside."""
    token = _AROUND.set(builder)
    try:
        yield
    finally:
        _AROUND.reset(token)


class _OpenFunction:
    """A function that is being built, and what it will be declared with."""

    def __init__(
        self,
        scope: FunctionScope,
        attrs: Mapping[str, Any] | None,
        private: bool,
        pure: bool,
    ):
        self.scope = scope
        self.attrs = attrs
        self.private = private
        self.pure = pure


def _match_cast(value: Any, struct_info: Any) -> relax.MatchCastOp:
    return relax.MatchCastOp(to_value(value), to_type(struct_info))


def _is_cast(op: Operation) -> bool:
    return isinstance(op, relax.MatchCastOp)
