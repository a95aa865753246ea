"""Sizes of dimensions as polynomials, so that a kernel is written once for all sizes."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property

Monomial = tuple[str, ...]


@dataclass(frozen=True)
class Size:
    """A polynomial with integer coefficients of atoms: things that are known when the pass is called.

    terms: monomial (the atoms' texts, sorted) -> coefficient, none zero. atoms: the text of each, which is Python where
    the launch is planned, with its values in the subgraphs that are looked at, in order. alike: texts of sizes that
    must equal it, because an operation took both."""

    terms: tuple[tuple[Monomial, int], ...]
    atoms: tuple[tuple[str, tuple[int, ...]], ...] = ()
    alike: frozenset[str] = frozenset()

    @staticmethod
    def of(value: "int | Size") -> "Size":
        return value if isinstance(value, Size) else Size((((), value),) if value else ())

    @staticmethod
    def atom(text: str, values: Sequence[int]) -> "Size":
        return Size((((text,), 1),), ((text, tuple(values)),))

    @cached_property
    def values(self) -> tuple[int, ...]:
        """The size in each of the subgraphs; a single number if it is a constant."""
        known = dict(self.atoms)
        count = max((len(each) for each in known.values()), default=1)
        return tuple(
            sum(factor * math.prod(known[name][index] for name in names) for names, factor in self.terms)
            for index in range(count)
        )

    @property
    def value(self) -> int:
        """The size in the first of the subgraphs."""
        return self.values[0]

    @property
    def constant(self) -> int | None:
        """The number that it is at all times; None if it depends on an atom."""
        if not self.terms:
            return 0
        ((names, factor), *others) = self.terms
        return factor if not names and not others else None

    @property
    def is_one(self) -> bool:
        return self.constant == 1

    @property
    def seems_one(self) -> bool:
        """Whether it is 1 in each subgraph."""
        return set(self.values) == {1}

    def seems(self, other: "Size") -> bool:
        """Whether both are equal in each subgraph."""
        return self == other or all(one == two for one, two in aligned(self, other))

    def is_same(self, other: "Size") -> bool:
        """Whether both are equal whenever the operations before could run."""
        return self == other or bool((self.alike | {self.text}) & (other.alike | {other.text}))

    def taken_with(self, other: "Size") -> "Size":
        """This size, which an operation takes for the other one too."""
        return replace(self, alike=self.alike | other.alike | {other.text})

    def __add__(self, other: "int | Size") -> "Size":
        other = Size.of(other)
        found = dict(self.terms)
        for names, factor in other.terms:
            found[names] = found.get(names, 0) + factor
        return _size(found, self, other)

    def __neg__(self) -> "Size":
        return self * -1

    def __sub__(self, other: "int | Size") -> "Size":
        return self + -Size.of(other)

    def __mul__(self, other: "int | Size") -> "Size":
        other = Size.of(other)
        found: dict[Monomial, int] = {}
        for names, factor in self.terms:
            for more, by in other.terms:
                key = tuple(sorted((*names, *more)))
                found[key] = found.get(key, 0) + factor * by
        return _size(found, self, other)

    __radd__ = __add__
    __rmul__ = __mul__

    def over(self, other: "Size") -> "Size | None":
        """The quotient, if there is no rest whatever the atoms are."""
        if self == other:
            return ONE
        if len(other.terms) != 1:
            return None
        ((divisor, by),) = other.terms
        found: dict[Monomial, int] = {}
        for names, factor in self.terms:
            left = list(names)
            for each in divisor:
                if each not in left:
                    return None
                left.remove(each)
            if factor % by:
                return None
            found[tuple(left)] = factor // by
        return _size(found, self)

    def divided(self, other: "Size") -> "Size":
        """The quotient rounded down: an atom of its own where it is no polynomial."""
        if (exact := self.over(other)) is not None:
            return exact
        return derived("{} // {}", lambda one, two: one // two, self, other)

    @cached_property
    def text(self) -> str:
        """Python that computes it where the launch is planned."""
        if not self.terms:
            return "0"
        pieces: list[str] = []
        # the constant last, as people write sums
        for names, factor in sorted(self.terms, key=lambda each: (not each[0], each[1] < 0, each[0])):
            words = list(names)
            if abs(factor) != 1 or not words:
                words.append(str(abs(factor)))
            sign = ("-" if factor < 0 else "") if not pieces else (" - " if factor < 0 else " + ")
            pieces.append(sign + " * ".join(words))
        return "".join(pieces)

    @property
    def factor(self) -> str:
        """The same as a factor or an operand: a sum stands in parentheses."""
        return f"({self.text})" if len(self.terms) > 1 or self.text.startswith("-") else self.text

    def __str__(self) -> str:
        return self.text

    # atoms do not take part: two sizes are the same if their terms are
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(self.terms)


def derived(form: str, function: Callable[..., int], *sizes: Size) -> Size:
    """A size that is computed otherwise than as a polynomial. form has a place in braces for each of the sizes."""
    values = [function(*each) for each in aligned(*sizes)]
    if all(each.constant is not None for each in sizes):
        return Size.of(values[0])
    call = form.partition("(")[0].isidentifier()
    text = form.format(*(each.text if call else each.factor for each in sizes))
    return Size.atom(text if call else f"({text})", values)


def aligned(*sizes: Size) -> list[tuple[int, ...]]:
    """The values of sizes together, for each of the subgraphs."""
    count = max(len(each.values) for each in sizes)
    return list(zip(*((each.values * count)[:count] for each in sizes)))


def product(sizes: Sequence[Size]) -> Size:
    found = ONE
    for each in sizes:
        found = found * each
    return found


def _size(terms: Mapping[Monomial, int], *sources: Size) -> Size:
    kept = tuple(sorted((names, factor) for names, factor in terms.items() if factor))
    used = {name for names, _ in kept for name in names}
    known = {name: values for each in sources for name, values in each.atoms}
    return Size(kept, tuple((name, known[name]) for name in sorted(used)))


ONE = Size.of(1)
ZERO = Size.of(0)

_ASSUMED: ContextVar[list[tuple[Size, Size]] | None] = ContextVar("assumed", default=None)


@contextmanager
def assuming() -> Iterator[list[tuple[Size, Size]]]:
    """Collect what is assumed of sizes meanwhile."""
    found: list[tuple[Size, Size]] = []
    token = _ASSUMED.set(found)
    try:
        yield found
    finally:
        _ASSUMED.reset(token)


def assume(one: Size, other: Size) -> None:
    """Note that what is written holds for sizes of which these two are equal: a pass must refuse others."""
    found = _ASSUMED.get()
    if found is not None and not one.is_same(other) and (one, other) not in found:
        found.append((one, other))
