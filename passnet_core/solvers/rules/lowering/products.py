"""Products of matrices, each element of the result by itself, as a sum of products."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from passnet_core.solvers.rules.coordinates import Coordinates
from passnet_core.solvers.rules.dtypes import DType, wide_of
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.lowering.arguments import Argument, Operation, by_name
from passnet_core.solvers.rules.lowering.arithmetic import add, mul, sub
from passnet_core.solvers.rules.lowering.indexing import unbind
from passnet_core.solvers.rules.lowering.pointwise import broadcast, joined, pointwise
from passnet_core.solvers.rules.lowering.rearrangements import stack
from passnet_core.solvers.rules.lowering.reductions import summed
from passnet_core.solvers.rules.lowering.views import (
    broadcast_tensors,
    copied,
    reshaped,
    transpose,
    unsqueeze,
    view_of,
    without_axes,
)
from passnet_core.solvers.rules.sizes import ONE, Size, product
from passnet_core.solvers.rules.values import Cast, Pointwise, Reduction, Shape, Value, broadcast_places


def contracted(
    x: Value,
    y: Value,
    shape: Shape,
    one: Callable[[Coordinates], Coordinates],
    other: Callable[[Coordinates], Coordinates],
    length: Size,
    dtype: DType,
) -> Value:
    """Sums of products along a new last axis of this length."""
    wide = wide_of(dtype)
    whole = (*shape, length)
    factors = (view_of(x, whole, one), view_of(y, whole, other))
    products = Pointwise(whole, wide, "{0} * {1}", factors, True, name="products")
    return Reduction(shape, dtype, "sum", products, (len(shape),), name="total")


def matmul(x: Value, y: Value) -> Value:
    """The product of matrices, or of batches of them, or with a vector."""
    dtype = joined((x, y))
    if len(x.shape) == 1:
        found = matmul(unsqueeze(x, 0), y)
        return without_axes(found, {len(found.shape) - (1 if len(y.shape) == 1 else 2)})
    if len(y.shape) == 1:
        found = matmul(x, unsqueeze(y, 1))
        return without_axes(found, {len(found.shape) - 1})
    batch = broadcast([x.shape[:-2], y.shape[:-2]])
    shape = (*batch, x.shape[-2], y.shape[-1])

    def one(places: Coordinates) -> Coordinates:
        return (*broadcast_places(x.shape[:-2], batch, places[:-3]), places[-3], places[-1])

    def other(places: Coordinates) -> Coordinates:
        return (*broadcast_places(y.shape[:-2], batch, places[:-3]), places[-1], places[-2])

    return contracted(x, y, shape, one, other, x.shape[-1], dtype)


def linear(x: Value, weight: Value, bias: Argument = None) -> Value:
    """x times the transposed weight, plus a bias."""
    dtype = joined((x, weight))
    wide = wide_of(dtype)
    shape = (*x.shape[:-1], weight.shape[0])
    total = contracted(
        x,
        weight,
        shape,
        lambda places: (*places[:-2], places[-1]),
        lambda places: (places[-2], places[-1]),
        x.shape[-1],
        wide if bias is not None else dtype,
    )
    if bias is None:
        return total
    return pointwise("{0} + {1}", total, bias, dtype=dtype, work=wide)


def added_to(product: Operation, x: Value, one: Value, y: Value, beta: Argument = 1, alpha: Argument = 1) -> Argument:
    """beta * x + alpha * a product of two others. Raises Unsupported for integers with factors that are none."""
    if not x.dtype.is_float and not (isinstance(beta, int) and isinstance(alpha, int)):
        raise Unsupported("factors of integers that are no integers")
    return add(x if beta == 1 else mul(x, beta), product(one, y), alpha)


def summed_product(one: Value, y: Value) -> Argument:
    """The sum of the products of matrices. Raises Unsupported where eager rounds it after each of them."""
    if one.dtype.name not in ("float32", "float64"):
        raise Unsupported("a sum of products that eager rounds one by one")
    return summed(matmul(one, y), 0)


def cross(x: Value, y: Value, dim: int | None = -1) -> Value:
    """The cross product along an axis of size 3."""
    if dim is None:
        raise Unsupported("a cross product along an axis that the sizes tell")
    (a, b, c), (d, e, f) = (unbind(each, dim) for each in broadcast_tensors(x, y))
    pairs = (((b, f), (c, e)), ((c, d), (a, f)), ((a, e), (b, d)))
    return stack([sub(mul(*one), mul(*other)) for one, other in pairs], dim)


def kron(x: Value, y: Value) -> Argument:
    """Each element of x times y, in place of that element."""
    rank = max(len(x.shape), len(y.shape))
    one, other = (reshaped(each, (*[ONE] * (rank - len(each.shape)), *each.shape)) for each in (x, y))
    outer_sides = [side for size in one.shape for side in (size, ONE)]
    inner_sides = [side for size in other.shape for side in (ONE, size)]
    found = mul(reshaped(one, tuple(outer_sides)), reshaped(other, tuple(inner_sides)))
    return copied(reshaped(found, tuple(a * b for a, b in zip(one.shape, other.shape))))


def inner(x: Value, y: Value) -> Argument:
    """Sums of products over the last axes."""
    if not x.shape or not y.shape:
        return mul(x, y)
    if len(y.shape) == 1:
        return matmul(x, y)
    flat = reshaped(y, (product(y.shape[:-1]), y.shape[-1]))
    found = matmul(x, transpose(flat, 0, 1))
    return copied(reshaped(found, (*x.shape[:-1], *y.shape[:-1])))


def einsum(equation: str, *tensors: Argument) -> Value:
    """Sums of products of two tensors. Raises Unsupported for equations of other kinds."""
    given = [each for item in tensors for each in (item if isinstance(item, tuple | list) else [item])]
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    letters = inputs.split(",")
    if not arrow or "." in equation or len(given) != 2 or any(len(set(each)) < len(each) for each in letters):
        raise Unsupported(f"an einsum as {equation}")
    sizes = {letter: size for own, each in zip(letters, given) for letter, size in zip(own, each.shape)}
    summed = [letter for letter in sizes if letter not in output]
    order = [*output, *summed]
    whole = tuple(sizes[letter] for letter in order)
    dtype = joined(given)
    wide = wide_of(dtype)

    def spread(each: Value, own: str) -> Value:
        return view_of(each, whole, lambda places: tuple(places[order.index(letter)] for letter in own))

    factors = tuple(spread(each, own) for each, own in zip(given, letters))
    products = Pointwise(whole, wide, "{0} * {1}", factors, True, name="products")
    if not summed:
        return Cast(whole, dtype, products)
    axes = tuple(range(len(output), len(order)))
    result = Reduction(whole[: len(output)], dtype, "sum", products, axes, name="total")
    result.known_strides = _laid_out(output, letters, {letter: size.value for letter, size in sizes.items()})
    return result


def _laid_out(output: str, letters: Sequence[str], sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Strides of an einsum's result: it is a product of matrices, with the batch first, and rows before columns unless
    the equation has all of them the other way round. Letters with a single element count as columns."""
    first, second = letters
    long = [letter for letter in output if sizes[letter] != 1]
    batch = [letter for letter in long if letter in first and letter in second]
    rows = [letter for letter in long if letter not in second]
    columns = [letter for letter in output if letter not in batch and letter not in rows]
    single = any(size == 1 for letter, size in sizes.items() if letter not in output)
    swapped = rows and columns and output.index(columns[-1]) < output.index(rows[0]) and not single
    strides, step = {}, 1
    for letter in reversed([*batch, *columns, *rows] if swapped else [*batch, *rows, *columns]):
        strides[letter] = step
        step *= max(sizes[letter], 1)
    return tuple(strides[letter] for letter in output)


def outer(x: Value, y: Value) -> Argument:
    """The product of each element of a vector with each of another."""
    return mul(unsqueeze(x, 1), unsqueeze(y, 0))


PRODUCTS: Mapping[str, Operation] = {
    **by_name(kron, inner, cross, linear, einsum),
    **dict.fromkeys(("matmul", "bmm", "mm", "mv", "dot", "vdot"), matmul),
    **dict.fromkeys(("outer", "ger"), outer),
    **dict.fromkeys(("addmm", "addmv", "baddbmm"), partial(added_to, matmul)),
    "addr": partial(added_to, outer),
    "addbmm": partial(added_to, summed_product),
    "vecdot": lambda x, y, dim=-1: summed(mul(x, y), dim),
}
"""Products, by label."""
