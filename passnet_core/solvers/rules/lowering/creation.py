"""Tensors of numbers that the operations themselves give."""

from collections.abc import Mapping, Sequence
from functools import partial

from passnet_core.solvers.rules.dtypes import BOOL, FLOAT32, INT64, DType
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.lowering.arguments import (
    Argument,
    Literal,
    Operation,
    by_name,
    dtype_of,
    flat_items,
    size_of,
)
from passnet_core.solvers.rules.lowering.pointwise import cast, operand, pointwise, single
from passnet_core.solvers.rules.lowering.views import unsqueeze
from passnet_core.solvers.rules.sizes import ONE, ZERO, Size, derived
from passnet_core.solvers.rules.values import Counted, Value, View


def filled(number: Argument, sizes: Sequence[Argument], dtype: DType) -> Value:
    """The same number everywhere in a tensor of these sizes."""
    shape = tuple(size_of(each) for each in flat_items(tuple(sizes)))
    element = operand(number, dtype)
    return View(shape, dtype, element, single)


def number_everywhere(number: int, size: Sequence[Argument], dtype: Argument = None) -> Value:
    """Zeros or ones."""
    return filled(number, size, dtype_of(dtype) or FLOAT32)


def full(size: Sequence[Argument], fill_value: Argument, dtype: Argument = None) -> Value:
    """The same number everywhere."""
    return filled(fill_value, size, dtype_of(dtype) or _dtype_of_number(fill_value))


def _dtype_of_number(number: Argument) -> DType:
    return BOOL if isinstance(number, bool) else INT64 if isinstance(number, int) else FLOAT32


def full_like(x: Value, fill_value: Argument, dtype: Argument = None) -> Value:
    """The same number everywhere in the shape of another tensor."""
    return filled(fill_value, x.shape, dtype_of(dtype) or x.dtype)


def tensor(data: Argument, dtype: Argument = None) -> Value:
    """A single number as a tensor. Raises Unsupported for more."""
    if not isinstance(data, bool | int | float | Literal):
        raise Unsupported("a tensor of several numbers")
    return filled(data, (), dtype_of(dtype) or _dtype_of_number(data.value if isinstance(data, Literal) else data))


def arange(end: Argument, start: Argument = 0, step: Argument = 1, dtype: Argument = None) -> Value:
    """Integers from a start to an end, by a step. Raises Unsupported for floats."""
    if any(isinstance(each, float) for each in (start, end, step)):
        raise Unsupported("arange of floats")
    begin, stop, stride = size_of(start), size_of(end), size_of(step)
    count = stop - begin
    if not stride.is_one:
        count = derived("-(-{} // {})", lambda one, two: -(-one // two), count, stride)
    return Counted((count,), dtype_of(dtype) or INT64, 0, begin, stride)


def new_full(x: Value, size: Sequence[Argument], fill_value: Argument, dtype: Argument = None) -> Value:
    """The same number everywhere, in the dtype of another tensor."""
    return filled(fill_value, size, dtype_of(dtype) or x.dtype)


def linspace(start: Argument, end: Argument, steps: Argument, dtype: Argument = None) -> Value:
    """Numbers at equal distances from a start to an end, each counted from the nearer one."""
    result = dtype_of(dtype) or FLOAT32
    if (
        not all(isinstance(each, int | float) for each in (start, end))
        or not isinstance(steps, int)
        or not result.is_float
    ):
        raise Unsupported("linspace of tensors or integers")
    by = (end - start) / max(steps - 1, 1)
    place = Counted((Size.of(steps),), FLOAT32, 0, ZERO, ONE)
    form = f"tl.where({{0}} < {steps // 2}, {start} + {by!r} * {{0}}, {end} - {by!r} * ({steps - 1} - {{0}}))"
    return pointwise(form if steps > 1 else f"{start} + 0.0 * {{0}}", place, dtype=result)


def one_hot(x: Value, num_classes: Argument = -1) -> Value:
    """1 at the class of each element, 0 at the others."""
    if not isinstance(num_classes, int) or num_classes < 1:
        raise Unsupported("one_hot of a number of classes that the elements tell")
    classes = Counted((Size.of(num_classes),), INT64, 0, ZERO, ONE)
    return cast(pointwise("{0} == {1}", unsqueeze(x, -1), classes, dtype=BOOL, work=INT64, exact=True), INT64)


CREATION: Mapping[str, Operation] = {
    **by_name(full, full_like, new_full, tensor, arange, linspace, one_hot),
    "zeros": partial(number_everywhere, 0),
    "ones": partial(number_everywhere, 1),
    **dict.fromkeys(("zeros_like", "zero"), partial(full_like, fill_value=0)),
    "ones_like": partial(full_like, fill_value=1),
    "new_zeros": partial(new_full, fill_value=0),
    "new_ones": partial(new_full, fill_value=1),
    "fill": lambda x, value: filled(value, x.shape, x.dtype),
    "isreal": lambda x: filled(1, x.shape, BOOL),
}
"""Operations that create tensors, by label."""
