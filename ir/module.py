"""`IRModule`: a named collection of graph functions and PrimFuncs; a view of an xDSL module."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ..dialects.attributes import from_attribute, to_attribute
from ..display.highlight import stage_language
from ..display.picture import GraphPicture
from ..display.rich import displayed
from ..display.show import show_code
from ..lowering.functions import is_private, unique_name
from .base_function import BaseFunc, History
from .callees import GlobalVar
from .function import function_view


@displayed("programs:module_html")
class IRModule:
    """Functions by name; TVM's ``IRModule``.

    `op` is the xDSL module itself: passes and patterns of xDSL work on it, ``print(mod.op)``
    shows it. `name`, also `__name__`, is that of the class that it was written as. `history` is
    there for what a schedule made; it says nothing of later changes.
    """

    history: History | None = None
    python_class: type | None = None
    """The class that the module was written as, if it has a base such as `relax.BasePyModule`."""

    def __init__(
        self,
        op: ModuleOp | Mapping[Any, BaseFunc] | None = None,
        name: str = "Module",
        *,
        functions: Mapping[Any, BaseFunc] | None = None,
        attrs: Mapping[str, Any] | None = None,
    ):
        """A view of an operation, or a module of functions, which may also be called `functions`.

        `attrs` are those that `with_attrs` adds.
        """
        if isinstance(op, ModuleOp):
            self.op = op
        else:
            self.op = ModuleOp([])
            for key, function in (op or functions or {}).items():
                self[key] = function
        self.name = name
        self.values: dict[str, Any] = {}
        """Attributes that only Python has, such as the first states of an optimizer."""
        self.pyfuncs: dict[str, Callable[..., Any]] = {}
        """Functions of the class with `I.pyfunc`."""
        self._add_attrs(attrs or {})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """An instance of the class that the module was written as; TypeError if it has no base."""
        if self.python_class is None:
            raise TypeError(f"expected '{self.name}' to be a class with a base, got one without")
        return self.python_class(self, *args, **kwargs)

    @property
    def __name__(self) -> str:
        """The name, as a class has it."""
        return self.name

    @staticmethod
    def from_expr(
        function: BaseFunc, functions: Mapping[str | GlobalVar, BaseFunc] | None = None
    ) -> IRModule:
        """The module of one function, under its attribute `global_symbol` or its own name.

        A private function is named "main". Others may be there before: one with that attribute is
        replaced, and a name without it is changed where it is taken.
        """
        module = IRModule(functions)
        own = "main" if is_private(function.op) else function.name
        name = (function.attrs or {}).get("global_symbol") or unique_name(own, module._ops())
        module[name] = function
        return module

    def _ops(self) -> dict[str, Operation]:
        return {function_view(op).name: op for op in self.op.ops}

    @property
    def functions(self) -> dict[GlobalVar, BaseFunc]:
        """The functions by global variable, in the module's order."""
        views = {name: function_view(op) for name, op in self._ops().items()}
        return {GlobalVar(name, function): function for name, function in views.items()}

    @property
    def functions_(self) -> dict[GlobalVar, BaseFunc]:
        """The functions by global variable; TVM's older spelling."""
        return self.functions

    def get_global_vars(self) -> list[GlobalVar]:
        """The names of the functions."""
        return list(self.functions)

    def get_global_var(self, name: str) -> GlobalVar:
        """The global variable of a name; raises ValueError for an unknown one."""
        return GlobalVar(name, self[name])

    def __getitem__(self, key: str | GlobalVar) -> BaseFunc:
        name = key.name_hint if isinstance(key, GlobalVar) else key
        ops = self._ops()
        if name not in ops:
            raise ValueError(f"expected a function of the module ({', '.join(ops)}), got '{name}'")
        function = function_view(ops[name])
        function.history = self.history if len(ops) == 1 else None
        return function

    def __setitem__(self, key: str | GlobalVar, function: BaseFunc) -> None:
        name = key.name_hint if isinstance(key, GlobalVar) else key
        new = function.op.clone()
        new.properties["sym_name"] = function.symbol(name)
        old = self._ops().get(name)
        if old is None:
            self.op.body.block.add_op(new)
            return
        block = old.parent
        assert block is not None
        block.insert_op_before(new, old)
        old.detach()

    def __delitem__(self, key: str | GlobalVar) -> None:
        self[key].op.detach()

    def update_func(self, var: str | GlobalVar, func: BaseFunc) -> None:
        """Put a copy of a function in the place of the one of this name, or add it."""
        self[var] = func

    def update(self, other: IRModule | Mapping[str | GlobalVar, BaseFunc]) -> None:
        """Put copies of all functions of a module or dict in, in place of those of their names."""
        for key, func in other.items():
            self[key] = func

    def __contains__(self, key: object) -> bool:
        name = key.name_hint if isinstance(key, GlobalVar) else key
        return name in self._ops()

    def __iter__(self) -> Iterator[GlobalVar]:
        return iter(self.functions)

    def __len__(self) -> int:
        return len(self._ops())

    def items(self) -> list[tuple[GlobalVar, BaseFunc]]:
        """Pairs of global variable and function."""
        return list(self.functions.items())

    functions_items = items

    def clone(self) -> IRModule:
        """A copy whose operations are its own."""
        copy = IRModule(self.op.clone(), self.name)
        copy.history, copy.values = self.history, dict(self.values)
        copy.pyfuncs, copy.python_class = dict(self.pyfuncs), self.python_class
        return copy

    def script(self, *, show_meta: bool = False, name: str = "Module", **options: Any) -> str:
        """The module as TVMScript that parses back; with `show_meta` the constants' data too.

        Other options are ``show_all_struct_info=False`` (also `show_all_ty`) for bindings without
        types, and ``module_alias=""`` for calls ``Module.kernel`` in place of ``cls.kernel``;
        ``syntax_sugar=False`` for a line for each loop and axis; and `indent_spaces`.
        `verbose_expr` concerns expressions: `relax.Expr.script`.
        """
        from ..script.printer import options_of, print_module

        return print_module(self.op, show_meta=show_meta, name=name, options=options_of(**options))

    def show(
        self,
        style: str | None = None,
        black_format: bool | None = None,
        *,
        stage: str | None = None,
        target: Any = "llvm",
        function: str | None = None,
        show_meta: bool = False,
        **options: Any,
    ) -> None:
        """Show the module's TVMScript, or with `stage` its IR at that stage of the pipeline.

        The stage "schedule" is the default schedules as Python, "asm" assembly for a `target`, and
        "llvm-opt" LLVM's IR that it comes from, of each kernel by itself. With `function` only that
        function. `style` is "light", "dark", "ansi" or a style of Pygments, and `black_format`
        formats TVMScript with black: see `display.show.show_code`. `options` are those of `script`.
        Raises ValueError for an unknown stage or function.
        """
        if stage is None:
            shown = self if function is None else self[function]
            show_code(shown.script(show_meta=show_meta, **options), style, black_format)
            return
        if options:
            raise TypeError(f"expected no {', '.join(options)} at a stage of the pipeline")
        from ..inspection import stage_text

        text = stage_text(self, stage, target, function)
        show_code(text, style, black_format, stage_language(stage))

    def show_graph(self, function: str | None = None) -> GraphPicture:
        """Draw a graph function, by default "main" or else the first, as a picture for notebooks.

        Boxes are operations, kernels and fused groups. Raises ValueError for a name that is no
        graph function, and ImportError where grandalf is not installed.
        """
        from ..display.graph import graph_picture

        return graph_picture(self.op, function)

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes as Python values."""
        stored = {k: from_attribute(a) for k, a in self.op.attributes.items()}
        return stored | self.values

    def get_attr(self, attr_key: str) -> Any:
        """The value of an attribute, `None` if there is none."""
        return self.attrs.get(attr_key)

    def with_attr(self, key: str, value: Any) -> IRModule:
        """A copy with an attribute; one that IR cannot hold, such as tensors, is in `values`."""
        return self.with_attrs({key: value})

    def with_attrs(self, attrs: Mapping[str, Any]) -> IRModule:
        """A copy with several attributes."""
        copy = self.clone()
        copy._add_attrs(attrs)
        return copy

    def _add_attrs(self, attrs: Mapping[str, Any]) -> None:
        for key, value in attrs.items():
            self._drop_attr(key)
            try:
                self.op.attributes[key] = to_attribute(value)
            except ValueError:
                self.values[key] = value

    def without_attr(self, key: str) -> IRModule:
        """A copy without an attribute."""
        copy = self.clone()
        copy._drop_attr(key)
        return copy

    def _drop_attr(self, key: str) -> None:
        self.op.attributes.pop(key, None)
        self.values.pop(key, None)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __str__(self) -> str:
        return self.script()

    def __repr__(self) -> str:
        return self.script()
