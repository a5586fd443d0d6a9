"""Whether an array fits a parameter, and what native code needs of it.

    internal i1 xrelax.view(ptr python, ptr tensor, ptr object, ptr dims, ptr word)

Takes exactly xrelax's tensors, NumPy's and torch's; writes the dims, and the address to `word`.
Gives false for all that the run time has to convert, copy or refuse; an exception may be pending.
"""

from __future__ import annotations

from ..call_words import DLPlace, Place, PythonWord, TensorWord
from .code import I1, I32, I64, PTR, Block, PythonCode, Value, start

_VIEW = "@xrelax.view"
_FAILED = -1
"""What Python's conversion to an integer returns with an exception."""

CPU = 1
"""DLPack's device type."""


def view(f: PythonCode, tensor: Value, value: Value, dims: Value, word: Value) -> Value:
    """Whether an object fits; its dims and address are written."""
    assert f.python is not None
    return f.call_function(_VIEW, f.python, tensor, value, dims, word, returns=I1)


def view_function() -> str:
    """The function `xrelax.view`."""
    f = start(_VIEW)
    tensor, value, dims, word = (f.add_argument(PTR) for _ in range(4))
    refuse = f.new_block()
    rank = f.word(tensor, TensorWord.RANK, I64)
    kinds = (
        (PythonWord.ARRAY_TYPE, _array),
        (PythonWord.TENSOR_TYPE, _tensor),
        (PythonWord.TORCH_TYPE, _torch),
    )
    type_ = f.type_of(value)
    for kind, read in kinds:
        inside, following = f.new_block(), f.new_block()
        f.branch_if(f.equal(type_, f.known(kind)), inside, following)
        f.continue_in(inside)
        f.store(read(f, tensor, value, rank, dims, refuse), word)
        f.give(f.integer(1, I1))
        f.continue_in(following)
    f.branch(refuse)
    f.continue_in(refuse)
    return f.text(f.integer(0, I1))


def _array(
    f: PythonCode, tensor: Value, value: Value, rank: Value, dims: Value, refuse: Block
) -> Value:
    """The address of a NumPy array: C-contiguous and aligned, writable if it is written."""
    dtype = f.word(tensor, TensorWord.ARRAY_DTYPE)
    f.unless(f.equal(f.load(value, Place.ARRAY_DTYPE), dtype), refuse)
    f.unless(f.equal(f.wide(f.load(value, Place.ARRAY_RANK, I32)), rank), refuse)
    needed = f.half(f.word(tensor, TensorWord.ARRAY_FLAGS, I64))
    flags = f.load(value, Place.ARRAY_FLAGS, I32)
    f.unless(f.equal(f.bits(flags, needed), needed), refuse)
    f.copy(f.load(value, Place.ARRAY_DIMS), dims, rank)
    return f.load(value, Place.ARRAY_DATA, I64)


def _tensor(
    f: PythonCode, tensor: Value, value: Value, rank: Value, dims: Value, refuse: Block
) -> Value:
    """The address of one of xrelax's tensors, by its `Layout`."""
    layout = f.load(value, Place.TENSOR_LAYOUT)
    f.unless(f.opposite(f.is_zero(layout)), refuse)
    f.unless(f.equal(f.type_of(layout), f.known(PythonWord.LAYOUT_TYPE)), refuse)

    def field(number: int) -> Value:
        return f.call(PythonWord.TUPLE_ITEM, layout, f.integer(number))

    shape, dtype, strides, writable, aligned = map(field, range(5))
    f.unless(f.equal(dtype, f.word(tensor, TensorWord.DTYPE_NAME)), refuse)
    f.unless(f.equal(strides, f.known(PythonWord.NONE)), refuse)
    f.unless(f.equal(aligned, f.known(PythonWord.TRUE)), refuse)
    may_write = f.equal(writable, f.known(PythonWord.TRUE))
    only_read = f.is_zero(f.word(tensor, TensorWord.WRITTEN, I64))
    f.unless(f.either(may_write, only_read), refuse)
    f.unless(f.equal(f.type_of(shape), f.known(PythonWord.TUPLE_TYPE)), refuse)
    f.unless(f.equal(f.call(PythonWord.TUPLE_SIZE, shape, returns=I64), rank), refuse)

    def dim(i: Value) -> tuple[Value, ...]:
        size = f.call(PythonWord.TUPLE_ITEM, shape, i)
        f.store(f.call(PythonWord.INT_AS, size, returns=I64), f.moved(dims, i))
        return ()

    f.repeat(rank, dim)
    return tensor_address(f, value, refuse)


def tensor_address(f: PythonCode, value: Value, refuse: Block) -> Value:
    """The address that one of xrelax's tensors has."""
    held = f.load(value, Place.TENSOR_ADDRESS)
    f.unless(f.opposite(f.is_zero(held)), refuse)
    address = f.call(PythonWord.INT_AS, held, returns=I64)
    f.unless(f.opposite(f.equal(address, f.integer(_FAILED))), refuse)
    return address


def _torch(
    f: PythonCode, tensor: Value, value: Value, rank: Value, dims: Value, refuse: Block
) -> Value:
    """The address of a torch tensor, by DLPack, which does not say all that matters."""
    for attribute in (
        f.call(PythonWord.GET_ATTR, value, f.known(PythonWord.REQUIRES_GRAD)),
        _method(f, value, f.known(PythonWord.IS_NEG)),
    ):
        _refuse_true(f, attribute, refuse)
    memory = _torch_memory(f, value, refuse)
    device = f.load(memory, DLPlace.DEVICE, I32)
    f.unless(f.equal(device, f.integer(CPU, I32)), refuse)
    f.unless(f.equal(f.wide(f.load(memory, DLPlace.RANK, I32)), rank), refuse)
    dtype = f.half(f.word(tensor, TensorWord.DL_DTYPE, I64))
    f.unless(f.equal(f.load(memory, DLPlace.DTYPE, I32), dtype), refuse)
    shape = f.load(memory, DLPlace.SHAPE)
    _refuse_strided(f, shape, f.load(memory, DLPlace.STRIDES), rank, refuse)
    f.copy(shape, dims, rank)
    address = _data_address(f, memory, refuse)
    mask = f.word(tensor, TensorWord.ALIGN_MASK, I64)
    f.unless(f.is_zero(f.bits(address, mask)), refuse)
    return address


def torch_address(f: PythonCode, value: Value, refuse: Block) -> Value:
    """The address that a new torch tensor has."""
    return _data_address(f, _torch_memory(f, value, refuse), refuse)


def _torch_memory(f: PythonCode, value: Value, refuse: Block) -> Value:
    """What DLPack says of a torch tensor."""
    memory = f.alloca(f"[{DLPlace.WORDS} x i64]")
    status = f.call(PythonWord.DL_VIEW, value, memory, returns=I32)
    f.unless(f.is_zero(status), refuse)
    return memory


def _data_address(f: PythonCode, memory: Value, refuse: Block) -> Value:
    start_ = f.load(memory, DLPlace.DATA, I64)
    f.unless(f.opposite(f.is_zero(start_)), refuse)  # nothing there, or no elements
    return f.add(start_, f.load(memory, DLPlace.OFFSET, I64))


def _method(f: PythonCode, value: Value, name: Value) -> Value:
    args = f.alloca(PTR)
    f.store(value, args)
    return f.call(PythonWord.VECTORCALL_METHOD, name, args, f.integer(1), f.null())


def _refuse_true(f: PythonCode, answer: Value, refuse: Block) -> None:
    """Go on unless an object that is owned here is true, or missing."""
    f.unless(f.opposite(f.is_zero(answer)), refuse)
    f.do(PythonWord.DECREF, answer)  # what is true or false lives on
    f.unless(f.opposite(f.equal(answer, f.known(PythonWord.TRUE))), refuse)


def _refuse_strided(
    f: PythonCode, shape: Value, strides: Value, rank: Value, refuse: Block
) -> None:
    """Go on if the elements lie one after the other; those with a dim of 0 may be refused."""

    def check(i: Value, expected: Value) -> tuple[Value, ...]:
        last = f.add(rank, f.integer(-1))
        axis = f.binary("sub", last, i)
        size = f.item(shape, axis, I64)
        is_next = f.equal(f.item(strides, axis, I64), expected)
        is_one = f.equal(size, f.integer(1))
        f.unless(f.either(is_next, is_one), refuse)
        return (f.binary("mul", expected, size),)

    count = f.select(f.is_zero(strides), f.integer(0), rank)  # none: C-contiguous
    f.repeat(count, check, (f.integer(1),))
