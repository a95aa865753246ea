"""Operations on elements: operands, the shape and the dtype of the result, and where it is rounded."""

from collections.abc import Sequence

from passnet_core.solvers.rules.coordinates import Coordinates
from passnet_core.solvers.rules.dtypes import FLOAT32, DType, float_of, promoted, with_number
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.lowering.arguments import Argument, Literal, number_text
from passnet_core.solvers.rules.sizes import ONE, Size, derived
from passnet_core.solvers.rules.values import Cast, ElementWriter, Number, PassedNumber, Pointwise, Shape, Value


def operand(value: Argument, dtype: DType) -> Value:
    """A tensor or a number as an operand of an operation in this dtype."""
    if isinstance(value, Value):
        return value
    if isinstance(value, Literal):
        return PassedNumber((), dtype, value.name, name=value.name)
    return Number((), dtype, number_text(value, dtype))


def joined(values: Sequence[Argument]) -> DType:
    """The dtype of an operation between tensors and numbers: dimensions weigh more than their absence."""
    tensors = [each for each in values if isinstance(each, Value)]
    if not tensors:
        raise Unsupported("an operation on numbers alone")
    found: DType | None = None
    for some in ([each for each in tensors if each.shape], [each for each in tensors if not each.shape]):
        for each in some:
            if found is None:
                found = each.dtype
            elif each.shape or _category(each.dtype) > _category(found):
                found = promoted(found, each.dtype)
    assert found is not None
    for each in values:
        if not isinstance(each, Value):
            found = with_number(found, each.value if isinstance(each, Literal) else each)
    return found


def _category(dtype: DType) -> int:
    return 0 if dtype.is_bool else 2 if dtype.is_float else 1


def pointwise(form: str, *values: Argument, dtype: DType, work: DType | None = None, exact: bool = False) -> Value:
    """An operation whose operands are first converted to `work` (by default: the result's dtype)."""
    work = work or dtype
    if work.is_wide:
        # Triton has the exact root in float32 only, and no other in float64
        form = form.replace("tl.sqrt_rn(", "tl.sqrt(")
    operands = tuple(in_dtype(operand(each, work), work) for each in values)
    shape = broadcast([each.shape for each in operands])
    return Pointwise(shape, dtype, form.replace("{work}", work.work), operands, exact)


def binary(form: str, x: Argument, y: Argument, *, exact: bool = False, floats: bool = False) -> Value:
    """An operation in the dtype that both operands have together. floats: in a float if that is none."""
    dtype = joined((x, y))
    return pointwise(form, x, y, dtype=float_of(dtype) if floats else dtype, exact=exact)


def in_dtype(value: Value, dtype: DType) -> Value:
    """The value as an operand in this dtype: narrow floats lose nothing in what computes with them."""
    if value.dtype.work == dtype.work and value.dtype.is_float == dtype.is_float:
        return value
    if isinstance(value, Number | PassedNumber):
        return value
    if dtype.is_float and not dtype.is_wide:
        if value.dtype.is_float and not value.dtype.is_wide:
            return value
        return Cast(value.shape, FLOAT32, value, name=value.name)
    return Cast(value.shape, dtype, value, name=value.name)


def cast(x: Value, dtype: DType) -> Value:
    """The elements in another dtype, as eager converts them. Raises Unsupported for a number."""
    if not isinstance(x, Value):
        raise Unsupported("a conversion of a number")
    if x.dtype == dtype:
        return x
    return Cast(x.shape, dtype, x)


def in_floats(x: Value) -> Value:
    """The elements as floats: in float32 unless they are some."""
    return cast(x, float_of(x.dtype))


def broadcast(shapes: Sequence[Shape]) -> Shape:
    """The common shape of operands."""
    rank = max((len(each) for each in shapes), default=0)
    found: list[Size] = []
    for axis in range(-rank, 0):
        size = ONE
        for each in shapes:
            if len(each) >= -axis:
                size = _joint(size, each[axis])
        found.append(size)
    return tuple(found)


def _joint(one: Size, other: Size) -> Size:
    if one.seems(other):
        return other if one.is_one else one if other.is_one else one.taken_with(other)
    if one.seems_one:
        return other
    if other.seems_one:
        return one
    return derived("joint({}, {})", lambda a, b: b if a == 1 else a, one, other)


def single(_: ElementWriter, places: Coordinates) -> Coordinates:
    """The place in a single number, wherever the element is that it stands for."""
    return ()
