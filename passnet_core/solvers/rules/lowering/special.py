"""Special functions that libdevice lacks, from those that it has."""

import math
from collections.abc import Mapping
from functools import partial

from passnet_core.solvers.rules.dtypes import DType, float_of, wide_of
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.lowering.arguments import Argument, Operation, by_name
from passnet_core.solvers.rules.lowering.pointwise import in_dtype, in_floats, pointwise
from passnet_core.solvers.rules.values import Pointwise, Value


def _wide(form: str, *values: Argument) -> Value:
    """Elements in float32 at least, which are not rounded yet."""
    first = next(each for each in values if isinstance(each, Value))
    return pointwise(form, *values, dtype=wide_of(first.dtype), exact=True)


def scaled_bessel(order: int, x: Value) -> Value:
    """The modified Bessel function of order 0 or 1 times exp(-|x|): far from zero by the first terms of a series."""
    x = in_floats(x)
    size = _wide("tl.abs({0})", x)
    one, two = (0.125, 0.0703125) if order == 0 else (-0.375, -0.1171875)
    far = _wide(f"divided(1.0 + {one} / {{0}} + {two} / ({{0}} * {{0}}), tl.sqrt_rn({2 * math.pi} * {{0}}))", size)
    near = _wide(f"libdevice.cyl_bessel_i{order}({{0}}) * libdevice.exp(-{{0}})", size)
    sign = "tl.where({2} < 0, -1.0, 1.0)" if order else "1.0"
    form = f"tl.where({{0}} > 80.0, {{1}}, {{3}}) * {sign}"
    return pointwise(form, size, far, x, near, dtype=x.dtype, work=wide_of(x.dtype))


def log_ndtr(x: Value) -> Value:
    """The logarithm of the normal distribution function."""
    x = in_floats(x)
    root = math.sqrt(0.5)
    low = _wide(f"libdevice.log(0.5 * libdevice.erfcx({{0}} * {-root})) - 0.5 * {{0}} * {{0}}", x)
    high = _wide(f"libdevice.log1p(-0.5 * libdevice.erfc({{0}} * {root}))", x)
    return pointwise("tl.where({0} < -1.0, {1}, {2})", x, low, high, dtype=x.dtype, work=wide_of(x.dtype))


def mvlgamma(x: Value, p: int) -> Value:
    """The logarithm of the multivariate gamma function of dimension p."""
    terms = " + ".join(f"libdevice.lgamma({{0}} - {place / 2})" for place in range(p))
    return pointwise(f"{terms} + {p * (p - 1) / 4 * math.log(math.pi)}", x, dtype=float_of(x.dtype))


def polygamma(n: int, x: Value) -> Value:
    """The derivative number n of digamma: from 1/2 on by recurrence and a series, below by reflection. Raises
    Unsupported beyond the first one."""
    if n not in (0, 1):
        raise Unsupported(f"polygamma of order {n}")
    x = in_floats(x)
    positive = _wide("tl.where({0} < 0.5, 1.0 - {0}, {0})", x)
    far = _wide("divided(1.0, {0} + 8.0)", positive)
    square = _wide("{0} * {0}", far)
    term = "divided(1.0, {{0}} + {0})" if n == 0 else "divided(1.0, ({{0}} + {0}) * ({{0}} + {0}))"
    lead = _wide(" + ".join(term.format(float(place)) for place in range(8)), positive)
    turn = _wide(f"{math.pi} * ({{0}} - libdevice.nearbyint({{0}}))", x)
    if n == 0:
        series = "-libdevice.log({0}) - 0.5 * {0} - (1.0 / 12.0 - (1.0 / 120.0 - {1} / 252.0) * {1}) * {1} - {2}"
        form = f"tl.where({{0}} < 0.5, {{1}} - divided({math.pi}, libdevice.tan({{2}})), {{1}})"
        # at a pole: infinite on either side of zero, and undefined at whole numbers below
        form = f'tl.where({{0}} == 0.0, -libdevice.copysign(float("inf"), {{0}}), {form})'
        form = f'tl.where(({{0}} < 0.0) & (libdevice.floor({{0}}) == {{0}}), float("nan"), {form})'
    else:
        series = "{0} + 0.5 * {1} + (1.0 / 6.0 - (1.0 / 30.0 - {1} / 42.0) * {1}) * {0} * {1} + {2}"
        sine = "libdevice.sin({2})"
        form = f"tl.where({{0}} < 0.5, divided({math.pi**2}, {sine} * {sine}) - {{1}}, {{1}})"
    found = _wide(series, far, square, lead)
    return pointwise(form, x, found, turn, dtype=x.dtype, work=wide_of(x.dtype))


def frexp(x: Value) -> tuple[Value, Value]:
    """Mantissas from 1/2 on, and exponents of two."""
    if not x.dtype.is_float:
        raise Unsupported("frexp of integers")
    wide = wide_of(x.dtype)
    none = '({0} == 0.0) | ({0} != {0}) | (tl.abs({0}) == float("inf"))'
    form = f"tl.where({none}, 0, libdevice.ilogb(tl.where({none}, 1.0, {{0}})) + 1)"
    exponent = pointwise(form, x, dtype=DType("int32"), work=wide, exact=True)
    operands = (in_dtype(x, wide), exponent)
    return Pointwise(x.shape, x.dtype, "libdevice.ldexp({0}, -{1})", operands, True, name="mantissa"), exponent


SPECIAL: Mapping[str, Operation] = {
    "i0e": partial(scaled_bessel, 0),
    "i1e": partial(scaled_bessel, 1),
    **by_name(log_ndtr, mvlgamma, polygamma, frexp),
    "multigammaln": mvlgamma,
    **dict.fromkeys(("digamma", "psi"), partial(polygamma, 0)),
}
"""Special functions, by label."""
