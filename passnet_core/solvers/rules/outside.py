"""Shapes and dtypes of what libraries compute: regions read it, and nothing else need be known."""

from typing import Any

from passnet_core.graphs.ir import Listed, Node
from passnet_core.graphs.vocabulary import operator_label
from passnet_core.solvers.rules.dtypes import INT64, DType
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.layouts import sizes_of
from passnet_core.solvers.rules.lowering import Argument, Lowering
from passnet_core.solvers.rules.lowering.arguments import dtype_of, per_axis
from passnet_core.solvers.rules.sizes import Size
from passnet_core.solvers.rules.values import Stored, Value


def shape_only(node: Node, lowering: Lowering) -> Argument:
    """The result of an operation, as a tensor in memory. Raises Unsupported."""
    label = operator_label(node)
    args = [lowering.resolved(each) for each in node.args]
    kwargs = {name: lowering.resolved(value) for name, value in node.kwargs}
    try:
        shapes = _shapes(label, args, kwargs)
    except (TypeError, KeyError, IndexError, ValueError, AttributeError, ZeroDivisionError) as problem:
        raise Unsupported(f"the shape of {label}") from problem
    if isinstance(shapes, list):
        return tuple(stored(f"{node.name}_{place}", *each) for place, each in enumerate(shapes))
    return stored(node.name, *shapes)


def stored(name: str, shape: tuple[int, ...], dtype: DType) -> Stored:
    """A tensor of a subgraph that is in memory, whoever has computed it."""
    sizes = tuple(Size.atom(f"{name}_{axis}_size", [size]) for axis, size in enumerate(shape))
    return Stored(sizes, DType(dtype.name, name if dtype.is_float else ""), name, name=name)


def _shapes(label: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    x = args[0] if args else kwargs["input"]
    match label:
        case "linear":
            return (*sizes_of(x)[:-1], sizes_of(args[1])[0]), x.dtype
        case "matmul" | "bmm" | "mm":
            return _matmul(sizes_of(x), sizes_of(args[1])), x.dtype
        case "baddbmm" | "addmm":
            return _matmul(sizes_of(args[1]), sizes_of(args[2])), x.dtype
        case "cumsum" | "cumprod":
            given = dtype_of(kwargs.get("dtype", args[2] if len(args) > 2 else None))
            return sizes_of(x), given or (x.dtype if x.dtype.is_float else INT64)
        case "topk":
            count = args[1] if len(args) > 1 else kwargs["k"]
            axis = kwargs.get("dim", args[2] if len(args) > 2 else -1) % len(x.shape)
            shape = (*sizes_of(x)[:axis], count, *sizes_of(x)[axis + 1 :])
            return [(shape, x.dtype), (shape, INT64)]
        case "sort":
            return [(sizes_of(x), x.dtype), (sizes_of(x), INT64)]
        case "argsort":
            return sizes_of(x), INT64
        case "scaled_dot_product_attention":
            value = args[2] if len(args) > 2 else kwargs["value"]
            return _matmul(sizes_of(x), (*sizes_of(value)[:-2], sizes_of(x)[-1], sizes_of(value)[-1])), x.dtype
        case "conv1d" | "conv2d" | "conv3d":
            return _convolution(int(label[4]), args, kwargs), x.dtype
        case "conv_transpose1d" | "conv_transpose2d":
            return _transposed(int(label[-2]), args, kwargs), x.dtype
        case "einsum":
            return _einsum(args)
        case "setitem":
            return sizes_of(x), x.dtype
        case "rand" | "randn":
            raise Unsupported("random numbers")
        case "interpolate":
            size = kwargs.get("size", args[1] if len(args) > 1 else None)
            if size is None:
                factor = kwargs["scale_factor"] if "scale_factor" in kwargs else args[2]
                factors = factor if isinstance(factor, tuple | list) else [factor] * (len(x.shape) - 2)
                size = [int(one * by) for one, by in zip(sizes_of(x)[2:], factors)]
            sizes = (
                list(size.items)
                if isinstance(size, Listed)
                else list(size)
                if isinstance(size, tuple | list)
                else [size] * (len(x.shape) - 2)
            )
            return (*sizes_of(x)[:2], *sizes), x.dtype
    raise Unsupported(f"the shape of {label}")


def _matmul(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    if len(other) == 1:
        return one[:-1]
    if len(one) == 1:
        return (*other[:-2], other[-1])
    lead: list[int] = []
    for place in range(1, max(len(one), len(other)) - 1):
        a = one[-2 - place] if len(one) > place + 1 else 1
        b = other[-2 - place] if len(other) > place + 1 else 1
        lead.append(b if a == 1 else a)
    return (*reversed(lead), one[-2], other[-1])


def _convolution(rank: int, args: list[Any], kwargs: dict[str, Any]) -> tuple[int, ...]:
    names = ["input", "weight", "bias", "stride", "padding", "dilation", "groups"]
    given = {**dict(zip(names, args)), **kwargs}
    x, weight = sizes_of(given["input"]), sizes_of(given["weight"])
    stride, dilation = per_axis(given.get("stride", 1), rank), per_axis(given.get("dilation", 1), rank)
    padding = given.get("padding", 0)
    found: list[int] = []
    for axis in range(rank):
        n, k, s, d = x[-rank + axis], weight[2 + axis], stride[axis], dilation[axis]
        if padding == "same":
            found.append(n)
            continue
        p = 0 if padding == "valid" else per_axis(padding, rank)[axis]
        found.append((n + 2 * p - d * (k - 1) - 1) // s + 1)
    return (*x[: len(x) - rank - 1], weight[0], *found)


def _transposed(rank: int, args: list[Any], kwargs: dict[str, Any]) -> tuple[int, ...]:
    names = ["input", "weight", "bias", "stride", "padding", "output_padding", "groups", "dilation"]
    given = {**dict(zip(names, args)), **kwargs}
    x, weight = sizes_of(given["input"]), sizes_of(given["weight"])
    stride, padding = per_axis(given.get("stride", 1), rank), per_axis(given.get("padding", 0), rank)
    more, dilation = per_axis(given.get("output_padding", 0), rank), per_axis(given.get("dilation", 1), rank)
    groups = given.get("groups", 1)
    found = [
        (x[-rank + axis] - 1) * stride[axis]
        - 2 * padding[axis]
        + dilation[axis] * (weight[2 + axis] - 1)
        + more[axis]
        + 1
        for axis in range(rank)
    ]
    return (*x[: len(x) - rank - 1], weight[1] * groups, *found)


def _einsum(args: list[Any]) -> Any:
    equation = args[0].replace(" ", "")
    tensors = args[1:] if isinstance(args[1], Value) else list(args[1])
    inputs, arrow, output = equation.partition("->")
    if not arrow or "." in equation:
        raise Unsupported("an einsum with dots or without an arrow")
    sizes: dict[str, int] = {}
    for letters, tensor in zip(inputs.split(","), tensors):
        for letter, size in zip(letters, sizes_of(tensor)):
            sizes[letter] = max(size, sizes.get(letter, 1))
    return tuple(sizes[letter] for letter in output), tensors[0].dtype
