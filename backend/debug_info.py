"""Where instructions come from, as LLVM's debug metadata: the lines of the user's program."""

from collections.abc import Callable
from typing import TypeAlias

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.dialects.llvm import FuncOp
from xdsl.ir import Operation

from .llvm_types import escaped

Node: TypeAlias = Callable[[str], str]
"""Makes a metadata node with a body; returns the reference to it."""


class DebugInfo:
    """Source locations as metadata: assembly has them as ``.loc``, and no more of DWARF."""

    def __init__(self, metadata: Node, distinct: Node):
        self._metadata, self._distinct = metadata, distinct
        self._unit: str | None = None

    def subprogram(self, func: FuncOp) -> str:
        """The scope of a function's locations."""
        line, file = 0, self._file("<unknown>")
        if isinstance(place := func.location, FileLineColLoc):
            line, file = place.line.data, self._file(place.filename.data)
        name = escaped(func.sym_name.data.encode())
        return self._distinct(
            f'!DISubprogram(name: "{name}", scope: {file}, file: {file}, line: {line}, '
            f"type: {self._metadata('!DISubroutineType(types: null)')}, "
            f"spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: {self._known_unit(file)})"
        )

    def location(self, op: Operation, subprogram: str) -> str:
        """Where an operation of a function comes from; line 0 if that is not known."""
        metadata, place = self._metadata, op.location
        if not isinstance(place, FileLineColLoc):
            return metadata(f"!DILocation(line: 0, scope: {subprogram})")
        file = self._file(place.filename.data)
        scope = metadata(
            f"!DILexicalBlockFile(scope: {subprogram}, file: {file}, discriminator: 0)"
        )
        line, column = place.line.data, place.column.data
        return metadata(f"!DILocation(line: {line}, column: {column}, scope: {scope})")

    def flag_lines(self) -> list[str]:
        """What LLVM finds the metadata by."""
        if self._unit is None:
            return []
        version = self._metadata('!{i32 2, !"Debug Info Version", i32 3}')
        return [f"!llvm.dbg.cu = !{{{self._unit}}}", f"!llvm.module.flags = !{{{version}}}"]

    def _file(self, name: str) -> str:
        return self._metadata(f'!DIFile(filename: "{escaped(name.encode())}", directory: "")')

    def _known_unit(self, file: str) -> str:
        if self._unit is None:
            self._unit = self._distinct(
                f"!DICompileUnit(language: DW_LANG_C, file: {file}, isOptimized: true, "
                f"runtimeVersion: 0, emissionKind: DebugDirectivesOnly)"
            )
        return self._unit
