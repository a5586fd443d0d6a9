"""DLPack in both directions: sharing, flags, ownership and freeing."""

from __future__ import annotations

import gc
import sys
import weakref

import numpy as np
import pytest
from concurrent_calls import in_threads

from xrelax.runtime.dlpack import consume_capsule, live_exports
from xrelax.runtime.tensor import array, empty, from_dlpack, from_numpy

try:
    import torch
except ImportError:
    torch = None

needs_torch = pytest.mark.skipif(torch is None, reason="torch is not installed")

TORCH_DTYPES = [
    *("float16", "float32", "float64", "bfloat16", "bool"),
    *("int8", "int16", "int32", "int64", "uint8"),
]


class Producer:
    """Returns a given capsule, like a library that is not ours."""

    def __init__(self, source, *, device=(1, 0), legacy=False):
        self.source, self.device, self.legacy = source, device, legacy

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        if self.legacy and options:
            raise TypeError("unexpected keyword argument")
        return self.source.__dlpack__(**options)


@pytest.fixture(autouse=True)
def no_leaks():
    gc.collect()
    before = live_exports()
    yield
    gc.collect()
    assert live_exports() == before


@pytest.mark.sampled
@needs_torch
@pytest.mark.parametrize("dtype", TORCH_DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (2, 0, 3)])
def test_torch_shares_memory_both_ways(shape, dtype):
    x = array(np.ones(shape), dtype=dtype)
    t = torch.from_dlpack(x)
    assert (tuple(t.shape), str(t.dtype)) == (shape, f"torch.{dtype}")
    t.zero_()
    assert (x.numpy() == 0).all()
    back = from_dlpack(t)
    assert (back.shape, back.dtype) == (shape, dtype)
    np.asarray(back.view())[...] = x.view()
    if back.size:
        assert back.address == x.address


@pytest.mark.sampled
@needs_torch
@pytest.mark.parametrize("legacy", [False, True])
@pytest.mark.parametrize("dtype", TORCH_DTYPES)
def test_torch_comes_in_through_a_capsule_like_any_library(dtype, legacy):
    t = torch.ones(2, 3).to(getattr(torch, dtype))
    for source in (t, t.T, t[:, ::2], t[:0], t[0, 0]):
        direct, x = from_dlpack(source), from_dlpack(Producer(source, legacy=legacy))
        assert x.address == source.data_ptr()
        assert x.layout == direct.layout._replace(writable=not legacy)
        np.testing.assert_array_equal(x.numpy(), direct.numpy())


@needs_torch
def test_torch_writes_in_place_into_our_memory():
    x, w, out = (
        array(np.eye(2, dtype="float32")),
        array(np.full((2, 2), 3, "float32")),
        empty((2, 2)),
    )
    torch.mm(torch.from_dlpack(x), torch.from_dlpack(w).T, out=torch.from_dlpack(out))
    assert (out.numpy() == 3).all()


@needs_torch
def test_strided_torch_tensors_come_in_without_a_copy():
    t = torch.arange(6, dtype=torch.int32).reshape(2, 3)
    for strided in (t.T, t[:, ::2], t[1:]):
        x = from_dlpack(strided)
        assert x.address == strided.data_ptr()
        np.testing.assert_array_equal(x.numpy(), strided.numpy())
    np.testing.assert_array_equal(torch.from_dlpack(from_dlpack(t.T)).numpy(), t.T.numpy())


@needs_torch
def test_a_tensor_that_needs_gradients_is_refused_by_torch_itself():
    with pytest.raises(BufferError, match="gradient"):
        from_dlpack(torch.ones(2, requires_grad=True))


@needs_torch
def test_a_view_that_torch_would_negate_is_refused():
    with pytest.raises(BufferError, match=r"^expected a tensor without the negative bit"):
        from_dlpack(torch._neg_view(torch.ones(2)))


@needs_torch
def test_tensors_without_memory_are_refused_unless_they_are_empty():
    freed = torch.ones(2, 3)
    freed.untyped_storage().resize_(0)
    with pytest.raises(BufferError, match=r"for a tensor of shape \(2, 3\), got none$"):
        from_dlpack(freed)
    assert from_dlpack(torch.empty(0, 3)).shape == (0, 3)


def test_numpy_shares_writable_memory_through_version_1():
    x = array([1.0, 2.0])
    view = np.from_dlpack(x)
    view[0] = 5
    assert x.numpy()[0] == 5
    np.testing.assert_array_equal(
        np.from_dlpack(from_numpy(np.arange(6).reshape(2, 3).T)), [[0, 3], [1, 4], [2, 5]]
    )


def test_read_only_numpy_comes_in_and_goes_out_as_read_only():
    source = np.arange(3.0)
    source.flags.writeable = False
    x = from_dlpack(source)
    assert x.address == source.ctypes.data
    assert not np.from_dlpack(x).flags.writeable
    with pytest.raises(BufferError, match=r"^cannot export read-only memory without DLPack 1\.0$"):
        x.__dlpack__()
    assert not from_dlpack(Producer(x)).layout.writable


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "dltensor"),
        ({"max_version": None}, "dltensor"),
        ({"max_version": (0, 8)}, "dltensor"),
        ({"max_version": (1, 0)}, "dltensor_versioned"),
        ({"max_version": (2, 1), "dl_device": (1, 0), "copy": False}, "dltensor_versioned"),
    ],
)
def test_the_capsule_follows_the_version_asked_for(options, name):
    capsule = array([1]).__dlpack__(**options)
    assert f'"{name}"' in repr(capsule)
    memory = consume_capsule(capsule)
    assert f'"used_{name}"' in repr(capsule)
    assert (memory.shape, memory.dtype, memory.read_only) == ((1,), "int64", False)


def test_what_the_cpu_cannot_do_is_a_buffer_error():
    x = array([1])
    with pytest.raises(BufferError, match=r"^expected stream None for cpu memory, got 3$"):
        x.__dlpack__(stream=3)
    with pytest.raises(BufferError, match=r"^expected DLPack device \(1, 0\), got \(2, 0\)$"):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(
        BufferError, match=r"^expected memory on the cpu, got DLPack device \(2, 1\)$"
    ):
        from_dlpack(Producer(x, device=(2, 1)))


def test_copy_true_gives_other_memory():
    x = array([1, 2])
    assert consume_capsule(x.__dlpack__(copy=True)).address != x.address
    view = np.from_dlpack(x, copy=True)
    view[0] = 9
    assert x.numpy()[0] == 1


def test_a_producer_from_before_version_1_works_and_is_not_written():
    x = array([[1, 2]])
    y = from_dlpack(Producer(x, legacy=True))
    assert y.address == x.address and not y.layout.writable
    assert from_dlpack(x.__dlpack__()).layout.writable  # a capsule that the caller has made


def test_a_capsule_works_once():
    capsule = array([1]).__dlpack__()
    assert from_dlpack(capsule).numpy().tolist() == [1]
    with pytest.raises(BufferError, match=r"^expected an unused DLPack capsule$"):
        from_dlpack(capsule)
    with pytest.raises(BufferError, match=r"^expected an unused DLPack capsule$"):
        from_dlpack(object())


@pytest.mark.parametrize("versioned", [False, True])
def test_memory_is_freed_with_the_last_holder(versioned):
    x = array([1.0, 2.0])
    storage = weakref.ref(x.owner)
    before = live_exports()
    capsule = x.__dlpack__(max_version=(1, 0) if versioned else None)
    del x
    gc.collect()
    assert live_exports() == before + 1 and storage() is not None
    y = from_dlpack(capsule)
    del capsule
    gc.collect()
    assert y.numpy().tolist() == [1, 2] and storage() is not None
    del y
    gc.collect()
    assert live_exports() == before and storage() is None


def test_memory_that_a_finalizer_in_a_cycle_keeps_is_not_freed():
    kept, before = [], live_exports()

    class Cycle:
        def __init__(self):
            self.tensor, self.itself = from_dlpack(array([1.0, 2.0]).__dlpack__()), self

        def __del__(self):
            kept.append(self.tensor)

    Cycle()
    gc.collect()
    assert live_exports() == before + 1 and kept.pop().numpy().tolist() == [1, 2]
    gc.collect()
    assert live_exports() == before


def test_a_capsule_that_nobody_takes_frees_its_memory():
    x = array([1.0])
    storage, before = weakref.ref(x.owner), live_exports()
    capsules = [x.__dlpack__(), x.__dlpack__(max_version=(1, 0))]
    del x
    assert live_exports() == before + 2
    del capsules
    assert live_exports() == before and storage() is None


def test_sharing_again_and_again_leaves_reference_counts_alone():
    source = np.arange(4.0)
    x = from_numpy(source)
    before = sys.getrefcount(source), sys.getrefcount(x)
    for _ in range(50):
        np.from_dlpack(x)
        from_dlpack(Producer(source))
        x.__dlpack__()
    assert (sys.getrefcount(source), sys.getrefcount(x)) == before


@needs_torch
def test_our_memory_outlives_us_in_torch_and_theirs_in_us():
    t = torch.from_dlpack(array([1.0, 2.0]))
    gc.collect()
    assert t.tolist() == [1, 2]
    x = from_dlpack(torch.arange(3.0) + 1)
    gc.collect()
    assert x.numpy().tolist() == [1, 2, 3]


@needs_torch
def test_sharing_from_many_threads_at_once():
    x = array(np.arange(8.0))
    sums: list[float] = []

    def share(_: int):
        for _ in range(50):
            sums.append(float(torch.from_dlpack(x).sum()) + float(np.from_dlpack(x).sum()))

    in_threads(8, share)
    assert sums == [56.0] * 400


def test_unknown_element_types_are_named():
    with pytest.raises(
        TypeError, match=r"^expected a DLPack type of .*, got code 5, 64 bits, 1 lanes$"
    ):
        from_dlpack(Producer(np.zeros(2, "complex64")))
    with pytest.raises(TypeError, match=r", got complex64$"):
        from_numpy(np.zeros(2, "complex64"))


@needs_torch
@pytest.mark.parametrize("count", [1, 100_000])
def test_exceptions_outlive_tensors_that_are_freed_meanwhile(count):
    def both(exported, _):
        return exported

    def fail():
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        both(torch.from_dlpack(from_numpy(np.ones(count, "float32"))), fail())
