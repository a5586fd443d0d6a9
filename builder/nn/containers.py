"""Modules and parameters in lists and dicts, which are modules themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any, Generic, TypeVar, cast

from .core import Module, Parameter

Item = TypeVar("Item")


class _Dict(Module, MutableMapping[str, Item], Generic[Item]):
    """Items by name, all of one class."""

    kind: type[Any]

    def __init__(self, items: Mapping[str, Item] | None = None):
        self.entries: dict[str, Item] = {}
        self.update(items or {})

    def named_children(self) -> list[tuple[str, Any]]:
        """The items by name."""
        return list(self.entries.items())

    def replace_child(self, name: str, value: Any) -> None:
        """Put another item in the place of one."""
        self[name] = value

    def __getitem__(self, key: str) -> Item:
        return self.entries[key]

    def __setitem__(self, key: str, value: Item) -> None:
        if not isinstance(cast(Any, key), str):
            raise TypeError(f"expected a string as a key, got {key!r}")
        self.entries[key] = checked(value, self.kind)

    def __delitem__(self, key: str) -> None:
        del self.entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    # As of any module: two of equal items are not the same.
    __eq__ = object.__eq__
    __hash__ = object.__hash__  # pyright: ignore[reportAssignmentType]


class ModuleDict(_Dict[Module]):
    """Modules by name; `torch.nn.ModuleDict`."""

    kind = Module


class ParameterDict(_Dict[Parameter]):
    """Parameters by name; `torch.nn.ParameterDict`."""

    kind = Parameter


class ParameterList(Module, MutableSequence[Parameter]):
    """Parameters in order; `torch.nn.ParameterList`."""

    def __init__(self, parameters: Sequence[Parameter] = ()):
        self.entries = [checked(p, Parameter) for p in parameters]

    def named_children(self) -> list[tuple[str, Any]]:
        """The parameters by their numbers."""
        return [(str(i), p) for i, p in enumerate(self.entries)]

    def replace_child(self, name: str, value: Any) -> None:
        """Put another parameter in the place of one."""
        self[int(name)] = value

    def __getitem__(self, index: Any) -> Any:
        return self.entries[index]  # pyright: ignore[reportUnknownVariableType]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.entries[index] = checked(value, Parameter)

    def __delitem__(self, index: Any) -> None:
        del self.entries[index]

    def __len__(self) -> int:
        return len(self.entries)

    def insert(self, index: int, value: Parameter) -> None:
        """Add a parameter before a position."""
        self.entries.insert(index, checked(value, Parameter))

    __hash__ = object.__hash__


def checked(value: Item, kind: type[Any]) -> Item:
    """The value; raises TypeError unless it is one of the class."""
    if not isinstance(value, kind):
        raise TypeError(f"expected a {kind.__name__}, got {type(value).__name__}")
    return value
