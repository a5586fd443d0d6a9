"""An architecture from outside the package: its instruction set is that of its targets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from xrelax.backend.build_cache import build_cache
from xrelax.backend.target import Target, register_architecture
from xrelax.backend.targets import REGISTERED
from xrelax.backend.targets.architecture import Architecture, InstructionSet
from xrelax.inspection import stage_text
from xrelax.script import from_source

TARGET = "llvm -mtriple=riscv64-unknown-linux-gnu -mattr=+m,+a,+f,+d,+v"


@dataclass(frozen=True, kw_only=True)
class RVV(InstructionSet):
    masked_bits: int | None = 8


class RISCV64(Architecture):
    def instruction_set(self, assembly: str) -> InstructionSet:
        return RVV() if "vfadd.vv" in assembly else InstructionSet()


@pytest.fixture
def target() -> Iterator[Target]:
    assert type(Target(TARGET).isa) is InstructionSet
    register_architecture(RISCV64(names=("riscv64",)))
    yield Target(TARGET)
    REGISTERED.clear()
    register_architecture(Architecture(names=("none",)))  # forgets what targets are known
    REGISTERED.clear()


def test_code_uses_the_instruction_set(target: Target):
    assert target.isa == RVV()
    function = from_source("""
@R.function
def main(x: R.Tensor(("n",), "float32")):
    return R.add(x, x)
""")
    assert "v0.t" in stage_text(function, "asm", target)


def test_builds_for_it_are_not_cached(target: Target, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XRELAX_CACHE", "1")
    assert build_cache(target, ()) is None
    assert build_cache(Target("llvm"), ()) is not None


def test_names_are_checked(target: Target):
    with pytest.raises(ValueError, match="expected names of a new architecture, got 'x86_64'"):
        register_architecture(Architecture(names=("x86_64",)))
    with pytest.raises(ValueError, match="expected an architecture with names, got none"):
        register_architecture(Architecture())
