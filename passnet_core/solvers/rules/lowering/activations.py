"""Activations that have arguments of their own."""

from collections.abc import Mapping

from passnet_core.solvers.rules.dtypes import float_of
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.lowering.arguments import Argument, Operation, by_name
from passnet_core.solvers.rules.lowering.arithmetic import clamp
from passnet_core.solvers.rules.lowering.indexing import chunk
from passnet_core.solvers.rules.lowering.pointwise import pointwise
from passnet_core.solvers.rules.lowering.unary import erf_for, unary
from passnet_core.solvers.rules.lowering.views import per_channel, without_axes
from passnet_core.solvers.rules.values import Value


def hardtanh(x: Value, low: Argument = -1.0, high: Argument = 1.0) -> Value:
    """The elements, held between two numbers, which are rounded to the dtype."""
    return clamp(x, *((low, high) if x.dtype.is_float else (int(low), int(high))))


def leaky_relu(x: Value, slope: Argument = 0.01) -> Value:
    """The elements, the negative ones times a slope."""
    return pointwise("tl.where({0} > 0, {0}, {0} * {1})", x, slope, dtype=x.dtype)


def prelu(x: Value, weight: Value) -> Value:
    """The elements, the negative ones times a weight, one for all or for each channel."""
    single = not weight.shape or weight.shape[0].seems_one
    slope = without_axes(weight, range(len(weight.shape))) if single else per_channel(weight, x)
    return pointwise("tl.where({0} > 0, {0}, {1} * {0})", x, slope, dtype=x.dtype)


def rrelu(x: Value, lower: Argument = 1 / 8, upper: Argument = 1 / 3, training: Argument = False) -> Value:
    """leaky_relu with the mean of two slopes. Raises Unsupported in training."""
    if training is not False:
        raise Unsupported("rrelu in training")
    return leaky_relu(x, (lower + upper) / 2)


def threshold(x: Value, threshold: Argument, value: Argument) -> Value:
    """The elements above a threshold, and a number for the others."""
    return pointwise("tl.where({0} <= {1}, {2}, {0})", x, threshold, value, dtype=x.dtype)


def hardshrink(x: Value, lambd: Argument = 0.5) -> Value:
    """The elements, those near zero as 0."""
    return pointwise("tl.where(({0} >= -{1}) & ({0} <= {1}), 0.0, {0})", x, lambd, dtype=x.dtype)


def softshrink(x: Value, lambd: Argument = 0.5) -> Value:
    """The elements, nearer to zero by a number."""
    form = "tl.where({0} > {1}, {0} - {1}, tl.where({0} < -{1}, {0} + {1}, {0} * 0.0))"
    return pointwise(form, x, lambd, dtype=x.dtype)


def tanhshrink(x: Value) -> Value:
    """What tanh takes away from the elements."""
    return pointwise("{0} - {1}", x, unary("tanh", x), dtype=float_of(x.dtype))


def celu(x: Value, alpha: Argument = 1.0) -> Value:
    """elu with an argument in units of alpha."""
    return pointwise("tl.where({0} > 0, {0}, libdevice.expm1({0} * (1.0 / {1})) * {1})", x, alpha, dtype=x.dtype)


def elu(x: Value, alpha: Argument = 1.0) -> Value:
    """The elements, the negative ones as exponentials that approach -alpha."""
    return pointwise("tl.where({0} > 0, {0}, libdevice.expm1({0}) * {1})", x, alpha, dtype=x.dtype)


def softplus(x: Value, beta: Argument = 1, threshold: Argument = 20) -> Value:
    """A smooth form of relu: log(1 + exp(x)), but x itself beyond a threshold."""
    if beta == 1 and threshold == 20:
        form = "tl.where({0} > 20.0, {0}, libdevice.log1p(libdevice.exp({0})))"
        return pointwise(form, x, dtype=float_of(x.dtype))
    form = "tl.where({0} * {1} > {2}, {0}, divided(libdevice.log1p(libdevice.exp({0} * {1})), {1}))"
    return pointwise(form, x, beta, threshold, dtype=x.dtype)


def gelu(x: Value, approximate: str = "none") -> Value:
    """The elements times the share of a normal distribution below them."""
    if approximate == "tanh":
        form = "0.5 * {0} * (1.0 + libdevice.tanh(0.7978845608028654 * tl.fma({0} * {0} * {0}, 0.044715, {0})))"
    else:
        form = f"{{0}} * 0.5 * (1.0 + {erf_for(x.dtype)}({{0}} * 0.7071067811865476))"
    return pointwise(form, x, dtype=x.dtype)


def glu(x: Value, dim: int = -1) -> Value:
    """One half of the tensor, times the sigmoid of the other."""
    one, other = chunk(x, 2, dim)
    return pointwise("{0} * divided(1.0, 1.0 + libdevice.exp(-{1}))", one, other, dtype=x.dtype)


ACTIVATIONS: Mapping[str, Operation] = {
    **by_name(hardtanh, leaky_relu, elu, celu, softplus, gelu, glu, prelu, rrelu, threshold),
    **by_name(hardshrink, softshrink, tanhshrink),
}
"""Activations, by label. The functions of one tensor alone are in unary.py."""
