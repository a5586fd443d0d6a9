"""What native calls know of Python: verified places in objects, or no native calls."""

from __future__ import annotations

import sys
import sysconfig

import numpy as np
import pytest

from xrelax.runtime import python_words as module
from xrelax.runtime.call_words import Place, PythonWord
from xrelax.runtime.native_call import NativeCallable

look = module.python_words.__wrapped__


def test_this_python_is_known():
    table = look()
    assert table is not None
    own = [w for w in PythonWord if not w.name.startswith(("DL_", "TORCH"))]
    assert all(table[w] for w in own)
    assert not any(table[w] for w in PythonWord if w not in own)  # until torch is admitted
    assert table[PythonWord.ARRAY_TYPE] == id(np.ndarray)


@pytest.mark.parametrize("name", [n for n in vars(Place) if n.isupper() and n != "CALL"])
def test_objects_that_lie_otherwise(monkeypatch, name):
    if name == "TYPE":  # another place may hold anything, which is looked at all the same
        monkeypatch.setattr(Place, name, 0)
    else:
        monkeypatch.setattr(Place, name, getattr(Place, name) + 8)
    assert look() is None


@pytest.mark.parametrize("place", [1 << 20, 4096])
def test_objects_that_are_smaller(monkeypatch, place):
    monkeypatch.setattr(Place, "ARRAY_DIMS", place)
    assert look() is None


def test_other_pythons(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(sys.implementation, "name", "pypy")
        assert look() is None
    with monkeypatch.context() as patch:
        patch.setattr(sysconfig, "get_config_var", {"Py_GIL_DISABLED": 1}.get)
        assert look() is None
    assert look() is not None


def test_a_torch_without_the_exchange_api_is_not_admitted(monkeypatch):
    table = look()
    monkeypatch.setattr(module, "python_words", lambda: table)
    admit = module._admit.__wrapped__

    class Old:
        pass

    class Other:
        __dlpack_c_exchange_api__ = __import__("datetime").datetime_CAPI

    for kind in (None, Old, Other):
        admit(kind)
        assert table[PythonWord.TORCH_TYPE] == 0


def test_a_callable_without_native_code_says_so():
    with pytest.raises(TypeError):
        NativeCallable()()
