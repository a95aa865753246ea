"""Inputs moved by one unit in their last place: what rounding alone can do to a result."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import chain

import torch

from passnet_core.judge.protocol.clients import Computing
from passnet_core.judge.protocol.messages import CallableName, CandidateFault, Produced, Returned
from passnet_core.judge.protocol.reference_bench import Drawn

MOST_ALONE = 6
"""So many inputs are moved alone at most."""

AT_RANDOM = 3
"""So often all are moved at random: of the few terms that cancel, one movement may by chance leave what it found."""

MORE_AT_RANDOM = 24
"""So often again for whole numbers, each of which is tipped by some movements."""


class Nearby:
    """What the float64 form gives for inputs moved by one unit, in all ways of movements(); computed when first asked
    for, as the inputs are. Of an output of whole numbers then, one after another, what eager gives for them, which
    rounds on its way too, and what both give for more. The witness has "float64" and "eager" prepared; it keeps the
    last of these inputs."""

    def __init__(self, witness: Computing, inputs: Callable[[], Sequence[Drawn]], seed: int) -> None:
        self.witness = witness
        self.inputs = inputs
        self.seed = seed

    def output(self, index: int) -> Callable[[], Iterable[Produced]]:
        """Asks for one output."""
        return partial(self._outputs, index)

    def _outputs(self, index: int) -> Iterator[Produced]:
        found = [returned.outputs[index] for _, returned in self._found]
        yield from found
        if found and _whole(found[0].value):
            own = self._computed((inputs for inputs, _ in self._found), [CallableName.EAGER])
            turns = range(AT_RANDOM, AT_RANDOM + MORE_AT_RANDOM)
            more = self._computed(
                at_random(self.inputs(), self.seed, turns), [CallableName.EAGER, CallableName.FLOAT64]
            )
            # none is kept: the other outputs may be large
            yield from (returned.outputs[index] for _, returned in chain(own, more))

    def input(self, index: int) -> Callable[[], Iterable[Produced]]:
        """Asks for an input as the call left it."""
        return lambda: tuple(after(returned, index, inputs) for inputs, returned in self._found)

    @cached_property
    def _found(self) -> list[tuple[list[Drawn], Returned]]:
        found = list(self._computed(movements(self.inputs(), self.seed), [CallableName.FLOAT64]))
        return [each for each in found if len(each[1].outputs) == len(found[0][1].outputs)]

    def _computed(self, ways: Iterable[list[Drawn]], names: Sequence[str]) -> Iterator[tuple[list[Drawn], Returned]]:
        for inputs in ways:
            self.witness.give(inputs)
            for name in names:
                try:
                    returned = self.witness.run(name)
                except CandidateFault:
                    continue
                yield inputs, returned


def _whole(value: object) -> bool:
    return isinstance(value, torch.Tensor) and not value.is_floating_point() and not value.is_complex()


def after(call: Returned, index: int, inputs: Sequence[Drawn]) -> Produced:
    """An input, a tensor, as a call left it, as if it had been returned."""
    value = call.changed.get(index, inputs[index])
    assert isinstance(value, torch.Tensor)
    return Produced("torch.Tensor", value, str(value.dtype).removeprefix("torch."), tuple(value.shape))


def movements(inputs: Sequence[Drawn], seed: int) -> Iterator[list[Drawn]]:
    """The inputs with all floats moved by one unit in the last place, away from zero, and AT_RANDOM times at random up
    and down; then one input moved alone: of a difference of products, moving all alike would change nothing."""
    yield [moved(value, seed + index, False) for index, value in enumerate(inputs)]
    yield from at_random(inputs, seed, range(AT_RANDOM))
    floats = [
        index for index, value in enumerate(inputs) if isinstance(value, torch.Tensor) and value.is_floating_point()
    ]
    for alone in floats[:MOST_ALONE] if len(floats) > 1 else ():
        yield [moved(value, seed, False) if index == alone else value for index, value in enumerate(inputs)]


def at_random(inputs: Sequence[Drawn], seed: int, turns: range) -> Iterator[list[Drawn]]:
    """The inputs with all floats moved by one unit in the last place, each up or down; differently in each turn."""
    for turn in turns:
        yield [moved(value, seed + turn * len(inputs) + index, True) for index, value in enumerate(inputs)]


def moved(value: Drawn, seed: int, both_ways: bool) -> Drawn:
    """Floats moved by one unit in the last place: all up, or each up or down at random. Everything else as it is."""
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return value
    size = math.inf
    towards = torch.full_like(value, size)
    if both_ways:
        generator = torch.Generator(device=value.device).manual_seed(seed)
        down = torch.rand(value.shape, generator=generator, device=value.device) < 0.5
        towards = torch.where(down, torch.full_like(value, -size), towards)
    else:
        # away from zero, so that products and sums move as one
        towards = torch.where(value < 0, torch.full_like(value, -size), towards)
    stepped = next_after(value, towards)
    return torch.where(value == 0, value, stepped)


def next_after(value: torch.Tensor, towards: torch.Tensor) -> torch.Tensor:
    """torch.nextafter, also for the half precisions, which lack it: by their bits."""
    if value.dtype in (torch.float32, torch.float64):
        return torch.nextafter(value, towards)
    if value.dtype not in (torch.float16, torch.bfloat16):
        return value
    bits = value.view(torch.int16)
    grows = (towards > value) == (value > 0)
    stepped = (bits + torch.where(grows, 1, -1)).to(torch.int16).view(value.dtype)
    return torch.where(value.isfinite() & stepped.isfinite(), stepped, value)
