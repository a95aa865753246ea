"""Sizes for Triton's interpreter: where the recorded ones would take too long, axes shrink together.

This is no check of VERIFY: it decides at which sizes the checks are made, and when time has run out.
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from passnet_core.graphs.ir import Graph
from passnet_core.graphs.placement import placed
from passnet_core.judge.numerics.input_draws import dtype_of
from passnet_core.judge.protocol.reference_bench import InputRole
from passnet_core.judge.worker import building
from passnet_core.records import TensorSpec

Shapes = tuple[tuple[int, ...], ...]

INTERPRETER_BUDGET_S = 20.0
"""What all drawings together may take in the interpreter at the recorded sizes, by estimate; else they are reduced."""

PROBE_ELEMENTS = 32_768
"""The estimate comes from a run on about so many input elements; smaller subgraphs need none."""

MISFITS = (
    RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError, AssertionError, ArithmeticError,
)  # fmt: skip
"""What torch raises where sizes do not fit an operation."""

LEAST_SIZE = 2
MOST_STEPS = 40


@dataclass(frozen=True)
class SizeStep:
    """One choice of sizes. elements: of all inputs together."""

    shapes: Shapes
    elements: int


class Pace:
    """The sizes at which a verification goes on, by the time that its draws have taken. interpreted: whether kernels
    run in the interpreter; else the recorded sizes stay and time does not matter."""

    def __init__(self, specs: Sequence[TensorSpec], drawings: Sequence[str], *, interpreted: bool) -> None:
        self.specs, self.drawings, self.interpreted = specs, drawings, interpreted
        recorded: Shapes = tuple(spec.shape for spec in specs)
        self.steps: tuple[SizeStep, ...] = (SizeStep(recorded, _elements(recorded)),)
        self.at = 0
        self.done = 0
        self.spent = self.began = 0.0
        self.last: float | None = None
        self.reduced = ""
        """What was reduced or left out, as a sentence; empty: nothing."""

    @property
    def shapes(self) -> Shapes:
        return self.steps[self.at].shapes

    def consider(self, graph: Graph, known_roles: Mapping[str, InputRole]) -> SizeStep | None:
        """Looks for smaller sizes, where the interpreter may need them; the sizes of the run that tells."""
        if self.interpreted and self.steps[0].elements > PROBE_ELEMENTS:
            self.steps = (*self.steps, *smaller(graph, self.specs, known_roles))
        if len(self.steps) == 1:
            return None
        return next((step for step in self.steps if step.elements <= PROBE_ELEMENTS), self.steps[-1])

    def choose(self, per_element_s: float, calls: int) -> None:
        """Starts at the largest sizes that so many calls should finish in time."""
        affordable = INTERPRETER_BUDGET_S / calls
        fitting = (index for index, step in enumerate(self.steps) if per_element_s * step.elements <= affordable)
        self.at = next(fitting, len(self.steps) - 1)

    def begin(self) -> None:
        """A draw begins."""
        self.began, self.last = time.monotonic(), None

    def affords(self, extra: int) -> bool:
        """Whether so many calls more, of what this draw has taken, leave time for the draws to come."""
        last = self._lap()
        calls = extra + len(self.drawings) - self.done - 1
        return not (self.interpreted and self.spent + last * (1 + calls) > 2 * INTERPRETER_BUDGET_S)

    def ended(self) -> bool:
        """Counts a draw; where time runs short sizes shrink, or True: they cannot, and the other draws are left out."""
        last = self._lap()
        self.spent += time.monotonic() - self.began
        self.done += 1
        left = len(self.drawings) - self.done
        if not (self.interpreted and left and self.spent + left * last > 2 * INTERPRETER_BUDGET_S):
            return False
        if self.at + 1 < len(self.steps):
            self.at += 1
            return False
        self.reduced = (
            f"{self.spent:.0f} s of Triton's interpreter were spent and the sizes cannot be reduced further, so these"
            f" drawings were left out: {', '.join(self.drawings[self.done :])}."
        )
        return True

    def conclude(self) -> None:
        """Says to what the sizes were reduced, if they were."""
        if not self.at or self.reduced:
            return
        changed = [
            f"{spec.name} {list(spec.shape)} → {list(shape)}"
            for spec, shape in zip(self.specs, self.shapes)
            if spec.shape != shape
        ]
        shown = ", ".join(changed[:4]) + (f" and {len(changed) - 4} more" if len(changed) > 4 else "")
        self.reduced = (
            f"The recorded sizes would take Triton's interpreter over {INTERPRETER_BUDGET_S:.0f} s, so smaller ones"
            f" were compared: {shown}."
        )

    def _lap(self) -> float:
        """What the draw took when it was first asked: its call and its controls, not what followed them."""
        if self.last is None:
            self.last = time.monotonic() - self.began
        return self.last


def smaller(graph: Graph, specs: Sequence[TensorSpec], known_roles: Mapping[str, InputRole]) -> tuple[SizeStep, ...]:
    """Ever smaller sizes at which the subgraph still computes the same kind of thing, down to PROBE_ELEMENTS or so.

    All axes of one recorded size shrink together, leading axes first; the source's own literals decide what may shrink.
    """
    probe = _Probe(graph, specs, known_roles)
    recorded: Shapes = tuple(spec.shape for spec in specs)
    form = probe.form(recorded)
    sizes = _sizes(recorded)
    now = {size: size for size in sizes}
    steps: list[SizeStep] = []
    while form is not None and sizes and len(steps) < MOST_STEPS:
        tried = {**now, sizes[0]: max(LEAST_SIZE, now[sizes[0]] // 2)}
        shapes: Shapes = tuple(tuple(tried.get(size, size) for size in shape) for shape in recorded)
        if tried != now and probe.form(shapes) == form:
            now = tried
            steps.append(SizeStep(shapes, _elements(shapes)))
            if steps[-1].elements <= PROBE_ELEMENTS:
                break
        else:
            sizes = sizes[1:]
    return tuple(steps)


def _sizes(shapes: Shapes) -> list[int]:
    """Distinct sizes that can shrink: those of leading axes first, of the same axis the largest first."""
    places: dict[int, int] = {}
    for shape in shapes:
        for axis, size in enumerate(shape):
            if size > LEAST_SIZE:
                places[size] = min(places.get(size, axis), axis)
    return sorted(places, key=lambda size: (places[size], -size))


def _elements(shapes: Sequence[Sequence[int]]) -> int:
    return max(1, sum(math.prod(shape) for shape in shapes))


class _Probe:
    """Runs the subgraph on tensors without content, to see whether sizes fit."""

    def __init__(self, graph: Graph, specs: Sequence[TensorSpec], known_roles: Mapping[str, InputRole]) -> None:
        self.module = building.module_of(placed(graph, "meta"), {})
        self.specs = specs
        self.numbers = {spec.name for spec in specs if known_roles.get(spec.name, InputRole()).number}

    def form(self, shapes: Shapes) -> tuple[Any, ...] | None:
        """Rank and dtype of every output; None where it does not run."""
        try:
            with torch.device("meta"), torch.no_grad():
                result = self.module(*(self._input(spec, shape) for spec, shape in zip(self.specs, shapes)))
        except MISFITS:
            return None
        finally:
            # a subgraph may switch gradients off for good
            torch.set_grad_enabled(True)
        outputs = result if isinstance(result, tuple | list) else (result,)
        return tuple((each.dim(), each.dtype) if isinstance(each, torch.Tensor) else type(each) for each in outputs)

    def _input(self, spec: TensorSpec, shape: tuple[int, ...]) -> Any:
        if spec.name in self.numbers:
            return int(spec.data[0]) if spec.data else 1
        return torch.empty(shape, dtype=dtype_of(spec))
