"""Whether an array fits a parameter, and what native code needs of it.

    internal i1 xrelax.view(ptr python, ptr tensor, ptr object, ptr dims, ptr word)

Takes exactly xrelax's tensors, NumPy's and torch's; writes the dims, and the address to `word`.
Gives false for all that the run time has to convert, copy or refuse; an exception may be pending.
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i1, i32, i64
from xdsl.dialects.llvm import LLVMArrayType
from xdsl.ir import Block, SSAValue

from ...runtime.call_words import DLPlace, Place, PythonWord, TensorWord
from .module_state import ModuleState
from .native_calls import call_symbol
from .python_code import PythonCode, start
from .types import PTR

_VIEW = "xrelax.view"
_FAILED = -1
"""What Python's conversion to an integer returns with an exception."""

CPU = 1
"""DLPack's device type."""


def view(
    f: PythonCode,
    tensor: SSAValue,
    value: SSAValue,
    dims: SSAValue,
    word: SSAValue,
) -> SSAValue:
    """Whether an object fits; its dims and address are written."""
    assert f.python is not None
    return call_symbol(f, _VIEW, (f.python, tensor, value, dims, word), i1)


def define_view(module: ModuleState) -> None:
    """Add the function."""
    f = start(module, _VIEW)
    tensor, value, dims, word = (f.add_argument(PTR) for _ in range(4))
    refuse = Block()
    rank = f.word(tensor, TensorWord.RANK, i64)
    kinds = (
        (PythonWord.ARRAY_TYPE, _array),
        (PythonWord.TENSOR_TYPE, _tensor),
        (PythonWord.TORCH_TYPE, _torch),
    )
    type_ = f.type_of(value)
    for kind, read in kinds:
        inside, following = Block(), Block()
        f.branch_if(f.equal(type_, f.known(kind)), inside, following)
        f.continue_in(inside)
        f.store(read(f, tensor, value, rank, dims, refuse), word)
        f.give(f.integer(1, i1))
        f.continue_in(following)
    f.branch(refuse)
    f.continue_in(refuse)
    f.finish(status=f.integer(0, i1))


def _array(
    f: PythonCode,
    tensor: SSAValue,
    value: SSAValue,
    rank: SSAValue,
    dims: SSAValue,
    refuse: Block,
) -> SSAValue:
    """The address of a NumPy array: C-contiguous and aligned, writable if it is written."""
    dtype = f.word(tensor, TensorWord.ARRAY_DTYPE)
    f.unless(f.equal(f.load(value, Place.ARRAY_DTYPE), dtype), refuse)
    f.unless(f.equal(f.wide(f.load(value, Place.ARRAY_RANK, i32)), rank), refuse)
    needed = f.half(f.word(tensor, TensorWord.ARRAY_FLAGS, i64))
    flags = f.load(value, Place.ARRAY_FLAGS, i32)
    f.unless(f.equal(f.bits(flags, needed), needed), refuse)
    f.copy(f.load(value, Place.ARRAY_DIMS), dims, rank)
    return f.load(value, Place.ARRAY_DATA, i64)


def _tensor(
    f: PythonCode,
    tensor: SSAValue,
    value: SSAValue,
    rank: SSAValue,
    dims: SSAValue,
    refuse: Block,
) -> SSAValue:
    """The address of one of xrelax's tensors, by its `Layout`."""
    layout = f.load(value, Place.TENSOR_LAYOUT)
    f.unless(f.opposite(f.is_zero(layout)), refuse)
    f.unless(f.equal(f.type_of(layout), f.known(PythonWord.LAYOUT_TYPE)), refuse)

    def field(number: int) -> SSAValue:
        return f.call(PythonWord.TUPLE_ITEM, layout, f.integer(number))

    shape, dtype, strides, writable, aligned = map(field, range(5))
    f.unless(f.equal(dtype, f.word(tensor, TensorWord.DTYPE_NAME)), refuse)
    f.unless(f.equal(strides, f.known(PythonWord.NONE)), refuse)
    f.unless(f.equal(aligned, f.known(PythonWord.TRUE)), refuse)
    may_write = f.equal(writable, f.known(PythonWord.TRUE))
    only_read = f.is_zero(f.word(tensor, TensorWord.WRITTEN, i64))
    f.unless(f.emit(llvm.OrOp, (may_write, only_read), i1), refuse)
    f.unless(f.equal(f.type_of(shape), f.known(PythonWord.TUPLE_TYPE)), refuse)
    f.unless(f.equal(f.call(PythonWord.TUPLE_SIZE, shape, returns=i64), rank), refuse)

    def dim(i: SSAValue) -> tuple[SSAValue, ...]:
        size = f.call(PythonWord.TUPLE_ITEM, shape, i)
        f.store(f.call(PythonWord.INT_AS, size, returns=i64), f.moved(dims, i))
        return ()

    f.repeat(rank, dim)
    return tensor_address(f, value, refuse)


def tensor_address(f: PythonCode, value: SSAValue, refuse: Block) -> SSAValue:
    """The address that one of xrelax's tensors has."""
    held = f.load(value, Place.TENSOR_ADDRESS)
    f.unless(f.opposite(f.is_zero(held)), refuse)
    address = f.call(PythonWord.INT_AS, held, returns=i64)
    f.unless(f.opposite(f.equal(address, f.integer(_FAILED))), refuse)
    return address


def _torch(
    f: PythonCode,
    tensor: SSAValue,
    value: SSAValue,
    rank: SSAValue,
    dims: SSAValue,
    refuse: Block,
) -> SSAValue:
    """The address of a torch tensor, by DLPack, which does not say all that matters."""
    for attribute in (
        f.call(PythonWord.GET_ATTR, value, f.known(PythonWord.REQUIRES_GRAD)),
        _method(f, value, f.known(PythonWord.IS_NEG)),
    ):
        _refuse_true(f, attribute, refuse)
    memory = f.alloca(LLVMArrayType(DLPlace.WORDS, i64), 8)
    status = f.call(PythonWord.DL_VIEW, value, memory, returns=i32)
    f.unless(f.is_zero(status), refuse)
    device = f.load(memory, DLPlace.DEVICE, i32)
    f.unless(f.equal(device, f.integer(CPU, i32)), refuse)
    f.unless(f.equal(f.wide(f.load(memory, DLPlace.RANK, i32)), rank), refuse)
    dtype = f.half(f.word(tensor, TensorWord.DL_DTYPE, i64))
    f.unless(f.equal(f.load(memory, DLPlace.DTYPE, i32), dtype), refuse)
    shape = f.load(memory, DLPlace.SHAPE)
    _refuse_strided(f, shape, f.load(memory, DLPlace.STRIDES), rank, refuse)
    f.copy(shape, dims, rank)
    start_ = f.load(memory, DLPlace.DATA, i64)
    f.unless(f.opposite(f.is_zero(start_)), refuse)  # nothing there, or no elements
    address = f.add(start_, f.load(memory, DLPlace.OFFSET, i64))
    mask = f.word(tensor, TensorWord.ALIGN_MASK, i64)
    f.unless(f.is_zero(f.bits(address, mask)), refuse)
    return address


def _method(f: PythonCode, value: SSAValue, name: SSAValue) -> SSAValue:
    args = f.alloca(PTR, 8)
    f.store(value, args)
    return f.call(PythonWord.VECTORCALL_METHOD, name, args, f.integer(1), f.null())


def _refuse_true(f: PythonCode, answer: SSAValue, refuse: Block) -> None:
    """Go on unless an object that is owned here is true, or missing."""
    f.unless(f.opposite(f.is_zero(answer)), refuse)
    f.do(PythonWord.DECREF, answer)  # what is true or false lives on
    f.unless(f.opposite(f.equal(answer, f.known(PythonWord.TRUE))), refuse)


def _refuse_strided(
    f: PythonCode, shape: SSAValue, strides: SSAValue, rank: SSAValue, refuse: Block
) -> None:
    """Go on if the elements lie one after the other; those with a dim of 0 may be refused."""

    def check(i: SSAValue, expected: SSAValue) -> tuple[SSAValue, ...]:
        last = f.add(rank, f.integer(-1))
        axis = f.emit(llvm.SubOp, (last, i), i64)
        size = f.item(shape, axis, i64)
        is_next = f.equal(f.item(strides, axis, i64), expected)
        is_one = f.equal(size, f.integer(1))
        f.unless(f.emit(llvm.OrOp, (is_next, is_one), i1), refuse)
        return (f.emit(llvm.MulOp, (expected, size), i64),)

    count = f.select(f.is_zero(strides), f.integer(0), rank)  # none: C-contiguous
    f.repeat(count, check, (f.integer(1),))
