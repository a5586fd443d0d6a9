"""Canonical integer expressions, for dims, loop bounds, indices and predicates.

An expression is a polynomial with integer coefficients over *atoms*: symbols of the enclosing
function, operands of the operation that holds the expression, and floordiv, mod, min and max of
other expressions. Construction canonicalizes, so equal values compare equal: ``(n + 2) + 3`` is ``n
+ 5`` and ``n - n`` is ``0``. The counterparts are TVM's ``PrimExpr`` with ``arith::Analyzer`` and
MLIR's ``AffineExpr``; unlike the latter, products of symbols are allowed.
"""

from .parts import outermost as outermost
from .simplification import choices_in as choices_in
from .simplification import floordiv as floordiv
from .simplification import floormod as floormod
from .simplification import is_divisor as is_divisor
from .simplification import maximum as maximum
from .simplification import minimum as minimum
from .simplification import split_quotient as split_quotient
from .terms import COMPOUND_OPS as COMPOUND_OPS
from .terms import ONE as ONE
from .terms import ZERO as ZERO
from .terms import Atom as Atom
from .terms import Compound as Compound
from .terms import IntExpr as IntExpr
from .terms import IntLike as IntLike
from .terms import Monomial as Monomial
from .terms import arg as arg
from .terms import compound as compound
from .terms import sym as sym
from .text import IR_SPELLING as IR_SPELLING
from .text import PYTHON_SPELLING as PYTHON_SPELLING
from .text import RESERVED as RESERVED
from .text import Arg as Arg
from .text import Sym as Sym
from .text import render as render
from .text import symbol_text as symbol_text
