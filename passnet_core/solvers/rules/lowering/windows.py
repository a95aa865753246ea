"""Windows that move over the last axes: pools, and the windows themselves."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from passnet_core.solvers.rules.coordinates import Coordinates
from passnet_core.solvers.rules.dtypes import wide_of
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.lowering.arguments import Argument, Operation, axis_of, per_axis, size_of
from passnet_core.solvers.rules.lowering.pointwise import pointwise, single
from passnet_core.solvers.rules.lowering.reductions import averaged, extreme, reduced
from passnet_core.solvers.rules.lowering.views import permute, reshaped, view_of
from passnet_core.solvers.rules.sizes import Size, aligned, derived, product
from passnet_core.solvers.rules.values import Chosen, Copied, ElementWriter, Number, Shape, Value, View


@dataclass(frozen=True)
class Windows:
    """How windows lie on the last axes. Of each axis: their length, the step from one to the next, the padding on both
    sides, and how far their elements are apart."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]

    @staticmethod
    def of(rank: int, kernel: Argument, stride: Argument, padding: Argument, dilation: Argument = 1) -> "Windows":
        """From arguments, which may be given once for all axes. Without a stride, they lie side by side. Raises
        Unsupported."""
        stride = kernel if stride in (None, (), []) else stride
        return Windows(*(tuple(per_axis(each, rank)) for each in (kernel, stride, padding, dilation)))

    @property
    def rank(self) -> int:
        return len(self.kernel)

    @property
    def axes(self) -> Iterator[tuple[int, int, int, int]]:
        """All that is known of each axis."""
        return zip(self.kernel, self.stride, self.padding, self.dilation)

    def fit(self, x: Value) -> bool:
        """Whether they fit without a rest, so that rounding up changes nothing."""
        return all(
            (length + 2 * p - d * (k - 1) - 1) % s == 0
            for size, (k, s, p, d) in zip(x.shape[-self.rank :], self.axes)
            for length in size.values
        )


def window(
    x: Value, windows: Windows, up: bool = False, reach: int = 0
) -> tuple[Shape, Shape, Callable[[Coordinates], Coordinates], Callable[[ElementWriter, Coordinates], str] | None]:
    """Shape of the results, lengths of the window, the place in x, and the condition under which it is inside.

    up: a last window that does not fit counts, too. reach: 1 if the padding counts as inside."""
    rank, lead = windows.rank, len(x.shape) - windows.rank
    ss, ps, ds = windows.stride, windows.padding, windows.dilation
    out = tuple(_count(x.shape[lead + axis], *each, up) for axis, each in enumerate(windows.axes))

    def where(places: Coordinates) -> Coordinates:
        walked = places[lead + rank :]
        return (
            *places[:lead],
            *(places[lead + axis] * ss[axis] + walked[axis] * ds[axis] + Size.of(-ps[axis]) for axis in range(rank)),
        )

    def test(writer: ElementWriter, places: Coordinates) -> str:
        found = []
        for axis, place in enumerate(where(places)[lead:]):
            text = writer.place(place)
            ends = f"{-reach * ps[axis]}", writer.size(x.shape[lead + axis] + reach * ps[axis])
            found.append(f"({text} >= {ends[0]}) & ({text} < {ends[1]})")
        return " & ".join(found)

    return (*x.shape[:lead], *out), tuple(map(Size.of, windows.kernel)), where, test if any(ps) or up else None


def _count(size: Size, k: int, s: int, p: int, d: int, up: bool) -> Size:
    """How many windows there are along an axis. The last one begins inside, or in the padding in front."""
    steps = size + (2 * p - d * (k - 1) - 1)
    if not up:
        return steps.divided(Size.of(s)) + 1

    def counted(steps: int, size: int) -> int:
        more = -(-steps // s)
        return more + 1 - (more * s >= size + p)

    return derived(f"(-(-{{0}} // {s}) + 1 - (-(-{{0}} // {s}) * {s} >= {{1}} + {p}))", counted, steps, size)


def unfold(
    x: Value, dim: Argument = None, size: Argument = None, step: Argument = None, kernel_size: Argument = None,
    dilation: Argument = 1, padding: Argument = 0, stride: Argument = 1,
) -> Value:  # fmt: skip
    """The windows along an axis, in a new last axis; or those of an image as columns."""
    if kernel_size is not None:
        return columns_of(x, kernel_size, stride, padding, dilation)
    axis, by = axis_of(dim, len(x.shape)), size_of(step)
    length = size_of(size)
    count = (x.shape[axis] - length).divided(by) + 1
    shape = (*x.shape[:axis], count, *x.shape[axis + 1 :], length)
    return view_of(x, shape, lambda p: (*p[:axis], p[axis] * by + p[-1], *p[axis + 1 : -1]))


def columns_of(x: Value, kernel_size: Argument, stride: Argument, padding: Argument, dilation: Argument) -> Value:
    """The windows of an image as columns, as torch.nn.functional.unfold has them."""
    out, lengths, where, test = window(x, Windows.of(2, kernel_size, stride, padding, dilation))
    if test is not None:
        raise Unsupported("unfold with padding")
    count, channels, high, wide = out
    windows = view_of(x, (*out, *lengths), where)
    ordered = permute(windows, (0, 1, 4, 5, 2, 3))
    shape = (count, channels * product(lengths), high * wide)
    return Copied(shape, x.dtype, reshaped(ordered, shape), contiguous=True)


def pooled(kind: str, x: Value, windows: Windows, fill: str, up: bool = False, reach: int = 0) -> Value:
    """The largest element of each window, or the sum, not rounded yet. fill: what lies outside."""
    shape, lengths, where, test = window(x, windows, up, reach)
    whole = (*shape, *lengths)
    elements = view_of(x, whole, where)
    if test is not None:
        outside = Number((), x.dtype, fill)
        elements = Chosen(whole, x.dtype, ((test, x, lambda _, places: where(places)), (None, outside, single)))
    axes = tuple(range(len(shape), len(whole)))
    if kind == "max":
        return extreme("max", elements, axes, False)
    return reduced("sum", elements, axes, False, wide_of(x.dtype), exact=True)


def max_pool(
    rank: int,
    x: Value,
    kernel_size: Argument,
    stride: Argument = None,
    padding: Argument = 0,
    dilation: Argument = 1,
    ceil_mode: Argument = False,
) -> Value:
    """The largest element of each window over so many last axes."""
    windows = Windows.of(rank, kernel_size, stride, padding, dilation)
    return pooled("max", x, windows, 'float("-inf")', bool(ceil_mode) and not windows.fit(x))


def avg_pool(
    rank: int,
    x: Value,
    kernel_size: Argument,
    stride: Argument = None,
    padding: Argument = 0,
    ceil_mode: Argument = False,
    count_include_pad: Argument = True,
    divisor_override: Argument = None,
) -> Value:
    """The mean of each window over so many last axes."""
    windows = Windows.of(rank, kernel_size, stride, padding)
    up = bool(ceil_mode) and not windows.fit(x)
    total = pooled("sum", x, windows, "0.0", up)
    count: Argument = float(divisor_override or math.prod(windows.kernel))
    if not divisor_override and (up or (any(windows.padding) and not count_include_pad)):
        # the windows at the borders have fewer elements
        ones = View(x.shape, total.dtype, Number((), total.dtype, "1.0"), single)
        count = pooled("sum", ones, windows, "0.0", up, int(bool(count_include_pad)))
    return pointwise("divided({0}, {1})", total, count, dtype=x.dtype, work=total.dtype)


def adaptive(rank: int, x: Value, size: Argument) -> Value:
    """The means of windows that give a result of a size."""
    wanted = list(size) if isinstance(size, tuple | list) else [size] * rank
    lead = len(x.shape) - rank
    if all(each == 1 for each in wanted):
        return averaged(x, tuple(range(lead, len(x.shape))), True, x.dtype)
    lengths: list[Size] = []
    for axis, each in enumerate(wanted):
        whole = x.shape[lead + axis]
        if each is None:
            each = whole
        if any(one % two for one, two in aligned(whole, size_of(each))):
            raise Unsupported("adaptive pooling into windows of different lengths")
        lengths.append(whole.divided(size_of(each)))
    out = tuple(x.shape[lead + axis] if each is None else size_of(each) for axis, each in enumerate(wanted))
    whole_shape = (*x.shape[:lead], *out, *lengths)

    def inside(places: Coordinates) -> Coordinates:
        walked = places[lead + rank :]
        return (*places[:lead], *(places[lead + axis] * lengths[axis] + walked[axis] for axis in range(rank)))

    elements = view_of(x, whole_shape, inside)
    return averaged(elements, tuple(range(lead + rank, lead + 2 * rank)), False, x.dtype)


WINDOWS: Mapping[str, Operation] = {
    "unfold": unfold,
    **{f"max_pool{rank}d": partial(max_pool, rank) for rank in (1, 2, 3)},
    **{f"avg_pool{rank}d": partial(avg_pool, rank) for rank in (1, 2, 3)},
    **{f"adaptive_avg_pool{rank}d": partial(adaptive, rank) for rank in (1, 2, 3)},
}
"""Operations on windows, by label."""
