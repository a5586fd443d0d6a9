"""The error of each operation of a compiled graph: against float64, PyTorch, or another build."""
