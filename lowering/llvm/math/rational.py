"""``tanh`` and ``erf`` of f32 as one quotient of polynomials, and ``erf`` within one ulp.

The fits are ours: `docs/math.md` says how they are made.
"""

from __future__ import annotations

from .exponential import exp
from .terms import Real, fused, in_halves, polynomial

_TANH = (
    (
        1.3908275365829468,
        0.1902640461921692,
        0.005380179733037949,
        3.89535998692736e-05,
        4.253861973779749e-08,
        -1.6973001129572118e-11,
    ),
    (
        1.3908275365829468,
        0.6538732051849365,
        0.03789427503943443,
        0.0005477961385622621,
        1.790508690646675e-06,
    ),
)
_ERF = (
    (
        1.4959486722946167,
        0.24545970559120178,
        0.07192825525999069,
        0.0050912778824567795,
        0.0005000305827707052,
        6.125055733718909e-06,
        -1.7046531297637557e-08,
    ),
    (
        1.3257499933242798,
        0.6594497561454773,
        0.1509857028722763,
        0.0204627588391304,
        0.0017266722861677408,
        8.286065713036805e-05,
    ),
)
_TANH_END = 9.02
"""From here on tanh is 1 in f32; the quotient falls again."""
_ERF_END = 4.4
"""Here the quotient is above 1 by more than its error, so that it is exactly 1 from here on."""
_ERF_SMALL = (
    0.12837916612625122,
    -0.3761262893676758,
    0.11283625662326813,
    -0.02685573697090149,
    0.005192438140511513,
    -0.0008050385513342917,
    8.000297384569421e-05,
)
"""``erf(x) / x - 1`` in x squared."""
_ERF_LARGE = (
    -0.0001766804198268801,
    0.12952451407909393,
    0.6333275437355042,
    0.10830141603946686,
    -0.025133250281214714,
    0.004176332149654627,
    -0.0004355554992798716,
    2.1190087863942608e-05,
)
"""``-log(erfc(x)) - x``."""
_ERF_SEAM = 0.9375


def _quotient(a: Real, fit: tuple[tuple[float, ...], tuple[float, ...]]) -> Real:
    """An odd function of a number that is not negative, at most 1."""
    z = a * a
    return (a * (in_halves(z, fit[0]) / in_halves(z, fit[1]))).at_most(1.0)


def tanh(x: Real) -> Real:
    """The hyperbolic tangent of f32."""
    a = x.absolute()
    return (a > _TANH_END).choose_number(1.0, _quotient(a, _TANH)).with_sign_of(x)


def erf(x: Real) -> Real:
    """The error function of f32."""
    # A bound of the operand takes fewer instructions than a choice of the result.
    return _quotient(x.absolute().at_most(_ERF_END), _ERF).with_sign_of(x)


def erf_accurate(x: Real) -> Real:
    """The error function of f32 within one ulp, after Juffa: a polynomial, and ``1 - e^-q``."""
    a = x.absolute().at_most(4.0)
    small = fused(a, polynomial(a * a, _ERF_SMALL), a)
    large = 1.0 - exp(-(polynomial(a, _ERF_LARGE) + a))
    return (a > _ERF_SEAM).choose(large, small).with_sign_of(x)
