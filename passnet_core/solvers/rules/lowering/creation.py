"""Tensors of numbers that the operations themselves give."""

from collections.abc import Mapping, Sequence
from typing import Any

from passnet_core.solvers.rules.dtypes import BOOL, FLOAT32, INT64, DType
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.lowering.arguments import (
    Argument,
    Literal,
    Operation,
    dtype_of,
    flat_items,
    only_placement,
    size_of,
)
from passnet_core.solvers.rules.lowering.pointwise import operand, single
from passnet_core.solvers.rules.sizes import derived
from passnet_core.solvers.rules.values import Counted, Value, View


def filled(number: Argument, sizes: Sequence[Argument], dtype: DType) -> Value:
    """The same number everywhere in a tensor of these sizes."""
    shape = tuple(size_of(each) for each in flat_items(tuple(sizes)))
    element = operand(number, dtype)
    return View(shape, dtype, element, single)


def zeros(*sizes: Argument, size: Argument = None, dtype: Argument = None, **placement: Any) -> Value:
    """Zeros."""
    only_placement(placement)
    return filled(0, sizes if size is None else (size,), dtype_of(dtype) or FLOAT32)


def ones(*sizes: Argument, size: Argument = None, dtype: Argument = None, **placement: Any) -> Value:
    """Ones."""
    only_placement(placement)
    return filled(1, sizes if size is None else (size,), dtype_of(dtype) or FLOAT32)


def full(size: Argument, fill_value: Argument, dtype: Argument = None, **placement: Any) -> Value:
    """The same number everywhere."""
    only_placement(placement)
    default = BOOL if isinstance(fill_value, bool) else INT64 if isinstance(fill_value, int) else FLOAT32
    return filled(fill_value, (size,), dtype_of(dtype) or default)


def zeros_like(x: Value, dtype: Argument = None, **placement: Any) -> Value:
    """Zeros in the shape of another tensor."""
    only_placement(placement)
    return filled(0, x.shape, dtype_of(dtype) or x.dtype)


def ones_like(x: Value, dtype: Argument = None, **placement: Any) -> Value:
    """Ones in the shape of another tensor."""
    only_placement(placement)
    return filled(1, x.shape, dtype_of(dtype) or x.dtype)


def full_like(x: Value, fill_value: Argument, dtype: Argument = None, **placement: Any) -> Value:
    """The same number everywhere in the shape of another tensor."""
    only_placement(placement)
    return filled(fill_value, x.shape, dtype_of(dtype) or x.dtype)


def tensor(data: Argument, dtype: Argument = None, **placement: Any) -> Value:
    """A single number as a tensor. Raises Unsupported for more."""
    only_placement(placement)
    if not isinstance(data, bool | int | float | Literal):
        raise Unsupported("a tensor of several numbers")
    number = data.value if isinstance(data, Literal) else data
    default = BOOL if isinstance(number, bool) else INT64 if isinstance(number, int) else FLOAT32
    return filled(data, (), dtype_of(dtype) or default)


def arange(
    *bounds: Argument,
    dtype: Argument = None,
    start: Argument = None,
    end: Argument = None,
    step: Argument = 1,
    **placement: Any,
) -> Value:
    """Integers from a start to an end, by a step. Raises Unsupported for floats."""
    only_placement(placement)
    given = [each for each in (start, *bounds, end) if each is not None]
    if any(isinstance(each, float) for each in given):
        raise Unsupported("arange of floats")
    first, last, by = (0, given[0], step) if len(given) == 1 else (*given, step)[:3] if len(given) == 2 else given
    begin, stop, stride = size_of(first), size_of(last), size_of(by)
    count = stop - begin
    if not stride.is_one:
        count = derived("-(-{} // {})", lambda one, two: -(-one // two), count, stride)
    return Counted((count,), dtype_of(dtype) or INT64, 0, begin, stride)


CREATION: Mapping[str, Operation] = {
    "zeros": zeros,
    "ones": ones,
    "full": full,
    "zeros_like": zeros_like,
    "ones_like": ones_like,
    "full_like": full_like,
    "tensor": tensor,
    "arange": arange,
}
"""Operations that create tensors, by label."""
