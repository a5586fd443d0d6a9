"""Native code that calls registered Python functions: views, exceptions, re-entrancy, lifetimes."""

from __future__ import annotations

import ctypes
import gc
import signal
import sys
import traceback
import weakref

import numpy as np
import pytest
from concurrent_calls import in_threads

from xrelax.runtime import callback
from xrelax.runtime.executable import Executable
from xrelax.runtime.registry import list_global_func_names, register_func, remove_global_func
from xrelax.runtime.signature import FunctionSpec, PackedSite, ParamSpec, TensorSpec
from xrelax.runtime.tensor import Tensor, array

try:
    import torch
except ImportError:
    torch = None

VECTOR = TensorSpec("float32", ("n",))
SPEC = FunctionSpec(
    "main",
    "main",
    (ParamSpec("x", "float32", ("n",)),),
    ("n",),
    (VECTOR,),
    arena_size=("mul", "n", 4),
    packed_sites=(PackedSite("test.f", (VECTOR, VECTOR)), PackedSite("test.g", (VECTOR, VECTOR))),
)


def body(frame):
    """out = g(f(x)), with f's result in the arena."""
    n = frame.argv[2]
    x, out, scratch = frame.param(0, (n,)), frame.param(1, (n,)), frame.array(frame.ctx[2], (n,))
    return frame.call_back(0, [x, scratch]) or frame.call_back(1, [scratch, out])


def copy(x, out):
    out.copyfrom(x)


@pytest.fixture(autouse=True)
def registered():
    before = set(list_global_func_names())
    register_func("test.f", copy)
    register_func("test.g", copy)
    yield
    for name in set(list_global_func_names()) - before:
        remove_global_func(name)
    gc.collect()
    assert not callback._active


@pytest.fixture
def run(build):
    return build((SPEC, body))["main"]


X = np.arange(4, dtype="float32")


def test_callbacks_get_views_and_write_the_last_one(run):
    seen = []

    @register_func("test.f", override=True)
    def double(x, out):
        seen.append((type(x), x.shape, x.dtype, x.address))
        np.asarray(out)[:] = 2 * np.asarray(x)

    assert run(X).numpy().tolist() == [0, 2, 4, 6]
    assert seen == [(Tensor, (4,), "float32", X.ctypes.data)]


@pytest.mark.skipif(torch is None, reason="torch is not installed")
def test_torch_writes_in_a_callback(run):
    @register_func("test.f", override=True)
    def relu(x, out):
        torch.maximum(torch.from_dlpack(x), torch.Tensor([1.5]), out=torch.from_dlpack(out))

    assert run(X).numpy().tolist() == [1.5, 1.5, 2, 3]


def test_the_registry_is_asked_at_each_call(run):
    assert run(X).numpy().tolist() == [0, 1, 2, 3]
    register_func("test.g", lambda x, out: out.copyfrom(x.numpy() + 1), override=True)
    assert run(X).numpy().tolist() == [1, 2, 3, 4]
    remove_global_func("test.g")
    with pytest.raises(ValueError, match=r"^function 'test\.g' is not registered$"):
        run(X)


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_exception_arrives_as_the_same_object(run, kind):
    error = kind("stop")

    @register_func("test.f", override=True)
    def fail(x, out):
        raise error

    register_func("test.g", lambda x, out: pytest.fail("called after the error"), override=True)
    with pytest.raises(kind) as caught:
        run(X)
    assert caught.value is error
    assert error.__cause__ is None and error.__context__ is None
    assert [f.name for f in traceback.extract_tb(error.__traceback__)][-1] == "fail"
    register_func("test.f", copy, override=True)
    register_func("test.g", copy, override=True)
    assert run(X).numpy().tolist() == [0, 1, 2, 3]


def test_an_exception_leaves_nothing_behind(run):
    @register_func("test.g", override=True)
    def fail(x, out):
        raise ValueError("stop")

    x = array(X)
    argument = weakref.ref(x)
    gc.collect()
    gc.disable()
    try:
        with pytest.raises(ValueError):
            run(x)
        del x
        assert argument() is None
    finally:
        gc.enable()


def test_callbacks_call_back_into_native_code(run):
    @register_func("test.f", override=True)
    def recurse(x, out):
        if x.shape[0] > 1:
            inner = run(np.asarray(x)[1:]).numpy()
            np.asarray(out)[1:] = inner + 1
        np.asarray(out)[0] = np.asarray(x)[0]

    assert run(X).numpy().tolist() == [0, 2, 4, 6]


def test_an_exception_of_an_inner_call_can_be_handled(run):
    error = RuntimeError("inner")

    @register_func("test.f", override=True)
    def handle(x, out):
        if len(x) == 1:
            raise error
        with pytest.raises(RuntimeError) as caught:
            run(X[:1])
        assert caught.value is error
        out.copyfrom(x)

    assert run(X).numpy().tolist() == [0, 1, 2, 3]


def test_views_that_a_callback_keeps_stay_valid(run):
    kept = []

    @register_func("test.f", override=True)
    def keep(x, out):
        out.copyfrom(x)
        kept.append((x, out))

    results = [run(X + 10 * i) for i in range(5)]
    del results
    for i, (x, out) in enumerate(kept):
        assert x.numpy().tolist() == (X + 10 * i).tolist()
        assert out.numpy().tolist() == (X + 10 * i).tolist()
    assert len({out.address for _, out in kept}) == 5


@pytest.mark.parametrize("share", ["numpy", "torch"])
def test_a_shared_view_keeps_the_arena_out_of_the_pool(run, share):
    if share == "torch" and torch is None:
        pytest.skip("torch is not installed")
    kept, addresses = [], []

    @register_func("test.f", override=True)
    def keep(x, out):
        out.copyfrom(x)
        addresses.append(out.address)
        if len(addresses) == 1:
            kept.append((np if share == "numpy" else torch).from_dlpack(out))

    run(X)
    run(X + 1)
    assert addresses[0] != addresses[1]
    assert kept.pop().tolist() == X.tolist()
    gc.collect()
    run(X)
    assert addresses[2] in addresses[:2]


def test_a_view_that_a_finalizer_in_a_cycle_keeps_stays_valid(run):
    kept = []

    class Cycle:
        def __init__(self, view):
            self.view, self.itself = view, self

        def __del__(self):
            kept.append(self.view)

    @register_func("test.f", override=True)
    def keep(x, out):
        out.copyfrom(x)
        Cycle(out)

    for i in range(3):
        run(X + 10 * i)
        gc.collect()
    assert [view.numpy().tolist() for view in kept] == [(X + 10 * i).tolist() for i in range(3)]


def test_an_arena_without_leaked_views_is_used_again(run):
    addresses = []
    register_func("test.f", lambda x, out: addresses.append(out.address), override=True)
    register_func("test.g", lambda x, out: None, override=True)
    for _ in range(5):
        run(X)
    assert len(set(addresses)) == 1


def test_read_only_arguments_stay_read_only(run):
    flags = []

    @register_func("test.f", override=True)
    def look(x, out):
        flags.append((np.asarray(x).flags.writeable, np.asarray(out).flags.writeable))

    frozen = X.copy()
    frozen.flags.writeable = False
    run(frozen)
    run(X)
    assert flags == [(False, True), (True, True)]


def test_eight_threads_with_callbacks(run):
    register_func("test.f", lambda x, out: out.copyfrom(x.numpy() * 2), override=True)
    wrong = []

    def work(i):
        for n in range(20):
            x = np.full(3 + i, n, "float32")
            if (run(x).numpy() != 2 * n).any():
                wrong.append(i)

    in_threads(8, work)
    assert not wrong


def test_each_thread_gets_its_own_exception(run):
    @register_func("test.f", override=True)
    def fail(x, out):
        raise ValueError(int(np.asarray(x)[0]))

    wrong = []

    def work(i):
        for _ in range(20):
            try:
                run(np.full(2, i, "float32"))
                wrong.append(i)
            except ValueError as error:
                if error.args != (i,):
                    wrong.append(error)

    in_threads(8, work)
    assert not wrong


def test_sites_without_arguments_and_of_rank_zero(build):
    sites = (PackedSite("test.none", ()), PackedSite("test.scalar", (TensorSpec("int64", ()),)))
    spec = FunctionSpec("f", "f", (), results=(TensorSpec("int64", ()),), packed_sites=sites)
    calls = []
    register_func("test.none", lambda: calls.append("none"))
    register_func("test.scalar", lambda out: out.copyfrom(7))
    run = build((spec, lambda f: f.call_back(0, []) or f.call_back(1, [f.param(0, (), "int64")])))[
        "f"
    ]
    assert run().numpy() == 7
    assert calls == ["none"]


# `raise(sig)`, so that a signal is pending when the callback enters Python, and a second callback.
NATIVE = """
declare i32 @raise(i32)
define i32 @main(ptr %ctx, ptr %argv) {
  %callback = load ptr, ptr %ctx
  %token.ptr = getelementptr i64, ptr %ctx, i64 1
  %token = load i64, ptr %token.ptr
  %raised = call i32 @raise(i32 SIGNAL)
  %first = call i32 %callback(i64 %token, i32 0, ptr null, ptr null)
  %second = call i32 %callback(i64 %token, i32 0, ptr null, ptr null)
  ret i32 0
}
"""


class Jit:
    def __init__(self, text):
        llvm = pytest.importorskip("llvmlite.binding")
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine()
        self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
        self.engine.finalize_object()

    def address(self, symbol):
        return self.engine.get_function_address(symbol)


INTERRUPTED = FunctionSpec("main", "main", (), packed_sites=(PackedSite("test.none", ()),))


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_a_signal_during_native_code_arrives():
    error = KeyboardInterrupt("pressed")

    def handler(*_):
        raise error

    register_func("test.none", lambda: pytest.fail("called after the interrupt"))
    run = Executable([INTERRUPTED], Jit(NATIVE.replace("SIGNAL", str(int(signal.SIGUSR1)))))["main"]
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        with pytest.raises(KeyboardInterrupt) as caught:
            run()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert caught.value is error


def test_unraisable_errors_of_others_go_to_the_hook_before(monkeypatch, run):
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda failure: seen.append(failure.exc_value))
    run(X)

    @ctypes.CFUNCTYPE(None)
    def broken():
        raise ValueError("elsewhere")

    broken()
    assert [str(e) for e in seen] == ["elsewhere"]
