"""Diagnostics: one line with a place, definitions before uses, and any nesting depth."""

import subprocess
import sys
from pathlib import Path

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.ir import Block, Region
from xdsl.parser import Parser

from xrelax.dialects import get_context, relax, tir
from xrelax.dialects.diagnostics import Diagnostic, verify
from xrelax.dialects.dtypes import element_type
from xrelax.dialects.int_expr import ONE, ZERO
from xrelax.dialects.nesting import depth_of, on_deep_stack, operations_in
from xrelax.dialects.tir.types import BufferType


def parse(text: str) -> ModuleOp:
    return Parser(get_context(), text).parse_module()


def nest(depth: int) -> ModuleOp:
    """A kernel with a loop in a loop in a loop …"""
    body = Block()
    for _ in range(depth):
        loop = tir.ForOp(ZERO, ONE, [], Region(Block(arg_types=[tir.ApplyOp(ONE).result.type])))
        loop.body.block.add_ops(list(detached(body)))
        body = Block([loop])
    function = Block(list(detached(body)), arg_types=[BufferType.of([4], element_type("float32"))])
    return ModuleOp([tir.PrimFuncOp("f", ["X"], Region(function))])


def detached(block: Block):
    for op in list(block.ops):
        op.detach()
        yield op


GRAPH = """
relax.func @main(%x: !relax.tensor<[4], f32>) -> !relax.tensor<[4], f32> {
  %y = relax.nn.relu %x : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  %z = relax.nn.relu %y : !relax.tensor<[4], f32> -> !relax.tensor<[4], f32>
  relax.return %z : !relax.tensor<[4], f32>
}
"""


def test_use_before_definition():
    module = parse(GRAPH)
    verify(module)
    first, second, _ = next(o for o in module.ops if isinstance(o, relax.FuncOp)).body.block.ops
    first.detach()
    second.parent.insert_op_after(first, second)
    with pytest.raises(Diagnostic) as caught:
        verify(module)
    message = "'relax.nn.relu': expected 'y' to be defined before its use in 'relax.nn.relu'"
    assert message.endswith(str(caught.value)) and "'y'" in str(caught.value)


def test_use_of_what_a_region_does_not_hand_out():
    inner = test.TestOp(result_types=[element_type("float32")])
    module = ModuleOp(
        [
            test.TestOp(regions=[Region(Block([inner, test.TestTermOp()]))]),
            test.TestOp(operands=[inner.results[0]]),
        ]
    )
    with pytest.raises(Diagnostic, match="to be defined before its use"):
        verify(module)


def test_a_region_may_use_what_is_outside():
    outer = test.TestOp(result_types=[element_type("float32")])
    inner = test.TestOp(operands=[outer.results[0]])
    verify(ModuleOp([outer, test.TestOp(regions=[Region(Block([inner, test.TestTermOp()]))])]))


def test_branches_may_use_values_of_other_blocks():
    first = test.TestOp(result_types=[element_type("float32")])
    second = test.TestOp(operands=[first.results[0]])
    last = Block([second, test.TestTermOp()])
    defining = Block([first, test.TestTermOp(successors=[last])])
    region = Region([Block([test.TestTermOp(successors=[defining])]), last, defining])
    verify(ModuleOp([test.TestOp(regions=[region])]))


def test_an_operation_alone_may_use_anything():
    value = test.TestOp(result_types=[element_type("float32")]).results[0]
    verify(test.TestOp(operands=[value]))


def test_place():
    module = parse(GRAPH)
    function = next(iter(module.ops))
    assert isinstance(function, relax.FuncOp)
    function.location = FileLineColLoc(StringAttr("model.py"), IntAttr(3), IntAttr(7))
    del function.properties["param_names"]
    with pytest.raises(Diagnostic) as caught:
        verify(module)
    lines = str(caught.value).splitlines()
    assert len(lines) == 1 and lines[0].startswith("model.py:3:7: error: property")
    assert (caught.value.filename, caught.value.line, caught.value.column) == ("model.py", 3, 7)


def test_name_is_not_repeated():
    op = relax.AllocTensorOp(relax.TensorType.of(None, None))
    with pytest.raises(Diagnostic) as caught:
        verify(op)
    assert str(caught.value) == (
        "expected 'relax.alloc_tensor' to give tensors of known shape and dtype, "
        "got !relax.tensor<*, ?>"
    )
    assert str(Diagnostic("wrong")) == "wrong"


def test_a_thousand_regions_verify():
    module = nest(1000)
    assert depth_of(module) == 1002
    verify(module)
    assert sum(1 for _ in operations_in(module)) == 1002


def test_a_thousand_regions_print_parse_and_clone_on_a_deep_stack():
    module = nest(1000)

    def round_trip() -> bool:
        text = str(module.clone())
        again = parse(text)
        verify(again)
        return str(again) == text

    assert on_deep_stack(round_trip)


def test_a_deep_stack_raises_what_its_function_raises():
    def fail() -> None:
        raise KeyError("here")

    with pytest.raises(KeyError, match="here"):
        on_deep_stack(fail)


def test_operations_in_order():
    module = parse(GRAPH)
    assert list(operations_in(module)) == list(module.walk())


def test_the_tool_takes_a_thousand_regions(tmp_path: Path):
    file = tmp_path / "deep.mlir"
    file.write_text(on_deep_stack(lambda: str(nest(1000))))
    command = [sys.executable, "-m", "xrelax.tools.opt", str(file)]
    run = subprocess.run(command, capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.strip() == file.read_text().strip()
