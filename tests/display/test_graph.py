"""Pictures of graphs: boxes and edges of each kind of program, as SVG."""

from __future__ import annotations

import re
import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from html_check import text_of

import xrelax
from xrelax import relax
from xrelax.display.picture import GraphPicture
from xrelax.script import from_source

MLP = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 8), "float32"), w: R.Tensor((8, 4), "float32")):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.nn.relu(R.add(a, R.const(1.0, "float32")))
            R.output(b)
        return b
"""

BRANCH = """
@R.function
def main(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
    if c:
        y = R.exp(x)
    else:
        y = R.negative(x)
    return y
"""

TUPLE = """
@R.function
def main(x: R.Tensor((4, 6), "float32")):
    parts = R.split(x, 2, axis=1)
    a = parts[0]
    b = parts[1]
    t = (a, R.exp(b))
    return t
"""


def titles(picture: GraphPicture, kind: str) -> list[str]:
    return [box.lines[0] for box in picture.boxes if box.kind == kind]


def links(picture: GraphPicture) -> list[tuple[str, str, str]]:
    names = [box.lines[0] for box in picture.boxes]
    return [(names[e.source], names[e.target], " ".join(e.label)) for e in picture.edges]


def fused(module: Any) -> Any:
    legal = relax.transform.LegalizeOps()(module)
    return relax.transform.FuseOps()(relax.transform.AnnotateTIROpPattern()(legal))


def test_operations():
    picture = from_source(MLP).show_graph()
    assert repr(picture) == "<GraphPicture of main: 6 boxes, 5 edges>"
    assert titles(picture, "input") == ["x", "w"]
    assert titles(picture, "operation") == ["matmul", "add", "nn.relu"]
    assert ("w", "matmul", "float32 (8, 4) 128 bytes") in links(picture)
    assert ("matmul", "add", "float32 (n, 4)") in links(picture)
    assert picture.boxes[3].lines == ("add", "1 constant, 4 bytes")
    assert links(picture)[-1] == ("nn.relu", "result", "float32 (n, 4)")


def test_fused_groups_and_kernels():
    groups = fused(from_source(MLP))
    picture = groups.show_graph()
    assert titles(picture, "group") == ["fused_matmul_add_relu"]
    assert picture.boxes[2].lines[1] == "matmul, add, relu"
    kernels = relax.transform.FuseTIR()(groups).show_graph()
    assert titles(kernels, "kernel") == ["fused_matmul_add_relu"]
    assert titles(kernels, "group") == titles(kernels, "operation") == []


LOOP = """
@I.ir_module
class Module:
    @R.function(private=True)
    def step(i: R.Prim(value="i"), h: R.Tensor((4,), "float32"), w: R.Tensor((4,), "float32")):
        i = T.int64()
        return (R.nn.relu(R.add(h, w)),)

    @R.function
    def main(x: R.Tensor((4,), "float32"), w: R.Tensor((4,), "float32")):
        r = R.loop(cls.step, (x,), given=(w,), trips=3)
        y = r[0]
        return y
"""


def test_loops_are_groups():
    picture = from_source(LOOP).show_graph()
    assert picture.boxes[2].kind == "group"
    assert picture.boxes[2].lines == ("loop of step", "add, nn.relu, tuple")
    tensor = "float32 (4,) 16 bytes"
    assert links(picture) == [
        ("x", "loop of step", tensor),
        ("w", "loop of step", tensor),
        ("loop of step", "result", tensor),
    ]


def test_calls_by_name_are_of_kernels_or_of_a_library():
    text = relax.transform.FuseTIR()(fused(from_source(MLP))).script(show_meta=True)
    text = text.replace("R.call_tir(cls.fused_matmul_add_relu", 'R.call_dps_packed("NAME"')
    kernel = from_source(text.replace("NAME", "fused_matmul_add_relu")).show_graph()
    assert titles(kernel, "kernel") == ["fused_matmul_add_relu"]
    library = from_source(text.replace("NAME", "env.layer")).show_graph()
    assert titles(library, "library") == ["env.layer"] and titles(library, "kernel") == []


def test_branches_meet_in_a_box():
    picture = module_of(BRANCH).show_graph()
    found = links(picture)
    assert ("c", "if", "condition bool () 1 bytes") in found
    assert ("exp", "if", "then float32 (4,) 16 bytes") in found
    assert ("negative", "if", "else float32 (4,) 16 bytes") in found
    assert ("if", "result", "float32 (4,) 16 bytes") in found


def module_of(source: str) -> Any:
    return xrelax.IRModule.from_expr(from_source(source))


def test_fields_of_tuples_are_edges():
    found = links(module_of(TUPLE).show_graph())
    half = "float32 (4, 3) 48 bytes"
    assert ("split", "result", half) in found and ("split", "exp", half) in found
    assert ("exp", "result", half) in found


def test_pictures_are_well_formed(tmp_path: Path):
    for module in (from_source(MLP), module_of(BRANCH), module_of(TUPLE)):
        picture = module.show_graph()
        assert picture._repr_svg_() == picture.svg
        assert picture.boxes[0].lines[0] in text_of(picture.svg)
        assert text_of(picture._repr_html_()).startswith(f"main{len(picture.boxes)} boxes")
        picture.save(tmp_path / "graph.svg")
        assert (tmp_path / "graph.svg").read_text() == picture.svg
        picture.save(tmp_path / "graph.html")
        with pytest.raises(ValueError, match=r"^expected a file name that ends in .svg or .html"):
            picture.save("graph.png")


def test_boxes_do_not_overlap():
    lines = ["@R.function", "def main(x: R.Tensor((4,), 'float32')):", "    v0 = R.exp(x)"]
    lines += [f"    v{i} = R.add(v{i // 2}, v{i // 3})" for i in range(1, 30)]
    picture = module_of("\n".join([*lines, "    return (v29, v28, v27)"])).show_graph()
    pattern = r'<rect class="\w+" x="(.*?)" y="(.*?)" width="(.*?)" height="(.*?)"'
    boxes = [tuple(map(float, numbers)) for numbers in re.findall(pattern, picture.svg)]
    assert len(boxes) == len(picture.boxes) > 30
    for (x, y, w, h), (x2, y2, w2, h2) in combinations(boxes, 2):
        assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y


def test_labels_of_edges_to_one_box_do_not_overlap():
    lines = [f"v{i} = R.exp(x{i})" for i in range(4)]
    lines += ["t = R.concat((v0, v1, v2, v3), axis=0)", "return t"]
    params = ", ".join(f"x{i}: R.Tensor((16, 1024), 'float32')" for i in range(4))
    body = "\n    ".join(lines)
    picture = module_of(f"@R.function\ndef main({params}):\n    {body}").show_graph()
    found = re.findall(r'<text class="label" x="(.*?)" y="(.*?)">(.*?)</text>', picture.svg)
    labels = [(float(x), float(y), 7.4 * len(text)) for x, y, text in found]
    assert len(labels) == 18
    for (x, y, w), (x2, y2, w2) in combinations(labels, 2):
        assert x + w <= x2 or x2 + w2 <= x or abs(y - y2) >= 12


def test_a_compiled_model():
    torch = pytest.importorskip("torch")
    model = torch.nn.Linear(8, 4).eval()
    picture = xrelax.compile(model, (torch.zeros(2, 8),)).show_graph()
    assert titles(picture, "operation") == ["linear"]


def chain(length: int) -> Any:
    """A graph in which operations have several users."""
    lines = ["@R.function", "def main(x: R.Tensor((4,), 'float32')):", "    v0 = R.exp(x)"]
    lines += [f"    v{i} = R.add(v{i - 1}, v{max(0, i - 3)})" for i in range(1, length)]
    return module_of("\n".join([*lines, f"    return v{length - 1}"]))


def test_the_work_for_a_large_graph_is_linear():
    chain(5).show_graph()  # imports
    calls = dict[int, int]()
    for length in (50, 200):
        module, calls[length] = chain(length), 0

        def count(frame: object, event: str, arg: object, length: int = length) -> None:
            calls[length] += event == "call"

        before = sys.getprofile()
        sys.setprofile(count)
        try:
            picture = module.show_graph()
        finally:
            sys.setprofile(before)
        assert len(picture.boxes) == length + 2
    assert calls[200] < 5 * calls[50]


def test_a_deep_graph():
    lines = ["@R.function", "def main(x: R.Tensor((4,), 'float32')):", "    v0 = R.exp(x)"]
    lines += [f"    v{i} = R.exp(v{i - 1})" for i in range(1, 1500)]
    assert len(module_of("\n".join([*lines, "    return v1499"])).show_graph().boxes) == 1502


def test_refusals(monkeypatch: pytest.MonkeyPatch):
    module = from_source(MLP)
    with pytest.raises(ValueError, match=r"^expected a graph function to draw \(main\), got 'f'$"):
        module.show_graph("f")
    with pytest.raises(ValueError, match=r"graph function to draw \(none\), got 'main'$"):
        xrelax.IRModule().show_graph()
    monkeypatch.setitem(sys.modules, "grandalf.graphs", None)
    with pytest.raises(ImportError, match=r"^expected grandalf .*: pip install grandalf$"):
        module.show_graph()
