"""Executables from the text of a module in its `rt` and `loops` form."""

from collections.abc import Callable

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from xrelax.backend.build import compile_executable
from xrelax.backend.target import Target
from xrelax.dialects import get_context
from xrelax.lowering.llvm.convert import ConvertToLLVMPass
from xrelax.lowering.llvm.interface import module_interface
from xrelax.runtime import Executable


@pytest.fixture(scope="session")
def parse() -> Callable[[str], ModuleOp]:
    """A verified module."""

    def parse(text: str) -> ModuleOp:
        module = Parser(get_context(), text).parse_module()
        module.verify()
        return module

    return parse


@pytest.fixture(scope="session")
def convert(parse) -> Callable[[str], ModuleOp]:
    """A module in the `llvm` dialect, verified."""

    def convert(text: str) -> ModuleOp:
        module = parse(text)
        ConvertToLLVMPass().apply(get_context(), module)
        module.verify()
        return module

    return convert


@pytest.fixture(scope="session")
def build(parse) -> Callable[..., Executable]:
    """The executable of a module's text, every stage verified."""

    def build(text: str, opt_level: int = 3, target: str = "llvm") -> Executable:
        module = parse(text)
        interface = module_interface(module)
        ConvertToLLVMPass(target=target).apply(get_context(), module)
        module.verify()
        return compile_executable(
            interface.functions, interface.constants, module, Target(target), opt_level
        )

    return build


@pytest.fixture(scope="session")
def elementwise(build) -> Callable[..., np.ndarray]:
    """Runs `body`, from `%x0`, `%x1`, … to `%r`, on each element of arrays.

    `types` are the element types of the arrays' buffers, `result` is that of the result. With
    `lanes`, the body runs on vectors and must be written for them; `{T}` in it stands for the type
    of the first value, `{M}` for that of a comparison, `{R}` for that of the result.
    """

    def run(
        body: str,
        types: str | list[str],
        result: str,
        *arrays: np.ndarray,
        lanes: int = 0,
        target: str = "llvm",
    ):
        kinds = [types] * len(arrays) if isinstance(types, str) else types
        values = [value_type(k, lanes) for k in (*kinds, result)]
        text = MODULE.format(
            arguments=", ".join(f"%X{i}" for i in range(len(kinds))),
            types=", ".join(f"!tir.buffer<[n], {k}>" for k in kinds),
            parameters="".join(f"%X{i}: !tir.buffer<[n], {k}>, " for i, k in enumerate(kinds)),
            result=result,
            step=max(lanes, 1),
            mask=f"%m = loops.mask n - %i * {lanes} : vector<{lanes}xi1>" if lanes else "",
            loads="\n".join(
                f"%x{i} = loops.load %X{i}[%i * {max(lanes, 1)}] {'mask %m' if lanes else ''}"
                f" : !tir.buffer<[n], {k}> -> {v}"
                for i, (k, v) in enumerate(zip(kinds, values))
            ),
            body=body.format(T=values[0], M=value_type("i1", lanes), R=values[-1]),
            masked="mask %m" if lanes else "",
            value=values[-1],
        )
        return build(text, target=target)["main"](*arrays)

    return run


def value_type(element: str, lanes: int) -> str:
    """The type of a loaded value."""
    scalar = element.replace("ui", "i")
    return f"vector<{lanes}x{scalar}>" if lanes else scalar


MODULE = """
rt.func @main({parameters}%Y: !tir.buffer<[n], {result}>) results 1 {{
  rt.call_dps @k({arguments}) outs(%Y) : ({types}), (!tir.buffer<[n], {result}>)
}}
loops.func @k({parameters}%Y: !tir.buffer<[n], {result}>) symbols [n] noalias {{
  loops.for %i in (0, (n + {step} - 1) floordiv {step}) {{
    {mask}
    {loads}
    {body}
    loops.store %r, %Y[%i * {step}] {masked} : !tir.buffer<[n], {result}>, {value}
  }}
}}
"""
