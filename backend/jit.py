"""Compile LLVM IR text for a target to an object file, which is then linked into the process.

Text is parsed, optimized by LLVM's default pipeline and compiled to one object file. Cached and
freshly compiled code are linked in the same way.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import count
from typing import Any

from ..runtime.llvm_binding import LLVM_LOCK, binding, llvm_module
from ..runtime.native import Machine, NativeCode
from .errors import BackendError
from .target import Target, create_target_machine, required_machine


class Library(NativeCode):
    """Compiled code: object files, and the bitcode they were compiled from.

    Addresses are valid for as long as the library is referenced.
    """

    def __init__(self, objects: Iterable[bytes], target: Target, bitcode: Iterable[bytes] = ()):
        super().__init__(objects)
        self.target = target
        self.bitcode = tuple(bitcode)

    @property
    def machine(self) -> Machine:
        """The requirements of the code on a machine."""
        return required_machine(self.target)

    def verify_host(self) -> None:
        """Raise NativeError unless this process can run the code."""
        if not self.target.is_native:
            super().verify_host()

    def optimized_ir(self) -> str:
        """LLVM IR after optimization; raises BackendError for a library without bitcode."""
        return self._texts(str)

    def assembly(self) -> str:
        """Assembly text; raises BackendError for a library without bitcode."""
        return self._texts(lambda module: _machine(self.target, 3).emit_assembly(module))

    def _texts(self, text: Callable[[Any], str]) -> str:
        if not self.bitcode:
            raise BackendError("expected a library compiled from LLVM IR, got one from an object")
        found: list[str] = []
        with LLVM_LOCK:
            for content in self.bitcode:
                with llvm_module(binding().parse_bitcode, content) as module:
                    found.append(text(module))
        return "\n".join(found)


def join_libraries(libraries: Sequence[Library]) -> Library:
    """Join libraries for one target; their functions may call each other."""
    return Library(
        [o for library in libraries for o in library.objects],
        libraries[0].target,
        [b for library in libraries for b in library.bitcode],
    )


def compile_module(
    ir_text: str, target: Target, opt_level: int = 3, is_explicit: bool = False
) -> Library:
    """Optimize and compile LLVM IR. `opt_level` 0 to 3 is LLVM's; 3 and 2 vectorize loops.

    With `is_explicit`, only a few cleanup passes run, since the code has vector instructions or no
    loops to vectorize. That gives the same machine code in half the time.
    Raises BackendError, naming the function, for text that LLVM rejects, and if the result of every
    pipeline is invalid.
    """
    with LLVM_LOCK:
        machine = _machine(target, opt_level)
        for optimize in _pipelines(opt_level, is_explicit):
            with llvm_module(_parse, ir_text) as module:
                _verify(module)
                module.triple = target.triple
                module.data_layout = target.data_layout
                optimize(module, machine)
                if _is_valid(module):
                    return _emit(module, machine, target)
    raise BackendError("expected LLVM's passes to leave valid code, got none without SROA either")


def _pipelines(opt_level: int, is_explicit: bool) -> list[Callable[[Any, Any], None]]:
    """The pipelines to try on a module, best first.

    LLVM 22.1's SROA can generate invalid code if vectors are stored to stack memory in another
    order than that of their addresses (llvm-project#189680). The second pipeline has fewer such
    stores, without SLP vectorization; the last one runs no SROA.
    """
    plain = partial(_clean_up, opt_level, False)
    if is_explicit:
        return [partial(_clean_up, opt_level, True), plain]
    return [partial(_optimize, opt_level, True), partial(_optimize, opt_level, False), plain]


def _is_valid(module: Any) -> bool:
    try:
        module.verify()
    except RuntimeError:
        return False
    return True


def _emit(module: Any, machine: Any, target: Target) -> Library:
    if (text := with_scalar_stores(module)) is not None:
        with llvm_module(_parse, text) as rewritten:
            return _emit(rewritten, machine, target)
    bitcode = module.as_bitcode()
    return Library([machine.emit_object(module)], target, [bitcode])


def compile_object(object_bytes: bytes, target: Target) -> Library:
    """A library from an object file of another library, perhaps of another process."""
    return Library([object_bytes], target)


def _machine(target: Target, opt_level: int) -> Any:
    return create_target_machine(target.triple, target.cpu, target.features, opt_level)


def _optimize(opt_level: int, combines: bool, module: Any, machine: Any) -> None:
    """Run LLVM's default pipeline; `combines` allows SLP vectorization."""
    llvm = binding()
    options = llvm.create_pipeline_tuning_options(speed_level=opt_level)
    options.loop_vectorization = opt_level >= 2
    # LLVM's instruction selection aborts on half-precision vectors that are built from scalars.
    is_safe = combines and not _SHORT_FLOATS.search(str(module))
    options.slp_vectorization = opt_level >= 2 and is_safe
    options.loop_interleaving = options.loop_unrolling = opt_level >= 2
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def _clean_up(opt_level: int, promotes: bool, module: Any, machine: Any) -> None:
    """Run inlining of `alwaysinline`, folding and loop rotation; `promotes` adds SROA."""
    llvm = binding()
    options = llvm.create_pipeline_tuning_options(speed_level=opt_level)
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    if promotes:
        passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.add_loop_rotate_pass()
    passes.run(module, llvm.create_pass_builder(machine, options))


def _parse(ir_text: str, context: Any) -> Any:
    try:
        return binding().parse_assembly(ir_text, context)
    except RuntimeError as error:
        raise BackendError(_parse_message(str(error), ir_text)) from None


def _verify(module: Any) -> None:
    try:
        module.verify()
    except RuntimeError as error:
        raise BackendError(_verify_message(str(error), str(module))) from None


_SHORT_FLOATS = re.compile(r"\b(bfloat|half)\b")
_POSITION = re.compile(r":(\d+):\d+: error: (.*)")
_DEFINITION = re.compile(r'^(?:define|declare)\b.*?@("[^"]*"|[-\w.$]+)', re.MULTILINE)


def _parse_message(message: str, text: str) -> str:
    match = _POSITION.search(message)
    if match is None:
        return f"internal error in LLVM IR: {' '.join(message.split())}"
    lines = text.splitlines()
    number = int(match[1])
    line = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    where = _function_before("\n".join(lines[:number]))
    return f"internal error in LLVM IR{where}: {match[2]} in '{line}'"


def _verify_message(message: str, text: str) -> str:
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    position = next((p for p in map(text.find, lines[1:]) if p >= 0), -1)
    where = _function_before(text[:position]) if position >= 0 else ""
    return f"internal error in LLVM IR{where}: {'; '.join(lines)}"


def _function_before(text: str) -> str:
    names = _DEFINITION.findall(text)
    return f" of '{names[-1].strip(chr(34))}'" if names else ""


_STORE = re.compile(
    r"(?:tail )?call void @llvm\.masked\.store\.[\w.]+\("
    r"(?P<vector><\d+ x (?P<element>\w+)>) (?P<value>[^,]+|<.*>|splat \(.*?\)), "
    r"ptr (?P<attributes>[^,%@]*)(?P<pointer>[%@][^, ]+), "
    r"<\d+ x i1> <i1 true(?:, i1 false)+>\)[^\n]*"
)

_ALIGN = re.compile(r"align \d+")


def with_scalar_stores(module: Any) -> str | None:
    """The text of a module without masked stores of the first lane alone; None if it has none.

    ::

        call void @llvm.masked.store.v16i16.p0(<16 x i16> %8, ptr align 2 %5,
                                               <16 x i1> <i1 true, i1 false, …>)
    ⇒
        %lane.0 = extractelement <16 x i16> %8, i64 0
        store i16 %lane.0, ptr %5, align 2

    If the value is truncated from wider integers, LLVM 22 merges the truncation with the store,
    scalarizes the store, and loses the truncation: on x86 with AVX-512 it writes past the element.
    Masks become constant during optimization, so this runs after it.
    """
    if not any(f.name.startswith("llvm.masked.store.") for f in module.functions):
        return None
    numbers = count()

    def scalar(found: re.Match[str]) -> str:
        name = f"%lane.{next(numbers)}"
        vector, element, value = found["vector"], found["element"], found["value"]
        aligned = _ALIGN.search(found["attributes"])
        align = aligned[0] if aligned else "align 1"
        return (
            f"{name} = extractelement {vector} {value}, i64 0\n"
            f"  store {element} {name}, ptr {found['pointer']}, {align}"
        )

    text, replaced = _STORE.subn(scalar, str(module))
    return text if replaced else None
