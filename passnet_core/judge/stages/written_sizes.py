"""Sizes that a subgraph's source has as numbers, and that therefore keep its axes from shrinking for the interpreter.

x.view(4, 256, -1, 128) fixes a batch, a length and a width. Such a number shrinks together with all axes of that size,
if the patterns of the bundle leave it open: they must match as before. Where a bundle has the number in its pattern, it
is made for this size, and is compared at this one."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from passnet_core.graphs.ir import Graph, Listed, Value
from passnet_core.graphs.vocabulary import operator_label
from passnet_core.judge.protocol.reference_bench import InputRole
from passnet_core.judge.stages.sizes import (
    LEAST_SIZE,
    PROBE_ELEMENTS,
    Probe,
    Rescaled,
    Shapes,
    computed,
    lengths,
    smaller,
)
from passnet_core.operations.kinds import named
from passnet_core.records import TensorSpec

MOST_ELEMENTS = 100_000
"""Numbers shrink if the sizes of the inputs alone cannot shrink below so many elements."""
MOST_TRIES = 100
"""How many choices of numbers are tried."""
MOST_BESIDE = 6
"""How many other numbers are tried, two at a time, beside one that shrinks: products shrink with their factors."""

SIZED = named("sized")


def rescaled(
    graph: Graph,
    specs: Sequence[TensorSpec],
    known_roles: Mapping[str, InputRole],
    matched: Callable[[Graph], Graph | None],
) -> Rescaled | None:
    """Shrink numbers of the source, and the axes that have these sizes, until there are about PROBE_ELEMENTS elements
    of inputs. None: there is no need to, or no way.

    matched: rewrites a graph by the passes; None if they match it otherwise than the subgraph."""
    recorded: Shapes = tuple(spec.shape for spec in specs)
    least = [recorded, *(step.shapes for step in smaller(graph, specs, known_roles))][-1]
    if computed(specs, least, known_roles) <= MOST_ELEMENTS:
        return None
    search = _Choosing(graph, specs, known_roles, matched)
    return search.found() if search.probe.form(recorded) is not None else None


class _Choosing:
    def __init__(
        self,
        graph: Graph,
        specs: Sequence[TensorSpec],
        known_roles: Mapping[str, InputRole],
        matched: Callable[[Graph], Graph | None],
    ) -> None:
        self.graph, self.specs, self.known_roles, self.matched = graph, specs, known_roles, matched
        self.recorded: Shapes = tuple(spec.shape for spec in specs)
        self.probe = Probe(graph, specs, known_roles)
        given = ((*node.args, *dict(node.kwargs).values()) for node in graph.operations if _is_sized(node))
        self.written = {number for values in given for number in _numbers(values)}
        self.tries = 0

    def found(self) -> Rescaled | None:
        """The numbers with which there are fewest elements, as far as they were tried."""
        axes: dict[int, int] = {}
        for shape in self.recorded:
            for place, size in enumerate(shape):
                axes[size] = min(axes.get(size, place), place)
        able = [each for each in {*axes, *self.written} if self._can_shrink(each)]
        # leading axes first, as where inputs shrink alone
        pending = sorted((each for each in able if each in axes), key=lambda size: (axes[size], -size))
        now: dict[int, int] = {}
        elements = self._elements(self._shapes(now))
        while pending and elements > PROBE_ELEMENTS and self.tries < MOST_TRIES:
            chosen = next(self._smaller(now, pending[0], able, elements), None)
            if chosen is None:
                pending.pop(0)
            else:
                now, elements = chosen, self._elements(self._shapes(chosen))
        # the axes that can shrink alone still do, by the work that there is
        for size in [each for each in now if each not in self.written]:
            without = {number: small for number, small in now.items() if number != size}
            if self._works(without):
                now = without
        graph = _with_numbers(self.graph, now)
        rewritten = self.matched(graph)
        if not now.keys() & self.written or rewritten is None:
            return None
        specs = tuple(replace(spec, shape=shape) for spec, shape in zip(self.specs, self._shapes(now)))
        return Rescaled(now, self.recorded, graph, rewritten, specs)

    def _can_shrink(self, number: int) -> bool:
        if number <= LEAST_SIZE or number in lengths(self.specs, self.known_roles):
            return False
        halved = {number: max(LEAST_SIZE, number // 2)}
        return number not in self.written or self.matched(_with_numbers(self.graph, halved)) is not None

    def _smaller(self, now: dict[int, int], size: int, able: list[int], elements: int) -> Iterator[dict[int, int]]:
        """Choices in which this size is half as long, and those of others that must be too."""
        half = now.get(size, size) // 2
        if half < LEAST_SIZE:
            return
        others = [each for each in able if each != size and now.get(each, each) % 2 == 0 and now.get(each, each) >= 4]
        others.sort(key=lambda each: (each % size != 0 and size % each != 0, each))
        single = [(each,) for each in others]
        for beside in [(), *single, *itertools.combinations(others[:MOST_BESIDE], 2)]:
            tried = {**now, size: half, **{each: now.get(each, each) // 2 for each in beside}}
            if self._elements(self._shapes(tried)) < elements and self._works(tried):
                yield tried

    def _works(self, numbers: Mapping[int, int]) -> bool:
        """Whether the graph does with these numbers what it did before, and the passes match it."""
        self.tries += 1
        graph = _with_numbers(self.graph, numbers)
        if self.probe.form(self._shapes(numbers), graph) != self.probe.form(self.recorded):
            return False
        return self.matched(graph) is not None

    def _shapes(self, numbers: Mapping[int, int]) -> Shapes:
        return tuple(tuple(numbers.get(size, size) for size in shape) for shape in self.recorded)

    def _elements(self, shapes: Shapes) -> int:
        return computed(self.specs, shapes, self.known_roles)


def _is_sized(node: Any) -> bool:
    return operator_label(node) in SIZED


def _numbers(value: Value) -> Iterator[int]:
    if isinstance(value, int) and not isinstance(value, bool):
        yield value
    elif isinstance(value, tuple | Listed):
        for each in value.items if isinstance(value, Listed) else value:
            yield from _numbers(each)


def _with_numbers(graph: Graph, numbers: Mapping[int, int]) -> Graph:
    """The graph with other sizes."""

    def renewed(value: Value) -> Value:
        if isinstance(value, int) and not isinstance(value, bool):
            return numbers.get(value, value)
        if isinstance(value, tuple):
            return tuple(renewed(each) for each in value)
        return Listed(tuple(renewed(each) for each in value.items)) if isinstance(value, Listed) else value

    nodes = (
        replace(
            node,
            args=tuple(renewed(each) for each in node.args),
            kwargs=tuple((name, renewed(each)) for name, each in node.kwargs),
        )
        if _is_sized(node)
        else node
        for node in graph.nodes
    )
    return Graph(tuple(nodes), graph.result)
