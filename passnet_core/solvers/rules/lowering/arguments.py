"""Arguments of operations as a graph gives them, and the numbers, sizes, dtypes and axes that they stand for."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from passnet_core.graphs.ir import Symbol
from passnet_core.operations.table import dtype
from passnet_core.solvers.rules.dtypes import FLOATS, INTEGERS, DType
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.sizes import Size, assume
from passnet_core.solvers.rules.values import Value


@dataclass(frozen=True)
class Literal:
    """A number that the pattern passes on, since subgraphs differ in it. values: in each subgraph."""

    name: str
    values: tuple[int | float, ...]

    @property
    def value(self) -> int | float:
        """The number in the first of the subgraphs."""
        return self.values[0]


LAYOUTS = ("_format", "channels_last", "channels_last_3d", "strided")
"""How the names of layouts end, which no dtype's do."""
SAME_LAYOUT, CONTIGUOUS = (None, Symbol("torch.preserve_format")), Symbol("torch.contiguous_format")
"""Values of memory_format: with which a result lies as its operand, and in row-major order."""
PLACEMENT = frozenset({"device", "layout", "pin_memory", "requires_grad"})

Argument: TypeAlias = Any
"""A Value, a tuple of values, a Literal, a number, None, a text, a Symbol, or a tuple or Listed of those."""

Operation: TypeAlias = Callable[..., Argument]
"""What computes the result of an operation from its arguments. Raises Unsupported, or any error of Python's that tells
of arguments it was not written for."""


def by_name(*functions: Operation) -> Mapping[str, Operation]:
    """Functions whose names are the labels of what they lower."""
    return {each.__name__: each for each in functions}


def size_of(value: Argument) -> Size:
    """A size that is given as such, as a number, or as a number that the pattern passes on. Raises Unsupported."""
    if isinstance(value, Size):
        return value
    if isinstance(value, Literal):
        return Size.atom(value.name, [int(each) for each in value.values])
    if isinstance(value, bool) or not isinstance(value, int):
        raise Unsupported(f"{value} as a size")
    return Size.of(value)


def fixed(size: Size) -> int:
    """The number that a size is in all of the subgraphs, and that a pass may take for granted. Raises Unsupported if
    they differ."""
    if len(set(size.values)) > 1:
        raise Unsupported("windows of several sizes")
    assume(size, Size.of(size.value))
    return size.value


def dtype_of(value: Argument) -> DType | None:
    """The dtype that an argument names; None if it names none. Raises Unsupported for one that no rule knows."""
    if isinstance(value, DType):
        return value
    if isinstance(value, Symbol) and not value.path.endswith(LAYOUTS):
        return known_dtype(dtype(value.path))
    return None


def known_dtype(name: str) -> DType:
    """A dtype by its name, such as "torch.float16" or "float16". Raises Unsupported for one that no rule knows."""
    short = name.removeprefix("torch.")
    if short not in (*FLOATS, *INTEGERS, "bool"):
        raise Unsupported(f"the dtype {short}")
    return DType(short)


def number_text(value: Argument, dtype: DType) -> str:
    """The code of a number in a kernel that computes in this dtype. Raises Unsupported if it is none."""
    if dtype.is_bool:
        return str(bool(value))
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        if math.isinf(value) or math.isnan(value):
            return f'float("{value}")'
        return repr(value) if dtype.is_float else str(int(value))
    if isinstance(value, int):
        return f"{float(value)}" if dtype.is_float else str(value)
    raise Unsupported(f"{value} as a number")


def axis_of(dim: Argument, rank: int) -> int:
    """The axis that a number names in a tensor of this rank, counted from the first. Raises Unsupported."""
    if isinstance(dim, bool) or not isinstance(dim, int) or not -rank <= dim < max(rank, 1):
        raise Unsupported(f"{dim} as an axis")
    return dim % rank if rank else 0


def axes_of(x: Value, dim: Argument) -> tuple[int, ...]:
    """The axes that an argument names, in order: all if it names none. Raises Unsupported."""
    if dim is None or dim == () or dim == []:
        return tuple(range(len(x.shape)))
    given = tuple(dim) if isinstance(dim, tuple | list) else (dim,)
    return tuple(sorted({axis_of(each, len(x.shape)) for each in given}))


def flat_items(values: Sequence[Argument]) -> list[Argument]:
    """The items of tuples and lists, however deep: sizes may be given one by one or together."""
    found: list[Argument] = []
    for each in values:
        found.extend(flat_items(each) if isinstance(each, tuple | list) else [each])
    return found


def per_axis(value: Argument, rank: int) -> list[int]:
    """A number for each axis of a window, which may be given once for all. Raises Unsupported."""
    found = list(value) if isinstance(value, tuple | list) else [value] * rank
    found = found * rank if len(found) == 1 else found
    if len(found) != rank or not all(isinstance(each, int) for each in found):
        raise Unsupported(f"{value} for a window")
    return found
