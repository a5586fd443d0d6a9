"""How lit finds and runs the FileCheck tests: each RUN line, with this environment's own tools."""

import os
import sys

import lit.formats

# lit defines `config` before it runs this file.
config = globals()["config"]
root = os.path.dirname(__file__)

config.name = "xrelax"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = root
config.test_exec_root = os.path.join(root, "..", "..", "build", "filecheck")

tools = os.path.dirname(sys.executable)
config.environment["PATH"] = os.pathsep.join([tools, config.environment.get("PATH", "")])
config.environment |= {
    name: value
    for name, value in os.environ.items()
    if name == "PYTHONPATH" or name.startswith("XRELAX_")
}
# Diagnostics are compared as text, so no tool may colour them.
config.environment["NO_COLOR"] = "1"
