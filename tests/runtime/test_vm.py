"""Executables, the virtual machine and time evaluators."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest

from xrelax.runtime.device import cpu, cuda
from xrelax.runtime.executable import Executable
from xrelax.runtime.signature import FunctionSpec, ParamSpec, TensorSpec
from xrelax.runtime.timing import BenchmarkResult
from xrelax.runtime.vm import VirtualMachine

ADD = FunctionSpec(
    "add",
    "add_entry",
    (ParamSpec("x", "float32", ("n",)), ParamSpec("y", "float32", ("n",))),
    ("n",),
    (TensorSpec("float32", ("n",)),),
)
MAIN = FunctionSpec("main", "main_entry", ADD.params, ADD.symbols, ADD.results * 2, True)
X, Y = np.array([1, 2], "float32"), np.array([3, 4], "float32")


def add(frame):
    n = frame.argv[3]
    frame.param(2, (n,))[:] = frame.param(0, (n,)) + frame.param(1, (n,))
    return 0


def main(frame):
    n = frame.argv[4]
    frame.param(2, (n,))[:] = frame.param(0, (n,))
    frame.param(3, (n,))[:] = frame.param(1, (n,))
    return 0


@pytest.fixture
def ex(build) -> Executable:
    return build((ADD, add), (MAIN, main), attributes={"target": "llvm"})


def test_an_executable_is_a_table_of_functions(ex):
    assert str(type(ex)) == "<class 'xrelax.runtime.executable.Executable'>"
    assert repr(ex).startswith("<Executable of add(x: float32 (n,), y: float32 (n,)) -> (float32 (")
    assert list(ex) == ["add", "main"] and len(ex) == 2
    assert "add" in ex and "sub" not in ex
    assert ex["add"] is ex.get_function("add")
    assert repr(ex["add"]) == "<xrelax function add(x, y)>"
    assert ex.functions["add"] is ADD and ex["add"].spec is ADD
    assert ex.attributes["target"] == "llvm"


def test_calling_an_executable_calls_its_entry(ex, build):
    assert ex.entry_name == "main"
    assert [r.numpy().tolist() for r in ex(X, Y)] == [[1, 2], [3, 4]]
    single = build((ADD, add))
    assert single.entry_name == "add"
    assert single(X, y=Y).numpy().tolist() == [4, 6]


def test_an_unknown_function_lists_the_known_ones(ex, build):
    vm = VirtualMachine(ex)
    uses = [
        lambda: ex["sub"],
        lambda: vm["sub"],
        lambda: vm.set_input("sub", X),
        lambda: vm.save_function("sub", "s"),
        lambda: vm.time_evaluator("sub"),
        lambda: ex.time_evaluator("sub"),
    ]
    for use in uses:
        with pytest.raises(ValueError, match=r"^expected a function \(add, main\), got 'sub'$"):
            use()
    with pytest.raises(ValueError, match=r"^expected a function \(none\), got ''$"):
        build()()


def test_a_machine_runs_functions(ex):
    given = [(), (cpu(), "naive"), ([cpu()], None, True)]
    for vm in (VirtualMachine(ex, *more) for more in given):
        assert vm["add"](X, Y).numpy().tolist() == [4, 6]
    with pytest.raises(
        ValueError, match=r"^expected device 'cpu', got 'cuda': xrelax runs on CPUs only$"
    ):
        VirtualMachine(ex, "cuda")
    for use in (
        lambda: VirtualMachine(ex, [cuda()]),
        lambda: VirtualMachine(ex).time_evaluator("add", cuda()),
        lambda: ex.time_evaluator("add", cuda()),
    ):
        with pytest.raises(ValueError, match=r"^expected device 'cpu', got 'cuda:0': xrelax runs"):
            use()
    with pytest.raises(ValueError, match=r"^expected one device, got 2$"):
        VirtualMachine(ex, [cpu(), cpu()])


def test_stateful_calls(ex):
    vm = VirtualMachine(ex, cpu())
    with pytest.raises(ValueError, match=r"^expected set_input for 'add' before invoke_stateful$"):
        vm.invoke_stateful("add")
    vm.set_input("add", X, y=Y)
    with pytest.raises(
        ValueError, match=r"^expected invoke_stateful for 'add' before get_outputs$"
    ):
        vm.get_outputs("add")
    vm.invoke_stateful("add")
    assert vm.get_outputs("add").numpy().tolist() == [4, 6]
    vm.set_input("add", Y, Y)
    vm["invoke_stateful"]("add")
    assert vm.get_outputs("add").numpy().tolist() == [6, 8]
    assert vm.time_evaluator("invoke_stateful", number=1)("add").mean > 0
    with pytest.raises(
        RuntimeError, match=r"^expected invoke_stateful of 'add' after set_input, got a call$"
    ):
        vm["add"](X, Y)


def test_an_executable_of_an_executable(ex):
    made = Executable(ex)
    assert made.mod is ex and ex.mod is ex and made.jit() is made
    assert made["add"](X, Y).numpy().tolist() == [4, 6]
    with pytest.raises(ValueError, match=r"^expected a format \(ll, asm, s\), got 'c'$"):
        made.inspect_source("c")
    with pytest.raises(ValueError, match=r"^expected an executable that this process has built to"):
        made.inspect_source()


def test_saved_calls(ex):
    vm = VirtualMachine(ex)
    vm.save_function("add", "saved", X, y=Y)
    assert vm["saved"]().numpy().tolist() == [4, 6]
    vm.save_function("add", "saved", X, X, include_return=False)
    assert vm["saved"]() is None
    assert vm.time_evaluator("saved", cpu(), number=2)().mean > 0
    with pytest.raises(ValueError, match=r"^expected a new name to save, got the function 'main'$"):
        vm.save_function("add", "main", X, Y)


def test_a_time_evaluator_measures_seconds_per_call(build):
    calls = []

    def slow(frame):
        calls.append(1)
        time.sleep(0.002)
        return 0

    ex = build((FunctionSpec("slow", "slow", ()), slow))
    result = ex.time_evaluator(ex.entry_name, cpu(), number=3, repeat=2)()
    assert len(calls) == 1 + 3 * 2
    assert len(result.results) == 2
    assert 0.002 <= result.min <= result.median <= result.max
    assert result.min <= result.mean <= result.max


def test_min_repeat_ms_raises_the_number_of_calls(build):
    calls = []
    ex = build((FunctionSpec("f", "f", ()), lambda frame: calls.append(1) or 0))
    result = ex.time_evaluator("f", number=1, min_repeat_ms=5)()
    assert len(calls) > 10
    assert len(result.results) == 1


def test_counts_below_one_are_refused(ex):
    message = r"^expected number of at least 1, got 0$"
    with pytest.raises(ValueError, match=message):
        ex.time_evaluator("add", cpu(), number=0)


def test_the_figures_of_a_benchmark():
    result = BenchmarkResult((1.0, 2.0, 6.0))
    assert (result.mean, result.median, result.min, result.max) == (3, 2, 1, 6)
    assert result.std == pytest.approx(np.std([1, 2, 6]))
    assert str(result).startswith("mean 3000.0000 ms, median 2000.0000 ms")


def test_the_runtime_imports_nothing_of_the_compiler():
    code = (
        "import sys, xrelax.runtime as rt; assert rt.tensor([1]).numpy()[0] == 1;"
        "print(*(m for m in sys.modules if m.split('.')[0] in ('xdsl', 'llvmlite', 'torch')))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.stdout, result.stderr) == ("\n", "")


def test_leaving_the_interpreter_with_shared_memory_is_quiet():
    code = (
        "import numpy as np, xrelax.runtime as rt; x = rt.tensor([1.0]); y = np.from_dlpack(x);"
        "c = x.__dlpack__(); z = rt.from_dlpack(x.__dlpack__())"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
