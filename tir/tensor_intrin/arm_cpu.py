"""Tensor intrinsics of AArch64, in TVM ``tvm.s_tir.tensor_intrin.arm_cpu``."""

from __future__ import annotations

from .dot_products import register_dot_products

ARM_DOT_4x4_i8_NEON_INTRIN = register_dot_products(
    "dot_4x4_i8i8s32_neon", 4, "int8", "int8", "int32"
)
"""Four dot products of four signed bytes each: products of vectors without `sdot`."""

ARM_DOT_4x4_i8_SDOT_INTRIN = register_dot_products(
    "dot_4x4_i8i8s32_sdot", 4, "int8", "int8", "int32"
)
"""Four dot products of four signed bytes each: `sdot` where the target has it."""

ARM_DOT_4x4_u8_UDOT_INTRIN = register_dot_products(
    "dot_4x4_u8u8u32_udot", 4, "uint8", "uint8", "uint32"
)
"""Four dot products of four unsigned bytes each, as unsigned sums: `udot`."""

ARM_DOT_4x4_u8_HDOT_INTRIN = register_dot_products(
    "dot_4x4_u8u8i32_hdot", 4, "uint8", "uint8", "int32"
)
"""Four dot products of four unsigned bytes each, as signed sums: `udot`."""
