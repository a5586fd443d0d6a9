"""`to-mixed-precision`: contract float32 in fewer bits, and sum in float32.

::

    %1 = relax.linear %x, %w : … f32                           {dtype = "bfloat16"}

⇒

    %2 = relax.astype %x {dtype = "bfloat16"} : … bf16
    %3 = relax.astype %w {dtype = "bfloat16"} : … bf16
    %1 = relax.linear %2, %3 {out_dtype = "float32"} : … f32

So are matmuls by a matrix, and convolutions that are not grouped; for bfloat16 also attention, if
the target has an instruction for its products. All other operators stay in float32, and so do
convolutions that are quicker with fewer products (`use-winograd`); the fused kernels of a graph
round where a contraction reads. Constants are rounded once.

As part of the pipeline, which `build(…, precision=…)` tells the dtype by the attribute
"relax.precision" of the module, the pass follows those that look for patterns of float32. With
`out_dtype` it converts whole graphs to float16 instead, as `float16_graph.py` says and as TVM's
``ToMixedPrecision`` does.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from ...backend.target import Target
from ...dialects.attributes import PRECISION
from ...dialects.relax.operators.attention import AttentionOp
from ..functions import graph_functions
from .float16_graph import NARROW, WIDE, convert_graphs
from .graph_builder import GraphBuilder, replace_result
from .layers import Layer, is_attention, is_layer
from .winograd import blocking_of, dot_rate
from .written import written_values

DTYPES = ("bfloat16", "float16")
"""The dtypes that contractions can be in."""


@dataclass(frozen=True)
class ToMixedPrecisionPass(ModulePass):
    """Contract float32 in fewer bits, and sum in float32.

    With `out_dtype`, the dtype of the contractions' results, operators that follow them are in
    float16 too, and so are the parameters named in `fp16_input_names`.
    """

    name = "to-mixed-precision"
    dtype: str = ""
    """The dtype of operands; by default that of the attribute of the module, if it has one."""
    target: str = "llvm"
    out_dtype: str = ""
    fp16_input_names: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.out_dtype:
            if self.out_dtype not in (NARROW, WIDE):
                raise ValueError(
                    f"expected out_dtype of '{self.name}' {WIDE} or {NARROW}, "
                    f"got '{self.out_dtype}'"
                )
            convert_graphs(op, self.out_dtype, self.fp16_input_names)
            return
        asked = op.attributes.pop(PRECISION, None)
        dtype = self.dtype or (asked.data if isinstance(asked, StringAttr) else "")
        if not dtype:
            return
        if dtype not in DTYPES:
            expected = " or ".join(DTYPES)
            raise ValueError(f"expected dtype of '{self.name}' {expected}, got '{dtype}'")
        written, target = written_values(op), Target(self.target)
        rate = dot_rate(dtype, target)
        for func in graph_functions(op):
            for inner in list(func.walk()):
                if is_layer(inner) and blocking_of(inner, written, target, rate) is None:
                    _convert(inner, dtype)
                elif rate > 1 and is_attention(inner, "float32"):
                    _convert_attention(inner, dtype)


def _convert(op: Layer, dtype: str) -> None:
    """Convert the operands of a layer."""
    data, weight, *bias = op.operands
    build = GraphBuilder(op)
    narrow = [build("astype", v, dtype=dtype) for v in (data, weight)]
    name, attributes = op.name.removeprefix("relax."), op.attribute_values()
    found = build(name, *narrow, **{**attributes, "out_dtype": "float32"})
    if bias:  # all operands of an operator have one dtype
        found = build("add", found, *bias)
    replace_result(op, found)


def _convert_attention(op: AttentionOp, dtype: str) -> None:
    """Convert query, key and value, whose dtype the result then has."""
    build = GraphBuilder(op)
    narrow = [build("astype", v, dtype=dtype) for v in op.operands[:3]]
    found = build("nn.attention", *narrow, *op.operands[3:], **op.attribute_values())
    replace_result(op, build("astype", found, dtype="float32"))
