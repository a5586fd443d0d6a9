"""`Target("llvm -mcpu=znver4")`: the processor that code is generated for, frozen and hashable."""

import json
import os
import re
import shlex
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ..runtime.llvm_binding import LLVM_LOCK, binding, initialize_all_targets, llvm_module
from ..runtime.native import Machine
from .errors import BackendError
from .machine_model import CacheSizes, host_caches, model_text, parse_model
from .target_names import TargetKind, verify_known, verify_signs, verify_supported
from .targets import REGISTERED, architecture_of, architectures
from .targets.architecture import Architecture, InstructionSet
from .targets.machine_model import MachineModel

HOST = "llvm"
"""The target of the CPU that the process runs on."""

_OPTIONS = ("mcpu", "mattr", "mtriple", "num-cores", "cache-sizes", "keys", "math", "model")
_MATH = ("fast", "accurate")


_CURRENT: ContextVar["tuple[Target, ...]"] = ContextVar("current_targets", default=())


@dataclass(frozen=True, init=False, slots=True)
class Target:
    """A CPU that LLVM generates code for, with the properties that schedules query.

    `Target("llvm")` is the CPU that the process runs on. Options as in TVM: `-mcpu=NAME`,
    `-mattr=+a,-b`, `-mtriple=TRIPLE`, `-num-cores=N`; or a dict, `{"kind": "llvm", "mcpu": …}`, or
    its JSON. `-cache-sizes=L1,L2,L3` are bytes. Without a CPU's name they are this machine's, and
    so is the number of cores; with one they are the defaults of `CacheSizes`, and the number is
    unknown.
    `-model=NAME=VALUE,…` changes fields of the `MachineModel` for the schedules' cost model.
    `-math=accurate` selects math functions within 1 ulp, which `docs/math.md` compares with
    `-math=fast`. A `host` is kept, and has no effect. Raises `BackendError` for a kind other than
    `llvm` and for an unknown option, triple, processor, feature or value.
    """

    kind: TargetKind
    triple: str
    cpu: str
    features: str
    data_layout: str
    isa: InstructionSet
    """The instruction set, from a file of `backend.targets`."""
    caches: CacheSizes
    num_cores: int | None
    """The number of cores among which schedules divide loops evenly; `None` if it is unknown. The
    thread pool does not use it."""
    math: str
    """"fast" or "accurate"."""
    model: MachineModel
    """The times of a core's operations, for the cost model."""
    host: "Target | None"

    def __init__(self, target: "str | Mapping[str, Any] | Target" = "llvm", host: Any = None):
        if isinstance(target, str) and target.startswith("{"):
            target = _from_json(target)
        if isinstance(target, Target):
            fields = {name: getattr(target, name) for name in Target.__slots__}
        elif isinstance(target, str):
            fields = {**_named(target)}
        else:
            fields = _resolve(*_parse(target))
            host = host or target.get("host")
        if host is not None:
            fields["host"] = Target(host)
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @staticmethod
    def list_kinds() -> list[str]:
        """The kinds of targets that there are: "llvm"."""
        return [HOST]

    @staticmethod
    def from_device(device: object) -> "Target":
        """The target of a device, such as ``xrelax.cpu(0)`` or "cpu": this machine's.

        Raises BackendError for devices of other kinds. TVM's ``Target.from_device``.
        """
        kind = str(device).partition(":")[0]
        return Target(HOST if kind == "cpu" else kind)

    @staticmethod
    def current() -> "Target | None":
        """The target of the innermost ``with Target(…):``, which builds take if none is given."""
        return _CURRENT.get()[-1] if _CURRENT.get() else None

    def __enter__(self) -> "Target":
        _CURRENT.set((*_CURRENT.get(), self))
        return self

    def __exit__(self, *error: object) -> None:
        _CURRENT.set(_CURRENT.get()[:-1])

    def __reduce__(self):
        return _restore, ({name: getattr(self, name) for name in Target.__slots__},)

    def __str__(self) -> str:
        parts = [self.kind, f"-mtriple={self.triple}", f"-mcpu={self.cpu}"]
        if self.features:
            parts.append(f"-mattr={self.features}")
        if self.num_cores is not None:
            parts.append(f"-num-cores={self.num_cores}")
        if self.caches != CacheSizes():
            sizes = (self.caches.l1, self.caches.l2, self.caches.l3)
            parts.append("-cache-sizes=" + ",".join(map(str, sizes)))
        if self.math != _MATH[0]:
            parts.append(f"-math={self.math}")
        if self.model != self.isa.model:
            parts.append(f"-model={model_text(self.model, self.isa.model)}")
        return " ".join(parts)

    @property
    def short_name(self) -> str:
        """The kind and the processor, such as "llvm -mcpu=znver4"."""
        return f"{self.kind} -mcpu={self.cpu}"

    @property
    def is_host(self) -> bool:
        """Whether this process can run the code: its triple is the process's own."""
        with LLVM_LOCK:
            return self.triple == binding().get_process_triple()

    @property
    def is_native(self) -> bool:
        """Whether the target is the CPU of this process, with the same features."""
        own = Target("llvm")
        return (self.triple, self.cpu, self.features) == (own.triple, own.cpu, own.features)

    @property
    def vector_bits(self) -> int:
        """Width of a vector register, in bits."""
        return self.isa.vector_bits

    @property
    def vector_registers(self) -> int:
        """The number of vector registers."""
        return self.isa.vector_registers

    def with_model(self, model: MachineModel) -> "Target":
        """The same target with another model of its machine."""
        return self._with(model=model)

    @property
    def narrow(self) -> "Target":
        """The same target with vectors of half a register."""
        isa = replace(self.isa, vector_bits=self.vector_bits // 2)
        model = replace(self.model, fma_rate=self.model.fma_rate * self.model.narrow_rate)
        return self._with(isa=isa, model=model)

    def _with(self, **changed: Any) -> "Target":
        return _restore({name: getattr(self, name) for name in Target.__slots__} | changed)

    def lanes(self, element_bits: int) -> int:
        """Elements of this many bits in one vector register: 16 floats for AVX-512."""
        return self.isa.lanes(element_bits)


def _restore(fields: dict[str, Any]) -> Target:
    target = object.__new__(Target)
    for name, value in fields.items():
        object.__setattr__(target, name, value)
    return target


@cache
def _named(spec: str) -> dict[str, Any]:
    """The fields of a target's text; cached, since every stage parses its module's target."""
    return _resolve(*_parse(spec))


def _from_json(text: str) -> Mapping[str, Any]:
    """The dict of a target's text; raises BackendError for text that is not JSON."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise BackendError(f"expected a target as JSON, got '{text}': {error}") from None


def _parse(spec: str | Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """Kind and options of a target's text or dict."""
    if isinstance(spec, Mapping):
        options = {k: _option_text(v) for k, v in spec.items() if k not in ("kind", "tag", "host")}
        kind = str(spec.get("kind", ""))
    else:
        kind, *words = shlex.split(spec) or [""]
        options = _split_options(words)
    if kind != "llvm":
        reason = ": xrelax compiles for CPUs only" if kind else ""
        raise BackendError(f"expected a target of kind 'llvm', got '{kind}'{reason}")
    for name in options:
        if name not in _OPTIONS:
            raise BackendError(f"expected target option {', '.join(_OPTIONS)}, got '{name}'")
    return kind, options


def _option_text(value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(map(str, value))  # pyright: ignore[reportUnknownArgumentType]
    return str(value)


def _split_options(words: list[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            raise BackendError(f"expected a target option '-name=value', got '{word}'")
        name, equals, value = word.lstrip("-").partition("=")
        value = value if equals else next(rest, None)
        if value is None:
            raise BackendError(f"expected target option '-{name}' to have a value")
        options[name] = value
    return options


def _resolve(kind: str, options: dict[str, str]) -> dict[str, Any]:
    with LLVM_LOCK:
        llvm = binding()
        own_triple = llvm.get_process_triple()
        triple = options.get("mtriple", own_triple)
        cpu = options.get("mcpu", "native" if triple == own_triple else "generic")
        features = options.get("mattr", "")
        is_native = cpu in ("native", "host")
        if is_native:
            cpu = llvm.get_host_cpu_name()
            own = llvm.get_host_cpu_features().flatten()
            features = ",".join(filter(None, (own, features)))
        if "mcpu" in options or "mattr" in options:
            _verify_names(triple, cpu, features)
        layout, isa = _probe(triple, cpu, features)
    usual = host_caches() if is_native else CacheSizes()
    cores = options.get("num-cores")
    if cores is not None and not (cores.isdecimal() and int(cores)):
        raise BackendError(f"expected target option '-num-cores' to be positive, got '{cores}'")
    math = options.get("math", _MATH[0])
    if math not in _MATH:
        raise BackendError(
            f"expected target option '-math' to be {' or '.join(_MATH)}, got '{math}'"
        )
    return {
        "kind": TargetKind(kind),
        "triple": triple,
        "cpu": cpu,
        "features": features,
        "data_layout": layout,
        "isa": isa,
        "caches": _caches(options.get("cache-sizes")) or usual,
        "num_cores": int(cores) if cores is not None else os.cpu_count() if is_native else None,
        "math": math,
        "model": parse_model(options.get("model", ""), isa.model),
        "host": None,
    }


def _caches(text: str | None) -> CacheSizes | None:
    """The cache sizes in a target's text, if it has any."""
    if text is None:
        return None
    sizes = text.split(",")
    if len(sizes) != 3 or not all(s.isdecimal() and int(s) for s in sizes):
        raise BackendError(
            f"expected target option '-cache-sizes' to be three positive numbers, got '{text}'"
        )
    return CacheSizes(*map(int, sizes))


def create_target_machine(triple: str, cpu: str, features: str, opt_level: int) -> Any:
    """LLVM's target machine for position-independent code; the caller holds `LLVM_LOCK`."""
    llvm = binding()
    if triple != llvm.get_process_triple():
        initialize_all_targets()
    try:
        target = llvm.Target.from_triple(triple)
    except RuntimeError as error:
        raise BackendError(f"unknown target triple '{triple}': {_one_line(error)}") from None
    return target.create_target_machine(
        cpu=cpu, features=features, opt=opt_level, reloc="pic", codemodel="small"
    )


@cache
def _verify_names(triple: str, cpu: str, features: str) -> None:
    verify_signs(features)
    verify_supported(triple, cpu, features)
    verify_known(lambda: create_target_machine(triple, cpu, features, opt_level=0), triple)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


@cache
def _probe(triple: str, cpu: str, features: str) -> tuple[str, InstructionSet]:
    """Data layout and instruction set, from the code that LLVM generates."""
    architecture = architecture_of(triple)
    with LLVM_LOCK:
        machine = create_target_machine(triple, cpu, features, opt_level=0)
        probe = architecture.probe.replace("$features", features)
        with llvm_module(binding().parse_assembly, probe) as module:
            module.triple = triple
            assembly = machine.emit_assembly(module)
    if (conflict := architecture.conflict(assembly)) is not None:
        raise BackendError(f"expected features of {triple} {conflict}")
    isa = architecture.instruction_set(assembly)
    model = architecture.models.get((cpu, isa.vector_bits), isa.model)
    return str(machine.target_data), replace(isa, model=model)


def register_architecture(architecture: Architecture) -> None:
    """Add an architecture from outside the package: targets whose triples start with its names.

    An architecture that was registered under these names is replaced. Raises ValueError without
    names, and for a name that the package has itself.
    """
    if not architecture.names:
        raise ValueError("expected an architecture with names, got none")
    for name in architecture.names:
        if name in architectures():
            raise ValueError(f"expected names of a new architecture, got '{name}'")
    REGISTERED.update(dict.fromkeys(architecture.names, architecture))
    _named.cache_clear()
    _probe.cache_clear()


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
    """The triple and the features of a target, among the features that LLVM lists for the host.

    For another architecture there are no features: its code is not loaded here anyway.

    LLVM inlines a function only into functions that have all of its features:

        define i32 @f3(ptr %p) "target-features"="+avx2" { … }
        define i32 @g3(ptr %p) { %r = call i32 @f3(ptr %p) … }

    Code for the target may use AVX2 if the call of ``@f3`` was inlined.
    """
    if not target.is_host:
        return Machine(target.triple, ())
    with LLVM_LOCK:
        names = sorted(binding().get_host_cpu_features())
        left = {int(n) for n in _CALL_LEFT.findall(_inlined(target, names))}
    return Machine(target.triple, tuple(n for i, n in enumerate(names) if i not in left))


def _inlined(target: Target, names: list[str]) -> str:
    """The LLVM IR of one such pair for each feature, optimized for the target."""
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
