"""Views of the functions of a module, as TVM's users know them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.ir import Operation

from ..dialects.relax.func import FuncOp
from ..dialects.tir.func import PrimFuncOp
from .attributes import from_attribute, to_attribute


class BaseFunc:
    """A function: a thin view of the operation `op`, equal to any other view of it."""

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
    def attrs(self) -> Mapping[str, Any] | None:
        """The function's attributes as Python values, `None` where it has none."""
        attrs = self.op.properties.get("attrs")
        if not isinstance(attrs, DictionaryAttr) or not attrs.data:
            return None
        return {k: from_attribute(v) for k, v in attrs.data.items()}

    def with_attr(self, key: str | Mapping[str, Any], value: Any = None) -> Self:
        """A copy of the function with an attribute, or several."""
        attrs = self.op.properties.get("attrs")
        entries = dict(attrs.data) if isinstance(attrs, DictionaryAttr) else {}
        new = key if isinstance(key, Mapping) else {key: value}
        entries |= {k: to_attribute(v) for k, v in new.items()}
        return self._with_attrs(entries)

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

    def script(self, *, show_meta: bool = False) -> str:
        """The function as TVMScript that parses back."""
        from ..script.printer import print_function

        assert isinstance(self.op, FuncOp | PrimFuncOp)
        return print_function(self.op, show_meta=show_meta)

    def show(
        self,
        style: str | None = None,
        black_format: bool = False,
        *,
        stage: str | None = None,
        show_meta: bool = False,
    ) -> None:
        """Print the function's TVMScript, or its IR at a stage; as `IRModule.show`."""
        if stage is None:
            print(self.script(show_meta=show_meta))
            return
        from ..driver import stage_text

        print(stage_text(self, stage))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BaseFunc) and self.op is other.op

    def __hash__(self) -> int:
        return id(self.op)

    def __str__(self) -> str:
        return self.script()

    def __repr__(self) -> str:
        return self.script()


class PrimFunc(BaseFunc):
    """A function on buffers; TVM's ``tir.PrimFunc``."""


class Function(BaseFunc):
    """A graph function; TVM's ``relax.Function``."""


def function_view(op: Operation) -> BaseFunc:
    """The view of a function operation; raises ValueError for any other operation."""
    if isinstance(op, PrimFuncOp):
        return PrimFunc(op)
    if isinstance(op, FuncOp):
        return Function(op)
    raise ValueError(f"expected a graph function or a PrimFunc, got '{op.name}'")
