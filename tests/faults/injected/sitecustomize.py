"""Gives a process one fault of the compiler: a module whose text differs in one place.

Python imports this module when it starts, in every process that has this folder on its PYTHONPATH;
the environment variable ``XRELAX_FAULT`` says what to change, as JSON of `module`, `old` and `new`.
"""

import json
import os
import sys
from importlib.machinery import PathFinder, SourceFileLoader


class Loader(SourceFileLoader):
    """Compiles the text with the change; what is cached of the file is neither read nor written."""

    def __init__(self, name, path, old, new):
        super().__init__(name, path)
        self.old, self.new = old, new

    def get_code(self, fullname):
        text = self.get_source(fullname)
        if text.count(self.old) != 1:
            raise ImportError(
                f"{self.path}: expected {self.old!r} once, got {text.count(self.old)}"
            )
        return compile(text.replace(self.old, self.new), self.path, "exec", dont_inherit=True)


class Finder:
    """Finds the module with the fault before the usual finders do."""

    def __init__(self, module, old, new):
        self.module, self.change = module, (old, new)

    def find_spec(self, name, path=None, target=None):
        if name != self.module:
            return None
        spec = PathFinder.find_spec(name, path, target)
        spec.loader = Loader(name, spec.origin, *self.change)
        return spec


if "XRELAX_FAULT" in os.environ:
    sys.meta_path.insert(0, Finder(**json.loads(os.environ["XRELAX_FAULT"])))
