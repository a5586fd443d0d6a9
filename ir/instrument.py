"""What watches passes run: printing, timing, verifying."""

from __future__ import annotations

import time
from dataclasses import dataclass

from .module import IRModule


@dataclass(frozen=True)
class PassInfo:
    """What a pass is called, from which level on it runs, and which passes have to come first."""

    name: str
    opt_level: int = 0
    required: tuple[str, ...] = ()


class PassInstrument:
    """Called around every pass of a `PassContext`; subclasses override what concerns them."""

    def enter_pass_ctx(self) -> None:
        """When the context is entered."""

    def exit_pass_ctx(self) -> None:
        """When the context is left."""

    def should_run(self, mod: IRModule, info: PassInfo) -> bool:
        """Whether a pass runs on a module."""
        return True

    def run_before_pass(self, mod: IRModule, info: PassInfo) -> None:
        """Before a pass, with the module that it will see."""

    def run_after_pass(self, mod: IRModule, info: PassInfo) -> None:
        """After a pass, with its result."""


def pass_instrument(cls: type | None = None) -> type:
    """Class decorator: a class with some of the methods of `PassInstrument` becomes one."""
    if cls is None:
        return pass_instrument  # pyright: ignore[reportReturnType]
    return type(cls.__name__, (cls, PassInstrument), {"__doc__": cls.__doc__})


class PrintBeforeAll(PassInstrument):
    """Prints the module before every pass."""

    def run_before_pass(self, mod: IRModule, info: PassInfo) -> None:
        print(f"# before {info.name}\n{mod.script()}")


class PrintAfterAll(PassInstrument):
    """Prints the module after every pass."""

    def run_after_pass(self, mod: IRModule, info: PassInfo) -> None:
        print(f"# after {info.name}\n{mod.script()}")


class PassTimingInstrument(PassInstrument):
    """Measures how long each pass takes; passes inside of others are indented."""

    def __init__(self) -> None:
        self.times: list[tuple[int, str, float]] = []
        self._open: list[tuple[int, float]] = []

    def run_before_pass(self, mod: IRModule, info: PassInfo) -> None:
        self._open.append((len(self.times), time.perf_counter()))
        self.times.append((len(self._open) - 1, info.name, 0.0))

    def run_after_pass(self, mod: IRModule, info: PassInfo) -> None:
        index, start = self._open.pop()
        depth, name, _ = self.times[index]
        self.times[index] = (depth, name, time.perf_counter() - start)

    def render(self) -> str:
        """A line for each pass with its milliseconds, in order."""
        return "".join(f"{'  ' * d}{name}: {t * 1e3:.3f} ms\n" for d, name, t in self.times)
