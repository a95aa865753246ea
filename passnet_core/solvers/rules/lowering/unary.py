"""Functions of one tensor, element by element, that need no argument besides it."""

import math
from collections.abc import Mapping
from functools import partial

from passnet_core.solvers.rules.coordinates import Coordinates
from passnet_core.solvers.rules.dtypes import BOOL, DType, float_of
from passnet_core.solvers.rules.lowering.arguments import Argument, Operation, by_name
from passnet_core.solvers.rules.lowering.pointwise import in_floats, pointwise
from passnet_core.solvers.rules.values import ElementWriter, Number, Value

_LIBDEVICE = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "erfc", "erfcx", "erfinv", "exp", "exp2", "expm1",
    "j0", "j1", "lgamma", "log", "log10", "log1p", "log2", "rsqrt", "sin", "sinh", "tan", "tanh",
)  # fmt: skip
"""Functions of libdevice by that name."""

_FLOATS: Mapping[str, str] = {
    **{label: f"libdevice.{label}({{0}})" for label in _LIBDEVICE},
    "sqrt": "tl.sqrt_rn({0})",
    "sigmoid": "divided(1.0, 1.0 + libdevice.exp(-{0}))",
    "silu": "divided({0}, 1.0 + libdevice.exp(-{0}))",
    "reciprocal": "divided(1.0, {0})",
    "mish": "{0} * libdevice.tanh(libdevice.log1p(libdevice.exp({0})))",
    "hardsigmoid": "tl.where({0} + 3.0 < 0.0, 0.0, tl.where({0} + 3.0 > 6.0, 6.0, {0} + 3.0)) * (1.0 / 6.0)",
    "hardswish": "{0} * tl.where({0} + 3.0 < 0.0, 0.0, tl.where({0} + 3.0 > 6.0, 6.0, {0} + 3.0)) * (1.0 / 6.0)",
    "softsign": "divided({0}, 1.0 + tl.abs({0}))",
    "logsigmoid": "tl.where({0} > 0, 0.0, {0}) - libdevice.log1p(libdevice.exp(-tl.abs({0})))",
    "selu": "tl.where({0} > 0, {0} * 1.0507009873554805, libdevice.expm1({0}) * 1.7580993408473766)",
    "sinc": "tl.where({0} == 0, 1.0, divided(libdevice.sin(PI * {0}), PI * {0}))".replace("PI", repr(math.pi)),
    "deg2rad": f"{{0}} * {math.pi / 180}",
    "rad2deg": f"{{0}} * {180 / math.pi}",
    "angle": f"tl.where({{0}} != {{0}}, {{0}}, tl.where({{0}} < 0, {math.pi}, 0.0))",
    "ndtr": f"0.5 * libdevice.erfc(-{{0}} * {math.sqrt(0.5)})",
    "ndtri": "libdevice.normcdfinv({0})",
    **dict.fromkeys(("i0", "modified_bessel_i0"), "libdevice.cyl_bessel_i0({0})"),
    **dict.fromkeys(("i1", "modified_bessel_i1"), "libdevice.cyl_bessel_i1({0})"),
    "spherical_bessel_j0": 'tl.where(tl.abs({0}) == float("inf"), 0.0, '
    "tl.where({0} == 0, 1.0, divided(libdevice.sin({0}), {0})))",
    "entr": 'tl.where({0} > 0, -{0} * libdevice.log({0}), tl.where({0} == 0, 0.0, {0} + float("-inf")))',
}
"""Functions that give floats, computed as eager does."""

_KEEPS: Mapping[str, str] = {
    "neg": "-{0}",
    "frac": "{0} - libdevice.trunc({0})",
    "abs": "tl.abs({0})",
    "floor": "libdevice.floor({0})",
    "ceil": "libdevice.ceil({0})",
    "round": "libdevice.nearbyint({0})",
    "trunc": "libdevice.trunc({0})",
    "relu": "tl.where({0} < 0, 0, {0})",
    "relu6": "tl.where({0} < 0, 0, tl.where({0} > 6, 6, {0}))",
    **dict.fromkeys(("sign", "sgn"), "({0} > 0).to({work}) - ({0} < 0).to({work})"),
}
"""Functions whose result has the operand's dtype and needs no rounding."""


def unary(label: str, x: Value) -> Value:
    """The function with this label, of a tensor."""
    if x.dtype.is_bool and label in _KEEPS:
        return pointwise("{0}", x, dtype=BOOL, exact=True)  # the others refuse truth values
    if label in _KEEPS:
        return pointwise(_KEEPS[label], x, dtype=x.dtype, exact=True)
    return pointwise(_FLOATS[label], x, dtype=float_of(x.dtype))


def erf(x: Value) -> Value:
    """The error function."""
    dtype = float_of(x.dtype)
    return pointwise(f"{erf_for(dtype)}({{0}})", x, dtype=dtype)


def erf_for(dtype: DType) -> str:
    """The function that is the error function in a kernel."""
    return "libdevice.erf" if dtype.is_wide else "erf32"


def logit(x: Value, eps: Argument = None) -> Value:
    """The logarithm of the odds. eps: how far from 0 and 1 the elements are held."""
    x = in_floats(x)
    if eps is not None:
        x = pointwise("tl.where({0} < {1}, {1}, tl.where({0} > 1.0 - {1}, 1.0 - {1}, {0}))", x, eps, dtype=x.dtype)
    return pointwise("libdevice.log(divided({0}, 1.0 - {0}))", x, dtype=x.dtype)


class Largest(Number):
    """The largest finite number of a dtype that a tensor may name."""

    def code(self, writer: ElementWriter, places: Coordinates, mask: str) -> str:
        return self.text + writer.constant(
            f"LARGEST_{self.dtype.host.partition('.')[0].upper()}", f"torch.finfo({self.dtype.host}).max"
        )


def nan_to_num(x: Value, nan: Argument = None, posinf: Argument = None, neginf: Argument = None) -> Value:
    """The elements, with numbers for those that are none or not finite."""
    if not x.dtype.is_float:
        return pointwise("{0}", x, dtype=x.dtype, exact=True)
    high = Largest((), x.dtype, "") if posinf is None else posinf
    low = Largest((), x.dtype, "-") if neginf is None else neginf
    form = 'tl.where({0} != {0}, {1}, tl.where({0} == float("inf"), {2}, tl.where({0} == float("-inf"), {3}, {0})))'
    return pointwise(form, x, 0.0 if nan is None else nan, high, low, dtype=x.dtype)


UNARY: Mapping[str, Operation] = {
    **{label: partial(unary, label) for label in (*_FLOATS, *_KEEPS)},
    **by_name(erf, logit, nan_to_num),
    "bessel_j0": partial(unary, "j0"),
    "bessel_j1": partial(unary, "j1"),
}
"""Functions of one tensor, by label."""
