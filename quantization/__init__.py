"""Post-training quantization of graphs: integers of 8 bits, with ranges from example inputs."""

from .quantize import Quantized as Quantized
from .quantize import quantize as quantize
