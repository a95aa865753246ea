"""Shapes and dtypes of what libraries compute: regions read it, and nothing else need be known."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from passnet_core.graphs.ir import Node
from passnet_core.graphs.vocabulary import operator_label
from passnet_core.operations.binding import bind
from passnet_core.solvers.rules.dtypes import INT64, DType
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.layouts import sizes_of
from passnet_core.solvers.rules.lowering import Argument, Lowering
from passnet_core.solvers.rules.lowering.arguments import axis_of, dtype_of, per_axis
from passnet_core.solvers.rules.lowering.pointwise import broadcast
from passnet_core.solvers.rules.lowering.sampling import sizes_wanted
from passnet_core.solvers.rules.sizes import Size
from passnet_core.solvers.rules.values import Stored, Value


def shape_only(node: Node, lowering: Lowering) -> Argument:
    """The result of an operation, as a tensor in memory. Raises Unsupported."""
    with suppress(Unsupported):
        found = lowering.lowered(node)
        several = found if isinstance(found, tuple | list) else (found,)
        if all(isinstance(each, Value) for each in several):
            return _in_memory(node, [(sizes_of(each), each.dtype) for each in several], isinstance(found, tuple | list))
    try:
        shapes = _shapes(operator_label(node), {name: lowering.resolved(each) for name, each in bind(node).arguments})
    except (TypeError, LookupError, ValueError, AttributeError, ArithmeticError) as problem:
        raise Unsupported(f"the shape of {operator_label(node)}") from problem
    return _in_memory(node, shapes, len(shapes) > 1)


def _in_memory(node: Node, shapes: list[tuple[tuple[int, ...], DType]], several: bool) -> Argument:
    found = tuple(stored(f"{node.name}_{place}" if several else node.name, *each) for place, each in enumerate(shapes))
    return found if several else found[0]


def stored(name: str, shape: tuple[int, ...], dtype: DType) -> Stored:
    """A tensor of a subgraph that is in memory, whoever has computed it."""
    sizes = tuple(Size.atom(f"{name}_{axis}_size", [size]) for axis, size in enumerate(shape))
    return Stored(sizes, DType(dtype.name, name if dtype.is_float else ""), name, name=name)


def _shapes(label: str, given: Mapping[str, Any]) -> list[tuple[tuple[int, ...], DType]]:
    """Shape and dtype of each result of a call with these arguments, of what no rule lowers. Raises Unsupported."""
    x: Value = next(iter(given.values()))
    sizes = sizes_of(x)
    match label:
        case "cumsum" | "cumprod":
            return [(sizes, dtype_of(given["dtype"]) or (x.dtype if x.dtype.is_float else INT64))]
        case "topk":
            axis = axis_of(given["dim"], len(sizes))
            shape = (*sizes[:axis], given["k"], *sizes[axis + 1 :]) if sizes else ()
            return [(shape, x.dtype), (shape, INT64)]
        case "sort":
            return [(sizes, x.dtype), (sizes, INT64)]
        case "argsort":
            return [(sizes, INT64)]
        case "setitem":
            return [(sizes, x.dtype)]
        case "scaled_dot_product_attention":
            lead = broadcast([x.shape[:-2], given["value"].shape[:-2]])
            return [((*(each.value for each in lead), sizes[-2], sizes_of(given["value"])[-1]), x.dtype)]
        case "conv_transpose2d" | "conv_transpose3d":
            return [(_transposed(int(label[-2]), sizes, sizes_of(given["weight"]), given), x.dtype)]
        case "interpolate":
            wanted = sizes_wanted(x, given["size"], given["scale_factor"])
            return [((*sizes[:2], *(each.value for _, each, _ in wanted)), x.dtype)]
        case "rand" | "randn":
            raise Unsupported("random numbers")
    raise Unsupported(f"the shape of {label}")


def _transposed(rank: int, x: tuple[int, ...], weight: tuple[int, ...], given: Mapping[str, Any]) -> tuple[int, ...]:
    names = ("stride", "padding", "output_padding", "dilation")
    ways = zip(x[-rank:], weight[2:], *(per_axis(given[name], rank) for name in names))
    found = [(n - 1) * stride - 2 * pad + dilation * (k - 1) + more + 1 for n, k, stride, pad, more, dilation in ways]
    return (*x[: len(x) - rank - 1], weight[1] * given["groups"], *found)
