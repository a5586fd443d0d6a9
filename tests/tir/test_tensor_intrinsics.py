"""Registered tensor intrinsics of dot products: results, and the instruction of each target."""

import re

import numpy as np
import pytest

import xrelax
from xrelax import te, tir
from xrelax.inspection import module_of, stage_text
from xrelax.tir.schedule_analysis import get_tensorize_loop_mapping, is_output_block
from xrelax.tir.schedule_transform import tile_with_tensor_intrin
from xrelax.tir.tensor_intrin import arm_cpu, x86

INTRINSICS = {
    x86.VNNI_DOT_16x4_INTRIN: (16, "uint8", "int8", "int32"),
    x86.AVX512_DOT_16x4_INTRIN: (16, "uint8", "int8", "int32"),
    arm_cpu.ARM_DOT_4x4_i8_NEON_INTRIN: (4, "int8", "int8", "int32"),
    arm_cpu.ARM_DOT_4x4_i8_SDOT_INTRIN: (4, "int8", "int8", "int32"),
    arm_cpu.ARM_DOT_4x4_u8_UDOT_INTRIN: (4, "uint8", "uint8", "uint32"),
    arm_cpu.ARM_DOT_4x4_u8_HDOT_INTRIN: (4, "uint8", "uint8", "int32"),
}
ROWS, BLOCKS, WORDS = 3, 2, 3


def product(intrinsic: str) -> tir.Schedule:
    """A product with a packed weight, by an intrinsic."""
    lanes, lhs, rhs, out = INTRINSICS[intrinsic]
    x = te.placeholder((ROWS, 4 * WORDS), name="X", dtype=lhs)
    w = te.placeholder((BLOCKS * lanes, 4 * WORDS), name="W", dtype=rhs)
    k = te.reduce_axis((0, 4 * WORDS), name="k")
    y = te.compute(
        (ROWS, BLOCKS * lanes),
        lambda i, j: te.sum(x[i, k].astype(out) * w[j, k].astype(out), axis=k),
        name="Y",
    )
    sch = tir.Schedule(te.create_prim_func([x, w, y]), debug_mask="all")
    sch.transform_layout("Y", "W", lambda i, j: [i // lanes, j // 4, i % lanes, j % 4])
    _, j, k = sch.get_loops("Y")
    _, lane = sch.split(j, factors=[None, lanes])
    word, byte = sch.split(k, factors=[None, 4])
    sch.reorder(word, lane, byte)
    sch.decompose_reduction("Y", word)
    sch.tensorize(lane, intrinsic)
    return sch


@pytest.mark.parametrize("intrinsic", INTRINSICS)
def test_results(intrinsic):
    lanes, lhs, rhs, out = INTRINSICS[intrinsic]
    draw = np.random.default_rng(0).integers
    x = draw(0, 256, (ROWS, 4 * WORDS), "uint8").view(lhs)
    w = draw(0, 256, (BLOCKS * lanes, 4 * WORDS), "uint8").view(rhs)
    x[0], w[0], w[1] = np.iinfo(lhs).max, np.iinfo(rhs).max, np.iinfo(rhs).min
    packed = w.reshape(BLOCKS, lanes, WORDS, 4).swapaxes(1, 2).copy()
    y = np.empty((ROWS, BLOCKS * lanes), out)
    xrelax.build(product(intrinsic).mod)["main"](x, packed, y)
    np.testing.assert_array_equal(y, (x.astype("int64") @ w.T.astype("int64")).astype(out))


@pytest.mark.parametrize("k", [8, 6])
def test_tiles_of_an_intrinsic(k):
    x, w = te.placeholder((3, k), "int8", name="X"), te.placeholder((8, k), "int8", name="W")
    r = te.reduce_axis((0, k), name="k")
    y = te.compute(
        (3, 8), lambda i, j: te.sum(x[i, r].astype("int32") * w[j, r].astype("int32"), r), name="Y"
    )
    sch = tir.Schedule(te.create_prim_func([x, w, y]), debug_mask="all")
    intrinsic = arm_cpu.ARM_DOT_4x4_i8_SDOT_INTRIN
    assert tile_with_tensor_intrin(sch, "Y", x86.VNNI_DOT_16x4_INTRIN) is None
    loop = tile_with_tensor_intrin(sch, "Y", intrinsic, allow_padding=True)
    assert tile_with_tensor_intrin(sch, "Y", intrinsic) is None
    sch.decompose_reduction("Y", sch.get_loops("Y")[2])
    sch.tensorize(loop, intrinsic)
    a, b = (np.arange(n * k, dtype="int8").reshape(n, k) for n in (3, 8))
    result = np.empty((3, 8), "int32")
    xrelax.build(sch.mod)["main"](a, b, result)
    np.testing.assert_array_equal(result, a.astype("int32") @ b.T.astype("int32"))


def test_a_tile_of_an_unknown_intrinsic():
    sch = product(x86.VNNI_DOT_16x4_INTRIN)
    with pytest.raises(tir.ScheduleError, match="expected a registered tensor intrinsic, got 'no'"):
        tile_with_tensor_intrin(sch, "Y_init", "no")


@pytest.mark.parametrize(
    ("intrinsic", "target", "instruction"),
    [
        (
            x86.VNNI_DOT_16x4_INTRIN,
            "x86_64-linux-gnu -mcpu=znver4",
            r"vpdpbusd\t%zmm",
        ),
        (
            arm_cpu.ARM_DOT_4x4_i8_SDOT_INTRIN,
            "aarch64-linux-gnu -mcpu=neoverse-v1",
            r"sdot\tv\d+\.4s",
        ),
    ],
)
def test_instruction(intrinsic, target, instruction):
    text = stage_text(module_of(product(intrinsic).mod), "asm", target=f"llvm -mtriple={target}")
    assert re.search(instruction, text)


def test_loops_of_an_intrinsic():
    """Those of its description, by which extents are divided or padded."""
    intrinsic = arm_cpu.ARM_DOT_4x4_i8_SDOT_INTRIN
    x, w = (te.placeholder((n, 8), "int8", name=name) for n, name in ((6, "X"), (10, "W")))
    k = te.reduce_axis((0, 8), name="k")
    y = te.compute(
        (6, 10),
        lambda i, j: te.sum(x[i, k].astype("int32") * w[j, k].astype("int32"), axis=k),
        name="Y",
    )
    sch = tir.Schedule(te.create_prim_func([x, w, y]))
    desc = tir.TensorIntrin.get(intrinsic).desc
    assert is_output_block(sch, "Y")
    assert get_tensorize_loop_mapping(sch, "Y", desc) is None
    info = get_tensorize_loop_mapping(sch, "Y", desc, allow_padding=True)
    assert info is not None and info.block_iter_paddings == [1, 4, 1]
    found = [sch.get(loop).loop_var.name for loop in info.loop_map]
    assert found == [sch.get(loop).loop_var.name for loop in sch.get_loops("Y")[1:]]
    assert [int(tile.extent) for tile in info.loop_map.values()] == [4, 4]
    assert list(info.desc_loop_indexer.values()) == [0, 1]
