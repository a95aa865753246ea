"""Evaluate what a graph computes from literals alone, such as the edges of bins, as far as no rounding takes part."""

import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TypeGuard

from passnet_core.graphs.effects import last_part
from passnet_core.graphs.ir import Graph, Listed, Node, NodeKind, Ref, Value
from passnet_core.operations.binding import bind
from passnet_core.operations.kinds import named

MOST_ELEMENTS = 64
"""Of a constant, so many elements are evaluated."""
MOST_BITS = 11
"""A number with so many significant bits is exact in float16, and in whatever order float32 computes it."""
MOST_POWER = 4

COMPUTING: Mapping[str, Callable[[Fraction, Fraction], Fraction]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv, "div": operator.truediv,
}  # fmt: skip


def exact_constants(graph: Graph) -> dict[str, tuple[float, ...]]:
    """Values of nodes that depend on no input: those that are the same however they are computed."""
    known: dict[str, tuple[Fraction, ...]] = {}
    for node in graph.operations:
        if all(each in known for each in node.inputs) and (values := _values(node, known)):
            known[node.name] = tuple(each for each in values if _is_exact(each))
    return {name: tuple(map(float, values)) for name, values in known.items()}


def _values(node: Node, known: Mapping[str, tuple[Fraction, ...]]) -> tuple[Fraction, ...]:
    name, arguments = last_part(node), dict(bind(node).arguments)
    first, *others = (*node.args[:2], None, None)[:2]
    if name == "linspace":
        return _spaced(arguments.get("start"), arguments.get("end"), arguments.get("steps"))
    if name in ("tensor", "as_tensor") and isinstance(first, Listed):
        return tuple(Fraction(each) for each in first.items[:MOST_ELEMENTS] if _is_finite(each))
    if not isinstance(first, Ref):
        return ()
    if name in named("keeping_values") and name != "getitem":
        return known[first.name]
    computes = name in COMPUTING and node.kind is NodeKind.CALL and not node.kwargs
    if computes and _is_finite(others[0]) and (others[0] or "div" not in name):
        return tuple(COMPUTING[name](each, Fraction(others[0])) for each in known[first.name])
    if name in ("pow", "square"):
        power = 2 if name == "square" else others[0]
        if isinstance(power, int) and 0 < power <= MOST_POWER:
            return tuple(each**power for each in known[first.name])
    return ()


def _spaced(start: Value, end: Value, steps: Value) -> tuple[Fraction, ...]:
    """The values of linspace; the first one alone if the step is rounded."""
    if not _is_finite(start) or not _is_finite(end) or not isinstance(steps, int) or steps < 2:
        return ()
    step = (Fraction(end) - Fraction(start)) / (steps - 1)
    count = min(steps, MOST_ELEMENTS) if _is_exact(step) else 1
    return tuple(Fraction(start) + step * at for at in range(count))


def _is_exact(value: Fraction) -> bool:
    """Whether the number has few bits, all of them at most MOST_BITS behind the point."""
    return (
        value.denominator <= 1 << MOST_BITS
        and value.denominator & (value.denominator - 1) == 0
        and (abs(value.numerator) < 1 << MOST_BITS)
    )


def _is_finite(value: Value) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and math.isfinite(value)
