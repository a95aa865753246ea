"""Strides of values, as eager would have them, in the first of the subgraphs."""

from passnet_core.solvers.rules.coordinates import Coordinate, Coordinates, CoordinateText
from passnet_core.solvers.rules.sizes import Size
from passnet_core.solvers.rules.values import Cast, Chosen, Copied, Pointwise, Reduction, Stored, Value, View


class _Numbers(CoordinateText):
    concrete = True

    def __call__(self, place: Coordinate) -> str:
        raise ValueError("Coordinates that are numbers are never written out.")


def row_major(sizes: tuple[int, ...]) -> tuple[int, ...]:
    found: list[int] = []
    step = 1
    for size in reversed(sizes):
        found.append(step)
        step *= max(size, 1)
    return tuple(reversed(found))


def sizes_of(value: Value) -> tuple[int, ...]:
    return tuple(each.value for each in value.shape)


def is_contiguous(value: Value) -> bool:
    """Whether its elements lie in row-major order without gaps."""
    strides, sizes = strides_of(value), sizes_of(value)
    wanted = row_major(sizes)
    return strides is not None and all(size == 1 or one == other for size, one, other in zip(sizes, strides, wanted))


def strides_of(value: Value) -> tuple[int, ...] | None:
    """Its strides; None if no strides tell where its elements lie, so that eager copies them."""
    if isinstance(value.known_strides, bool):
        value.known_strides = _strides(value)
    return value.known_strides


def _strides(value: Value) -> tuple[int, ...] | None:
    match value:
        case Stored(steps=steps) if steps is not None:
            return steps
        case View():
            return _of_view(value)
        case Copied(contiguous=False, operand=operand) | Cast(operand=operand):
            return dense(sizes_of(value), [strides_of(operand)])
        case Pointwise(contiguous=False, operands=operands):
            return dense(sizes_of(value), [_stretched(each, value) for each in operands])
        case Chosen() | Reduction() | _:
            return row_major(sizes_of(value))


def _stretched(operand: Value, value: Value) -> tuple[int, ...] | None:
    """Strides of an operand as those of the result's dimensions: 0 where it is repeated."""
    strides = strides_of(operand)
    if strides is None or not operand.shape:
        return None
    more = len(value.shape) - len(operand.shape)
    return (*[0] * more, *(0 if size == 1 else stride for size, stride in zip(sizes_of(operand), strides)))


def dense(sizes: tuple[int, ...], operands: list[tuple[int, ...] | None]) -> tuple[int, ...]:
    """Strides of the result of an elementwise operation: its dimensions in the order of the operands' strides, without
    gaps, as TensorIterator has it."""
    order = list(range(len(sizes) - 1, -1, -1))

    def inside(one: int, other: int) -> int:
        for each in operands:
            if each is None:
                continue
            a, b = each[one], each[other]
            if a == 0 or b == 0:
                continue
            if a != b:
                return -1 if a < b else 1
            if sizes[one] > sizes[other]:
                return 1
        return 0

    for index in range(1, len(order)):
        place = index
        for before in range(index - 1, -1, -1):
            found = inside(order[before], order[place])
            if found > 0:
                order[before], order[place] = order[place], order[before]
                place = before
            elif found < 0:
                break
    strides = [0] * len(sizes)
    step = 1
    for axis in order:
        strides[axis] = step
        step *= max(sizes[axis], 1)
    return tuple(strides)


def root_of(value: Value) -> Value:
    """What a view lies in: the value behind all views."""
    while isinstance(value, View):
        value = value.operand
    return value


def _of_view(value: View) -> tuple[int, ...] | None:
    sizes = sizes_of(value)

    # through views of views to what has strides
    steps = [value.inside]
    base = value.operand
    while isinstance(base, View) and strides_of(base) is None:
        steps.append(base.inside)
        base = base.operand
    lying = strides_of(base)
    assert lying is not None

    def at(numbers: list[int]) -> int:
        places: Coordinates = tuple(Coordinate((), Size.of(each)) for each in numbers)
        for inside in steps:
            places = inside(_Numbers(), places)  # type: ignore[arg-type]
        return sum(place.start.value * stride for place, stride in zip(places, lying))

    zero = [0] * len(sizes)
    first = at(zero)
    strides: list[int] = []
    for axis, size in enumerate(sizes):
        strides.append(at([*zero[:axis], 1, *zero[axis + 1 :]]) - first if size > 1 else 0)
    # the map is linear if it is at the far corners and in the middle of each dimension, alone and together
    for numbers in ([size - 1 for size in sizes], [size // 2 for size in sizes], [(size - 1) // 3 for size in sizes]):
        if any(each < 0 for each in numbers):
            continue
        if at(numbers) != first + sum(number * stride for number, stride in zip(numbers, strides)):
            return None
    for axis, size in enumerate(sizes):
        for number in {size - 1, size // 2, size // 3, *range(min(size, 5))}:
            if 0 < number < size and at([*zero[:axis], number, *zero[axis + 1 :]]) != first + number * strides[axis]:
                return None
    dense_strides = row_major(sizes)
    return tuple(stride if size > 1 else wanted for size, stride, wanted in zip(sizes, strides, dense_strides))
