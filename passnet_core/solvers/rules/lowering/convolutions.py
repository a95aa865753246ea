"""Convolutions: each element of the result by itself, as a sum of products."""

from collections.abc import Mapping
from functools import partial

from passnet_core.solvers.rules.coordinates import ORIGIN, Coordinate, Coordinates, Term, parted
from passnet_core.solvers.rules.dtypes import wide_of
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.lowering.arguments import Argument, Operation, fixed, per_axis
from passnet_core.solvers.rules.lowering.pointwise import pointwise, single
from passnet_core.solvers.rules.lowering.rearrangements import pad
from passnet_core.solvers.rules.lowering.views import per_channel, view_of
from passnet_core.solvers.rules.lowering.windows import Windows, window
from passnet_core.solvers.rules.sizes import ONE, Size
from passnet_core.solvers.rules.values import Chosen, ElementWriter, Number, Pointwise, Reduction, Value, View


def convolved(
    rank: int, x: Value, weight: Value, bias: Argument = None, stride: Argument = 1, padding: Argument = 0,
    dilation: Argument = 1, groups: int = 1,
) -> Value:  # fmt: skip
    """A convolution as sums of products, each element of the result by itself."""
    if len(x.shape) != rank + 2:
        raise Unsupported("a convolution without a batch")
    inner, own = weight.shape[1], weight.shape[0].divided(Size.of(groups))
    kernel = tuple(fixed(weight.shape[2 + axis]) for axis in range(rank))
    if padding == "same":
        both = [d * (k - 1) for k, d in zip(kernel, per_axis(dilation, rank))]
        if any(each % 2 for each in both):
            # one more behind than in front
            x = pad(x, tuple(end for each in reversed(both) for end in (0, each % 2)))
        padding = tuple(each // 2 for each in both)
    elif padding == "valid":
        padding = 0
    out, lengths, where, test = window(x, Windows.of(rank, kernel, stride, padding, dilation))
    whole = (x.shape[0], weight.shape[0], *out[2:], inner, *lengths)

    def place(writer: ElementWriter, places: Coordinates) -> Coordinates:
        group = ORIGIN if groups == 1 else parted(places[1], own, writer)[0]
        inside = where((places[0], ORIGIN, *places[2 : 2 + rank], *places[3 + rank :]))
        return (inside[0], group * inner + places[2 + rank], *inside[2:])

    elements: Value = View(whole, x.dtype, x, place, name=x.name)
    if test is not None:

        def fits(writer: ElementWriter, places: Coordinates) -> str:
            return test(writer, (places[0], ORIGIN, *places[2 : 2 + rank], *places[3 + rank :]))

        zero = Number((), x.dtype, "0.0")
        elements = Chosen(whole, x.dtype, ((fits, x, place), (None, zero, single)), name=x.name)
    factor = view_of(weight, whole, lambda places: (places[1], places[2 + rank], *places[3 + rank :]))
    return _weighed(elements, factor, bias, rank)


def _weighed(elements: Value, factor: Value, bias: Argument, rank: int) -> Value:
    """The sums of products over the axes behind those of the result, plus a bias for each channel, rounded once."""
    whole, dtype = elements.shape, elements.dtype
    wide = wide_of(dtype)
    products = Pointwise(whole, wide, "{0} * {1}", (elements, factor), True, name="products")
    axes = tuple(range(2 + rank, len(whole)))
    shape = whole[: 2 + rank]
    if bias is None:
        return Reduction(shape, dtype, "sum", products, axes, name="total")
    total = Reduction(shape, wide, "sum", products, axes, exact=True, name="total")
    return pointwise("{0} + {1}", total, per_channel(bias, total), dtype=dtype, work=wide)


def conv_transpose1d(
    x: Value, weight: Value, bias: Argument = None, stride: Argument = 1, padding: Argument = 0,
    output_padding: Argument = 0, groups: int = 1, dilation: Argument = 1,
) -> Value:  # fmt: skip
    """The transpose of a convolution: each element of the result from those of x that reach it."""
    (s,), (p,), (o,), (d,) = (per_axis(each, 1) for each in (stride, padding, output_padding, dilation))
    k = fixed(weight.shape[2])
    size = x.shape[2]
    length = (size - 1) * s + (d * (k - 1) + o + 1 - 2 * p)
    own, inner = weight.shape[1], x.shape[1].divided(Size.of(groups))
    # of each stride's elements every one has taps of its own, one in s
    shared_out = s > 1 and d == 1 and k % s == 0 and all(each % s == 0 for each in length.values)
    taps = Size.of(k // s) if shared_out else weight.shape[2]
    whole = (x.shape[0], own * groups, length, inner, taps)

    def reached(writer: ElementWriter, places: Coordinates) -> tuple[Coordinate, Coordinate]:
        """Where x is, and the tap."""
        quotient, rest = parted(places[2], Size.of(s), writer)
        more, tap = parted(rest + p, Size.of(s), writer)
        return quotient + more + places[4] * -1, tap + places[4] * s

    def origin(places: Coordinates) -> Coordinate:
        return places[2] + places[4] * -d + Size.of(p)

    def fits(writer: ElementWriter, places: Coordinates) -> str:
        if shared_out:
            text = writer.place(reached(writer, places)[0])
            return f"({text} >= 0) & ({text} < {writer.size(size)})"
        text = writer.place(origin(places))
        return f"({text} >= 0) & (({text}) % {s} == 0) & (({text}) // {s} < {writer.size(size)})"

    def channel(writer: ElementWriter, places: Coordinates) -> tuple[Coordinate, Coordinate]:
        group, rest = (ORIGIN, places[1]) if groups == 1 else parted(places[1], own, writer)
        return group * inner + places[3], rest

    def place(writer: ElementWriter, places: Coordinates) -> Coordinates:
        if shared_out:
            return (places[0], channel(writer, places)[0], reached(writer, places)[0])
        text = f"({writer.place(origin(places))}) // {s}"
        at = Coordinate(((Term(text, origin(places).variables, size), ONE),))
        return (places[0], channel(writer, places)[0], at)

    def weighed(writer: ElementWriter, places: Coordinates) -> Coordinates:
        tap = reached(writer, places)[1] if shared_out else places[4]
        return (*channel(writer, places), tap)

    zero = Number((), x.dtype, "0.0")
    elements = Chosen(whole, x.dtype, ((fits, x, place), (None, zero, single)), name=x.name)
    factor = View(whole, weight.dtype, weight, weighed, name=weight.name)
    return _weighed(elements, factor, bias, 1)


CONVOLUTIONS: Mapping[str, Operation] = {
    "conv1d": partial(convolved, 1),
    "conv2d": partial(convolved, 2),
    "conv3d": partial(convolved, 3),
    "conv_transpose1d": conv_transpose1d,
}
"""Convolutions, by label."""
