"""The registry of Python functions."""

from __future__ import annotations

import pytest
from concurrent_calls import in_threads

from xrelax.runtime.registry import (
    get_global_func,
    list_global_func_names,
    register_func,
    register_global_func,
    remove_global_func,
)


@pytest.fixture(autouse=True)
def restore():
    before = set(list_global_func_names())
    yield
    for name in set(list_global_func_names()) - before:
        remove_global_func(name)


def test_the_forms_of_registering():
    @register_func("test.decorated")
    def one(x):
        return x + 1

    @register_func
    def test_bare(x):
        return x + 2

    assert register_func("test.called", max) is max
    assert one(1) == 2
    assert get_global_func("test.decorated") is one
    assert get_global_func("test_bare") is test_bare
    assert get_global_func("test.called") is max
    assert register_global_func is register_func


def test_a_second_registration_needs_override():
    register_func("test.twice", min)
    with pytest.raises(
        ValueError,
        match=r"^function 'test\.twice' is registered already, pass override=True to replace$",
    ):
        register_func("test.twice", max)
    assert get_global_func("test.twice") is min

    @register_func("test.twice", override=True)
    def replacement(): ...

    assert get_global_func("test.twice") is replacement


def test_missing_names():
    assert get_global_func("test.missing", allow_missing=True) is None
    for use in (get_global_func, remove_global_func):
        with pytest.raises(ValueError, match=r"^function 'test\.missing' is not registered$"):
            use("test.missing")


def test_removing_and_listing():
    register_func("test.listing.b", min)
    register_func("test.listing.a", max)
    assert [n for n in list_global_func_names() if n.startswith("test.listing.")] == [
        "test.listing.a",
        "test.listing.b",
    ]
    remove_global_func("test.listing.b")
    assert "test.listing.b" not in list_global_func_names()


def test_only_callables_are_registered():
    with pytest.raises(TypeError, match=r"^expected a callable to register as 'test\.x', got int$"):
        register_func("test.x", 3)


def test_one_of_many_threads_wins():
    wins: list[int] = []

    def register(i):
        try:
            register_func("test.race", lambda: i)
            wins.append(i)
        except ValueError:
            pass

    in_threads(8, register)
    assert wins == [get_global_func("test.race")()]


def test_functions_of_python_by_tvms_names():
    get_global_func("vm.builtin.register_py_func")("test.builtin.twice", lambda x: x * 2)
    assert get_global_func("test.builtin.twice")(3) == 6
    get_global_func("vm.builtin.clear_py_func_registry")()
    assert get_global_func("test.builtin.twice", allow_missing=True) is None
