"""A notebook that runs: outputs have text and HTML, and `show` displays."""

from __future__ import annotations

import nbformat
from html_check import text_of
from nbclient import NotebookClient
from user_mistakes import PROGRAM

CELLS = (
    f"{PROGRAM}Module",
    "Module.show()",
    "Module.show(black_format=True)",
    "relax.build(Module)",
    "Module.show_graph()",
    "tvm.nd.array(np.eye(3))",
)


def test_outputs_have_text_and_html():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells for output in cell.outputs]
    kinds = ["execute_result", "display_data", "display_data", *["execute_result"] * 3]
    assert [output.output_type for output in outputs] == kinds
    texts = [text_of(output.data["text/html"]) for output in outputs]
    module, shown, formatted, executable, graph, tensor = texts
    assert module.startswith("Module1 graph function, 1 kernel") and "class Module:" in module
    assert shown == outputs[1].data["text/plain"] == outputs[0].data["text/plain"]
    assert formatted != shown and formatted.split() != []
    assert executable.startswith("Executable") and "matmul" in graph and "(3, 3)" in tensor
    assert outputs[4].data["image/svg+xml"].startswith("<svg ")
