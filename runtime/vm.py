"""The virtual machine: TVM's interface to run an executable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .device import Device, cpu
from .device import device as named_device
from .executable import Executable
from .timing import TimeEvaluator


class VirtualMachine:
    """Runs the functions of an executable, as `tvm.relax.VirtualMachine`: `vm["main"](x)`.

    Functions are native code. The machine adds state for one thread: saved calls, and the inputs
    and outputs of `set_input`, `invoke_stateful` and `get_outputs`.
    """

    def __init__(
        self,
        rt_mod: Executable,
        device: Device | str | Sequence[Device] | None = None,
        memory_cfg: str | Mapping[Device, str] | None = None,
        profile: bool = False,
    ) -> None:
        """A machine for an executable; TVM's `memory_cfg` and `profile` have no effect.

        Memory is planned when a module is built, and every machine has `profile`.
        """
        self.executable = rt_mod
        self.device = _single(cpu() if device is None else device)
        self._saved: dict[str, Callable[..., Any]] = {}
        self._inputs: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {}
        self._outputs: dict[str, Any] = {}

    @property
    def module(self) -> Executable:
        """The executable, under TVM's name."""
        return self.executable

    def __getitem__(self, name: str) -> Callable[..., Any]:
        """A function, a saved call, or `set_input` and its companions; RuntimeError if called with
        stored inputs."""
        saved = self._saved.get(name)
        if saved is not None:
            return saved
        if name in _STATEFUL and name not in self.executable:
            return getattr(self, name)
        return _waiting(name) if name in self._inputs else self.executable[name]

    def _function(self, name: str) -> Callable[..., Any]:
        saved = self._saved.get(name)
        return self.executable[name] if saved is None else saved

    def save_function(
        self,
        /,
        func_name: str,
        saved_name: str,
        *args: Any,
        include_return: bool = True,
        **kwargs: Any,
    ) -> None:
        """Make `vm[saved_name]()` call `func_name` with these arguments.

        Without `include_return` the result is dropped. A saved name may be saved again; ValueError
        for the name of a function of the executable.
        """
        function = self._function(func_name)
        if saved_name in self.executable:
            raise ValueError(f"expected a new name to save, got the function '{saved_name}'")

        def call() -> Any:
            result = function(*args, **kwargs)
            return result if include_return else None

        self._saved[saved_name] = call

    def set_input(self, /, func_name: str, *args: Any, **kwargs: Any) -> None:
        """Store the arguments for `invoke_stateful`, which checks them."""
        self._function(func_name)
        self._inputs[func_name] = (args, kwargs)

    def invoke_stateful(self, func_name: str) -> None:
        """Call a function with its stored arguments, and store the result.

        Raises ValueError without `set_input`.
        """
        if func_name not in self._inputs:
            raise ValueError(f"expected set_input for '{func_name}' before invoke_stateful")
        args, kwargs = self._inputs[func_name]
        self._outputs[func_name] = self._function(func_name)(*args, **kwargs)

    def get_outputs(self, func_name: str) -> Any:
        """The result of a function's last `invoke_stateful`; raises ValueError if there is none."""
        if func_name not in self._outputs:
            raise ValueError(f"expected invoke_stateful for '{func_name}' before get_outputs")
        return self._outputs[func_name]

    def profile(self, /, func_name: str, *args: Any, repeat: int = 20, **kwargs: Any) -> Any:
        """Profile a call of a function by kernel; TVM's ``vm.profile``.

        The function is compiled again with a timer around every kernel, and called `repeat`
        times. The report has a `KernelProfile` for each kernel: calls, times, operations and bytes
        per second, the share of the machine's roofline, and the TensorIR it comes from.
        ``print(report)`` is a table, ``report["matmul"]`` one kernel, ``report.plot("a.svg")`` a
        roofline picture. Raises ValueError for an unknown function, for a count below 1, and for
        an executable that was loaded from a file, which has no IR.
        """
        return self.executable.profile(func_name, *args, repeat=repeat, **kwargs)

    def debug(
        self,
        /,
        func_name: str,
        *args: Any,
        reference: Any = "f64",
        rtol: float | None = None,
        atol: float | None = None,
        stage: str = "asm",
        **kwargs: Any,
    ) -> Any:
        """Compare the result of every kernel in a call with a reference, to find the first bad one.

        The reference "f64" is the graph, evaluated in float64 by NumPy. It may also be another
        executable of the same graph, or a dict of values by the names of the graph's variables. An
        element may differ by ``atol + rtol * |reference|``; by default by the error bound of
        ``build(check=True)``, and by what the graph itself differs from float64 when NumPy
        evaluates it in its own dtypes. Operations that are fused have the error of their kernel's
        result, and the kernels are those of the executable.

        With a `stage` ("relax", "tir", "rt" or "loops") the reference evaluator runs the module at
        that stage instead of the compiled code.

        ``print(report)`` is a table, ``report.first_bad`` the first wrong operation with its source
        line, ``report["relu"]`` one operation with its `values`, ``report.plot("a.svg")`` a
        picture. Raises ValueError for an unknown function or stage, for a reference of another
        graph, and for an executable that was loaded from a file, which has no IR.
        """
        options = {"reference": reference, "rtol": rtol, "atol": atol, "stage": stage}
        return self.executable.debug(func_name, *args, **options, **kwargs)

    def time_evaluator(
        self,
        func_name: str,
        dev: Device | None = None,
        number: int = 10,
        repeat: int = 1,
        min_repeat_ms: float = 0,
    ) -> TimeEvaluator:
        """A callable that measures a function, or a saved call, on its arguments.

        Its result has the seconds of a call, the mean of `number` calls, for each of `repeat`
        repeats: `results`, `mean`, `median`, `min`, `max` and `std`. `number` grows until a repeat
        takes `min_repeat_ms` milliseconds. TVM's ``time_evaluator``. Raises ValueError for an
        unknown function, a device other than the CPU, and counts below 1.
        """
        if dev is not None:
            named_device(dev)
        return TimeEvaluator(self[func_name], number, repeat, min_repeat_ms)


_STATEFUL = ("get_outputs", "invoke_stateful", "set_input")
"""Methods that are functions of TVM's machine."""


def _waiting(name: str) -> Callable[..., Any]:
    """A function whose inputs are stored, which only `invoke_stateful` may call."""

    def call(*_args: Any, **_kwargs: Any) -> Any:
        raise RuntimeError(f"expected invoke_stateful of '{name}' after set_input, got a call")

    return call


def _single(devices: Device | str | Sequence[Device]) -> Device:
    if isinstance(devices, Device | str):
        return named_device(devices)
    if len(devices) != 1:
        raise ValueError(f"expected one device, got {len(devices)}")
    return named_device(devices[0])
