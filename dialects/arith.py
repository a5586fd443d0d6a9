"""xDSL's `arith` dialect with the remainder of floats, which it lacks."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.arith import FloatingPointLikeBinaryOperation
from xdsl.ir import Dialect
from xdsl.irdl import irdl_op_definition, traits_def
from xdsl.traits import Pure


@irdl_op_definition
class RemFOp(FloatingPointLikeBinaryOperation):
    """Exact remainder with the sign of the dividend: ``arith.remf %x, %y : f32``; C's ``fmod``."""

    name = "arith.remf"
    traits = traits_def(Pure())


Arith = Dialect("arith", [*arith.Arith.operations, RemFOp], list(arith.Arith.attributes))
