"""Which operators of ONNX and of PyTorch the importers know, and how: for docs/models.md."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import torch
from onnx import defs

from xrelax.importers.onnx.registry import CONVERTERS as ONNX_CONVERTERS
from xrelax.importers.onnx.registry import MICROSOFT, find_converter
from xrelax.importers.torch.export import decompositions
from xrelax.importers.torch.registry import load_converters

OPSET = defs.onnx_opset_version()


def onnx_state(name: str) -> str:
    """How an operator of ONNX's newest opset is imported: "converter", "function" or "none"."""
    if find_converter("", name, OPSET):
        return "converter"
    schema = defs.get_schema(name, OPSET, "")
    if schema.has_context_dependent_function:
        return "function"
    inner = {n.op_type for n in schema.function_body.node} if schema.has_function else {""}
    return "function" if "" not in inner and all(onnx_state(n) != "none" for n in inner) else "none"


def onnx_operators() -> list[str]:
    """The operators of ONNX's own domain."""
    return sorted({s.name for s in defs.get_all_schemas() if s.domain == ""})


def onnx_section() -> str:
    """The operators of ONNX by their states."""
    found = by_state((name, onnx_state(name)) for name in onnx_operators())
    microsoft, classical = (
        sorted(name for domain, name in ONNX_CONVERTERS if domain == own)
        for own in (MICROSOFT, "ai.onnx.ml")
    )
    return "\n".join(
        [
            f"## Operators of ONNX\n\nOf opset {OPSET}, in ONNX's own domain.\n",
            part("Imported by a converter", found["converter"]),
            part("Imported by the function that ONNX defines them by", found["function"]),
            part("Unsupported", found["none"]),
            part("Of ONNX Runtime (`com.microsoft`), imported by a converter", microsoft),
            part("Of classical models (`ai.onnx.ml`), imported by a converter", classical),
        ]
    )


def aten_section() -> str:
    """The operators of PyTorch by their states, with their overloads."""
    converters = [n.removeprefix("aten.") for n in load_converters() if n.startswith("aten.")]
    core = core_states()
    return "\n".join(
        [
            "## Operators of PyTorch (ATen)\n\n`torch.export` decomposes other operators to these "
            "where PyTorch defines how.\n",
            part("Imported by a converter", overloads(converters)),
            part("Core ATen operators that PyTorch decomposes", overloads(core["decomposition"])),
            part("Core ATen operators that are unsupported", overloads(core["none"])),
        ]
    )


def core_operators() -> list[str]:
    """The tensor operators of PyTorch's core set; those of symbolic sizes are expressions."""
    names = {
        tuple(name.removeprefix("aten::").split("."))  # dir() has only those that were used
        for name in torch._C._dispatch_get_all_op_names()
        if name.startswith("aten::")
    }
    overloads = sorted(
        (name, *overload) if overload else (name, "default") for name, *overload in names
    )
    return [
        f"aten.{name}.{overload}"
        for name, overload in overloads
        if not name.startswith("sym_")
        and overload != "out"
        and torch.Tag.core in getattr(getattr(torch.ops.aten, name), overload).tags
    ]


def core_states() -> dict[str, list[str]]:
    """Core operators by how they are imported: "converter", "decomposition" or "none"."""
    converters = load_converters()
    decomposed = {str(op) for op in decompositions(converters)}

    def state(name: str) -> str:
        if name in converters:
            return "converter"
        return "decomposition" if name in decomposed else "none"

    return by_state((name.removeprefix("aten."), state(name)) for name in core_operators())


def by_state(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Names by their state."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, state in pairs:
        found[state].append(name)
    return found


def overloads(names: Iterable[str]) -> list[str]:
    """Operators in order, those with several overloads once: "add (Scalar, Tensor)"."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in sorted(set(names)):
        operator, _, overload = name.partition(".")
        found[operator].append(overload)
    return [n if o == ["default"] else f"{n} ({', '.join(o)})" for n, o in found.items()]


def part(title: str, names: Iterable[Any]) -> str:
    """A title with the number of operators, and their names."""
    listed = list(names)
    text = ", ".join(f"`{name}`" for name in listed)
    return f"### {title} ({len(listed)})\n\n{text}\n"
