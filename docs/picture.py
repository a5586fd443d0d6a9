"""Draws docs/architecture.svg: the stages of `pipeline.py` with their dialects and passes.

`update.py` writes the file, and a test compares it. The dialects of a stage are those of the
operations of `SAMPLE` at that stage.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from xdsl.dialects.builtin import ModuleOp

from xrelax.inspection import lower_to
from xrelax.pipeline import PASSES, STAGES, Stage
from xrelax.script import from_source

TARGET = "llvm -mtriple=x86_64-unknown-linux-gnu -mcpu=znver4"
"""The target of pictures and listings, on whatever machine they are made."""

SAMPLE = """
@I.ir_module
class Sample:
    @T.prim_func
    def double(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n, 8), "float32")
        Y = T.match_buffer(y, (n, 8), "float32")
        for i, j in T.grid(n, 8):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = X[vi, vj] * T.float32(2)

    @R.function
    def main(x: R.Tensor(("n", 8), "float32"), w: R.Tensor((8, 100), "float32")):
        n = T.int64()
        with R.dataflow():
            lv = R.call_dps_packed("double", (x,), R.Tensor((n, 8), "float32"))
            y = R.nn.gelu(R.matmul(lv, w))
            R.output(y)
        return y
"""
CONTENTS = {
    "relax": "graph functions on tensors",
    "tir": "graph functions that call scheduled kernels",
    "rt": "memory planned in an arena, calls of kernels",
    "loops": "kernels as loops over strided memory, with vectors",
    "llvm": "basic blocks, pointers, one function per parallel loop",
}
"""What a module contains at each stage."""

SOURCES = ("TVMScript, BlockBuilder", "te, torch.export, torch.fx")
MACHINE_CODE, RUN = ("machine code", "x86-64, AArch64"), "compiled by backend/, called by runtime/"
SCHEDULER, SCHEDULES = "schedule-default", ("tir.Schedule", "default rules, or by hand")

WIDTH, MARGIN = 960, 16
BOX, HEIGHT = 210, 50
TEXT = MARGIN + BOX + 24
LINE = 18
PASS_COLUMNS = 54
"""Characters of pass names in one line."""
MONO, SANS = 7.3, 6.6
"""How wide a character is, about."""
SIDE = 690
"""Where the box of schedules begins."""
BAR, BAR_WIDTH = 904, 40
"""The reference evaluator."""

STYLE = """
  svg { color-scheme: light dark }
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .name { font-weight: 600 } .small { font-size: 12px; fill: #59636e }
  .pass { font: 12px ui-monospace, monospace } .key { fill: #0550ae; font-weight: 600 }
  .page { fill: #ffffff } .box { fill: #eef2f7; stroke: #8c959f }
  .side { fill: #ddf4ff; stroke: #54aeff } path { stroke: #59636e; fill: none }
  .dash { stroke-dasharray: 3 4 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .small { fill: #9198a1 } .key { fill: #79c0ff }
    .page { fill: #0d1117 } .box { fill: #1b222c; stroke: #656c76 }
    .side { fill: #0c2d4a; stroke: #1f6feb } path { stroke: #9198a1 }
  }
"""


def text(x: float, y: float, content: str, kind: str = "", more: str = "") -> str:
    """A line of text."""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}"{more}>{escape(content)}</text>'


def box(x: float, y: float, width: float, height: float, kind: str = "box") -> str:
    """A rounded rectangle."""
    size = f'width="{width:g}" height="{height:g}" rx="6"'
    return f'<rect class="{kind}" x="{x:g}" y="{y:g}" {size}/>'


def path(steps: str, kind: str = "", arrow: bool = False) -> str:
    """A line."""
    end = ' marker-end="url(#arrow)"' if arrow else ""
    return f'<path class="{kind}" d="{steps}"{end}/>'


def named_box(y: float, title: str, below: str) -> list[str]:
    """The box of a stage."""
    return [
        box(MARGIN, y, BOX, HEIGHT),
        text(MARGIN + 12, y + 21, title, "name"),
        text(MARGIN + 12, y + 39, below, "small"),
    ]


def wrapped(names: Sequence[str]) -> list[str]:
    """Names in lines, separated by commas; what schedules attach to has a line of its own."""
    lines: list[str] = []
    for name in names:
        is_alone = SCHEDULER in (name, *lines[-1:])
        if lines and not is_alone and len(lines[-1]) + len(name) + 2 <= PASS_COLUMNS:
            lines[-1] += f", {name}"
        else:
            lines.append(name)
    return [f"{line}," for line in lines[:-1]] + lines[-1:]


def arrow(y: float, height: float) -> str:
    """The arrow from one box to the next."""
    return path(f"M{MARGIN + BOX / 2:g} {y:g}v{height - 3:g}", arrow=True)


def link(y: float, content: str, is_run: bool = True) -> list[str]:
    """What a stage contains, and a line to the evaluator, which runs all but the last one."""
    start = TEXT + SANS * len(content) + 8
    line = [path(f"M{start:g} {y:g}H{BAR}", "dash")] if is_run else []
    return [text(TEXT, y + 4, content, "small"), *line]


def schedules(y: float, line: str) -> list[str]:
    """The box of schedules, beside the pass that applies them."""
    end = TEXT + MONO * len(line) + 6
    return [
        path(f"M{SIDE} {y - 4:g}H{end:g}", arrow=True),
        box(SIDE, y - 29, BAR - SIDE - 24, HEIGHT, "side"),
        text(SIDE + 12, y - 8, SCHEDULES[0], "name"),
        text(SIDE + 12, y + 10, SCHEDULES[1], "small"),
    ]


def passes(y: float, stage: Stage) -> tuple[list[str], float]:
    """The passes that lead to a stage, below their folders, and how high they are."""
    lines = wrapped(stage.passes)
    parts = [text(TEXT, y + 6 + LINE, ", ".join(folders(stage)), "small")]
    for number, line in enumerate(lines, 2):
        at = y + 6 + LINE * number
        is_key = SCHEDULER in line
        parts.append(text(TEXT, at, line, "pass key" if is_key else "pass"))
        parts += schedules(at, line) if is_key else []
    return parts, LINE * (len(lines) + 1) + 24


def folders(stage: Stage) -> list[str]:
    """The folders of the passes that lead to a stage."""
    places = [PASSES[name].split(".") for name in stage.passes if name in PASSES]
    return list(dict.fromkeys(f"lowering/{folder}" for _, _, folder, *_ in places))


def dialects(module: ModuleOp) -> str:
    """The dialects of the operations of a module."""
    found = {op.name.partition(".")[0] for op in module.walk()} - {"builtin"}
    return ", ".join(sorted(found))


def picture() -> str:
    """The SVG file."""
    module = from_source(SAMPLE).op
    parts, y = [*named_box(MARGIN, *SOURCES)], MARGIN + HEIGHT
    top = y
    for stage in STAGES:
        listed, height = passes(y, stage)
        names = dialects(lower_to(module, stage.name, target=TARGET))
        parts += [*listed, arrow(y, height), *named_box(y + height, stage.name, names)]
        y += height + HEIGHT
        parts += link(y - HEIGHT / 2, CONTENTS[stage.name], stage is not STAGES[-1])
    parts += [arrow(y, 40), *named_box(y + 40, *MACHINE_CODE)]
    parts += link(y + 40 + HEIGHT / 2, RUN)
    return page([*parts, *evaluator(top, y + 40 + HEIGHT)], y + 40 + HEIGHT + MARGIN)


def evaluator(top: float, bottom: float) -> list[str]:
    """The bar of the reference evaluator."""
    x, y = BAR + BAR_WIDTH / 2 + 5, (top + bottom) / 2
    upwards = f' text-anchor="middle" transform="rotate(-90 {x:g} {y:g})"'
    title = "reference evaluator (check=True) compares results"
    return [box(BAR, top, BAR_WIDTH, bottom - top, "side"), text(x, y, title, more=upwards)]


def page(parts: Sequence[str], height: float) -> str:
    """A file of these parts."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}">'
    mark = (
        '<marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto"><path d="M1 1L7 4L1 7"/></marker>'
    )
    title = "<title>The stages of the compiler, and the passes between them</title>"
    background = f'<rect class="page" width="{WIDTH}" height="{height:g}" rx="8"/>'
    lines = [head, title, f"<style>{STYLE}</style>", f"<defs>{mark}</defs>", background, *parts]
    return "\n".join([*lines, "</svg>", ""])
