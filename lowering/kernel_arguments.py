"""Which parameter of a kernel each argument of a call in destination-passing style is for.

``R.call_tir(cls.scale_add, (a, scale, c), …)``: tensors and scalars are in the kernel's order.
Index parameters have scalars there too, or the integers that a call lists as `vars`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import IndexType, i32, i64
from xdsl.ir import Attribute, BlockArgument, SSAValue

from ..dialects import relax, tir
from ..dialects.diagnostics import Diagnostic
from ..dialects.int_expr import IntExpr
from .functions import count_text

_INDEX_TYPES = (i64, i32)
"""What an index parameter is declared as."""


@dataclass(frozen=True)
class KernelArguments:
    """The arguments of a call in order, each with its parameter."""

    pairs: Sequence[tuple[BlockArgument, SSAValue]]

    @property
    def tensors(self) -> list[SSAValue]:
        """The arguments for buffers."""
        return [value for param, value in self.pairs if isinstance(param.type, tir.BufferType)]

    @property
    def scalars(self) -> list[tuple[BlockArgument, SSAValue]]:
        """The arguments for parameters that are no buffers, with these."""
        return [pair for pair in self.pairs if not isinstance(pair[0].type, tir.BufferType)]

    def integers(self, callee: tir.PrimFuncOp) -> dict[str, IntExpr | None]:
        """The values of index parameters among the arguments; `None` for unknown ones."""
        return {
            callee.names[param.index]: cast(relax.PrimType, value.type).expr
            for param, value in self.scalars
            if isinstance(param.type, IndexType)
        }


def kernel_arguments(
    where: str, callee: tir.PrimFuncOp, args: Sequence[SSAValue], outputs: int
) -> KernelArguments:
    """Pair the arguments of a call with a kernel's parameters; its last buffers are `outputs`.

    `where` opens each message. Raises Diagnostic with one line for a parameter of another kind,
    another number of arguments, and an argument that is not the scalar of a parameter.
    """
    given, remaining = list(args), list[BlockArgument]()
    pairs: list[tuple[BlockArgument, SSAValue]] = []
    for name, param in zip(callee.names, callee.params, strict=True):
        if isinstance(param.type, tir.HandleType):
            raise Diagnostic(
                f"{where}: expected parameters to be buffers or numbers, "
                f"got '{name}' of type {param.type}"
            )
        if isinstance(param.type, IndexType) and not (given and _is_integer(given[0].type)):
            continue
        if not given:
            remaining.append(param)
            continue
        if not isinstance(param.type, tir.BufferType):
            _verify_scalar(where, name, _scalar_types(callee, param), given[0].type)
        pairs.append((param, given.pop(0)))
    are_buffers = all(isinstance(p.type, tir.BufferType) for p in remaining)
    if given or len(remaining) != outputs or not are_buffers:
        raise Diagnostic(_arity_text(callee, len(args), outputs))
    return KernelArguments(pairs)


def _is_integer(type_: Attribute) -> bool:
    return isinstance(type_, relax.PrimType) and type_.element_type in _INDEX_TYPES


def _scalar_types(callee: tir.PrimFuncOp, param: BlockArgument) -> Sequence[Attribute]:
    """The types that the argument may have."""
    is_index = isinstance(param.type, IndexType)
    return _INDEX_TYPES if is_index else (callee.element_type_of(param),)


def _verify_scalar(where: str, name: str, expected: Sequence[Attribute], got: Attribute) -> None:
    if not isinstance(got, relax.PrimType) or got.element_type not in expected:
        wanted = relax.PrimType.of(expected[0])
        raise Diagnostic(f"{where}: expected argument '{name}' to be {wanted}, got {got}")


def _arity_text(callee: tir.PrimFuncOp, inputs: int, outputs: int) -> str:
    names = [
        n
        for n, p in zip(callee.names, callee.params, strict=True)
        if not isinstance(p.type, IndexType)
    ]
    got = f"{count_text(inputs, 'input')} and {count_text(outputs, 'output')}"
    expected = f"{count_text(len(names), 'argument')} ({', '.join(names)})"
    return f"'{callee.sym_name.data}' expects {expected}, got {got}"
