"""What operator fusion saves on models: kernels, bytes moved, and time where they can run.

``python benchmarks/fusion.py`` prints a table for the models in `MODELS`; `report` takes others.
"""

from __future__ import annotations

from collections.abc import Mapping
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


MODELS: dict[str, tuple[str, dict[str, int]]] = {
    "MLP, batch 1": (mlp(), {"n": 1}),
    "MLP, batch 64": (mlp(), {"n": 64}),
    "residual tower, batch 64": (residual_tower(), {"n": 64}),
    "16 elementwise operators": (elementwise(), {"n": 1024}),
}
"""Texts of models and numbers for their symbols."""


def report(models: Mapping[str, tuple[IRModule, Mapping[str, int]]]) -> str:
    """A Markdown table of what fusion saves on modules, with numbers for the symbols of ``main``.

    Raises ValueError where the numbers do not determine all sizes.
    """
    from xrelax.lowering.graph.fusion_statistics import fusion_statistics, table

    return table(
        {
            name: fusion_statistics(module.op, "main", symbols)
            for name, (module, symbols) in models.items()
        }
    )


def main() -> None:
    """Print the table of `MODELS`."""
    from xrelax.script import from_source

    print(report({name: (from_source(text), s) for name, (text, s) in MODELS.items()}))


if __name__ == "__main__":
    main()
