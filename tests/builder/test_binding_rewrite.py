"""`DataflowBlockRewrite`: changes of one dataflow block on a copy of its function."""

import pytest

import xrelax as tvm
from xrelax import relax
from xrelax.relax.analysis import name_to_binding
from xrelax.relax.binding_rewrite import DataflowBlockRewrite
from xrelax.script import from_source

MODULE = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.sqrt(x)
            c = R.add(a, a)
            d = R.multiply(a, c)
            R.output(d)
        return d
"""


def started():
    mod = from_source(MODULE)
    main = mod["main"]
    variables = {n: lines[0].var for n, lines in name_to_binding(main).items()}
    return mod, main, variables, DataflowBlockRewrite(main.body.blocks[0], main)


def test_uses_are_replaced_on_a_copy():
    mod, main, v, rewrite = started()
    assert rewrite.mutated_root_fn() == main
    rewrite.replace_all_uses(v["a"], v["b"])
    with pytest.raises(tvm.TVMError, match="'b' is used by 2 vars, expected none"):
        rewrite.remove_unused(v["b"])
    rewrite.remove_unused(v["a"])
    expected = from_source(
        MODULE.replace("a = R.exp(x)", "").replace("a,", "b,").replace("a)", "b)")
    )
    tvm.ir.assert_structural_equal(rewrite.mutate_irmodule(mod), expected)
    assert rewrite.mutated_root_fn().body.blocks[0] == rewrite.mutated_dfb()
    tvm.ir.assert_structural_equal(mod, from_source(MODULE))


def test_bindings_are_added_and_removed():
    _, main, v, rewrite = started()
    inner = rewrite.add(relax.op.nn.relu(v["d"]), "r", is_dfvar=True)
    assert isinstance(inner, relax.DataflowVar)
    outer = rewrite.add_binding(relax.VarBinding(relax.Var("o"), relax.op.abs(inner)))
    assert not isinstance(outer, relax.DataflowVar)
    names = [b.var.name for b in rewrite.mutated_dfb().bindings]
    assert names == ["a", "b", "c", "d", "r", "o"]
    before = rewrite.mutated_root_fn()
    rewrite.remove_all_unused()
    assert [b.var.name for b in rewrite.mutated_dfb().bindings] == ["a", "c", "d"]
    assert "r" in name_to_binding(before)
    assert rewrite.add(main.params[0]).name == "x"  # a variable already


def test_what_the_block_does_not_allow():
    mod, main, v, rewrite = started()
    other = relax.Var("other")
    with pytest.raises(tvm.TVMError, match="Cannot find 'other': expected a variable of the block"):
        rewrite.replace_all_uses(other, v["a"])
    with pytest.raises(tvm.TVMError, match="Cannot find 'other'"):
        rewrite.remove_unused(other)
    rewrite.remove_unused(other, allow_undef=True)
    with pytest.raises(tvm.TVMError, match="expected 'd' to be defined before the uses of 'a'"):
        rewrite.replace_all_uses(v["a"], v["d"])
    with pytest.raises(tvm.TVMError, match="'d' is seen outside of the block, expected no use"):
        started()[3].remove_unused(started()[2]["d"], True) or rewrite.remove_unused(v["d"])
    with pytest.raises(tvm.TVMError, match="expected a dataflow block of 'main', got another one"):
        DataflowBlockRewrite(main.body.blocks[0], from_source(MODULE)["main"])
    with pytest.raises(tvm.TVMError, match="expected a module with 'main'"):
        rewrite.mutate_irmodule(from_source(MODULE))
    assert mod["main"] == main
