"""Views of the functions of a module: what graph functions and PrimFuncs have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol, Self, cast

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Operation

from ..dialects.attributes import from_attribute, to_attribute
from ..dialects.relax.constant import DataAttr
from ..dialects.relax.func import FuncOp
from ..dialects.tir.func import PrimFuncOp
from ..display.highlight import stage_language
from ..display.rich import displayed
from ..display.show import show_code
from .expr import tensor_of
from .struct_info import AnyStructInfo


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
        self._op = op

    @property
    def op(self) -> Operation:
        """The operation, for programs that work on the operations themselves."""
        return self._op

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

    def _with_attrs(self, entries: dict[str, Any]) -> Any:
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
