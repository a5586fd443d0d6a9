"""Modules, functions and struct infos in a notebook: HTML of their TVMScript."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from html_check import text_of

from xrelax import relax
from xrelax.display import programs
from xrelax.display.rich import displayed
from xrelax.ir.module import IRModule
from xrelax.script import from_source

SOURCE = """
@I.ir_module
class MyModule:
    @T.prim_func
    def double(X: T.Buffer((4, 8), "float32"), Y: T.Buffer((4, 8), "float32")):
        for i, j in T.grid(4, 8):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.if_then_else(vi < vj, X[vi, vj], T.float32(0))

    @R.function
    def main(x: R.Tensor((4, 8), "float32"), w: R.Tensor((8, 8), "float32")):
        cls = MyModule
        lv = R.call_tir(cls.double, (x,), out_sinfo=R.Tensor((4, 8), "float32"))
        return R.matmul(lv, w)
"""


@pytest.fixture(scope="module")
def module() -> Any:
    program = from_source(SOURCE)
    program.name = "MyModule"
    return program


def html(shown: Any) -> str:
    return shown._repr_html_()


def test_a_module_folds_by_function(module: IRModule):
    text = text_of(html(module))
    assert text.startswith("MyModule1 graph function, 1 kernel# from xrelax.script")
    assert html(module).count("<details open>") == 2
    for line in module.script(name="MyModule").splitlines():
        assert line in text


def test_text_is_escaped(module: IRModule):
    assert "vi &lt; vj" in html(module) and "vi < vj" in text_of(html(module))


def test_a_function(module: IRModule):
    assert text_of(html(module["double"])).startswith("doublekernel, 11 lines# from")
    text = text_of(html(module["main"]))
    assert text.startswith("maingraph function, 7 lines") and "R.matmul(lv, w)" in text


def test_struct_infos(module: IRModule):
    x, _ = module["main"].params
    info = x.struct_info
    assert text_of(html(info)) == 'R.Tensor((4, 8), dtype="float32")32 elements of float32'
    symbolic = relax.TensorStructInfo(("n", 8), "float16")
    assert text_of(html(symbolic)) == f"{symbolic}"
    assert "R.Callable(" in text_of(html(module["main"].struct_info))


def test_text_and_html_are_in_one_bundle(module: IRModule):
    bundle = module._repr_mimebundle_()
    assert bundle == {"text/plain": repr(module), "text/html": html(module)}
    assert repr(module) == module.script() and "class Module:" in repr(module)


def test_the_terminal_of_ipython_gets_text(module: IRModule, monkeypatch: pytest.MonkeyPatch):
    fake = SimpleNamespace(get_ipython=lambda: SimpleNamespace())
    monkeypatch.setitem(sys.modules, "IPython", fake)
    assert module._repr_mimebundle_() == {"text/plain": repr(module)}


def test_a_module_keeps_the_name_of_its_class(module: IRModule):
    assert module.__name__ == "MyModule" and IRModule.__name__ == "IRModule"
    legal = relax.transform.LegalizeOps()(module)
    assert text_of(html(legal)).startswith("MyModule1 graph function, 2 kernels")


def test_big_modules_are_cut(module: IRModule, monkeypatch: pytest.MonkeyPatch):
    many = module.clone()
    for number in range(30):
        many[f"double_{number}"] = module["double"]
    shown = html(many)
    assert shown.count("<details>") == programs.MOST_FUNCTIONS - 1
    assert shown.count("<details open>") == 1  # the graph function
    assert "… 8 more kernels: .show() prints all of them" in text_of(shown)
    monkeypatch.setattr(programs, "MOST_LINES", 4)
    assert "… 7 more lines: .show() prints all of them" in text_of(html(module["double"]))


def test_an_empty_module():
    assert text_of(html(IRModule())).startswith("Moduleno functions")


def test_metadata_is_named():
    text = "@R.function\ndef main(x: R.Tensor((2,), 'float32'), w: R.Tensor((2,), 'float32')):\n"
    program = IRModule.from_expr(from_source(text + "    return R.add(x, w)"))
    bound = relax.transform.BindParams("main", {"w": np.ones(2, "float32")})(program)
    assert text_of(html(bound)).endswith("show_meta=True in script() method to show it.")


def test_what_fails_is_shown_as_text():
    @displayed("programs:module_html")
    class Broken:
        def __repr__(self) -> str:
            return "<a broken one>"

    text = text_of(html(Broken()))
    assert text.startswith("Brokencannot be shown as HTML: AttributeError: ")
    assert text.endswith("<a broken one>")
