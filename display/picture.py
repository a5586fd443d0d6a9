"""Pictures of graphs as SVG: boxes in layers, placed by grandalf, in light and dark colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from .elements import document
from .rich import displayed

_FONT, _LINE, _MARGIN = 12, 16, 24
_ADVANCE = 0.62 * _FONT
"""The width of a character."""

_COLOURS = {
    "fore": ("#1c2128", "#dce3ea"),
    "soft": ("#57606a", "#9aa7b4"),
    "back": ("#ffffff", "#0f1318"),
    "operation": ("#eef4fc", "#152538"),
    "kernel": ("#e9f7ec", "#12301c"),
    "library": ("#ffefe3", "#3b2415"),
    "group": ("#f5eefc", "#2a1d3a"),
    "input": ("#f4f5f7", "#1f2630"),
    "output": ("#f4f5f7", "#1f2630"),
    "choice": ("#fff6d6", "#3a3210"),
}
"""On a light background, and on a dark one."""


class Box(NamedTuple):
    """A node: its kind, which has a colour, and its lines."""

    kind: str
    lines: tuple[str, ...]

    @property
    def width(self) -> float:
        """Pixels, as the height."""
        return _ADVANCE * max(map(len, self.lines)) + 20

    @property
    def height(self) -> float:
        """Pixels."""
        return _LINE * len(self.lines) + 12


class Edge(NamedTuple):
    """What a box gives to another one, by their numbers."""

    source: int
    target: int
    label: tuple[str, ...]


Point = tuple[float, float]

_GAP, _LEFT = 40, 70
"""Pixels between boxes, and of a label those that it may stand under this gap and the next box."""


@displayed("picture:picture_html")
@dataclass(frozen=True)
class GraphPicture:
    """The picture of a function's graph: notebooks show it, and `save` writes it."""

    name: str
    """The function."""
    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    svg: str
    """A file of SVG, which refers to nothing outside of it."""

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<GraphPicture of {self.name}: {len(self.boxes)} boxes, {len(self.edges)} edges>"

    def save(self, path: str | Path) -> None:
        """Write an .svg or .html file; raises ValueError for another suffix."""
        texts = {".svg": lambda: self.svg, ".html": lambda: picture_html(self)}
        suffix = Path(path).suffix
        if suffix not in texts:
            raise ValueError(f"expected a file name that ends in .svg or .html, got '{path}'")
        Path(path).write_text(texts[suffix](), "utf-8")


def picture_html(picture: GraphPicture) -> str:
    """The picture in an area that scrolls."""
    note = f"{len(picture.boxes)} boxes, {len(picture.edges)} edges"
    return document(picture.name, note, f'<div class="graph" tabindex="0">{picture.svg}</div>')


def drawn(name: str, boxes: Sequence[Box], edges: Sequence[Edge]) -> GraphPicture:
    """Place and draw a graph; raises ImportError where grandalf is not installed."""
    places, paths = _layout(boxes, edges)
    right, bottom = _to_origin(boxes, places, paths)
    ends = [_label_place(paths[e.source, e.target])[0] + _label_width(e) for e in edges]
    right = max([right, *(end + _MARGIN for end in ends)])
    parts = [*_edges(edges, paths), *_boxes(boxes, places)]
    frame = f'viewBox="0 0 {right:.0f} {bottom:.0f}" width="{right:.0f}" height="{bottom:.0f}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="xrelax-graph" role="img" {frame}>'
    title = f"<title>graph of {escape(name)}</title><style>{_style()}</style>"
    return GraphPicture(name, tuple(boxes), tuple(edges), f"{head}{title}{''.join(parts)}</svg>")


def _layout(
    boxes: Sequence[Box], edges: Sequence[Edge]
) -> tuple[list[Point], dict[tuple[int, int], list[Point]]]:
    """The centres of boxes, and the points that edges go through."""
    try:
        graphs, layouts = (import_module(f"grandalf.{name}") for name in ("graphs", "layouts"))
    except ImportError:
        raise ImportError(
            "expected grandalf to be installed for show_graph, got none: pip install grandalf"
        ) from None
    vertices = [graphs.Vertex(number) for number in range(len(boxes))]
    labels = [0.0] * len(boxes)
    for edge in edges:
        labels[edge.source] = max(labels[edge.source], _label_width(edge))
    for vertex, box, label in zip(vertices, boxes, labels, strict=True):
        # The next box stands at the right of the label, which begins at the middle.
        vertex.view = _View(max(box.width, 2 * label - _LEFT), box.height)
    pairs = dict.fromkeys((e.source, e.target) for e in edges)
    links = {pair: graphs.Edge(*(vertices[end] for end in pair)) for pair in pairs}
    for link in links.values():
        link.view = _Path()
    left = 0.0
    for component in graphs.Graph(vertices, [*links.values()]).C:
        layout = layouts.SugiyamaLayout(component)
        layout.xspace, layout.yspace = _GAP, 56
        layout.init_all()
        layout.draw()
        left = _beside(component, left)
    return [v.view.xy for v in vertices], {p: link.view.points for p, link in links.items()}


@dataclass
class _View:
    """The place of a vertex, as grandalf has it."""

    w: float
    h: float
    xy: Point = (0.0, 0.0)


@dataclass
class _Path:
    """The points of an edge, as grandalf gives them."""

    points: list[Point] = ()  # pyright: ignore[reportAssignmentType]

    def setpath(self, points: list[Point]) -> None:
        self.points = list(points)


def _beside(component: Any, left: float) -> float:
    """Move a component to the right of `left`; returns where it ends."""
    views = [v.view for v in component.V()]
    shift = left - min(v.xy[0] - v.w / 2 for v in views)
    for view in views:
        view.xy = view.xy[0] + shift, view.xy[1]
    for edge in component.E():
        edge.view.points = [(x + shift, y) for x, y in edge.view.points]
    return max(v.xy[0] + v.w / 2 for v in views) + 2 * _MARGIN


def _to_origin(
    boxes: Sequence[Box], places: list[Point], paths: dict[tuple[int, int], list[Point]]
) -> Point:
    """Move everything into the picture, of which the size is returned."""
    corners = [
        (x + sx * box.width / 2, y + sy * box.height / 2)
        for (x, y), box in zip(places, boxes, strict=True)
        for sx, sy in ((-1, -1), (1, 1))
    ]
    points = [*corners, *(point for path in paths.values() for point in path)]
    xs, ys = [x for x, _ in points] or [0.0], [y for _, y in points] or [0.0]
    dx, dy = _MARGIN - min(xs), _MARGIN - min(ys)
    places[:] = [(x + dx, y + dy) for x, y in places]
    for pair, path in paths.items():
        ends = [places[pair[0]], *((x + dx, y + dy) for x, y in path[1:-1]), places[pair[1]]]
        start, end = boxes[pair[0]].height / 2, boxes[pair[1]].height / 2
        ends[0] = ends[0][0], ends[0][1] + start
        ends[-1] = ends[-1][0], ends[-1][1] - end - 5
        paths[pair] = ends
    return max(xs) + dx + _MARGIN, max(ys) + dy + _MARGIN


def _label_place(points: Sequence[Point]) -> Point:
    """Where a label begins: at the right of the first part, a quarter along its curve.

    Edges to one box come together farther on, where their labels would overlap.
    """
    (x0, y0), (x1, y1), *_ = points
    below = 4 if x1 > x0 else 8  # a curve to the right would cross the second line
    return x0 + 10 / 64 * max(0, x1 - x0) + 6, y0 + 19 / 64 * (y1 - y0) - _LINE / 2 + below


def _label_width(edge: Edge) -> float:
    return _ADVANCE * max(map(len, edge.label), default=0)


def _edges(edges: Sequence[Edge], paths: dict[tuple[int, int], list[Point]]) -> list[str]:
    """Edges as curves; a label that several edges of a box have stands at the first."""
    parts = [f'<path d="{_curve(points)}"/>' for points in paths.values()]
    parts += [
        f'<path class="head" d="M{x - 4:.1f} {y - 1:.1f}h8l-4 6z"/>'
        for *_, (x, y) in paths.values()
    ]
    labels: dict[tuple[int, tuple[str, ...]], int] = {}
    for edge in edges:
        labels.setdefault((edge.source, edge.label), edge.target)
    used: dict[tuple[int, int], int] = {}
    for (source, lines), target in labels.items():
        x, y = _label_place(paths[source, target])
        row = used.get((source, target), 0)
        used[source, target] = row + len(lines)
        parts.append(_text(lines, x, y + row * _LINE, "label"))
    return parts


def _curve(points: list[Point]) -> str:
    (x, y), *rest = points
    text = f"M{x:.1f} {y:.1f}"
    for next_x, next_y in rest:
        middle = (y + next_y) / 2
        text += f"C{x:.1f} {middle:.1f} {next_x:.1f} {middle:.1f} {next_x:.1f} {next_y:.1f}"
        x, y = next_x, next_y
    return text


def _boxes(boxes: Sequence[Box], places: Sequence[Point]) -> list[str]:
    parts: list[str] = []
    for box, (x, y) in zip(boxes, places, strict=True):
        left, top = x - box.width / 2, y - box.height / 2
        size = f'width="{box.width:.1f}" height="{box.height:.1f}" rx="4"'
        parts.append(f'<rect class="{box.kind}" x="{left:.1f}" y="{top:.1f}" {size}/>')
        parts.append(_text(box.lines[:1], x, top + _LINE + 1, "title"))
        parts.append(_text(box.lines[1:], x, top + 2 * _LINE + 1, "note"))
    return parts


def _text(lines: Sequence[str], x: float, y: float, kind: str) -> str:
    return "".join(
        f'<text class="{kind}" x="{x:.1f}" y="{y + number * _LINE:.1f}">{escape(line)}</text>'
        for number, line in enumerate(lines)
    )


def _style() -> str:
    """The style; viewers without `light-dark` show the light colours."""
    scope = ".xrelax-graph"

    def rule(selector: str, name: str, values: str) -> str:
        light, dark = _COLOURS[values]
        colours = f"{name}: {light}; {name}: light-dark({light}, {dark});"
        return f"{scope} {selector} {{ {colours} }}"

    kinds = [k for k in _COLOURS if k not in ("fore", "soft", "back")]
    return "\n".join(
        [
            f"svg{scope}:root {{ color-scheme: light dark; }}",
            f"{scope} text {{ font: {_FONT}px ui-monospace, Menlo, Consolas, monospace; }}",
            f"{scope} .title {{ font-weight: 600; text-anchor: middle; }}",
            f"{scope} .note {{ text-anchor: middle; }}",
            f"{scope} .label {{ paint-order: stroke; stroke-width: 3px; }}",
            f"{scope} path {{ fill: none; }}",
            rule("text", "fill", "fore"),
            rule(".label", "fill", "soft"),
            rule(".label", "stroke", "back"),
            rule("path, .xrelax-graph rect", "stroke", "soft"),
            rule("path.head", "fill", "soft"),
            *(rule(f"rect.{kind}", "fill", kind) for kind in kinds),
        ]
    )
