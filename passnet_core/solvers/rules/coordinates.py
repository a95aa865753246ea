"""Where an element lies: coordinates as sums of a kernel's variables, which may be taken apart again."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from passnet_core.solvers.rules.sizes import ONE, ZERO, Size, aligned


class Split(Exception):
    """A variable must be walked as two, the inner one of this size: restart with that."""

    def __init__(self, variable: str, inner: Size) -> None:
        super().__init__(variable)
        self.variable, self.inner = variable, inner


@dataclass(frozen=True)
class Term:
    """A part of a coordinate. text: its code in the kernel. variables: what it depends on. bound: it is smaller.

    plain: it is a variable itself, and not computed from some. read: it is an element of a tensor."""

    text: str
    variables: frozenset[str]
    bound: Size | None = None
    plain: bool = False
    read: bool = False


@dataclass(frozen=True)
class Coordinate:
    """A coordinate: the sum of terms, each with its factor, and of a start."""

    terms: tuple[tuple[Term, Size], ...] = ()
    start: Size = ZERO

    @staticmethod
    def variable(name: str, size: Size) -> "Coordinate":
        return Coordinate(((Term(name, frozenset((name,)), size, plain=True), ONE),))

    @property
    def variables(self) -> frozenset[str]:
        return frozenset(name for term, _ in self.terms for name in term.variables)

    @property
    def read(self) -> bool:
        """Whether it depends on an element of a tensor."""
        return any(term.read for term, _ in self.terms)

    def __add__(self, other: "Coordinate | Size | int") -> "Coordinate":
        if not isinstance(other, Coordinate):
            return Coordinate(self.terms, self.start + other)
        found = dict(self.terms)
        for term, factor in other.terms:
            found[term] = found.get(term, ZERO) + factor
        return Coordinate(
            tuple((term, factor) for term, factor in found.items() if factor != ZERO), self.start + other.start
        )

    def __mul__(self, factor: "Size | int") -> "Coordinate":
        if Size.of(factor) == ZERO:
            return Coordinate()
        return Coordinate(tuple((term, by * factor) for term, by in self.terms), self.start * factor)

    @property
    def largest(self) -> Size | None:
        """The largest value; None if it is not known or a factor is negative."""
        found = self.start
        for term, factor in self.terms:
            if term.bound is None or factor.value < 0:
                return None
            found = found + factor * (term.bound - 1)
        return found

    def below(self, size: Size) -> bool:
        """Whether it is certainly smaller, whatever the sizes are."""
        largest = self.largest
        if largest is None or self.start.value < 0:
            return False
        left = size - 1 - largest
        return left == ZERO or (left.constant or 0) > 0


Coordinates: TypeAlias = tuple[Coordinate, ...]
ORIGIN = Coordinate()


def variables(places: Iterable[Coordinate]) -> frozenset[str]:
    return frozenset(name for each in places for name in each.variables)


def replaced(place: Coordinate, others: Mapping[str, Coordinate]) -> Coordinate:
    """The coordinate with other coordinates in the place of variables."""
    found = Coordinate((), place.start)
    for term, factor in place.terms:
        known = others.get(term.text) if term.plain else None
        found = found + (Coordinate(((term, factor),)) if known is None else known * factor)
    return found


def parted(place: Coordinate, size: Size, text: "CoordinateText") -> tuple[Coordinate, Coordinate]:
    """Quotient and rest of a coordinate, which is not negative, divided by a size. Raises Split."""
    if size.is_one:
        return place, ORIGIN
    if not place.terms and (text.concrete or place.start == ZERO):
        whole, rest = divmod(place.start.value, size.value)
        return Coordinate((), Size.of(whole)), Coordinate((), Size.of(rest))
    if place.below(size):
        return ORIGIN, place
    quotients: list[tuple[Term, Size]] = []
    rests: list[tuple[Term, Size]] = []
    for term, factor in place.terms:
        quotient = factor.over(size)
        if quotient is not None:
            quotients.append((term, quotient))
        else:
            rests.append((term, factor))
    start = place.start.over(size)
    left = Coordinate(tuple(rests), ZERO if start is not None else place.start)
    if left.below(size):
        return Coordinate(tuple(quotients), start or ZERO), left
    match place.terms:
        case ((term, factor),) if term.plain and factor.is_one and place.start == ZERO and term.bound is not None:
            if all(two and one % two == 0 for one, two in aligned(term.bound, size)):
                raise Split(term.text, size)
    code, known, bound = text(place), place.variables, place.largest
    divisor = text(Coordinate((), size))
    above = None if bound is None else (bound + 1 + size - 1).divided(size)
    return (
        Coordinate(((Term(f"({code}) // {divisor}", known, above, read=place.read), ONE),)),
        Coordinate(((Term(f"({code}) % {divisor}", known, size, read=place.read), ONE),)),
    )


class CoordinateText(ABC):
    """Writes coordinates as code of a kernel.

    concrete: there is no kernel, and places are numbers of the first subgraph."""

    concrete = False

    @abstractmethod
    def __call__(self, place: Coordinate) -> str:
        """The code of a coordinate."""


def flattened(places: Sequence[Coordinate], sizes: Sequence[Size]) -> Coordinate:
    """The position in row-major order."""
    found = ORIGIN
    for place, size in zip(places, sizes):
        found = found * size + place
    return found


def unflattened(place: Coordinate, sizes: Sequence[Size], text: CoordinateText) -> list[Coordinate]:
    """The coordinates of a position in row-major order. Raises Split."""
    found: list[Coordinate] = []
    for size in reversed(sizes[1:]):
        place, rest = parted(place, size, text)
        found.append(rest)
    return [place, *reversed(found)] if sizes else []
