"""Truth values: comparisons, connectives, and choices between elements."""

import math
from collections.abc import Mapping
from functools import partial

from passnet_core.solvers.rules.dtypes import BOOL, FLOAT32, INT64, DType
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.lowering.arguments import Argument, Literal, Operation, by_name, number_text
from passnet_core.solvers.rules.lowering.pointwise import broadcast, cast, in_dtype, joined, operand, pointwise
from passnet_core.solvers.rules.values import Pointwise, Value


def compared(sign: str, x: Argument, y: Argument) -> Value:
    """Whether the elements compare so."""
    dtype = joined((x, y))
    if dtype.is_float and not all(isinstance(each, Value) for each in (x, y)):
        # eager rounds the number to the tensor's dtype
        number = next(each for each in (x, y) if not isinstance(each, Value))
        if isinstance(number, float) and dtype.rounds and not float(number).is_integer() and not math.isinf(number):
            rounded = Pointwise((), dtype, f"tl.full((), {number_text(number, dtype)}, tl.float32)", ())
            x, y = (rounded if each is number else each for each in (x, y))
    x, y = (_wrapped(each, dtype) for each in (x, y))
    return pointwise(f"{{0}} {sign} {{1}}", x, y, dtype=BOOL, work=dtype, exact=True)


def _wrapped(number: Argument, dtype: DType) -> Argument:
    """A number as eager takes it beside a tensor of integers: in their dtype, of which it may have too many bits."""
    if dtype.is_float or dtype.is_bool or not isinstance(number, int) or dtype.holds(number):
        return number
    return Pointwise((), dtype, f"tl.full((), {number}, tl.int64).to({dtype.kernel})", ())


def logical(sign: str, x: Argument, y: Argument) -> Value:
    """Truth values or bits, combined by an operator."""
    dtype = joined((x, y))
    return pointwise(f"{{0}} {sign} {{1}}", x, y, dtype=dtype, exact=True)


def inverted(x: Value) -> Value:
    """Truth values or bits, inverted."""
    return pointwise("~{0}", x, dtype=x.dtype, exact=True)


def logical_truth(sign: str, x: Value, y: Value) -> Value:
    """Whether the elements are not 0, combined by an operator. Raises Unsupported for a tensor beside a single one."""
    if bool(x.shape) != bool(y.shape):
        raise Unsupported("truth values beside a single one")
    return logical(sign, cast(x, BOOL), cast(y, BOOL))


_TESTS: Mapping[str, tuple[str, str]] = {
    "isnan": ("{0} != {0}", "{0} != {0}"),
    "isfinite": ('tl.abs({0}) < float("inf")', "{0} == {0}"),
    "isinf": ('tl.abs({0}) == float("inf")', "{0} != {0}"),
    "isposinf": ('{0} == float("inf")', "{0} != {0}"),
    "isneginf": ('{0} == float("-inf")', "{0} != {0}"),
    "signbit": ("libdevice.signbit({0}) != 0", "{0} < 0"),
    "logical_not": ("{0} == 0", "{0} == 0"),
}
"""What may be asked of one element: how of a float, and how of another."""


def tested(label: str, x: Value) -> Value:
    """Whether the elements are what the label asks."""
    of_float, of_other = _TESTS[label]
    return pointwise(of_float if x.dtype.is_float else of_other, x, dtype=BOOL, work=x.dtype, exact=True)


def where(condition: Value, x: Argument, y: Argument) -> Value:
    """The elements of x where the condition holds, elsewhere those of y."""
    if any(isinstance(each, Value) for each in (x, y)):
        dtype = joined((x, y))
    else:
        dtype = FLOAT32 if any(isinstance(each, float) for each in (x, y)) else INT64
    operands = (condition, *(in_dtype(operand(each, dtype), dtype) for each in (x, y)))
    return Pointwise(broadcast([each.shape for each in operands]), dtype, "tl.where({0}, {1}, {2})", operands, True)


def masked_fill(x: Value, mask: Value, value: Argument) -> Value:
    """The elements, and a number where the mask holds."""
    number = operand(value, x.dtype)
    operands = (mask, in_dtype(number, x.dtype), x)
    rounds = (isinstance(value, float) and not math.isinf(value)) or isinstance(value, Literal)
    shape = broadcast([each.shape for each in operands])
    return Pointwise(shape, x.dtype, "tl.where({0}, {1}, {2})", operands, not rounds)


_COMPARED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_LOGICAL = {"and": "&", "or": "|", "xor": "^"}

CONDITIONS: Mapping[str, Operation] = {
    **by_name(where, masked_fill),
    **dict.fromkeys(("not", "bitwise_not"), inverted),
    **{label: partial(tested, label) for label in _TESTS},
    **{label: partial(compared, sign) for label, sign in _COMPARED.items()},
    **{label: partial(logical, sign) for label, sign in _LOGICAL.items()},
    **{f"bitwise_{label}": partial(logical, sign) for label, sign in _LOGICAL.items()},
    **{f"logical_{label}": partial(logical_truth, sign) for label, sign in _LOGICAL.items()},
}
"""Comparisons, connectives and choices, by label."""
