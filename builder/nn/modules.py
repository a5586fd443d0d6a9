"""All modules under one name; TVM's ``nn.modules``."""

from __future__ import annotations

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

__script_path__ = "relax.frontend.nn.modules"
