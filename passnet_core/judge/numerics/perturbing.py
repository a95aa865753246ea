"""Perturb a computation by about one rounding, to see what rounding alone can do to a result.

In single precision the inputs are perturbed by one unit in the last place (ulp). A half-precision input is exact, and
operations compute with it in float32: it is perturbed by a few ulps of float32, since no rounding of the computation is
as large as its own ulps, which in bfloat16 are 65,536 times as large. What eager rounds to half precision are its
intermediate results: each of them is moved by one ulp of its dtype, in eager itself."""

import math
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property, partial
from itertools import chain

import torch

from passnet_core.judge.numerics.elements import HALF, is_whole
from passnet_core.judge.protocol.messages import CallableName, CandidateFault, Produced, Returned
from passnet_core.judge.protocol.reference_bench import Computing, Drawn

MOST_ALONE = 6
"""At most this many inputs are perturbed one at a time."""

AT_RANDOM = 3
"""How often all inputs are perturbed at random: if few terms cancel, one perturbation may by chance change nothing."""

WIDENED_ULPS = 4
"""By how many ulps of float32 a widened input is perturbed: half-precision numbers have so few digits that eager's
products and sums of them are often exact, and tell nothing of what another order of operations costs."""

SUMMED_ULPS = 16
"""By how many times as many ulps inputs are perturbed whose rows lie at offsets: a mean that is the sum of thousands of
such elements, one after the other, loses as much, and deviations from it as well."""

MOVED = AT_RANDOM + 4
"""How often eager's intermediate results are moved: all of them AT_RANDOM times, then some without the others, since
two that are moved alike may leave their difference as it was. Of any two of the first 2^4 one is once moved alone."""

MORE_AT_RANDOM = 24
"""How many random perturbations whole numbers get in addition: each number is tipped by only some of them."""


SHAKEN = 2.0**-11
SHAKES = 2
"""By how much and how often inputs are changed to see how sensitive each element is: the change is that of rounding to
float16, small enough that its effect is in proportion to it."""

STEPPED = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
"""The dtypes whose next number can be told."""


@dataclass
class PerturbedResults:
    """The float64 results for each of perturbations(inputs), and eager's with its intermediate results moved. They are
    computed at the first request, like the inputs. For an output of whole numbers: the float64 results, half precision
    perturbed by its own ulps; eager's on the same inputs, since eager rounds intermediate values as well; then both on
    MORE_AT_RANDOM further inputs. The witness must have "float64" and "eager" prepared; without "moved" nothing is
    moved. It keeps the last of these inputs. eager: what it returned for the inputs as they are. halves: whole numbers
    and halves stay as they are, so that what happens at exactly these counts. offsets: rows lie far from zero. still:
    the inputs that are not shaken if they are in half precision."""

    witness: Computing
    inputs: Callable[[], Sequence[Drawn]]
    seed: int
    _: KW_ONLY
    eager: Returned
    halves: bool = False
    offsets: bool = False
    still: Collection[int] = ()
    _found: dict[bool, list[tuple[list[Drawn], Returned]]] = field(default_factory=dict, init=False)

    def output(self, index: int) -> Callable[[], Iterable[Produced]]:
        """A function that computes the results of one output."""
        return partial(self._outputs, index)

    def _outputs(self, index: int) -> Iterator[Produced]:
        wanted = self.eager.outputs[index]
        whole = is_whole(wanted.value)
        results = self._results(not whole)
        yield from (returned.outputs[index] for _, returned in results)
        if not whole:
            moved = (returned.outputs[index] for _, returned in self._moved)
            # where nothing was moved, the results are eager's own
            yield from (each for each in moved if not _equal(wanted, each))
        elif results:
            own = self._computed((inputs for inputs, _ in results), [CallableName.EAGER])
            turns = range(AT_RANDOM, AT_RANDOM + MORE_AT_RANDOM)
            more = self._computed(
                random_perturbations(self.inputs(), self.seed, turns), [CallableName.EAGER, CallableName.FLOAT64]
            )
            # do not keep these results: the other outputs may be large
            yield from (returned.outputs[index] for _, returned in chain(own, more))

    def shaken(self, index: int) -> list[torch.Tensor]:
        """The float64 results of one output on inputs shaken twice, as far as they can be computed."""
        values = [outputs[index].value for outputs in self._shaken if index < len(outputs)]
        return [each for each in values if isinstance(each, torch.Tensor)]

    @cached_property
    def _shaken(self) -> list[tuple[Produced, ...]]:
        ways = (shaken(self.inputs(), self.seed + turn, self.still) for turn in range(SHAKES))
        return [returned.outputs for _, returned in self._computed(ways, [CallableName.FLOAT64])]

    def input(self, index: int) -> Callable[[], Iterable[Produced]]:
        """A function that computes what the float64 calls, and those of moved results, leave in one input."""
        return lambda: tuple(
            after(returned, index, inputs) for inputs, returned in (*self._results(True), *self._moved)
        )

    def _results(self, wide: bool) -> list[tuple[list[Drawn], Returned]]:
        """The perturbed inputs and their float64 results. wide: half precision is widened before."""
        if wide not in self._found:
            halves = [at for at, each in enumerate(self.inputs()) if wide and _is_half(each)]
            ulps = SUMMED_ULPS if self.offsets else 1
            ways = perturbations(widened(self.inputs(), halves), self.seed, halves, ulps)
            found = list(self._computed(ways, [CallableName.FLOAT64]))
            self._found[wide] = [each for each in found if len(each[1].outputs) == len(found[0][1].outputs)]
        return self._found[wide]

    @cached_property
    def _moved(self) -> list[tuple[list[Drawn], Returned]]:
        ways = (list(self.inputs()) for _ in range(MOVED))
        found = self._computed(ways, [CallableName.MOVED])
        return [each for each in found if len(each[1].outputs) == len(self.eager.outputs)]

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
        each.float() if index in wide and isinstance(each, torch.Tensor) and _is_half(each) else each
        for index, each in enumerate(inputs)
    ]


def _is_half(value: Drawn) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype in HALF


def _equal(one: Produced, other: Produced) -> bool:
    left, right = one.value, other.value
    if not isinstance(left, torch.Tensor) or not isinstance(right, torch.Tensor):
        return False
    return (left.dtype, left.shape) == (right.dtype, right.shape) and same_elements(left, right)


def same_elements(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Whether two tensors of one shape have equal elements, NaN where the other has one. torch.equal lacks some
    dtypes."""
    return bool(((left == right) | ((left != left) & (right != right))).all())


def after(call: Returned, index: int, inputs: Sequence[Drawn]) -> Produced:
    """One input after a call, described like a returned value. The input must be a tensor."""
    value = call.changed.get(index, inputs[index])
    assert isinstance(value, torch.Tensor)
    return Produced("torch.Tensor", value, str(value.dtype).removeprefix("torch."), tuple(value.shape))


def perturbations(
    inputs: Sequence[Drawn], seed: int, wide: Container[int] = (), ulps: int = 1
) -> Iterator[list[Drawn]]:
    """Yield the inputs with all floats perturbed away from zero, then AT_RANDOM times up or down at random, then with
    one input perturbed alone: perturbing all of them alike may leave a difference of products unchanged. wide: the
    inputs that were widened; these are perturbed by WIDENED_ULPS times as many ulps."""

    def one(index: int, seed: int, both_ways: bool) -> Drawn:
        return perturbed(inputs[index], seed, both_ways, ulps * WIDENED_ULPS if index in wide else ulps)

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


def shaken(inputs: Sequence[Drawn], seed: int, still: Collection[int] = ()) -> list[Drawn]:
    """The inputs with every float multiplied by 1 + SHAKEN or 1 - SHAKEN at random, those in half precision widened.
    still: those that stay as they are, if they are in half precision."""
    changed: list[Drawn] = []
    for index, (before, each) in enumerate(zip(inputs, widened(inputs, range(len(inputs))))):
        exact = index in still and _is_half(before)
        if isinstance(each, torch.Tensor) and each.is_floating_point() and not exact:
            generator = torch.Generator(device=each.device).manual_seed(seed * len(inputs) + index)
            up = torch.rand(each.shape, generator=generator, device=each.device) < 0.5
            each = each * torch.where(up, 1 + SHAKEN, 1 - SHAKEN).to(each.dtype)
        changed.append(each)
    return changed


def perturbed(value: Drawn, seed: int, both_ways: bool, ulps: int = 1) -> Drawn:
    """Perturb floats by so many ulps: all away from zero, or each up or down at random. Zeros and other dtypes stay."""
    if not isinstance(value, torch.Tensor) or value.dtype not in STEPPED:
        return value
    if both_ways:
        generator = torch.Generator(device=value.device).manual_seed(seed)
        down = torch.rand(value.shape, generator=generator, device=value.device) < 0.5
    else:
        # away from zero, so that all products and sums grow together
        down = value < 0
    towards = torch.where(down, -math.inf, math.inf).to(value.dtype)
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
    """torch.nextafter, which lacks float16 and bfloat16: those are stepped by their bits. Other dtypes stay, and so do
    infinities and what would become one."""
    if value.dtype not in STEPPED:
        return value
    if value.dtype in (torch.float32, torch.float64):
        stepped = torch.nextafter(value, towards)
    else:
        grows = (towards > value) == (value > 0)
        stepped = (value.view(torch.int16) + torch.where(grows, 1, -1)).to(torch.int16).view(value.dtype)
    return torch.where(value.isfinite() & stepped.isfinite(), stepped, value)
