"""What operator fusion saves on models: kernels, and the bytes that they move.

``python benchmarks/fusion.py`` prints a table for the modules in `MODULES`, and with the extra
`models` for the models of the tests and for BERT-base.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xrelax.ir.module import IRModule

HEAD = "@I.ir_module\nclass Module:\n    @R.function\n    def main({params}):\n{symbols}"
BODY = (
    "        with R.dataflow():\n{lines}\n            R.output({result})\n        return {result}\n"
)


def script(lines: list[str], symbols: str = "", **params: str) -> str:
    """A module whose ``main`` binds the names in `lines` in order and returns the last one."""
    text = ", ".join(f'{n}: R.Tensor({shape}, "float32")' for n, shape in params.items())
    declared = "".join(f"        {s} = T.int64()\n" for s in symbols)
    body = "\n".join(f"            {line}" for line in lines)
    result = lines[-1].split(" = ")[0]
    return HEAD.format(params=text, symbols=declared) + BODY.format(lines=body, result=result)


def mlp() -> str:
    """The course's classifier."""
    return script(
        ["h0 = R.linear(x, w0, b0)", "h1 = R.nn.relu(h0)", "y = R.linear(h1, w1, b1)"],
        "n",
        x='("n", 784)',
        w0="(128, 784)",
        b0="(128,)",
        w1="(10, 128)",
        b1="(10,)",
    )


def residual_tower(layers: int = 8) -> str:
    """Layers with a residual connection and a scale."""
    lines, last = list[str](), "x"
    for i in range(layers):
        lines += [
            f"a{i} = R.linear({last}, w, b)",
            f"c{i} = R.nn.relu(a{i})",
            f"d{i} = R.multiply(c{i}, s)",
            f"x{i} = R.add(d{i}, {last})",
        ]
        last = f"x{i}"
    return script(lines, "n", x='("n", 256)', w="(256, 256)", b="(256,)", s="(256,)")


def elementwise(length: int = 16) -> str:
    """A chain of elementwise operators."""
    lines = [f"y0 = {'R.add(x, b)'}"]
    for i in range(1, length):
        operator = ("multiply", "subtract", "maximum", "add")[i % 4]
        lines.append(f"y{i} = R.{operator}(y{i - 1}, {'x' if i % 2 else 'b'})")
    return script(lines, "n", x='("n", 1024)', b="(1024,)")


MODULES: dict[str, tuple[str, dict[str, int]]] = {
    "MLP, batch 1": (mlp(), {"n": 1}),
    "MLP, batch 64": (mlp(), {"n": 64}),
    "residual tower, batch 64": (residual_tower(), {"n": 64}),
    "16 elementwise operators": (elementwise(), {"n": 1024}),
}
"""Texts of modules and numbers for their symbols."""


def report(models: Mapping[str, tuple[IRModule, Mapping[str, int]]]) -> str:
    """A Markdown table of what fusion saves on modules, with numbers for the symbols of ``main``.

    Raises ValueError where the numbers do not determine all sizes.
    """
    from xrelax.lowering.graph.fusion_statistics import fusion_statistics, table
    from xrelax.pipeline import STAGES, load_pass

    names = [name for stage in STAGES for name in stage.passes]
    legalize = [load_pass(n)() for n in names[: names.index("annotate-tir-op-pattern")]]
    return table(
        {
            name: fusion_statistics(module.op, "main", symbols, legalize)
            for name, (module, symbols) in models.items()
        }
    )


def torch_models() -> dict[str, tuple[IRModule, Mapping[str, int]]]:
    """The small models of the tests with one input of 16 tokens, and BERT-base with one of 128."""
    import torch
    import transformers

    from xrelax.relax.frontend.torch import from_exported_program

    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "models"))
    from zoo import ZOO

    programs = {n: e.exported(e.model(), dynamic=False) for n, e in ZOO.items()}
    bert = transformers.BertModel(transformers.BertConfig()).eval()
    tokens = torch.zeros(1, 128, dtype=torch.int64)
    programs["BERT-base"] = torch.export.export(bert, (tokens,))
    return {name: (from_exported_program(p), {}) for name, p in programs.items()}


def main() -> None:
    """Print the table."""
    from xrelax.script import from_source

    models = {name: (from_source(text), s) for name, (text, s) in MODULES.items()}
    if importlib.util.find_spec("transformers") is not None:
        models |= torch_models()
    print(report(models))


if __name__ == "__main__":
    main()
