"""What the explorer collects: lines with their places, the diff of each pass, schedules."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from xrelax import relax
from xrelax.explore.command import explore, load, run
from xrelax.explore.exploration import LINES_PER_FILE, Exploration
from xrelax.explore.lines import assembly_lines, llvm_lines
from xrelax.explore.page import page_text
from xrelax.pipeline import STAGES

STAGE_NAMES = ["relax", "schedule", "tir", "rt", "loops", "llvm", "llvm-opt", "asm"]


def line_of(program: Path, text: str) -> int:
    lines = program.read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


@pytest.mark.parametrize("stage", [name for name in STAGE_NAMES if name != "schedule"])
def test_lines_of_every_stage_know_the_program(exploration: Exploration, program: Path, stage: str):
    matmul = LINES_PER_FILE + line_of(program, "R.matmul")
    page = exploration.page()
    (found,) = [s for s in page["stages"] if s["name"] == stage]
    assert matmul in {place for section in found["sections"] for place in section["places"]}
    assert all(len(s["html"]) == len(s["places"]) for s in found["sections"])


def test_the_page_has_all_stages_and_passes(exploration: Exploration, program: Path):
    page = exploration.page()
    assert [s["name"] for s in page["stages"]] == STAGE_NAMES
    assert [p["name"] for p in page["passes"]] == [n for s in STAGES for n in s.passes]
    assert [file["name"] for file in page["files"]] == [str(program)]
    assert [k["name"] for k in page["kernels"]] == ["double", "fused_matmul_relu"]


def test_a_pass_shows_what_it_changes(exploration: Exploration):
    changed = {p["name"]: p["sections"] for p in exploration.page()["passes"] if p["sections"]}
    assert "fuse-tir" in changed and "fold-constant" not in changed
    (fused,) = [s for s in changed["legalize-ops"] if s["name"] == "matmul"]
    assert {kind for kind, _ in fused["rows"]} == {"+"}
    (main,) = [s for s in changed["legalize-ops"] if s["name"] == "main"]
    assert {kind for kind, _ in main["rows"]} == {" ", "+", "-"}


def test_lines_of_llvm_lose_their_metadata():
    text = (
        "define void @f() !dbg !1 {\n  store i32 0, ptr %p, align 4, !dbg !2, !tbaa !5\n}\n"
        '!0 = !DIFile(filename: "a b.py", directory: "")\n'
        "!1 = distinct !DISubprogram(scope: !0, file: !0, line: 3)\n"
        "!2 = !DILocation(line: 7, column: 2, scope: !3)\n"
        "!3 = !DILexicalBlockFile(scope: !1, file: !0, discriminator: 0)\n!5 = !{}"
    )
    lines = llvm_lines(text)
    assert [line.text for line in lines] == [
        "define void @f() {",
        "  store i32 0, ptr %p, align 4, !tbaa !5",
        "}",
        "!5 = !{}",
    ]
    assert [line.place for line in lines] == [None, ("a b.py", 7), None, None]


def test_lines_of_assembly_have_the_place_of_the_last_directive():
    text = '\t.file\t1 "a.py"\nf:\n\t.loc\t1 7 2\n\taddl\t%eax, %ebx\n\t.loc\t1 0 0\n\tretq\n'
    found = [(line.text.strip().split()[0], line.place) for line in assembly_lines(text)]
    assert found == [("f:", None), ("addl", ("a.py", 7)), ("retq", None)]


def test_a_module_without_a_program_has_its_script_as_source():
    builder = relax.BlockBuilder()
    x = relax.Var("x", relax.TensorStructInfo((2, 8), "float32"))
    with builder.function("main", [x]):
        builder.emit_func_output(builder.emit(relax.op.nn.relu(x)))
    page = explore(builder.get(), "llvm", "built").page()
    (file,) = page["files"]
    assert file["name"] == "built.py"
    assert any("relu" in line for line in file["html"])


def test_no_text_ends_the_data(exploration: Exploration):
    text = page_text(Exploration(exploration.module, exploration.target, "</script><b>"))
    assert text.count("</script>") == 2 and "<b>" not in text
    assert "&lt;b&gt;" in text.split("</title>")[0]


def test_an_exported_page_needs_nothing_else(
    program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    page = tmp_path / "page.html"
    assert run([str(program), "--export", str(page)]) == 0
    assert capsys.readouterr().out == f"wrote {page}\n"
    text = page.read_text()
    assert '"token":null' in text
    assert not re.search(r'(src|href)="(?!data:)', text)


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        ("none.py", None, (), "expected a file, got '{path}'"),
        ("empty.py", "x = 1\n", (), "expected '{path}' to define a module or a function, got none"),
        ("a.txt", "", (), "expected a file of .py, .mlir, .pt2, .onnx or .gguf, got '{path}'"),
        ("a.mlir", "foo", (), "{path}:1:1: error: 'foo' is not registered"),
        ("layer.py", "", ("--module", "A"), "expected a module of '{path}' (none), got 'A'"),
        ("layer.py", "", ("--target", "cuda"), None),
    ],
)
def test_refused_files(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    text: str | None,
    options: tuple[str, ...],
    message: str | None,
):
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    assert run([str(path), *options]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1
    if message is not None:
        assert message.format(path=path) in error


def test_mlir_files_are_explored(tmp_path: Path):
    path = tmp_path / "relu.mlir"
    path.write_text(
        "relax.func @main(%x: !relax.tensor<[2], f32>) -> !relax.tensor<[2], f32> {\n"
        "  %y = relax.nn.relu %x : !relax.tensor<[2], f32> -> !relax.tensor<[2], f32>\n"
        "  relax.return %y : !relax.tensor<[2], f32>\n}\n"
    )
    name, mod = load(str(path), None)
    (file,) = explore(mod, "llvm", name).page()["files"]
    assert file["name"] == str(path)


def test_a_file_of_onnx_is_shown_as_a_script(tmp_path: Path):
    onnx = pytest.importorskip("onnx")
    weight = onnx.numpy_helper.from_array(np.ones((4, 3), np.float32), "w")
    graph = onnx.parser.parse_graph("dense (float[N,4] x) => (float[N,3] y) { y = MatMul(x, w) }")
    graph.initializer.append(weight)
    path = tmp_path / "dense.onnx"
    onnx.save(onnx.helper.make_model(graph), path)
    name, mod = load(str(path), None)
    page = explore(mod, "llvm", name).page()
    (file,) = page["files"]
    assert any("matmul" in line for line in file["html"])
    (assembly,) = [s for s in page["stages"] if s["name"] == "asm"]
    assert any(any(section["places"]) for section in assembly["sections"])
