"""What a call from Python makes: results and scratch memory.

    internal ptr xrelax.result(ptr python, ptr call, i64 index, ptr plan, ptr dims, ptr word)
    internal ptr xrelax.take_arena(ptr python, ptr list, i64 bytes, ptr word)

Both return an object that the caller owns, and write where its memory is to `word`; null where
there is none, perhaps with an exception.
"""

from __future__ import annotations

from collections.abc import Callable

from ..call_words import SMALL_RESULT, CallWord, DLPlace, Place, PlanWord, PythonWord, TensorWord
from ..memory import ALIGNMENT, HUGE_PAGE
from .arguments import CPU, tensor_address, torch_address
from .code import I32, I64, PTR, Block, PythonCode, Value, start

_LARGE_IN_TORCH = 8 * HUGE_PAGE
"""Bytes from which results for torch have memory of the pool too: malloc, which torch uses, gives
such memory back to the system when it is freed."""

_RESULT, _TAKE_ARENA = "@xrelax.result", "@xrelax.take_arena"


def make_result(f: PythonCode, *args: Value) -> Value:
    """A new result: of `call`, with an index among the results, `plan`, dims, `word`."""
    assert f.python is not None
    return f.call_function(_RESULT, f.python, *args, returns=PTR)


def take_arena(f: PythonCode, arenas: Value, nbytes: Value, word: Value) -> Value:
    """The last `Storage` of a list, which leaves it; null if there is none that is large enough."""
    assert f.python is not None
    return f.call_function(_TAKE_ARENA, f.python, arenas, nbytes, word, returns=PTR)


def take_arena_function() -> str:
    """The function `xrelax.take_arena`."""
    f = start(_TAKE_ARENA)
    arenas, nbytes, word = f.add_argument(PTR), f.add_argument(I64), f.add_argument(PTR)
    refuse = f.new_block()
    count = f.call(PythonWord.LIST_SIZE, arenas, returns=I64)
    f.unless(f.compare("sgt", count, f.integer(0)), refuse)
    last = f.add(count, f.integer(-1))
    storage = f.call(PythonWord.LIST_ITEM, arenas, last)
    size = f.call(PythonWord.INT_AS, f.load(storage, Place.STORAGE_BYTES), returns=I64)
    f.unless(f.compare("sle", nbytes, size), refuse)
    f.do(PythonWord.INCREF, storage)
    f.call(PythonWord.LIST_SLICE, arenas, last, count, f.null(), returns=I32)
    address = f.load(storage, Place.STORAGE_ADDRESS)
    f.store(f.call(PythonWord.INT_AS, address, returns=I64), word)
    f.give(storage)
    f.continue_in(refuse)
    return f.text(f.null())


def result_function() -> str:
    """The function `xrelax.result`."""
    f = start(_RESULT)
    call, index = f.add_argument(PTR), f.add_argument(I64)
    plan, dims, word = (f.add_argument(PTR) for _ in range(3))
    position = f.add(f.word(call, CallWord.ARITY, I64), index)
    nbytes = f.item(f.word(plan, PlanWord.BYTES), position, I64)
    layout = f.item(f.word(plan, PlanWord.LAYOUTS), index)
    in_torch, ours, small, large, refuse = (f.new_block() for _ in range(5))
    allocate = f.word(call, CallWord.ALLOCATE)
    returns_torch = f.word(call, CallWord.RETURNS_TORCH, I64)
    f.branch_if(f.is_zero(returns_torch), ours, in_torch)
    f.continue_in(in_torch)
    descriptor = f.moved(f.word(call, CallWord.TENSORS), position, TENSOR_WORDS)
    pooled, plain = f.new_block(), f.new_block()
    f.branch_if(f.less(f.integer(_LARGE_IN_TORCH - 1), nbytes), pooled, plain)
    f.continue_in(pooled)
    f.give(_large_result(f, allocate, layout, torch_address, word, refuse))
    f.continue_in(plain)
    f.give(_torch_result(f, descriptor, nbytes, dims, word, refuse))
    f.continue_in(ours)
    f.branch_if(f.less(f.integer(SMALL_RESULT), nbytes), large, small)
    f.continue_in(large)
    f.give(_large_result(f, allocate, layout, tensor_address, word, refuse))
    f.continue_in(small)
    f.give(_small_result(f, nbytes, layout, word, refuse))
    f.continue_in(refuse)
    return f.text(f.null())


TENSOR_WORDS = f"[{len(TensorWord)} x i64]"
"""The words of one parameter or result."""


def _large_result(
    f: PythonCode,
    allocate: Value,
    layout: Value,
    address: Callable[[PythonCode, Value, Block], Value],
    word: Value,
    refuse: Block,
) -> Value:
    """A tensor that Python makes, with memory that suits its size."""
    args = f.alloca(PTR)
    f.store(layout, args)
    made = f.call(PythonWord.VECTORCALL, allocate, args, f.integer(1), f.null())
    f.unless(f.opposite(f.is_zero(made)), refuse)
    without_memory = f.new_block()
    f.store(address(f, made, without_memory), word)
    following = f.block
    f.continue_in(without_memory)
    f.do(PythonWord.DECREF, made)
    f.branch(refuse)
    f.continue_in(following)
    return made


def _small_result(f: PythonCode, nbytes: Value, layout: Value, word: Value, refuse: Block) -> Value:
    """A tensor on the aligned part of a bytes object, without other references."""
    room = f.add(nbytes, f.integer(ALIGNMENT))
    owner = f.call(PythonWord.BYTES_NEW, f.null(), room)
    f.unless(f.opposite(f.is_zero(owner)), refuse)
    made = f.call(PythonWord.ALLOCATE_OBJECT, f.known(PythonWord.TENSOR_TYPE), f.integer(0))
    without_tensor = f.new_block(PTR)
    f.unless(f.opposite(f.is_zero(made)), without_tensor, [owner])
    f.store(owner, made, Place.TENSOR_OWNER)
    f.do(PythonWord.INCREF, layout)
    f.store(layout, made, Place.TENSOR_LAYOUT)
    start_ = f.number(f.call(PythonWord.BYTES_ADDRESS, owner))
    address = f.bits(f.add(start_, f.integer(ALIGNMENT - 1)), f.integer(-ALIGNMENT))
    held = f.call(PythonWord.INT_FROM, address)
    f.unless(f.opposite(f.is_zero(held)), without_tensor, [made])
    f.store(held, made, Place.TENSOR_ADDRESS)
    f.store(address, word)
    following = f.block
    f.continue_in(without_tensor)
    f.do(PythonWord.DECREF, without_tensor.args[0])
    f.branch(refuse)
    f.continue_in(following)
    return made


def _torch_result(
    f: PythonCode, descriptor: Value, nbytes: Value, dims: Value, word: Value, refuse: Block
) -> Value:
    """A tensor that torch makes, with memory of torch.

    It has none under a mode of torch that makes tensors without data.
    """
    wanted = f.alloca(f"[{DLPlace.WORDS} x i64]")
    for offset in range(0, 8 * DLPlace.WORDS, 8):
        f.store(f.integer(0), wanted, offset)
    f.store(f.integer(CPU, I32), wanted, DLPlace.DEVICE)
    f.store(f.half(f.word(descriptor, TensorWord.RANK, I64)), wanted, DLPlace.RANK)
    f.store(f.half(f.word(descriptor, TensorWord.DL_DTYPE, I64)), wanted, DLPlace.DTYPE)
    f.store(dims, wanted, DLPlace.SHAPE)
    place = f.alloca(PTR)
    ignore = f.known(PythonWord.DL_IGNORE)
    status = f.call(PythonWord.DL_ALLOCATE, wanted, place, f.null(), ignore, returns=I32)
    f.unless(f.is_zero(status), refuse)
    managed = f.load(place)
    start_ = f.load(managed, DLPlace.MANAGED + DLPlace.DATA, I64)
    offset = f.load(managed, DLPlace.MANAGED + DLPlace.OFFSET, I64)
    f.store(f.add(start_, offset), word)
    status = f.call(PythonWord.DL_OBJECT, managed, place, returns=I32)
    f.unless(f.is_zero(status), refuse)
    made, without_data, with_data = f.load(place), f.new_block(), f.new_block()
    lacking = f.bits(f.is_zero(start_), f.opposite(f.is_zero(nbytes)))
    f.branch_if(lacking, without_data, with_data)
    f.continue_in(without_data)
    f.do(PythonWord.DECREF, made)
    f.branch(refuse)
    f.continue_in(with_data)
    return made
