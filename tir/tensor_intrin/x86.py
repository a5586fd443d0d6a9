"""Tensor intrinsics of x86-64, in TVM ``tvm.s_tir.tensor_intrin.x86``."""

from __future__ import annotations

from .dot_products import description_of, register_dot_products

VNNI_DOT_16x4_INTRIN = register_dot_products("dot_16x4_vnni", 16, "uint8", "int8", "int32")
"""Sixteen dot products of four unsigned and four signed bytes: `vpdpbusd` with AVX-512 VNNI."""

AVX512_DOT_16x4_INTRIN = register_dot_products("dot_16x4_avx512", 16, "uint8", "int8", "int32")
"""The same dot products; exact, unlike TVM's, whose sums of two products saturate at 16 bits."""

dot_product_16x4_u8i8i32_desc = description_of(VNNI_DOT_16x4_INTRIN)
"""What both compute."""
