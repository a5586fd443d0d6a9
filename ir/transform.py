"""Passes as the Python API has them: ``P()(mod)`` is a new module, and `mod` is unchanged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar, Token
from typing import Any, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriteWalker, RewritePattern

from ..backend.build_key import DISABLED
from ..dialects import get_context
from ..dialects.diagnostics import Diagnostic, verify
from ..lowering.verify_calls import verify_calls
from ..pipeline import plain_name
from .base_function import BaseFunc
from .function import Function
from .instrument import PassInfo, PassInstrument
from .module import IRModule
from .prim_func import PrimFunc

AnyPass: TypeAlias = "Pass | ModulePass | RewritePattern"
"""What can stand in a sequence: our passes, and those and the patterns of xDSL."""


class PassContext:
    """How passes run inside of ``with PassContext(…):``.

    A pass of a higher `opt_level` than the context is skipped unless `required_pass` names it, and
    one that `disabled_pass` names is always skipped, by builds too: ``"UseWinograd"`` for example.
    `instruments` see each pass. A pass may read `config`; those of the compiler do not.
    """

    def __init__(
        self,
        opt_level: int = 2,
        required_pass: Sequence[str] | None = None,
        disabled_pass: Sequence[str] | None = None,
        instruments: Sequence[PassInstrument] | None = None,
        config: Mapping[str, Any] | None = None,
    ):
        self.opt_level = opt_level
        self.required_pass = list(required_pass or ())
        self.disabled_pass = list(disabled_pass or ())
        self.instruments = list(instruments or ())
        self.config = dict(config or {})
        self._outer: list[tuple[Token[PassContext | None], Token[frozenset[str]]]] = []

    @staticmethod
    def current() -> PassContext:
        """The innermost context, or one with the defaults."""
        return _CURRENT.get() or PassContext()

    def enabled(self, info: PassInfo) -> bool:
        """Whether a pass runs."""
        name = plain_name(info.name)
        if name in map(plain_name, self.disabled_pass):
            return False
        return name in map(plain_name, self.required_pass) or info.opt_level <= self.opt_level

    def __enter__(self) -> PassContext:
        disabled = frozenset(map(plain_name, self.disabled_pass))
        self._outer.append((_CURRENT.set(self), DISABLED.set(disabled)))
        for instrument in self.instruments:
            instrument.enter_pass_ctx()
        return self

    def __exit__(self, *error: object) -> None:
        for instrument in self.instruments:
            instrument.exit_pass_ctx()
        outer, disabled = self._outer.pop()
        _CURRENT.reset(outer)
        DISABLED.reset(disabled)


_CURRENT: ContextVar[PassContext | None] = ContextVar("pass_context", default=None)


class Pass:
    """A function from modules to modules.

    Calling it raises Diagnostic with one line that names the pass where its result does not verify,
    unless the given module does not either, or where it cannot go on.
    """

    info: PassInfo

    @property
    def name(self) -> str:
        """What the pass is called."""
        return self.info.name

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        """The transformed module; `mod` is a copy that may be changed."""
        raise NotImplementedError

    def __call__(self, mod: IRModule) -> IRModule:
        if not isinstance(mod, IRModule):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"expected an IRModule for '{self.name}', got {type(mod).__name__}")
        return self._run(mod, PassContext.current())

    def _run(self, mod: IRModule, ctx: PassContext) -> IRModule:
        if not ctx.enabled(self.info):
            return mod
        if not all(i.should_run(mod, self.info) for i in ctx.instruments):
            return mod
        for instrument in ctx.instruments:
            instrument.run_before_pass(mod, self.info)
        result = self.transform(mod.clone(), ctx)
        self._check(result, mod)
        for instrument in ctx.instruments:
            instrument.run_after_pass(result, self.info)
        return result

    def _check(self, result: Any, mod: IRModule) -> None:
        if not isinstance(result, IRModule):
            raise TypeError(
                f"expected pass '{self.name}' to return an IRModule, got {type(result).__name__}"
            )
        error = _violation(result)
        if error is not None and _violation(mod) is None:
            raise Diagnostic(f"after pass '{self.name}': {error.message}") from error

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


def _violation(mod: IRModule) -> Diagnostic | None:
    """The first rule that a module or its calls violate, if there is one."""
    try:
        verify(mod.op)
        verify_calls(mod.op)
    except Diagnostic as error:
        return error
    return None


class XDSLPass(Pass):
    """A pass or a pattern of xDSL."""

    def __init__(self, inner: ModulePass | RewritePattern, name: str = "", opt_level: int = 0):
        self.inner = inner
        known = inner.name if isinstance(inner, ModulePass) else type(inner).__name__
        self.info = PassInfo(name or known, opt_level)

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        apply_in_place(self.inner, mod.op)
        return mod

    def __repr__(self) -> str:
        return f"{self.name}{options_text(self.inner)}"


def apply_in_place(inner: ModulePass | RewritePattern, module: ModuleOp) -> None:
    """Run a pass or a pattern of xDSL on a module."""
    if isinstance(inner, ModulePass):
        inner.apply(get_context(), module)
    else:
        PatternRewriteWalker(inner).rewrite_module(module)


def options_text(inner: ModulePass | RewritePattern) -> str:
    """The options of a pass of xDSL: ``(tiles=(4,))``."""
    fields = getattr(inner, "__dataclass_fields__", {})
    options = ", ".join(f"{n}={getattr(inner, n)!r}" for n in fields if n != "name")
    return f"({options})"


class _FunctionOfModule(Pass):
    """A pass written as a Python function or class."""

    def __init__(self, info: PassInfo, transform: Callable[[IRModule, PassContext], Any]):
        self.info = info
        self._transform = transform

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        return self._transform(mod, ctx)


class Sequential(Pass):
    """Passes one after the other."""

    def __init__(
        self,
        passes: Sequence[AnyPass] = (),
        opt_level: int = 0,
        name: str = "sequential",
        required: Sequence[str] = (),
    ):
        self.passes = [as_pass(p) for p in passes]
        self.info = PassInfo(name, opt_level, tuple(required))

    def transform(self, mod: IRModule, ctx: PassContext) -> IRModule:
        for step in self.passes:
            mod = step._run(mod, ctx)
        return mod


def as_pass(given: Any) -> Pass:
    """A pass, or one of xDSL or a pattern as a pass; raises TypeError for anything else."""
    if isinstance(given, Pass):
        return given
    if isinstance(given, ModulePass | RewritePattern):
        return XDSLPass(given)
    raise TypeError(f"expected a pass or a rewrite pattern, got {type(given).__name__}")


def pass_decorator(make: Callable[[Any, PassInfo], Any], doc: str) -> Callable[..., Any]:
    """A decorator, with or without options, of functions and of classes."""

    def with_options(
        pass_func: Any = None,
        opt_level: int = 0,
        name: str | None = None,
        required: Sequence[str] | None = None,
        traceable: bool = False,
    ) -> Any:
        def decorate(definition: Any) -> Any:
            info = PassInfo(name or definition.__name__, opt_level, tuple(required or ()))
            return make(definition, info)

        return decorate if pass_func is None else decorate(pass_func)

    with_options.__doc__ = doc
    return with_options


def pass_of(definition: Any, info: PassInfo, method: str, lift: Callable[[Any], Any]) -> Any:
    """The pass of a function, or the class of passes that a class with `method` defines."""
    if not isinstance(definition, type):
        return _FunctionOfModule(info, lift(definition))
    if not hasattr(definition, method):
        raise TypeError(f"expected class '{definition.__name__}' to have a method '{method}'")
    inner: Any = definition

    class PassClass(_FunctionOfModule):
        def __init__(self, *args: Any, **kwargs: Any):
            self.instance = inner(*args, **kwargs)
            super().__init__(info, lift(getattr(self.instance, method)))

        def __getattr__(self, attribute: str) -> Any:
            return getattr(self.__dict__["instance"], attribute)

    PassClass.__name__ = PassClass.__qualname__ = definition.__name__
    PassClass.__doc__ = definition.__doc__
    PassClass.__module__ = definition.__module__
    return PassClass


def _on_functions(kind: type[BaseFunc]) -> Callable[[Any], Any]:
    """A function of functions as a function of modules."""

    def lift(transform: Callable[[Any, IRModule, PassContext], Any]) -> Any:
        def on_module(mod: IRModule, ctx: PassContext) -> IRModule:
            for var, func in mod.items():
                if isinstance(func, kind):
                    mod[var] = transform(func, mod, ctx)
            return mod

        return on_module

    return lift


module_pass = pass_decorator(
    lambda d, info: pass_of(d, info, "transform_module", lambda t: t),
    """Decorator of a function or of a class, which makes it a pass on modules.

    ``(mod, ctx)`` returns the new module; in a class it is the method `transform_module`. The
    options are the `opt_level` and the `name`, by default that of the definition. `required` is
    recorded, and `traceable` ignored. Raises TypeError for a class without the method.
    """,
)
function_pass = pass_decorator(
    lambda d, info: pass_of(d, info, "transform_function", _on_functions(Function)),
    """Decorator of a function or of a class, which makes it a pass on each graph function.

    ``(func, mod, ctx)`` returns the new function; in a class it is the method `transform_function`.
    The options are those of `module_pass`.
    """,
)
prim_func_pass = pass_decorator(
    lambda d, info: pass_of(d, info, "transform_function", _on_functions(PrimFunc)),
    """Decorator of a function or of a class, which makes it a pass on each PrimFunc.

    ``(func, mod, ctx)`` returns the new function; in a class it is the method `transform_function`.
    The options are those of `module_pass`.
    """,
)
