"""Memory for tensors and scratch: alignment, huge pages, pools."""

from __future__ import annotations

import gc
import sys

import numpy as np
import pytest
from concurrent_calls import in_threads
from native_functions import build, fresh

from xrelax.runtime import memory
from xrelax.runtime.memory import (
    ALIGNMENT,
    BLOCKS,
    HUGE_PAGE,
    ArenaPool,
    BlockPool,
    Storage,
    buffer_address,
    use_huge_pages,
)
from xrelax.runtime.tensor import Tensor, empty


@pytest.mark.parametrize("nbytes", [0, 1, 63, 64, 65, 4095, 4096, 4097, 100_000])
def test_storage_is_aligned_and_all_of_it_usable(nbytes):
    storages = [Storage(nbytes) for _ in range(3)]
    views = [Tensor(s.address, empty(nbytes, "uint8").layout, s).view() for s in storages]
    for i, view in enumerate(views):
        view[:] = i
    for i, (storage, view) in enumerate(zip(storages, views, strict=True)):
        assert storage.address % ALIGNMENT == 0
        assert (view == i).all()


def test_an_arena_pool_hands_out_the_same_memory_again():
    pool = ArenaPool()
    first = pool.take(100)
    assert pool.take(100) is not first
    pool.give(first)
    assert pool.take(50) is first
    pool.give(first)
    assert pool.take(200).nbytes == 200
    assert len(pool) == 0


@pytest.mark.parametrize("nbytes", [HUGE_PAGE // 2, 5 * HUGE_PAGE])
@pytest.mark.parametrize("filled", [False, True])
def test_memory_on_huge_pages_keeps_its_values(nbytes, filled):
    values = np.arange(nbytes // 8)
    use_huge_pages(values.ctypes.data, values.nbytes, filled=filled)
    np.testing.assert_array_equal(values, np.arange(nbytes // 8))
    storage = Storage(nbytes)
    use_huge_pages(storage.address, nbytes, filled=filled)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux has madvise")
def test_arenas_move_to_huge_pages(monkeypatch):
    asked = []
    monkeypatch.setattr(memory, "_advise", lambda: lambda *args: asked.append(args[2]) or 0)
    pool = ArenaPool()
    pool.give(pool.take(HUGE_PAGE // 2))
    assert not asked
    pool.take(5 * HUGE_PAGE)
    assert asked == [memory._HUGE_PAGES, memory._COLLAPSE]
    Storage(5 * HUGE_PAGE)
    assert asked[2:] == [memory._HUGE_PAGES]


def test_memory_of_files_stays_as_it_is(tmp_path):
    np.save(tmp_path / "values.npy", np.arange(HUGE_PAGE))
    mapped = np.load(tmp_path / "values.npy", mmap_mode="r")
    use_huge_pages(mapped.ctypes.data, mapped.nbytes, filled=True)
    np.testing.assert_array_equal(mapped, np.arange(HUGE_PAGE))


def test_a_pooled_block_comes_again_when_nothing_refers_to_it():
    pool = BlockPool(8 * HUGE_PAGE)
    first, second = pool.take(HUGE_PAGE + 1), pool.take(HUGE_PAGE + 1)
    addresses = {buffer_address(first), buffer_address(second)}
    assert len(addresses) == 2 and pool.nbytes == 0
    del first
    assert pool.nbytes == 2 * HUGE_PAGE
    again = pool.take(2 * HUGE_PAGE)
    del second
    others = pool.take(2 * HUGE_PAGE), pool.take(HUGE_PAGE)
    assert {buffer_address(again), buffer_address(others[0])} == addresses
    assert buffer_address(others[1]) not in addresses


def test_a_block_pool_holds_no_more_than_its_limit():
    pool = BlockPool(4 * HUGE_PAGE)
    blocks = [pool.take(size * HUGE_PAGE) for size in (3, 1, 2, 4, 5)]
    held = []
    while blocks:
        del blocks[0]
        held.append(pool.nbytes // HUGE_PAGE)
    assert held == [3, 4, 0, 4, 0]


def test_a_block_pool_is_emptied_where_memory_is_short(monkeypatch):
    pool, allocate = BlockPool(8 * HUGE_PAGE), memory._large_block
    pool.take(HUGE_PAGE)
    assert pool.nbytes == HUGE_PAGE

    def short(nbytes):
        if pool.nbytes or nbytes > 2 * HUGE_PAGE:
            raise MemoryError(f"cannot allocate {nbytes} bytes")
        return allocate(nbytes)

    monkeypatch.setattr(memory, "_large_block", short)
    block = pool.take(2 * HUGE_PAGE)
    assert pool.nbytes == 0
    del block
    with pytest.raises(MemoryError, match=f"^cannot allocate {3 * HUGE_PAGE} bytes$"):
        pool.take(3 * HUGE_PAGE)


def test_large_results_use_the_memory_of_former_ones_that_nothing_refers_to():
    main = fresh(build(), "main")
    x = np.ones((HUGE_PAGE // 16, 4), "float32")
    zeros = np.zeros_like(x)
    first = main(x, zeros)
    view = first.view()
    address = first.address
    del first
    second = main(2 * x, zeros)  # while a view of the first lives
    assert second.address != address and (view == 1).all()
    del view
    third = main(3 * x, zeros)
    assert third.address == address
    assert (second.numpy() == 4).all() and (third.numpy() == 9).all()


def test_finalizers_of_garbage_in_cycles_use_and_keep_results():
    main = fresh(build(), "main")
    x = np.ones((HUGE_PAGE // 16, 4), "float32")
    kept, found = [], []

    class Cycle:
        def __init__(self, result):
            self.result, self.itself = result, self

        def __del__(self):
            found.append(main(self.result, x).numpy())
            kept.append(self.result)

    Cycle(main(x, x))
    gc.collect()
    later = main(3 * x, x)
    assert (found[0] == 5).all() and (kept[0].numpy() == 2).all() and (later.numpy() == 10).all()
    kept.clear()
    assert main(x, x).address != later.address


def test_threads_share_one_pool():
    main = fresh(build(), "main")
    errors = []

    def work(seed):
        x = np.full((HUGE_PAGE // 16, 4), seed, "float32")
        kept = []
        for i in range(20):
            kept = [*kept[-(i % 3) :], main(x, x)]
            errors.extend((seed, i) for t in kept if not (t.numpy() == seed * seed + seed).all())

    in_threads(4, work)
    assert not errors and BLOCKS.nbytes <= 1 << 28
