"""Tensor intrinsics: the class, and those that are registered under TVM's names."""

from . import arm_cpu as arm_cpu
from . import x86 as x86
from .intrinsic import TensorIntrin as TensorIntrin
