"""Tensors as functions from places to elements, so that a chain of operations becomes one expression in a kernel.

A Value has a shape and a dtype, and writes the code of its element at given places into a kernel. Views only change
places; operations combine elements; a reduction walks variables of its own. Floats narrower than float32 are computed
in float32 and rounded after each operation, where eager rounds."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

from passnet_core.solvers.rules.coordinates import ORIGIN, Coordinate, Coordinates, CoordinateText
from passnet_core.solvers.rules.dtypes import DType
from passnet_core.solvers.rules.sizes import Size

Shape = tuple[Size, ...]
NUMBER = re.compile(r"-?[\d.]+(?:e[+-]?\d+)?|True|False|float\(.*\)")
"""The code of a number."""
Item = TypeVar("Item")


class ElementWriter(CoordinateText):
    """The kernel that is being written, as far as a value needs it to write the code of its element."""

    @abstractmethod
    def element(self, value: "Value", places: Coordinates, mask: str = "") -> str:
        """The code of a value's element."""

    @abstractmethod
    def load(self, value: "Stored", places: Coordinates, mask: str) -> str:
        """The code of an element in memory."""

    @abstractmethod
    def reduce(self, value: "Reduction", places: Coordinates, mask: str) -> str:
        """The code of a reduction's element."""

    @abstractmethod
    def scan(self, value: "Scan", places: Coordinates, mask: str) -> str:
        """The code of a scan's element."""

    @abstractmethod
    def require(self, value: "Value") -> None:
        """See to it that a value is in memory."""

    @abstractmethod
    def put(self, hint: str, text: str) -> str:
        """Assign an expression to a variable that is called like the hint, and return its name."""

    @abstractmethod
    def constant(self, name: str, host: str) -> str:
        """A constant of the kernel, with the Python that computes it where the launch is planned."""

    @abstractmethod
    def size(self, size: Size) -> str:
        """The code of a size."""

    @abstractmethod
    def dtype(self, dtype: DType) -> str:
        """The code of a dtype."""

    @abstractmethod
    def place(self, place: Coordinate) -> str:
        """The code of a coordinate."""

    @abstractmethod
    def indirect(self, code: str, asked: Coordinates, bound: Size) -> Coordinate:
        """A coordinate that is an element of a tensor, read at the places asked."""


@dataclass(eq=False)
class Value(ABC):
    """name: what to call its element in a kernel. contiguous: eager lays its result out in row-major order, whatever
    the operands' strides are."""

    shape: Shape
    dtype: DType
    name: str = field(default="value", kw_only=True)
    contiguous: bool = field(default=False, kw_only=True)
    known_strides: tuple[int, ...] | bool | None = field(default=False, kw_only=True)
    """What layouts.strides_of found, which asks often; False if it was not asked yet."""

    @abstractmethod
    def code(self, writer: "ElementWriter", places: Coordinates, mask: str) -> str:
        """The element at these places, as the name of a variable or an expression.

        mask: a further condition under which it is needed; "" if always."""

    @property
    def parts(self) -> tuple["Value", ...]:
        """The values that it is computed from."""
        return ()


@dataclass(eq=False)
class Stored(Value):
    """A tensor in memory. tensor: its name, in the replacement function and in kernels. steps: its strides in the first
    subgraph; None if it is contiguous."""

    tensor: str
    steps: tuple[int, ...] | None = None

    def code(self, writer: "ElementWriter", places: Coordinates, mask: str) -> str:
        return writer.load(self, places, mask)


@dataclass(eq=False)
class Number(Value):
    """The same number everywhere: Python code of a kernel."""

    text: str

    def code(self, writer: "ElementWriter", places: Coordinates, mask: str) -> str:
        return self.text


@dataclass(eq=False)
class PassedNumber(Value):
    """A number that the pattern passes on: a constant of the kernel, by this name."""

    argument: str

    def code(self, writer: "ElementWriter", places: Coordinates, mask: str) -> str:
        return writer.constant(self.argument.upper(), self.argument)


@dataclass(eq=False)
class Counted(Value):
    """The coordinate along a dimension, times a step, from a start, as arange has it."""

    axis: int
    start: Size
    step: Size

    def code(self, writer: "ElementWriter", places: Coordinates, mask: str) -> str:
        place = places[self.axis] * self.step + self.start
        text = writer.place(place)
        if self.dtype.is_float:
            return writer.put(self.name, f"({text}).to({self.dtype.work})")
        return writer.put(self.name, f"({text}).to({self.dtype.kernel})") if place.terms else text


@dataclass(eq=False)
class Pointwise(Value):
    """An operation on elements.

    form: its expression, with a place in braces for each operand. exact: its result needs no rounding,
    as that of a negation or a comparison."""

    form: str
    operands: tuple[Value, ...]
    exact: bool = False

    @property
    def parts(self) -> tuple[Value, ...]:
        return self.operands

    def code(self, writer: "ElementWriter", places: Coordinates, mask: str) -> str:
        codes = [writer.element(each, broadcast_places(each.shape, self.shape, places), mask) for each in self.operands]
        text = self.form.format(*codes)
        if self.dtype.rounds and not self.exact:
            text = f"rounded({text}, {writer.dtype(self.dtype)})"
        return writer.put(self.name, text)


@dataclass(eq=False)
class OfOne(Value):
    """What is computed from a single value: the same elements, if nothing else is said."""

    operand: Value

    @property
    def parts(self) -> tuple[Value, ...]:
        return (self.operand,)

    def code(self, writer: "ElementWriter", places: Coordinates, mask: str) -> str:
        return writer.element(self.operand, places, mask)


@dataclass(eq=False)
class Cast(OfOne):
    """The same elements in another dtype."""

    def code(self, writer: "ElementWriter", places: Coordinates, mask: str) -> str:
        code = writer.element(self.operand, places, mask)
        before, after = self.operand.dtype, self.dtype
        if before == after:
            return code
        if isinstance(self.operand, Number | PassedNumber):
            return code
        if NUMBER.fullmatch(code):
            # the same number in another shape: it is no tensor yet
            code = writer.put(self.operand.name, f"tl.full((), {code}, {before.kernel})")
        if after.is_bool:
            return writer.put(self.name, f"{code} != 0")
        if not after.is_float:
            return writer.put(self.name, f"{code}.to({writer.dtype(after)})")
        text = code if before.work == after.work and before.is_float else f"{code}.to({after.work})"
        # what is wider loses nothing
        narrower = before.is_float and not before.source and after.name == before.name
        if after.rounds and not narrower:
            text = f"rounded({text}, {writer.dtype(after)})"
        return text if text == code else writer.put(self.name, text)


@dataclass(eq=False)
class View(OfOne):
    """The same elements at other places. inside: from places of this value to places of the operand."""

    inside: Callable[["ElementWriter", Coordinates], Coordinates]

    def code(self, writer: "ElementWriter", places: Coordinates, mask: str) -> str:
        return writer.element(self.operand, self.inside(writer, places), mask)


@dataclass(eq=False)
class Copied(OfOne):
    """The same elements in memory of their own, in row-major order."""


@dataclass(eq=False)
class Held(OfOne):
    """The same elements, which must be in memory, since each is read several times and takes work to compute."""

    def code(self, writer: "ElementWriter", places: Coordinates, mask: str) -> str:
        writer.require(self.operand)
        return super().code(writer, places, mask)


@dataclass(eq=False)
class Chosen(Value):
    """One of several values, by a condition on the place: concatenation, padding, masks by position.

    alternatives: the code of the condition, the value, and its places; the last one has no condition."""

    alternatives: tuple[
        tuple[
            Callable[["ElementWriter", Coordinates], str] | None,
            Value,
            Callable[["ElementWriter", Coordinates], Coordinates],
        ],
        ...,
    ]

    @property
    def parts(self) -> tuple[Value, ...]:
        return tuple(value for _, value, _ in self.alternatives)

    def code(self, writer: "ElementWriter", places: Coordinates, mask: str) -> str:
        conditions = [
            None if test is None else writer.put("chosen", test(writer, places)) for test, _, _ in self.alternatives
        ]
        codes = []
        for index, (_, value, inside) in enumerate(self.alternatives):
            condition = conditions[index]
            if condition is None:
                others = [each for each in conditions[:index] if each]
                condition = " & ".join(f"~{each}" for each in others)
                condition = writer.put("otherwise", condition) if len(others) > 1 else condition
            both = condition if not mask else f"{mask} & {condition}" if condition else mask
            codes.append(writer.element(value, inside(writer, places), both))
        found = codes[-1]
        for condition, code in zip(conditions[-2::-1], codes[-2::-1]):
            found = f"tl.where({condition}, {code}, {found})"
        return writer.put(self.name, found)


@dataclass(eq=False)
class Gathered(Value):
    """Elements of a table at places that other values tell. indices: the axes of the table that they choose, with the
    value for each and where to ask it; inside: places of the table, whatever is chosen."""

    table: Value
    indices: tuple[tuple[int, Value, Callable[[Coordinates], Coordinates]], ...]
    inside: Callable[[Coordinates], Coordinates]
    wraps: bool = True

    @property
    def parts(self) -> tuple[Value, ...]:
        return (self.table, *(value for _, value, _ in self.indices))

    def code(self, writer: "ElementWriter", places: Coordinates, mask: str) -> str:
        found = list(self.inside(places))
        for axis, value, where in self.indices:
            asked = where(places)
            code = writer.element(value, asked, mask)
            size = writer.size(self.table.shape[axis])
            if self.wraps:
                code = writer.put("chosen", f"tl.where({code} < 0, {code} + {size}, {code})")
            found[axis] = writer.indirect(code, asked, self.table.shape[axis])
        return writer.element(self.table, tuple(found), mask)


class Order(Enum):
    """An order in which elements of a row are added up, or moments taken. LANES: by a block of threads, four elements
    each at a time. WARP: by a warp, one element each at a time. LAYER, GROUP, BATCH: as layer_norm and group_norm have
    it, and batch_norm of one example.

    The values are what helper_files/numerics.py calls the threads of each."""

    ANY = ""
    LANES = "summing_lanes"
    WARP = "softmax_lanes"
    LAYER = "layer_lanes"
    GROUP = "group_lanes"
    BATCH = "batch_lanes"

    @property
    def moments(self) -> bool:
        """Whether this is an order of Welford's method, which takes mean and variance at once."""
        return self in (Order.LAYER, Order.GROUP, Order.BATCH)

    @property
    def functions(self) -> tuple[str, str]:
        """Of Welford's method: what takes the next tile in, and what unites the threads."""
        return ("batch_grown", "batch_united") if self is Order.BATCH else ("grown", "united")


@dataclass(eq=False)
class Reduction(Value):
    """The operand, reduced over some of its axes, which are missing in the shape.

    kind: sum, max, min, any, all, argmax or argmin. It is computed in the dtype's `work`, and rounded if asked.
    order: in which order eager adds up float32 along the last axis, if these rules know it."""

    kind: str
    operand: Value
    axes: tuple[int, ...]
    exact: bool = False
    order: Order = Order.ANY

    @property
    def parts(self) -> tuple[Value, ...]:
        return (self.operand,)

    @property
    def reduced(self) -> Shape:
        return tuple(self.operand.shape[axis] for axis in self.axes)

    def kept(self, by_axis: Sequence[Item]) -> tuple[Item, ...]:
        """Of what is given for each axis of the operand, that of the axes which are not reduced."""
        return tuple(each for axis, each in enumerate(by_axis) if axis not in self.axes)

    def inside(self, kept: Sequence[Coordinate], walked: Sequence[Coordinate]) -> Coordinates:
        left, more = iter(kept), iter(walked)
        return tuple(next(more) if axis in self.axes else next(left) for axis in range(len(self.operand.shape)))

    def code(self, writer: "ElementWriter", places: Coordinates, mask: str) -> str:
        return writer.reduce(self, places, mask)


@dataclass(eq=False)
class Moment(Reduction):
    """A mean or a variance, by kind, as eager has it: by Welford's method, in an order. The two of one operand are
    computed together. otherwise: nearly the same by sums, where the rows of a kernel cannot be walked in that order."""

    otherwise: Value = field(kw_only=True)

    @property
    def parts(self) -> tuple[Value, ...]:
        return self.operand, self.otherwise


@dataclass(eq=False)
class Scan(Reduction):
    """At each place along one axis, the operand reduced up to there: the axis stays in the shape.

    kind: cumsum."""

    def code(self, writer: "ElementWriter", places: Coordinates, mask: str) -> str:
        return writer.scan(self, places, mask)


def broadcast_places(shape: Shape, whole: Shape, places: Coordinates) -> Coordinates:
    """Coordinates of an operand of an operation whose result has another shape."""
    left = len(whole) - len(shape)
    return tuple(
        ORIGIN if size.is_one or (size.seems_one and not wide.seems_one) else place
        for size, wide, place in zip(shape, whole[left:], places[left:])
    )


def below(value: Value) -> Iterator[Value]:
    """All values that it is computed from, itself first, each once."""
    seen: set[int] = set()
    left = [value]
    while left:
        found = left.pop()
        if id(found) not in seen:
            seen.add(id(found))
            yield found
            left.extend(found.parts)
