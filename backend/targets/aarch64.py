"""AArch64 with NEON, which is part of the base architecture."""

from __future__ import annotations

from .architecture import Architecture, ThreadCode

ARCHITECTURE = Architecture(
    names=("aarch64", "arm64", "arm64e"),
    threads=ThreadCode(
        declarations="declare void @llvm.aarch64.hint(i32)\n"
        "declare i64 @llvm.aarch64.get.fpcr()\ndeclare void @llvm.aarch64.set.fpcr(i64)",
        pause="call void @llvm.aarch64.hint(i32 1)",
        get_float_state="%fpcr = call i64 @llvm.aarch64.get.fpcr()\n"
        "  store i64 %fpcr, ptr {float_state}",
        set_float_state="%fpcr = load i64, ptr {float_state}\n"
        "  call void @llvm.aarch64.set.fpcr(i64 %fpcr)",
        futex=98,
    ),
)
