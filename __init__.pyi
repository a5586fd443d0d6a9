"""The names of the Python API for type checkers; at run time `names.py` finds them."""

from . import ir as ir
from . import llm as llm
from . import meta_schedule as meta_schedule
from . import relax as relax
from . import runtime as runtime
from . import script as script
from . import te as te
from . import testing as testing
from . import tir as tir
from .driver import build as build
from .importers.compile import compile as compile
from .inspection import stages as stages
from .ir import instrument as instrument
from .ir import transform as transform
from .ir.module import IRModule as IRModule
from .quantization import quantize as quantize
from .runtime import Device as Device
from .runtime import cpu as cpu
from .runtime import device as device
from .runtime import get_global_func as get_global_func
from .runtime import load_module as load_module
from .runtime import register_func as register_func
from .runtime import register_global_func as register_global_func
from .runtime.data_type import DataType as DataType
from .runtime.device import cuda as cuda
from .runtime.device import device_from_target as device_from_target
from .runtime.device import metal as metal
from .runtime.device import opencl as opencl
from .runtime.device import rocm as rocm
from .runtime.device import vulkan as vulkan
from .runtime.device import webgpu as webgpu
from .runtime.errors import TVMError as TVMError
from .te import topi as topi

__version__: str
s_tir = tir
tirx = tir
tensor = runtime.array

# Namespaces that are no modules.

class nd:
    from .runtime import NDArray as NDArray
    from .runtime.device import cuda as cuda
    from .runtime.device import metal as metal
    from .runtime.device import opencl as opencl
    from .runtime.device import rocm as rocm
    from .runtime.device import vulkan as vulkan
    from .runtime.device import webgpu as webgpu

    array = staticmethod(runtime.array)
    cpu = staticmethod(runtime.cpu)
    empty = staticmethod(runtime.empty)

class arith:
    from .te.analyzer import Analyzer as Analyzer
    from .te.iter_map import detect_iter_map as detect_iter_map
    from .te.iter_map import inverse_affine_iter_map as inverse_affine_iter_map
    from .te.iter_map import iter_map_simplify as iter_map_simplify
    from .te.iter_map import normalize_iter_map_to_expr as normalize_iter_map_to_expr
    from .te.iter_map import normalize_to_iter_sum as normalize_to_iter_sum
    from .te.iter_map_expr import IterMapExpr as IterMapExpr
    from .te.iter_map_expr import IterMapLevel as IterMapLevel
    from .te.iter_map_expr import IterMark as IterMark
    from .te.iter_map_expr import IterSplitExpr as IterSplitExpr
    from .te.iter_map_expr import IterSumExpr as IterSumExpr
    from .te.linear import detect_clip_bound as detect_clip_bound
    from .te.linear import detect_linear_equation as detect_linear_equation
    from .te.ranges import ConstIntBound as ConstIntBound
    from .te.ranges import IntervalSet as IntSet
    from .te.ranges import IntervalSet as IntervalSet
    from .te.ranges import ModularSet as ModularSet
    from .te.region_bounds import estimate_region_lower_bound as estimate_region_lower_bound
    from .te.region_bounds import estimate_region_lower_bound as estimate_region_strict_bound
    from .te.region_bounds import estimate_region_upper_bound as estimate_region_upper_bound

    class analyzer:
        from .te.analyzer import Analyzer as Analyzer

class contrib:
    class tvmjs:
        from .runtime.tensor_cache import dump_tensor_cache as dump_ndarray_cache
        from .runtime.tensor_cache import dump_tensor_cache as dump_tensor_cache
        from .runtime.tensor_cache import load_tensor_cache as load_ndarray_cache
        from .runtime.tensor_cache import load_tensor_cache as load_tensor_cache

    class utils:
        from .runtime.temporary import TempDirectory as TempDirectory
        from .runtime.temporary import tempdir as tempdir

class error:
    from .dialects.diagnostics import OpError as OpError
    from .runtime.errors import TVMError as InternalError
    from .runtime.errors import TVMError as TVMError
    from .script.errors import ScriptError as DiagnosticError

class ffi:
    from .ir.equality import structural_equal as structural_equal
    from .ir.equality import structural_hash as structural_hash

    Array = tuple
    get_global_func = staticmethod(runtime.get_global_func)
    register_global_func = staticmethod(runtime.register_global_func)

class target:
    from .backend.target import Target as Target

class rpc:
    from .runtime.rpc import LocalSession as LocalSession

class support:
    class utils:
        from .runtime.temporary import TempDirectory as TempDirectory
        from .runtime.temporary import tempdir as tempdir
