"""The CPU features that code for a target may use, which the machine that loads it must have.

LLVM inlines a function only into one that has all of its features:

    define i32 @f3(ptr %p) "target-features"="+avx2" { … }
    define i32 @g3(ptr %p) { %r = call i32 @f3(ptr %p) … }

Code for the target may use AVX2 if no call of ``@f3`` is left.
"""

import re
from functools import cache

from ..runtime.llvm_binding import LLVM_LOCK, binding, llvm_module
from ..runtime.native import Machine
from .target import Target, create_target_machine

_PAIR = """
define i32 @f{number}(ptr %p) "target-features"="{features}" {{
  store volatile i32 0, ptr %p
  ret i32 0
}}
define i32 @g{number}(ptr %p) {{
  %r = call i32 @f{number}(ptr %p)
  ret i32 %r
}}
"""
_CALL_LEFT = re.compile(r"call i32 @f(\d+)\(")


@cache
def required_machine(target: Target) -> Machine:
    """The triple and the features of a target, as far as the host's LLVM has names for them.

    The features of another architecture are not known: code for it is not loaded here anyway.
    """
    if not target.is_host:
        return Machine(target.triple, ())
    with LLVM_LOCK:
        names = sorted(binding().get_host_cpu_features())
        left = {int(n) for n in _CALL_LEFT.findall(_inlined(target, names))}
    return Machine(target.triple, tuple(n for i, n in enumerate(names) if i not in left))


def _inlined(target: Target, names: list[str]) -> str:
    """The pairs of functions, one for each feature, after optimisation for the target."""
    llvm = binding()
    pairs = (
        _PAIR.format(number=i, features=",".join(filter(None, (target.features, f"+{name}"))))
        for i, name in enumerate(names)
    )
    machine = create_target_machine(target.triple, target.cpu, target.features, 1)
    with llvm_module(llvm.parse_assembly, "".join(pairs)) as module:
        module.triple, module.data_layout = target.triple, target.data_layout
        options = llvm.create_pipeline_tuning_options(speed_level=1)
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
        return str(module)
