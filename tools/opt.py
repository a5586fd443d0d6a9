"""`xrelax-opt`: parse, verify, transform, check and print modules of all stages."""

from __future__ import annotations

import argparse
import sys
import zlib
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import IO, Any, NoReturn
from zipfile import BadZipFile, ZipFile

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass, PassPipeline
from xdsl.universe import Universe
from xdsl.utils.arg_spec import parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException, ParseError
from xdsl.xdsl_opt_main import xDSLOptMain

from ..backend.errors import BackendError
from ..backend.target import HOST
from ..dialects import EXTENDED
from ..dialects.diagnostics import suggestion, verify
from ..dialects.nesting import on_deep_stack
from ..dialects.relax import ConstantOp, DataAttr, TensorData, sidecar
from ..pipeline import PASSES, STAGE_NAMES, STAGES, TEXT_NAMES, load_pass, make_pass
from .help import add_help
from .instruments import Dumps, InstrumentedPass, Timing, add_arguments
from .located_parser import parse_ir


class UsageError(Exception):
    """The command line or a file it names cannot be used; one line."""


class XRelaxOptMain(xDSLOptMain):
    """xDSL's optimizer driver with our dialects and passes, stages, weights and checks."""

    def __init__(self, args: Sequence[str] | None = None):
        super().__init__(
            "Parse, verify, transform and print modules of all stages of xrelax.", args
        )

    def register_all_dialects(self) -> None:
        for name, load in Universe.get_multiverse().all_dialects.items():
            self.ctx.register_dialect(name, EXTENDED.get(name, load))

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        super().register_all_arguments(arg_parser)
        arg_parser.prog = "xrelax-opt"
        add = arg_parser.add_argument
        add(
            "--emit",
            metavar="STAGE",
            choices=(*STAGE_NAMES, *TEXT_NAMES),
            help=f"lower to a stage: {', '.join((*STAGE_NAMES, *TEXT_NAMES))}",
        )
        add(
            "--build-target",
            metavar="TARGET",
            default=HOST,
            help='what --emit generates code for, such as "llvm -mcpu=haswell"',
        )
        add("--check", action="store_true", help="compare each pass with the reference evaluator")
        add(
            "--weights",
            metavar="NPZ",
            help="file with the data of the constants that the text names",
        )
        add("--save-weights", metavar="NPZ", help="write the data of the constants there")
        add(
            "--load-plugin",
            metavar="FILE",
            action="append",
            default=[],
            help="run a Python file first, which registers passes, operators or schedule rules",
        )
        add("--print-pipeline", action="store_true", help="print the passes in order, and stop")
        add(
            "--dump-pass-pipeline",
            action="store_true",
            help="print the passes in order to standard error, and run them",
        )
        add_arguments(arg_parser)
        add_help(arg_parser, self.available_passes)

    def register_all_frontends(self) -> None:
        super().register_all_frontends()
        self.available_frontends["mlir"] = self._parse_mlir

    def parse_chunk(
        self, chunk: IO[bytes], file_extension: str, start_offset: int = 0
    ) -> ModuleOp | None:
        self._line_offset = start_offset
        with self._timing.of("Parser"):
            return super().parse_chunk(chunk, file_extension, start_offset)

    def _parse_mlir(self, stream: IO[bytes]) -> ModuleOp:
        try:
            text = stream.read().decode()
        except UnicodeDecodeError as error:
            raise UsageError(
                f"{self.get_input_name()}: expected UTF-8 text, "
                f"{error.reason} at byte {error.start}"
            ) from None
        with sidecar(_read_weights(self.args.weights)):
            return parse_ir(self.ctx, text, self.get_input_name(), self._line_offset)

    def _pass_names(self) -> str:
        if self.args.emit is None or self.args.emit in TEXT_NAMES:
            return self.args.passes
        stages = STAGES[: STAGE_NAMES.index(self.args.emit) + 1]
        names = [self._pass_spec(name) for stage in stages for name in stage.passes]
        return ",".join([*names, *([self.args.passes] if self.args.passes else [])])

    def _pass_spec(self, name: str) -> str:
        target = self.args.build_target
        takes_target = target != HOST and hasattr(make_pass(name, target), "target")
        return f'{name}{{target="{target}"}}' if takes_target else name

    def output_resulting_program(self, prog: ModuleOp) -> str:
        with self._timing.of("Output"):
            if self.args.emit not in TEXT_NAMES:
                return super().output_resulting_program(prog)
            from ..backend.target import Target
            from ..inspection import text_of

            return text_of(prog, Target(self.args.build_target), self.args.emit)

    def setup_pipeline(self) -> None:
        for path in self.args.load_plugin:
            _load_plugin(path)
        for name in PASSES:
            self.available_passes.setdefault(name, lambda name=name: load_pass(name))
        spec = self._pass_names()
        if self.args.print_pipeline:
            print(spec)
            sys.exit(0)
        names = [p.name for p in parse_pipeline(spec)]
        for name in (*names, *self.args.print_ir_before, *self.args.print_ir_after):
            if name not in self.available_passes:
                hint = suggestion(name, self.available_passes) or " (see xrelax-opt --help)"
                raise UsageError(f"expected a registered pass, got '{name}'{hint}")
        if self.args.dump_pass_pipeline:
            print(spec, file=sys.stderr)
        self._timing = Timing(names)
        self._instruments = (Dumps.from_arguments(self.args, names).around, self._timing.around)
        self.pipeline = PassPipeline.parse_spec(self.available_passes, spec, self._verify)

    def _verify(self, _: ModulePass | None, module: ModuleOp, __: ModulePass | None) -> None:
        if not self.args.disable_verify:
            with self._timing.of("Verifier"):
                verify(module)

    def apply_passes(self, prog: ModuleOp) -> None:
        """Run the passes; those that are checked are instrumented where they are."""
        passes = self.pipeline.passes
        instrumented = [InstrumentedPass(i, p, self._instruments) for i, p in enumerate(passes)]
        if self.args.check:
            from ..reference.check import check_pipeline

            verify(prog)
            names = (p.name for p in passes)
            check_pipeline(prog, list(zip(names, instrumented, strict=True)))
            self.pipeline.apply(self.ctx, prog)
        else:
            PassPipeline(tuple(instrumented), self._verify).apply(self.ctx, prog)
        if self.args.save_weights:
            _write_weights(self.args.save_weights, prog)

    def run(self) -> None:
        try:
            super().run()
        finally:
            if self.args.pass_timing:
                print(self._timing.report(), file=sys.stderr)


def _load_plugin(path: str) -> None:
    """Run a Python file as the module of its name; raises UsageError for a name that is taken."""
    name = Path(path).stem
    spec = spec_from_file_location(name, Path(path).resolve())
    if spec is None or spec.loader is None:
        raise UsageError(f"{path}: expected a Python file")
    loaded = sys.modules.get(name)
    if loaded is not None and getattr(loaded, "__file__", None) != spec.origin:
        raise UsageError(f"{path}: expected a name that no module has, got '{name}'")
    sys.modules[name] = module = module_from_spec(spec)
    spec.loader.exec_module(module)


def _read_weights(path: str | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
            return dict(file)
    except (OSError, ValueError, TypeError, EOFError, BadZipFile, zlib.error) as error:
        raise UsageError(f"{path}: expected an .npz file of arrays: {error}") from None


def _write_weights(path: str, module: ModuleOp) -> None:
    """Write the arrays that the text of the module refers to.

    Two that differ may have one name, which only one of them keeps.
    """
    arrays: dict[str, TensorData] = {}
    for op in module.walk():
        value = op.properties.get("value")
        if isinstance(value, DataAttr) and (isinstance(op, ConstantOp) or op.name == "rt.constant"):
            op.properties["value"] = DataAttr(_collect(arrays, value.data))
    contents = {label: data.values for label, data in arrays.items()}
    with ZipFile(path, "w") as archive:  # `numpy.savez` refuses some names and changes the path
        for label, array in contents.items():
            with archive.open(f"{label}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)


def _collect(arrays: dict[str, TensorData], data: TensorData) -> TensorData:
    """Add the data under a name that is free; returns it with that name."""
    if data.is_inline:
        return data
    label, count = data.label, 0
    while arrays.setdefault(label, data) != data:
        count += 1
        label = f"{data.label}_{count}"
    return data if label == data.label else replace(data, key=label)


def run(args: Sequence[str] | None = None) -> int:
    """Run the tool; the exit status. Mistakes are one line on standard error, status 1."""
    try:
        XRelaxOptMain(args).run()
    except (BackendError, DiagnosticException, UsageError, OSError, ValueError) as error:
        return _fail(str(error))
    except ArgSpecParseError as error:
        return _fail(f"cannot read the passes: {str(error).splitlines()[-1]}")
    except ParseError as error:
        place = error.span.get_location()
        return _fail(f"{place.file}:{place.line}:{place.col}: error: {error.msg}")
    except RecursionError:
        return _fail("regions are nested too deeply")
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else 1
    except Exception as error:
        from ..reference.check import CheckError

        if isinstance(error, CheckError):
            return _fail(str(error))
        raise
    return 0


def _fail(message: str) -> int:
    lines = [line for line in message.splitlines() if line.strip()]
    text = lines[0] if lines else "failed"
    print(text if ": error: " in text else f"error: {text}", file=sys.stderr)
    return 1


def main() -> NoReturn:
    """Entry point of the `xrelax-opt` command."""
    status = on_deep_stack(run)
    sys.stdout.flush()
    sys.exit(status)


if __name__ == "__main__":
    main()
