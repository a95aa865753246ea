"""Truth values: comparisons, connectives, and choices between elements."""

import math
from collections.abc import Mapping
from functools import partial

from passnet_core.solvers.rules.dtypes import BOOL, FLOAT32, INT64, DType
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.lowering.arguments import Argument, Literal, Operation, number_text
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


def logical_not(x: Value) -> Value:
    """Whether the elements are 0."""
    return pointwise("{0} == 0", x, dtype=BOOL, work=x.dtype, exact=True)


def logical_and(x: Value, y: Value) -> Value:
    """Whether both elements are not 0."""
    return logical("&", *_truths(x, y))


def logical_or(x: Value, y: Value) -> Value:
    """Whether one of the elements is not 0."""
    return logical("|", *_truths(x, y))


def _truths(x: Value, y: Value) -> tuple[Value, Value]:
    if bool(x.shape) != bool(y.shape):
        raise Unsupported("truth values beside a single one")
    return cast(x, BOOL), cast(y, BOOL)


def logical_xor(x: Value, y: Value) -> Value:
    """Whether one of the elements is not 0, and the other is."""
    return logical("^", *_truths(x, y))


def isinf_on(side: str, x: Value) -> Value:
    """Whether the elements are infinite on one side of zero."""
    if not x.dtype.is_float:
        return isinf(x)
    return pointwise(f'{{0}} == float("{side}inf")', x, dtype=BOOL, work=x.dtype, exact=True)


def signbit(x: Value) -> Value:
    """Whether the elements have a minus."""
    form = "libdevice.signbit({0}) != 0" if x.dtype.is_float else "{0} < 0"
    return pointwise(form, x, dtype=BOOL, work=x.dtype, exact=True)


def isfinite(x: Value) -> Value:
    """Whether the elements are neither infinite nor NaN."""
    form = 'tl.abs({0}) < float("inf")' if x.dtype.is_float else "{0} == {0}"
    return pointwise(form, x, dtype=BOOL, work=x.dtype, exact=True)


def isinf(x: Value) -> Value:
    """Whether the elements are infinite."""
    if not x.dtype.is_float:
        return pointwise("{0} != {0}", x, dtype=BOOL, work=x.dtype, exact=True)
    return pointwise('tl.abs({0}) == float("inf")', x, dtype=BOOL, work=x.dtype, exact=True)


def isnan(x: Value) -> Value:
    """Whether the elements are NaN."""
    return pointwise("{0} != {0}", x, dtype=BOOL, work=x.dtype, exact=True)


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
_LOGICAL = {"and": "&", "or": "|", "xor": "^", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^"}

CONDITIONS: Mapping[str, Operation] = {
    "not": inverted,
    "logical_not": logical_not,
    "logical_and": logical_and,
    "logical_or": logical_or,
    "isfinite": isfinite,
    "isinf": isinf,
    "isnan": isnan,
    "logical_xor": logical_xor,
    "isposinf": partial(isinf_on, ""),
    "isneginf": partial(isinf_on, "-"),
    "signbit": signbit,
    "where": where,
    "masked_fill": masked_fill,
    "bitwise_not": inverted,
    **{label: partial(compared, sign) for label, sign in _COMPARED.items()},
    **{label: partial(logical, sign) for label, sign in _LOGICAL.items()},
}
"""Comparisons, connectives and choices, by label."""
