"""The front end for ONNX models."""
