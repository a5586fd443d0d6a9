"""LLVM IR text, targets, and machine code in the process or as an object file."""
