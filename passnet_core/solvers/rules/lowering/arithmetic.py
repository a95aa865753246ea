"""Arithmetic between tensors, or between a tensor and a number."""

import math
import struct
from collections.abc import Mapping
from functools import partial

from passnet_core.solvers.rules.dtypes import BOOL, DType, wide_of, with_number
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.lowering.arguments import Argument, Literal, Operation, by_name
from passnet_core.solvers.rules.lowering.conditions import logical
from passnet_core.solvers.rules.lowering.pointwise import binary, cast, joined, pointwise
from passnet_core.solvers.rules.lowering.unary import unary
from passnet_core.solvers.rules.values import Value

LARGER = "tl.where(({0} > {1}) | ({0} != {0}), {0}, {1})"
SMALLER = "tl.where(({0} < {1}) | ({0} != {0}), {0}, {1})"
"""One of two elements, NaN if one is."""


_OF_TWO: Mapping[str, str] = {
    **{label: f"libdevice.{label}({{0}}, {{1}})" for label in ("atan2", "copysign", "hypot")},
    "xlogy": "tl.where({1} != {1}, {1}, tl.where({0} == 0, 0.0, {0} * libdevice.log({1})))",
    "xlog1py": "tl.where({1} != {1}, {1}, tl.where({0} == 0, 0.0, {0} * libdevice.log1p({1})))",
    "logaddexp": f"tl.where(({{0}} == {{1}}) & (tl.abs({{0}}) == float('inf')), {{0}}, {LARGER} + "
    "libdevice.log1p(libdevice.exp(-tl.abs({0} - {1}))))",
    "logaddexp2": f"tl.where(({{0}} == {{1}}) & (tl.abs({{0}}) == float('inf')), {{0}}, {LARGER} + "
    f"libdevice.log1p(libdevice.exp2(-tl.abs({{0}} - {{1}}))) * {1 / math.log(2)})",
}
"""Functions of two tensors that give floats, computed as eager does."""


def add(x: Argument, y: Argument, alpha: Argument = 1) -> Argument:
    """The sum of two tensors, or of a tensor and a number, or of sizes. alpha: a factor for y."""
    if not isinstance(x, Value) and not isinstance(y, Value):
        return x + y
    if alpha != 1:
        return _with_factor(x, y, alpha, "+")
    if joined((x, y)).is_bool:
        return logical("|", x, y)
    return binary("{0} + {1}", x, y)


def sub(x: Argument, y: Argument, alpha: Argument = 1) -> Value:
    """The difference. alpha: a factor for y."""
    if alpha != 1:
        return _with_factor(x, y, alpha, "-")
    return binary("{0} - {1}", x, y)


def _with_factor(x: Argument, y: Argument, alpha: Argument, sign: str) -> Value:
    dtype = joined((x, y))
    if not dtype.is_float:
        return pointwise(f"{{0}} {sign} {{1}} * {{2}}", x, y, alpha, dtype=dtype)
    return pointwise("tl.fma({1}, {2}, {0})" if sign == "+" else "tl.fma(-{1}, {2}, {0})", x, y, alpha, dtype=dtype)


def mul(x: Argument, y: Argument) -> Argument:
    """The product of tensors, of a tensor and a number, or of sizes."""
    if not isinstance(x, Value) and not isinstance(y, Value):
        return x * y
    if joined((x, y)).is_bool:
        return logical("&", x, y)
    return binary("{0} * {1}", x, y)


def div(x: Argument, y: Argument, rounding_mode: str | None = None) -> Argument:
    """The quotient, rounded as asked: "floor", "trunc", or not at all."""
    if isinstance(x, int) and isinstance(y, int) and rounding_mode:
        return x // y if rounding_mode == "floor" else int(x / y)
    dtype = joined((x, y))
    if rounding_mode is None:
        if isinstance(y, Value):
            return binary("divided({0}, {1})", x, y, floats=True)
        if 0 in (y.values if isinstance(y, Literal) else (y,)):
            return binary("{0} / {1}", x, y, floats=True)
        if not isinstance(y, Literal | int | float):
            raise Unsupported("a division by a size")
        # on a GPU eager multiplies by the inverse of a number
        return binary("{0} * (1.0 / {1})", x, y if isinstance(y, Literal) or dtype.is_wide else _narrow(y), floats=True)
    if rounding_mode == "floor":
        return floordiv(x, y)
    if dtype.is_float:
        return binary("libdevice.trunc(divided({0}, {1}))", x, y)
    return binary("{0} // {1}", x, y, exact=True)


def _narrow(number: float) -> float:
    """The number that float32 has for this one, if the inverse of the other is another one."""
    rounded = _float32(number)
    return number if math.isinf(rounded) or not rounded or _float32(1 / number) == _float32(1 / rounded) else rounded


def _float32(number: float) -> float:
    try:
        found: float = struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
        return math.inf
    return found


def floordiv(x: Argument, y: Argument) -> Value:
    """The quotient, rounded down."""
    dtype = joined((x, y))
    if dtype.is_float:
        wide = wide_of(dtype)
        rest = pointwise("libdevice.fmod({0}, {1})", x, y, dtype=wide, exact=True)
        form = "({0} - {2}) / {1} - (({2} != 0) & (({1} < 0) != ({2} < 0))).to({work})"
        whole = pointwise(form, x, y, rest, dtype=wide, exact=True)
        form = (
            "tl.where({2} == 0, {1} / {2}, tl.where({0} == 0, libdevice.copysign(0.0, {1} / {2}),"
            " libdevice.floor({0}) + ({0} - libdevice.floor({0}) > 0.5).to({work})))"
        )
        return pointwise(form, whole, x, y, dtype=dtype, work=wide)
    return binary("({0} // {1}) - (({0} % {1} != 0) & (({0} < 0) != ({1} < 0))).to({work})", x, y, exact=True)


def remainder(x: Argument, y: Argument) -> Value:
    """The rest of a division that rounds down: it has the sign of y."""
    dtype = joined((x, y))
    if dtype.is_float:
        rest = pointwise("libdevice.fmod({0}, {1})", x, y, dtype=wide_of(dtype), exact=True)
        return pointwise("tl.where(({0} != 0) & (({0} < 0) != ({1} < 0)), {0} + {1}, {0})", rest, y, dtype=dtype)
    return binary(
        "{0} % {1} + ((({0} % {1}) != 0) & ((({0} % {1}) < 0) != ({1} < 0))).to({work}) * {1}", x, y, exact=True
    )


def fmod(x: Argument, y: Argument) -> Value:
    """The rest of a division, with the sign of x."""
    return binary("libdevice.fmod({0}, {1})" if joined((x, y)).is_float else "{0} % {1}", x, y, exact=True)


def shifted(sign: str, x: Argument, y: Argument) -> Value:
    """Integers with their bits moved on; by more than there are, to what is left. Raises Unsupported for floats."""
    dtype = joined((x, y))
    if dtype.is_float or dtype.is_bool:
        raise Unsupported("a shift of what has no bits")
    bits = int(dtype.name.lstrip("uint"))
    form = f"tl.where(({{1}} >= 0) & ({{1}} < {bits}), {{0}} {sign} ({{1}} & {bits - 1}), {{2}})"
    rest: Argument = 0 if sign == "<<" else pointwise(f"{{0}} >> {bits - 1}", x, dtype=dtype, exact=True)
    return pointwise(form, x, y, rest, dtype=dtype, exact=True)


def float_power(x: Argument, exponent: Argument) -> Value:
    """A power in float64."""
    wide = DType("float64")
    return power(*(cast(each, wide) if isinstance(each, Value) else each for each in (x, exponent)))


def rounded(x: Value, decimals: Argument = 0) -> Value:
    """The elements, rounded to so many decimals, halves to even."""
    if not decimals:
        return unary("round", x)
    if not x.dtype.is_float:
        raise Unsupported("integers rounded to decimals")
    by = 10.0 ** abs(decimals)
    there, back = ("{0} * {1}", "divided({0}, {1})")[:: 1 if decimals > 0 else -1]
    return pointwise(back, unary("round", pointwise(there, x, by, dtype=x.dtype)), by, dtype=x.dtype)


def ldexp(x: Value, y: Value) -> Argument:
    """The elements times powers of two."""
    return mul(x, power(2.0, y))


def isclose(x: Value, y: Value, rtol: Argument = 1e-05, atol: Argument = 1e-08, equal_nan: Argument = False) -> Value:
    """Whether elements differ by a tolerance at most."""
    dtype = joined((x, y))
    if not dtype.is_float:
        raise Unsupported("isclose of integers")
    close = "({0} == {1}) | ((tl.abs({2}) < float('inf')) & (tl.abs({2}) <= {3}))"
    allowed = pointwise("{1} + tl.abs({2} * {0})", y, atol, rtol, dtype=dtype)
    form = f"{close} | (({{0}} != {{0}}) & ({{1}} != {{1}}))" if equal_nan else close
    return pointwise(form, x, y, sub(x, y), allowed, dtype=BOOL, work=dtype, exact=True)


def power(x: Argument, exponent: Argument) -> Value:
    """x to a power, by products and roots where eager uses them."""
    if not joined((x, exponent)).is_float and exponent not in (1, 2, 3):
        raise Unsupported("a power of integers")
    if isinstance(exponent, Literal | Value) or not isinstance(x, Value):
        return binary("libdevice.pow({0}, {1})", x, exponent, floats=True)
    if exponent == 2:
        return pointwise("{0} * {0}", x, dtype=with_number(x.dtype, exponent))
    if exponent == 3:
        # eager multiplies twice, and rounds each product
        return pointwise("{0} * {1}", power(x, 2), x, dtype=with_number(x.dtype, exponent))
    if exponent == 0.5:
        return unary("sqrt", x)
    if exponent == -0.5:
        return unary("rsqrt", x)
    if exponent == -1:
        return unary("reciprocal", x)
    if exponent == 1:
        return pointwise("{0}", x, dtype=x.dtype, exact=True)
    return binary("libdevice.pow({0}, {1})", x, float(exponent), floats=True)


def clamp(x: Value, min: Argument = None, max: Argument = None) -> Value:
    """The elements, held between bounds."""
    found = x
    for bound, sign in ((min, "<"), (max, ">")):
        if bound is not None:
            dtype = joined((found, bound))
            form = f"tl.where({{0}} {sign} {{1}}, {{1}}, {{0}})"
            found = pointwise(form, found, bound, dtype=dtype, exact=_is_of(dtype, bound))
    return found


def _is_of(dtype: DType, bound: Argument) -> bool:
    """Whether the dtype surely has this number, or all numbers of this tensor: it may have more digits."""
    if isinstance(bound, Value):
        return bound.dtype == dtype or not dtype.is_float
    return isinstance(bound, int) and abs(bound) <= 256


def lerp(x: Value, end: Value, weight: Argument) -> Value:
    """The way from x to an end, as far as the weight says, computed from the nearer end."""
    form = "tl.where(tl.abs({2}) < 0.5, {0} + {2} * ({1} - {0}), {1} - ({1} - {0}) * (1 - {2}))"
    return pointwise(form, x, end, weight, dtype=x.dtype)


def addcmul(x: Value, one: Value, two: Value, value: Argument = 1) -> Value:
    """x + value * one * two."""
    dtype = joined((x, one, two))
    form = "tl.fma({3} * {1}, {2}, {0})" if dtype.is_float else "{0} + {3} * {1} * {2}"
    return pointwise(form, x, one, two, value, dtype=dtype)


def addcdiv(x: Value, one: Value, two: Value, value: Argument = 1) -> Value:
    """x + value * one / two."""
    return pointwise("tl.fma({3}, divided({1}, {2}), {0})", x, one, two, value, dtype=joined((x, one, two)))


ARITHMETIC: Mapping[str, Operation] = {
    **by_name(add, sub, mul, div, floordiv, remainder, fmod, float_power, ldexp),
    **by_name(isclose, clamp, lerp, addcmul, addcdiv),
    "rsub": lambda x, y, alpha=1: sub(y, x, alpha),
    "pow": power,
    "square": partial(power, exponent=2),
    "round": rounded,
    "maximum": partial(binary, LARGER, exact=True),
    "minimum": partial(binary, SMALLER, exact=True),
    "clamp_min": clamp,
    "clamp_max": partial(clamp, min=None),
    **{label: partial(shifted, "<<") for label in ("lshift", "bitwise_left_shift")},
    **{label: partial(shifted, ">>") for label in ("rshift", "bitwise_right_shift")},
    **{label: partial(binary, form, floats=True) for label, form in _OF_TWO.items()},
    "heaviside": partial(binary, "tl.where({0} == 0, {1}, ({0} > 0).to({work}))", exact=True),
    "fmax": partial(binary, "tl.where({1} != {1}, {0}, tl.where({0} > {1}, {0}, {1}))", exact=True),
    "fmin": partial(binary, "tl.where({1} != {1}, {0}, tl.where({0} < {1}, {0}, {1}))", exact=True),
    "floor_divide": floordiv,
    "mod": remainder,
    "clip": clamp,
}
"""Arithmetic, by label."""
