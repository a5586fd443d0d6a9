"""PyTorch models as modules: `torch.export` programs, fx graphs, and `torch.compile`."""
