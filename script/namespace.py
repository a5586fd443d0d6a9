"""The names that scripts use (`T.block`, `R.Tensor`, `I.ir_module`) as Python objects.

Inside a decorated function they are never run: the parser recognizes them by name. Outside, where
Python evaluates annotations at class creation, they may be called and subscripted, and stand for
themselves.
"""

from __future__ import annotations

from typing import Any, NoReturn


class ScriptName:
    """A name of a script namespace, such as ``T.Buffer``; calling it gives a name again.

    `args` and `kwargs` are what it was called or subscripted with: ``R.Tensor((4,), "float32")`` is
    an annotation of the builder API too.
    """

    def __init__(self, path: str, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None):
        self.path = path
        self.args = args
        self.kwargs = kwargs or {}

    @property
    def __name__(self) -> str:
        """The last part of the name, as a Python function has it."""
        return self.path.rpartition(".")[2]

    def __call__(self, *args: Any, **kwargs: Any) -> ScriptName:
        return ScriptName(self.path, args, kwargs)

    def __getitem__(self, item: Any) -> ScriptName:
        return ScriptName(self.path, item if isinstance(item, tuple) else (item,))  # pyright: ignore[reportUnknownArgumentType]

    def __getattr__(self, name: str) -> ScriptName:
        if name.startswith("__"):
            raise AttributeError(name)
        return ScriptName(f"{self.path}.{name}")

    def __iter__(self) -> Any:
        self._refuse()

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError(f"'{self.path}' is only meaningful inside a script function")

    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = _refuse
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __neg__ = _refuse

    def __repr__(self) -> str:
        return self.path


def root_of(name: str) -> ScriptName | None:
    """What a well-known short name stands for if Python has no script namespace under it."""
    return _DEFAULTS.get(name)


_DEFAULTS: dict[str, ScriptName] = {
    "T": ScriptName("T"),
    "R": ScriptName("R"),
    "I": ScriptName("I"),
    "relax": ScriptName("relax"),
    "Tensor": ScriptName("R.Tensor"),
    "metadata": ScriptName("metadata"),
}
