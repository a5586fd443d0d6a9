"""Models as Python classes; TVM's ``relax.frontend.nn``.

::

    class MLP(nn.Module):
        def __init__(self):
            self.hidden, self.out = nn.Linear(784, 128), nn.Linear(128, 10)

        def forward(self, x):
            return self.out(nn.op.relu(self.hidden(x)))

    mod, params = MLP().export_tvm({"forward": {"x": nn.spec.Tensor(("n", 784), "float32")}})

The functions of the module take the inputs, then the parameters in the order of `params`. What
`forward` computes on are expressions of the graph.
"""

from __future__ import annotations

from typing import Any

from . import modules as modules
from . import op as op
from . import spec as spec
from .calls import Tensor as Tensor
from .calls import extern as extern
from .calls import tensor_expr_op as tensor_expr_op
from .calls import tensor_ir_inplace_op as tensor_ir_inplace_op
from .calls import tensor_ir_op as tensor_ir_op
from .containers import ModuleDict as ModuleDict
from .containers import ParameterDict as ParameterDict
from .containers import ParameterList as ParameterList
from .convolutions import Conv1D as Conv1D
from .convolutions import Conv2D as Conv2D
from .convolutions import Conv3D as Conv3D
from .convolutions import ConvTranspose1D as ConvTranspose1D
from .core import Module as Module
from .core import ModuleList as ModuleList
from .core import Parameter as Parameter
from .diffusion import Attention as Attention
from .diffusion import TimestepEmbedding as TimestepEmbedding
from .diffusion import Timesteps as Timesteps
from .effects import Effect as Effect
from .effects import IOEffect as IOEffect
from .layers import GELU as GELU
from .layers import Embedding as Embedding
from .layers import GroupNorm as GroupNorm
from .layers import Identity as Identity
from .layers import LayerNorm as LayerNorm
from .layers import Linear as Linear
from .layers import ReLU as ReLU
from .layers import RMSNorm as RMSNorm
from .layers import SiLU as SiLU
from .mutator import Mutator as Mutator

__script_path__ = "relax.frontend.nn"


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(op, name)
