"""Runs cases of operators: compiled code against the reference evaluator and against PyTorch.

A case is drawn for every dtype. Each example is a graph function of one operator, in one module for
all examples of a case: with static dims and, for others, with symbols in their place.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from drawing import Draw
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region

from xrelax import relax
from xrelax.dialects.dtypes import element_type, is_float
from xrelax.dialects.int_expr import IntExpr, sym
from xrelax.dialects.relax import OPERATORS, FuncOp, ReturnOp, TensorType
from xrelax.dialects.relax.types import tensors_in
from xrelax.dialects.sym import expr_symbols
from xrelax.reference.compare import as_float64
from xrelax.reference.evaluate import evaluate
from xrelax.reference.values import Precision

try:
    import torch
except ImportError:
    torch = None

Arrays: TypeAlias = "list[np.ndarray[Any, Any]]"
Attributes: TypeAlias = "dict[str, Any]"
Shapes: TypeAlias = "list[tuple[Any, ...]]"

RTOL = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 2e-6, "float64": 1e-13}
ATOL = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 2e-6, "float64": 1e-13}
"""Tolerances by the dtype of a result: ``|found - expected| <= atol + rtol * |expected|``."""


def all_symbolic(shapes: Shapes, attributes: Attributes) -> tuple[Shapes, Attributes]:
    """Every size but 1 as the symbol of that size, in operands and in shapes among attributes."""
    names = {s: sym(f"n{s}") for shape in shapes for s in shape if s != 1}

    def symbolic(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(symbolic(v) for v in value)
        return names.get(value, value) if isinstance(value, int) else value

    # Shapes are tuples by convention; ints and lists of ints are axes and the like.
    changed = {n: symbolic(v) if isinstance(v, tuple) else v for n, v in attributes.items()}
    return [symbolic(s) for s in shapes], changed


@dataclass(frozen=True)
class Case:
    """An operator, how its operands and attributes are drawn, and what it is in PyTorch.

    `torch` gets tensors and the attributes as keywords and gives a tensor or a tuple, of the dtype
    that the operator infers; without it the reference alone is compared. `symbolic` gives the
    operands' shapes and the attributes over symbols, or None where dims have to be static.
    Attributes that are shapes are drawn as tuples, other sequences of ints as lists.
    """

    operator: str
    draw: Callable[[Draw], tuple[Arrays, Attributes]]
    torch: Callable[..., Any] | None
    dtypes: tuple[str, ...]
    rtol: Mapping[str, float] = field(default_factory=dict)
    atol: Mapping[str, float] = field(default_factory=dict)
    symbolic: Callable[[Shapes, Attributes], tuple[Shapes, Attributes] | None] = all_symbolic
    note: str = ""


@dataclass(frozen=True)
class Example:
    """One drawn call; with `is_symbolic` its function has symbols for dims."""

    case: Case
    dtype: str
    name: str
    arrays: Arrays
    attributes: Attributes
    is_symbolic: bool

    def __str__(self) -> str:
        shapes = ", ".join(str(a.shape) for a in self.arrays)
        kind = "symbolic" if self.is_symbolic else "static"
        return f"{self.case.operator} {self.dtype} {kind} {shapes} {self.attributes}"


@dataclass(frozen=True)
class Outcome:
    """The largest error of an example as a part of what is allowed, or what went wrong."""

    example: Example
    error: float
    failure: str | None


@cache
def all_cases() -> tuple[Case, ...]:
    """The cases of every family, in files `cases_*.py` with a tuple `CASES`."""
    folder = Path(__file__).parent
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    modules = [importlib.import_module(p.stem) for p in sorted(folder.glob("cases_*.py"))]
    return tuple(case for module in modules for case in module.CASES)


def labelled_cases() -> dict[str, Case]:
    """The cases by operator and note, numbered where there are several."""
    labelled: dict[str, Case] = {}
    for case in all_cases():
        base = f"{case.operator.removeprefix('relax.')}{'-' * bool(case.note)}{case.note}"
        label, count = base, 1
        while label in labelled:
            count += 1
            label = f"{base}-{count}"
        labelled[label] = case
    return labelled


def run_case(case: Case, examples: int = 1, seed: int = 0) -> list[Outcome]:
    """Compile and compare so many examples for each dtype, and one more for float32.

    Examples of a dtype take turns in having static dims and symbols; so do those of the dtypes.
    """
    drawn = draw_examples(case, examples, seed)
    functions = {e.name: graph_function(e) for e in drawn}
    module = ModuleOp(list(functions.values()))
    executable = relax.build(module)
    return [_compare(e, module, functions[e.name], executable) for e in drawn]


def draw_examples(case: Case, examples: int = 1, seed: int = 0) -> list[Example]:
    """The examples that `run_case` runs."""
    return [
        _draw(case, dtype, number, (position + number) % 2 == 1, seed)
        for position, dtype in enumerate(case.dtypes)
        for number in range(examples + (dtype == "float32"))
    ]


def _draw(case: Case, dtype: str, number: int, is_symbolic: bool, seed: int) -> Example:
    kind = "symbolic" if is_symbolic else "static"
    draw = Draw(f"{case.operator} {case.note} {dtype} {number} {kind} {seed}", dtype)
    arrays, attributes = case.draw(draw)
    arrays = [np.asarray(a) for a in arrays]  # NumPy makes scalars of what has no dims
    return Example(case, dtype, f"{kind}_{dtype}_{number}", arrays, attributes, is_symbolic)


def dtype_of(array: np.ndarray[Any, Any]) -> str:
    """The dtype's name; uint16 is bfloat16."""
    return "bfloat16" if array.dtype == np.uint16 else str(array.dtype)


def graph_function(example: Example) -> FuncOp:
    """The graph function of one operator that an example calls."""
    shapes: Shapes = [a.shape for a in example.arrays]
    attributes = example.attributes
    if example.is_symbolic:
        shapes, attributes = example.case.symbolic(shapes, attributes) or (shapes, attributes)
    elements = [element_type(dtype_of(a)) for a in example.arrays]
    types = [
        TensorType.of([IntExpr.of(d) for d in s], e) for s, e in zip(shapes, elements, strict=True)
    ]
    block = Block(arg_types=types)
    op = OPERATORS[example.case.operator].of(block.args, attributes)
    block.add_ops([op, ReturnOp(op.result)])
    for symbol in _undeclared(types, op):
        shape = TensorType.of([sym(symbol)], element_type("int8"))
        block.insert_arg(shape, len(block.args))
    names = [f"x{i}" for i in range(len(block.args))]
    return FuncOp(example.name, names, op.result.type, Region(block))


def _undeclared(types: Sequence[TensorType], op: Any) -> list[str]:
    """Symbols that only attributes name, such as those of the shape of zeros."""
    used = {s for p in op.properties.values() for s in expr_symbols(p)}
    return sorted(used - {s for t in types for s in t.symbols()})


def _compare(example: Example, module: ModuleOp, function: FuncOp, executable: Any) -> Outcome:
    dtypes = [t.dtype or "" for t in tensors_in(function.result_type)]
    sizes = [t.dims for t in (p.type for p in function.params[len(example.arrays) :])]
    # Further parameters only declare a symbol, whose name ends with its size.
    carriers = [np.zeros(int(str(dims[0])[1:]), np.int8) for dims in sizes]
    given = [a.copy() for a in (*example.arrays, *carriers)]
    returned = executable[example.name](*(_tensor(a) for a in given))
    returned = returned if isinstance(returned, tuple) else (returned,)
    found = [t.view() for t in returned]
    expected = evaluate(module, example.name, [*example.arrays, *carriers], float64=True)
    references = {"the reference": list(zip(expected, dtypes, strict=True))}
    if torch is not None and example.case.torch is not None:
        references["PyTorch"] = _run_torch(example)
    worst, failure = 0.0, None
    for source, wanted in references.items():
        if len(wanted) != len(found):
            failure = failure or f"expected {len(wanted)} results of {source}, got {len(found)}"
            continue
        for f, dtype, (w, w_dtype) in zip(found, dtypes, wanted, strict=True):
            error, problem = _difference(example.case, f, dtype, w, w_dtype)
            worst = max(worst, error)
            if problem is not None and failure is None:
                failure = f"{example}: {source}: {problem}"
    return Outcome(example, worst, failure)


def _tensor(array: np.ndarray[Any, Any]) -> Any:
    from xrelax.runtime.tensor import Tensor, from_numpy

    tensor = from_numpy(array)
    return Tensor(tensor.address, tensor.layout._replace(dtype=dtype_of(array)), array)


def _difference(
    case: Case, found: Any, dtype: str, wanted: Any, wanted_dtype: str
) -> tuple[float, str | None]:
    """The largest error, where 1 is allowed, and what is wrong."""
    if (found.shape, dtype) != (wanted.shape, wanted_dtype):
        return np.inf, f"expected {wanted_dtype}{wanted.shape}, got {dtype}{found.shape}"
    if not is_float(dtype):
        wrong = np.asarray(found != wanted)
        return (np.inf, _describe(found, wanted, wrong)) if wrong.any() else (0.0, None)
    with np.errstate(all="ignore"):
        actual, exact = as_float64(found, dtype), as_float64(wanted, dtype)
        rounded = as_float64(np.asarray(Precision().narrow(dtype, exact)), "float64")
        exact = np.where(np.isinf(rounded), rounded, exact)
        same = (actual == exact) | (np.isnan(actual) & np.isnan(exact))
        rtol, atol = case.rtol.get(dtype, RTOL[dtype]), case.atol.get(dtype, ATOL[dtype])
        error = np.where(same, 0, np.abs(actual - exact) / (atol + rtol * np.abs(exact)))
        error = np.where(np.isnan(error), np.inf, error)
    worst = float(error.max(initial=0))
    return worst, None if worst <= 1 else _describe(actual, exact, error > 1)


def _describe(found: Any, wanted: Any, wrong: Any) -> str:
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    count = f"{int(wrong.sum())} of {wrong.size} elements differ"
    return f"{count}, at {list(at)} expected {wanted[at]!r}, got {found[at]!r}"


def _run_torch(example: Example) -> list[tuple[np.ndarray[Any, Any], str]]:
    tensors = [_as_torch(a) for a in example.arrays]
    function = example.case.torch
    assert function is not None
    try:
        result = function(*tensors, **example.attributes)
    except (RuntimeError, NotImplementedError) as error:
        if "not implemented for" not in str(error) or example.dtype not in ("float16", "bfloat16"):
            raise
        result = _in_float32(function, tensors, example.attributes)
    return [_from_torch(r) for r in (result if isinstance(result, tuple | list) else (result,))]


def _in_float32(function: Any, tensors: Sequence[Any], attributes: Attributes) -> list[Any]:
    """PyTorch's function in float32, where it does not have it for a short float."""
    short = {torch.float16, torch.bfloat16}
    dtype = next(t.dtype for t in tensors if t.dtype in short)
    result = function(*(t.float() if t.dtype in short else t for t in tensors), **attributes)
    results = result if isinstance(result, tuple | list) else (result,)
    return [r.to(dtype) if r.dtype == torch.float32 else r for r in results]


def _as_torch(array: np.ndarray[Any, Any]) -> Any:
    if array.dtype == np.uint16:
        return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(array.copy())


def _from_torch(tensor: Any) -> tuple[np.ndarray[Any, Any], str]:
    tensor = tensor.detach().contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(np.uint16), "bfloat16"
    return tensor.numpy(), str(tensor.dtype).removeprefix("torch.")
