"""Draws docs/peers.svg: the times of other libraries beside ours, from `benchmarks/README.md`."""

from __future__ import annotations

import math
import re
from html import escape
from pathlib import Path

BENCHMARKS = Path(__file__).parents[1] / "benchmarks" / "README.md"
WORKLOADS = (
    "MLP, batch 1",
    "MLP, batch 64",
    "matmul 128x128x128, constant",
    "matmul 1024x1024x1024, constant",
    "linear 1x4096x4096",
    "conv 3x3 128->128 28²",
    "softmax 4096x1024",
    "layer norm 4096x1024",
    "GELU 4096x1024",
    "ResNet-18 224²",
    "transformer layer, 1 tokens",
    "transformer layer, 128 tokens",
)
MARKS = {
    "numpy": ("NumPy", "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "#8c959f"),
    "torch": ("PyTorch", "M-4 -4h8v8h-8z", "#d1495b"),
    "torch.compile": ("torch.compile", "M0 -5L5 4H-5z", "#e08e0b"),
    "onnxruntime": ("ONNX Runtime", "M0 -5L5 0L0 5L-5 0z", "#2f7fd1"),
    "openvino": ("OpenVINO", "M0 5L5 -4H-5z", "#8250df"),
    "jax": ("JAX", "M-4 -2h2v-2h4v2h2v4h-2v2h-4v-2h-2z", "#1a8f5a"),
}
"""For each peer its name, the outline of its mark, and a colour."""

WIDTH, TOP, ROW, LABELS, RIGHT = 840, 66, 25, 250, 58
LEAST, MOST = 0.85, 34.0
"""The ends of the axis."""
TICKS = (1, 2, 5, 10, 20)
TITLE = "Time of other libraries over that of xrelax, one core, float32"
STYLE = """
  svg { color-scheme: light dark } text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .name { font-weight: 600 } .small { font-size: 12px; fill: #59636e } .page { fill: #ffffff }
  .grid { stroke: #d0d7de } .one { stroke: #1f2328; stroke-width: 1.5 } .span { stroke: #8c959f }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .small { fill: #9198a1 } .page { fill: #0d1117 }
    .grid { stroke: #30363d } .one { stroke: #e6edf3 }
  }
"""


def ratios() -> dict[str, dict[str, float]]:
    """For each workload the times of peers over ours; raises KeyError for one that is missing."""
    rows = [
        [cell.strip() for cell in line.strip("| \n").split("|")]
        for line in BENCHMARKS.read_text().splitlines()
        if line.startswith("| ") and line.count("|") > 10
    ]
    head = [re.sub(r" µs$", "", cell) for cell in rows[0]]
    table = {row[0]: dict(zip(head, row, strict=False)) for row in rows[1:]}
    return {
        name: {
            peer: float(table[name][peer]) / float(table[name]["xrelax"])
            for peer in MARKS
            if table[name][peer]
        }
        for name in WORKLOADS
    }


def x_of(ratio: float) -> float:
    """The place of a ratio on the axis."""
    share = math.log(ratio / LEAST) / math.log(MOST / LEAST)
    return LABELS + (WIDTH - LABELS - RIGHT) * share


def text(x: float, y: float, content: str, kind: str = "", anchor: str = "start") -> str:
    """A line of text."""
    return (
        f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(content)}</text>'
    )


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A straight line."""
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:g}" x2="{x2:.1f}" y2="{y2:g}"/>'


def mark(peer: str, x: float, y: float) -> str:
    """The mark of a peer."""
    _, outline, colour = MARKS[peer]
    return f'<path d="{outline}" transform="translate({x:.1f} {y:g})" fill="{colour}"/>'


def legend() -> list[str]:
    """The marks and their names, in one line."""
    parts, x = [], 16.0
    for peer, (name, *_) in MARKS.items():
        parts += [mark(peer, x + 5, 41), text(x + 15, 45, name, "small")]
        x += 34 + 7.2 * len(name)
    return parts


def axis(bottom: float) -> list[str]:
    """Vertical lines at the ticks; that of 1 is ours."""
    parts: list[str] = []
    for tick in TICKS:
        x = x_of(tick)
        parts.append(line(x, TOP - 6, x, bottom, "one" if tick == 1 else "grid"))
        parts.append(
            text(x, bottom + 16, "1 = xrelax" if tick == 1 else str(tick), "small", "middle")
        )
    return parts


def row(number: int, name: str, found: dict[str, float]) -> list[str]:
    """The line of a workload; its last figure is the best peer's."""
    y, values = TOP + ROW * number + 8, list(found.values())
    ends = [x_of(value) for value in (min(values), max(values))]
    return [
        text(LABELS - 14, y + 4, name.replace(", constant", ""), "", "end"),
        line(ends[0], y, ends[1], y, "span"),
        *(mark(peer, x_of(value), y) for peer, value in found.items()),
        text(WIDTH - 12, y + 4, f"{min(values):.2f}", "name", "end"),
    ]


def picture() -> str:
    """The SVG file."""
    found = ratios()
    bottom = TOP + ROW * len(found)
    parts = [text(16, 22, TITLE, "name"), *legend(), *axis(bottom)]
    parts.append(text(WIDTH - 12, 45, "best peer", "small", "end"))
    for number, (name, values) in enumerate(found.items()):
        parts += row(number, name, values)
    height = bottom + 28
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}">',
            f"<title>{TITLE}</title>",
            f"<style>{STYLE}</style>",
            f'<rect class="page" width="{WIDTH}" height="{height}" rx="8"/>',
            *parts,
            "</svg>",
            "",
        ]
    )
