"""Perturb inputs by one unit in the last place (ulp), to see what rounding alone can do to a result.

The ulp is that of the dtype in which the computation takes the input. A half-precision input that is converted to
float32 before anything is computed with it is perturbed by a few ulps of float32: its own ulps are 65,536 times as
large in bfloat16, and no rounding of the computation is of that size. To find such inputs, eager is run with them
widened. What eager gives for the same numbers in float32, bit for bit and in the same dtype, it does not round in half
precision."""

import math
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain

import torch

from passnet_core.judge.numerics.elements import HALF
from passnet_core.judge.protocol.clients import Computing
from passnet_core.judge.protocol.messages import CallableName, CandidateFault, Produced, Returned
from passnet_core.judge.protocol.reference_bench import Drawn

MOST_ALONE = 6
"""At most this many inputs are perturbed one at a time."""

AT_RANDOM = 3
"""How often all inputs are perturbed at random: if few terms cancel, one perturbation may by chance change nothing."""

WIDENED_ULPS = 4
"""By how many ulps of float32 a widened input is perturbed: half-precision numbers have so few digits that eager's
products and sums of them are often exact, and tell nothing of what another order of operations costs."""

MORE_AT_RANDOM = 24
"""How many random perturbations whole numbers get in addition: each number is tipped by only some of them."""


SHAKEN = 2.0**-11
SHAKES = 2
"""By how much and how often inputs are changed to see how sensitive each element is: the change is that of rounding to
float16, small enough that its effect is in proportion to it."""


class PerturbedResults:
    """The float64 results for each of perturbations(inputs), computed at the first request, like the inputs. For an
    output of whole numbers, eager's results on the same inputs follow, since eager rounds intermediate values as well,
    then both results on MORE_AT_RANDOM further inputs. The witness must have "float64" and "eager" prepared; it keeps
    the last of these inputs. eager: what it returned for the inputs as they are. halves: whole numbers and halves stay
    as they are, so that what happens at exactly these counts."""

    def __init__(
        self,
        witness: Computing,
        inputs: Callable[[], Sequence[Drawn]],
        seed: int,
        *,
        eager: Returned,
        halves: bool = False,
    ) -> None:
        self.witness = witness
        self.inputs = inputs
        self.seed = seed
        self.eager = eager
        self.halves = halves
        self._found: dict[frozenset[int], list[tuple[list[Drawn], Returned]]] = {}
        self._kept: dict[frozenset[int], tuple[bool, ...]] = {}
        self._shaken: list[tuple[Produced, ...]] | None = None

    def output(self, index: int) -> Callable[[], Iterable[Produced]]:
        """A function that computes the results of one output."""
        return partial(self._outputs, index)

    def _outputs(self, index: int) -> Iterator[Produced]:
        results = self._results(self._read_widened(index))
        found = [returned.outputs[index] for _, returned in results]
        yield from found
        if found and _whole(found[0].value):
            own = self._computed((inputs for inputs, _ in results), [CallableName.EAGER])
            turns = range(AT_RANDOM, AT_RANDOM + MORE_AT_RANDOM)
            more = self._computed(
                random_perturbations(self.inputs(), self.seed, turns), [CallableName.EAGER, CallableName.FLOAT64]
            )
            # do not keep these results: the other outputs may be large
            yield from (returned.outputs[index] for _, returned in chain(own, more))

    def shaken(self, index: int) -> list[torch.Tensor]:
        """The float64 results of one output on inputs shaken twice, as far as they can be computed."""
        if self._shaken is None:
            ways = (shaken(self.inputs(), self.seed + turn) for turn in range(SHAKES))
            self._shaken = [returned.outputs for _, returned in self._computed(ways, [CallableName.FLOAT64])]
        values = [outputs[index].value for outputs in self._shaken if index < len(outputs)]
        return [each for each in values if isinstance(each, torch.Tensor)]

    def input(self, index: int) -> Callable[[], Iterable[Produced]]:
        """A function that computes what the float64 calls leave in one input."""
        return lambda: tuple(after(returned, index, inputs) for inputs, returned in self._results(frozenset()))

    def _results(self, wide: frozenset[int]) -> list[tuple[list[Drawn], Returned]]:
        """The perturbed inputs and their float64 results. wide: the inputs that are widened before."""
        if wide not in self._found:
            ways = perturbations(widened(self.inputs(), wide), self.seed, wide)
            found = list(self._computed(ways, [CallableName.FLOAT64]))
            self._found[wide] = [each for each in found if len(each[1].outputs) == len(found[0][1].outputs)]
        return self._found[wide]

    def _read_widened(self, index: int) -> frozenset[int]:
        """The half-precision inputs that reach this output only in float32. None for whole numbers: a few of them may
        be the same by chance."""
        value = self.eager.outputs[index].value
        halves = [at for at, each in enumerate(self.inputs()) if isinstance(each, torch.Tensor) and each.dtype in HALF]
        if not halves or _whole(value):
            return frozenset()
        if self._same(frozenset(halves), index):
            return frozenset(halves)
        alone = frozenset(at for at in halves[:MOST_ALONE] if len(halves) > 1 and self._same(frozenset({at}), index))
        return alone if alone and self._same(alone, index) else frozenset()

    def _same(self, wide: frozenset[int], index: int) -> bool:
        """Whether eager gives the same output if these inputs are widened."""
        if wide not in self._kept:
            results = self._computed([widened(self.inputs(), wide)], [CallableName.EAGER])
            outputs = next((returned.outputs for _, returned in results), ())
            self._kept[wide] = tuple(map(_equal, self.eager.outputs, outputs))
        return self._kept[wide][index : index + 1] == (True,)

    def _computed(self, ways: Iterable[list[Drawn]], names: Sequence[str]) -> Iterator[tuple[list[Drawn], Returned]]:
        for way in ways:
            inputs = list(map(_with_halves, way, self.inputs())) if self.halves else way
            self.witness.give(inputs)
            for name in names:
                try:
                    returned = self.witness.run(name)
                except CandidateFault:
                    continue
                yield inputs, returned


def widened(inputs: Sequence[Drawn], wide: Container[int]) -> list[Drawn]:
    """The inputs, those at these indices in float32."""
    return [
        each.float() if index in wide and isinstance(each, torch.Tensor) and each.dtype in HALF else each
        for index, each in enumerate(inputs)
    ]


def _equal(one: Produced, other: Produced) -> bool:
    left, right = one.value, other.value
    if not isinstance(left, torch.Tensor) or not isinstance(right, torch.Tensor):
        return False
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    return torch.equal(left, right) or bool(((left == right) | ((left != left) & (right != right))).all())


def _whole(value: object) -> bool:
    return isinstance(value, torch.Tensor) and not value.is_floating_point() and not value.is_complex()


def after(call: Returned, index: int, inputs: Sequence[Drawn]) -> Produced:
    """One input after a call, described like a returned value. The input must be a tensor."""
    value = call.changed.get(index, inputs[index])
    assert isinstance(value, torch.Tensor)
    return Produced("torch.Tensor", value, str(value.dtype).removeprefix("torch."), tuple(value.shape))


def perturbations(inputs: Sequence[Drawn], seed: int, wide: Container[int] = ()) -> Iterator[list[Drawn]]:
    """Yield the inputs with all floats perturbed away from zero, then AT_RANDOM times up or down at random, then with
    one input perturbed alone: perturbing all of them alike may leave a difference of products unchanged. wide: the
    inputs that were widened."""

    def one(index: int, seed: int, both_ways: bool) -> Drawn:
        return perturbed(inputs[index], seed, both_ways, WIDENED_ULPS if index in wide else 1)

    yield [one(index, seed + index, False) for index in range(len(inputs))]
    for turn in range(AT_RANDOM):
        yield [one(index, seed + turn * len(inputs) + index, True) for index in range(len(inputs))]
    floats = [
        index for index, value in enumerate(inputs) if isinstance(value, torch.Tensor) and value.is_floating_point()
    ]
    for alone in floats[:MOST_ALONE] if len(floats) > 1 else ():
        yield [one(index, seed, False) if index == alone else value for index, value in enumerate(inputs)]


def random_perturbations(inputs: Sequence[Drawn], seed: int, turns: range) -> Iterator[list[Drawn]]:
    """Yield, for each turn, the inputs with every float perturbed up or down at random."""
    for turn in turns:
        yield [perturbed(value, seed + turn * len(inputs) + index, True) for index, value in enumerate(inputs)]


def shaken(inputs: Sequence[Drawn], seed: int) -> list[Drawn]:
    """The inputs with every float multiplied by 1 + SHAKEN or 1 - SHAKEN at random, those in half precision widened."""
    changed: list[Drawn] = []
    for index, each in enumerate(widened(inputs, range(len(inputs)))):
        if isinstance(each, torch.Tensor) and each.is_floating_point():
            generator = torch.Generator(device=each.device).manual_seed(seed * len(inputs) + index)
            up = torch.rand(each.shape, generator=generator, device=each.device) < 0.5
            each = each * torch.where(up, 1 + SHAKEN, 1 - SHAKEN).to(each.dtype)
        changed.append(each)
    return changed


def perturbed(value: Drawn, seed: int, both_ways: bool, ulps: int = 1) -> Drawn:
    """Perturb floats by so many ulps: all away from zero, or each up or down at random. Zeros and other dtypes stay."""
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
    stepped = value
    for _ in range(ulps):
        stepped = next_after(stepped, towards)
    return torch.where(value == 0, value, stepped)


def _with_halves(value: Drawn, before: Drawn) -> Drawn:
    """The perturbed value, but whole numbers and halves as before."""
    if not isinstance(value, torch.Tensor) or not isinstance(before, torch.Tensor) or not value.is_floating_point():
        return value
    return torch.where(before * 2 == (before * 2).round(), before.to(value), value)


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
