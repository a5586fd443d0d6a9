"""Parsing of TVMScript from Python's syntax trees; annotations and bodies are read, never evaluated."""

from .module import ProgramParser as ProgramParser
from .module import parse_text as parse_text
