"""Parsing of TVMScript from Python's syntax trees, which are read and never run."""

from .module import ProgramParser as ProgramParser
from .module import parse_text as parse_text
