"""The functions ``test.vm.…`` of `relax.testing.vm`, called from scripts, and its check."""

import numpy as np
import pytest

from xrelax import get_global_func, nd, relax
from xrelax.relax.testing.vm import check_saved_func
from xrelax.script import from_source

X = np.array([[1, 2, 3], [4, 5, 6]], "float32")


def machine(body):
    function = from_source(f"""
@R.function
def main(x: R.Tensor((2, 3), "float32")):
{body}
""")
    return relax.VirtualMachine(relax.build(function))


@pytest.mark.parametrize(("name", "expected"), [("add", X + X), ("mul", X * X)])
def test_pure_functions_of_two_tensors(name, expected):
    vm = machine(f"""
    return R.call_pure_packed("test.vm.{name}", x, x, sinfo_args=R.Tensor((2, 3), "float32"))
""")
    np.testing.assert_array_equal(check_saved_func(vm, "main", X).numpy(), expected)
    np.testing.assert_array_equal(vm["main_saved"]().numpy(), expected)


@pytest.mark.parametrize(("name", "width"), [("identity", 3), ("tile", 6)])
def test_functions_with_a_destination(name, width):
    vm = machine(f"""
    return R.call_dps_packed("test.vm.{name}", x, R.Tensor((2, {width}), "float32"))
""")
    np.testing.assert_array_equal(check_saved_func(vm, "main", X).numpy(), np.tile(X, width // 3))


def test_functions_outside_programs():
    assert get_global_func("test.vm.add_scalar")(2, 3) == 5
    assert get_global_func("test.vm.check_if_defined")(None) is False
    assert get_global_func("test.vm.move")(X) is X
    x = nd.array(X)
    assert get_global_func("test.vm.equal_zero")(x).numpy().item() is False
    np.testing.assert_array_equal(get_global_func("test.vm.subtract_one")(x).numpy(), X - 1)


def test_results_of_calls_differ():
    class Counter:
        def __init__(self):
            self.calls = 0

        def save_function(self, *_args):
            pass

        def __getitem__(self, _name):
            return self

        def __call__(self, *_args):
            self.calls += 1
            return np.float32(self.calls)

    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        check_saved_func(Counter(), "main")
