"""Functions of one tensor, element by element, that need no argument besides it."""

from collections.abc import Mapping
from functools import partial

from passnet_core.solvers.rules.dtypes import FLOAT32, DType
from passnet_core.solvers.rules.lowering.arguments import Argument, Operation
from passnet_core.solvers.rules.lowering.pointwise import pointwise
from passnet_core.solvers.rules.values import Value

_FLOATS: Mapping[str, str] = {
    "tanh": "libdevice.tanh({0})",
    "exp": "libdevice.exp({0})",
    "exp2": "libdevice.exp2({0})",
    "expm1": "libdevice.expm1({0})",
    "log": "libdevice.log({0})",
    "log2": "libdevice.log2({0})",
    "log1p": "libdevice.log1p({0})",
    "sin": "libdevice.sin({0})",
    "cos": "libdevice.cos({0})",
    "sqrt": "tl.sqrt_rn({0})",
    "rsqrt": "libdevice.rsqrt({0})",
    "sigmoid": "divided(1.0, 1.0 + libdevice.exp(-{0}))",
    "silu": "divided({0}, 1.0 + libdevice.exp(-{0}))",
    "reciprocal": "divided(1.0, {0})",
    "mish": "{0} * libdevice.tanh(libdevice.log1p(libdevice.exp({0})))",
    "hardsigmoid": "tl.where({0} + 3.0 < 0.0, 0.0, tl.where({0} + 3.0 > 6.0, 6.0, {0} + 3.0)) * (1.0 / 6.0)",
    "hardswish": "{0} * tl.where({0} + 3.0 < 0.0, 0.0, tl.where({0} + 3.0 > 6.0, 6.0, {0} + 3.0)) * (1.0 / 6.0)",
    "softsign": "divided({0}, 1.0 + tl.abs({0}))",
}
"""Functions that give floats, computed as eager does."""

_KEEPS: Mapping[str, str] = {
    "neg": "-{0}",
    "abs": "tl.abs({0})",
    "floor": "libdevice.floor({0})",
    "ceil": "libdevice.ceil({0})",
    "round": "libdevice.nearbyint({0})",
    "trunc": "libdevice.trunc({0})",
    "relu": "tl.where({0} < 0, 0, {0})",
    "relu6": "tl.where({0} < 0, 0, tl.where({0} > 6, 6, {0}))",
    "sign": "({0} > 0).to({work}) - ({0} < 0).to({work})",
}
"""Functions whose result has the operand's dtype and needs no rounding."""


def unary(label: str, x: Value, inplace: Argument = False) -> Value:
    """The function with this label, of a tensor. inplace: says only where to write the result."""
    if label in _KEEPS:
        return pointwise(_KEEPS[label], x, dtype=x.dtype, exact=True)
    dtype = x.dtype if x.dtype.is_float else FLOAT32
    return pointwise(_FLOATS[label], x, dtype=dtype)


def erf(x: Value) -> Value:
    """The error function."""
    dtype = x.dtype if x.dtype.is_float else FLOAT32
    return pointwise(f"{erf_for(dtype)}({{0}})", x, dtype=dtype)


def erf_for(dtype: DType) -> str:
    """The function that is the error function in a kernel."""
    return "libdevice.erf" if dtype.is_wide else "erf32"


UNARY: Mapping[str, Operation] = {label: partial(unary, label) for label in (*_FLOATS, *_KEEPS)} | {"erf": erf}
"""Functions of one tensor, by label."""
