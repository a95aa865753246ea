"""Perturb inputs by one unit in the last place (ulp), to see what rounding alone can do to a result."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from itertools import chain

import torch

from passnet_core.judge.protocol.clients import Computing
from passnet_core.judge.protocol.messages import CallableName, CandidateFault, Produced, Returned
from passnet_core.judge.protocol.reference_bench import Drawn

MOST_ALONE = 6
"""At most this many inputs are perturbed one at a time."""

AT_RANDOM = 3
"""How often all inputs are perturbed at random: if few terms cancel, one perturbation may by chance change nothing."""

MORE_AT_RANDOM = 24
"""How many random perturbations whole numbers get in addition: each number is tipped by only some of them."""


class PerturbedResults:
    """The float64 results for each of perturbations(inputs), computed at the first request, like the inputs. For an
    output of whole numbers, eager's results on the same inputs follow, since eager rounds intermediate values as well,
    then both results on MORE_AT_RANDOM further inputs. The witness must have "float64" and "eager" prepared; it keeps
    the last of these inputs."""

    def __init__(self, witness: Computing, inputs: Callable[[], Sequence[Drawn]], seed: int) -> None:
        self.witness = witness
        self.inputs = inputs
        self.seed = seed

    def output(self, index: int) -> Callable[[], Iterable[Produced]]:
        """A function that computes the results of one output."""
        return partial(self._outputs, index)

    def _outputs(self, index: int) -> Iterator[Produced]:
        found = [returned.outputs[index] for _, returned in self._found]
        yield from found
        if found and _whole(found[0].value):
            own = self._computed((inputs for inputs, _ in self._found), [CallableName.EAGER])
            turns = range(AT_RANDOM, AT_RANDOM + MORE_AT_RANDOM)
            more = self._computed(
                random_perturbations(self.inputs(), self.seed, turns), [CallableName.EAGER, CallableName.FLOAT64]
            )
            # do not keep these results: the other outputs may be large
            yield from (returned.outputs[index] for _, returned in chain(own, more))

    def input(self, index: int) -> Callable[[], Iterable[Produced]]:
        """A function that computes what the float64 calls leave in one input."""
        return lambda: tuple(after(returned, index, inputs) for inputs, returned in self._found)

    @cached_property
    def _found(self) -> list[tuple[list[Drawn], Returned]]:
        found = list(self._computed(perturbations(self.inputs(), self.seed), [CallableName.FLOAT64]))
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
    """One input after a call, described like a returned value. The input must be a tensor."""
    value = call.changed.get(index, inputs[index])
    assert isinstance(value, torch.Tensor)
    return Produced("torch.Tensor", value, str(value.dtype).removeprefix("torch."), tuple(value.shape))


def perturbations(inputs: Sequence[Drawn], seed: int) -> Iterator[list[Drawn]]:
    """Yield the inputs with all floats perturbed away from zero, then AT_RANDOM times up or down at random, then with
    one input perturbed alone: perturbing all of them alike may leave a difference of products unchanged."""
    yield [perturbed(value, seed + index, False) for index, value in enumerate(inputs)]
    yield from random_perturbations(inputs, seed, range(AT_RANDOM))
    floats = [
        index for index, value in enumerate(inputs) if isinstance(value, torch.Tensor) and value.is_floating_point()
    ]
    for alone in floats[:MOST_ALONE] if len(floats) > 1 else ():
        yield [perturbed(value, seed, False) if index == alone else value for index, value in enumerate(inputs)]


def random_perturbations(inputs: Sequence[Drawn], seed: int, turns: range) -> Iterator[list[Drawn]]:
    """Yield, for each turn, the inputs with every float perturbed up or down at random."""
    for turn in turns:
        yield [perturbed(value, seed + turn * len(inputs) + index, True) for index, value in enumerate(inputs)]


def perturbed(value: Drawn, seed: int, both_ways: bool) -> Drawn:
    """Perturb floats by one ulp: all away from zero, or each up or down at random. Zeros and other dtypes stay."""
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return value
    size = math.inf
    towards = torch.full_like(value, size)
    if both_ways:
        generator = torch.Generator(device=value.device).manual_seed(seed)
        down = torch.rand(value.shape, generator=generator, device=value.device) < 0.5
        towards = torch.where(down, torch.full_like(value, -size), towards)
    else:
        # away from zero, so that all products and sums grow together
        towards = torch.where(value < 0, torch.full_like(value, -size), towards)
    stepped = next_after(value, towards)
    return torch.where(value == 0, value, stepped)


def next_after(value: torch.Tensor, towards: torch.Tensor) -> torch.Tensor:
    """torch.nextafter, which lacks float16 and bfloat16: those are stepped by their bits. Other dtypes stay."""
    if value.dtype in (torch.float32, torch.float64):
        return torch.nextafter(value, towards)
    if value.dtype not in (torch.float16, torch.bfloat16):
        return value
    bits = value.view(torch.int16)
    grows = (towards > value) == (value > 0)
    stepped = (bits + torch.where(grows, 1, -1)).to(torch.int16).view(value.dtype)
    return torch.where(value.isfinite() & stepped.isfinite(), stepped, value)
