"""Converters of ONNX operators, a file for each theme."""
