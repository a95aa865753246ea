"""The reference bench: it draws the inputs of a comparison, keeps the results of eager and float64, and compares calls.

The bench lives where the tensors are: on the CPU in the referee; on CUDA in the witness, whose device then draws and
compares. On CUDA, the only large tensors that cross process borders are a candidate's inputs and outputs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

import torch

from passnet_core.graphs.source import parse
from passnet_core.judge.numerics import bias, comparing, telling_draws
from passnet_core.judge.numerics.comparing import References
from passnet_core.judge.numerics.input_draws import LEAST_SCALE, draw, parsed
from passnet_core.judge.numerics.input_roles import roles
from passnet_core.judge.numerics.integer_ranges import stays_within
from passnet_core.judge.numerics.mutants import Mutant
from passnet_core.judge.numerics.negative_controls import NegativeControls
from passnet_core.judge.numerics.perturbing import PerturbedResults, after
from passnet_core.judge.protocol.messages import CallableName, CandidateFault, Preparation, Produced, Returned
from passnet_core.judge.protocol.reference_bench import (
    PLAIN_ROLE,
    BenchPlan,
    Computing,
    Drawn,
    InputDifference,
    Judged,
    OutputDifference,
    SystematicError,
    TellingDraws,
)
from passnet_core.operations.binding import regular
from passnet_core.records import Capture, Contender, Device, Verdict

TRIED_PLACES = 16
"""How many random elements of an input are tried, to find two unequal ones to exchange."""

SPARE_BYTES = 1 << 30
"""Unused device memory that PyTorch may keep for the next call; the candidate, another process, needs the rest."""

REDRAWN = 1
"""What is added to the seed of inputs that are drawn anew."""

T = TypeVar("T")


@dataclass
class LocalReferenceBench:
    """A ReferenceBench in this process. device: where its tensors are, and where the witness takes inputs from."""

    plan: BenchPlan
    witness: Computing
    device: Device = Device.CPU
    input_draw: str = ""
    sizes: list[tuple[int, ...]] = field(default_factory=list)
    scale: float = 1.0
    inputs: list[Drawn] = field(default_factory=list)
    eager: Returned | None = None
    exact: Returned | None = None
    known: dict[int, list[OutputDifference]] = field(default_factory=dict)
    pools: dict[int, bias.ErrorPool | bias.CodePool] = field(default_factory=dict)
    pooled: set[tuple[int, str]] = field(default_factory=set)
    """Outputs and input draws whose errors are in the pools."""
    witness_perturbed: bool = False
    """Whether the witness still has perturbed inputs instead of these."""

    def __post_init__(self) -> None:
        self.controls = NegativeControls([spec.name for spec in self.plan.specs], self.plan.seed)

    def draw(self, input_draw: str, shapes: Sequence[Sequence[int]]) -> None:
        self.input_draw, self.sizes, self.scale = input_draw, [tuple(shape) for shape in shapes], 1.0
        self._draw()

    def _draw(self, turn: int = 0) -> None:
        self.inputs = []
        self.eager = self.exact = None
        if self.device is Device.CUDA:
            self.witness.give([])
        specs = self.plan.specs
        known = {spec.name: role for spec, role in zip(specs, self.plan.roles)}
        self.inputs = draw(
            specs,
            self.input_draw,
            self.plan.seed + turn,
            roles=known,
            shapes=self.sizes,
            scale=self.scale,
            device=self.device.value,
        )

    def redraw(self, kept: Sequence[int]) -> None:
        before = self.inputs
        self._draw(REDRAWN)
        self.inputs = [old if index in kept else new for index, (old, new) in enumerate(zip(before, self.inputs))]

    def refer(self, *, exact: bool) -> str:
        problem = self._refer(exact)
        # If eager overflows, rounding alone decides which elements are lost, and the others tell little.
        while parsed(self.input_draw)[0].large and self.scale > LEAST_SCALE and self._overflowed():
            self.scale /= 2
            self._draw()
            problem = self._refer(exact)
        return problem

    def _overflowed(self) -> bool:
        eager, exact = self.eager, self.exact
        if eager is None or exact is None:
            return False
        return any(comparing.overflowed(References(*each)) for each in zip(eager.outputs, exact.outputs))

    def _refer(self, exact: bool) -> str:
        self.eager = self.exact = None
        self.witness.give(self.inputs)
        self.eager = self.witness.run(CallableName.EAGER)
        problem = ""
        try:
            self.exact = self.witness.run(CallableName.FLOAT64) if exact else None
        except CandidateFault as fault:
            problem = fault.text
        if self.device is Device.CUDA and torch.cuda.memory_reserved() - torch.cuda.memory_allocated() > SPARE_BYTES:
            torch.cuda.empty_cache()
        return problem

    def taken(self) -> list[Drawn]:
        return [each.cpu() if isinstance(each, torch.Tensor) else each for each in self.inputs]

    def telling(self, source: str, shapes: Sequence[Sequence[int]]) -> TellingDraws:
        graph = regular(parse(source))
        specs = tuple(replace(spec, shape=tuple(shape)) for spec, shape in zip(self.plan.specs, shapes))
        asked = telling_draws.Asked(graph, specs, roles(graph, specs))
        self.inputs, self.eager, self.exact = [], None, None

        def trial(seed: int) -> TrialBench:
            return TrialBench.of(asked, seed, self.witness, self.device)

        def prepare(name: str, mutant: Mutant) -> None:
            self.witness.prepare(name, Preparation(Contender.EAGER, mutant.source, Capture.DIRECT, self.device))

        def safe(mutant: Mutant) -> bool:
            # on CUDA, an index beyond its table ends the witness
            return self.device is Device.CPU or stays_within(mutant.graph, asked.graph, asked.specs)

        return telling_draws.chosen(asked, trial, prepare, safe=safe)

    def control(self) -> str:
        eager, exact, inputs = self.eager, self.exact, self.inputs
        assert eager is not None
        perturbed = self._perturbed_results()
        self._with_enough_memory(
            lambda: self.controls.see(inputs, eager, exact, perturbed.output),
            lambda: self.controls.see(
                self.taken(),
                _on_cpu(eager),
                _on_cpu(exact) if exact else None,
                lambda index: _perturbed_on_cpu(perturbed.output(index)),
            ),
        )
        self._restore()
        return self.controls.problem

    def compile(self) -> None:
        self.witness.run(CallableName.BASELINE)

    def judge(self, actual: Returned | None) -> Judged:
        eager, exact = self.eager, self.exact
        assert eager is not None
        if actual is None:
            actual = self.witness.run(CallableName.BASELINE)
        problem = comparing.structure_problem(eager, actual) if self.plan.is_candidate else ""
        if problem or len(eager.outputs) != len(actual.outputs):
            problem = problem or "it returns a different number of values"
            unlike = (comparing.unlike(Verdict.WRONG_TYPE, problem, each) for each in eager.outputs)
            return Judged(tuple(unlike), problem=problem)
        perturbed = self._perturbed_results()
        values: list[OutputDifference] = []
        for index, (wanted, given) in enumerate(zip(eager.outputs, actual.outputs)):
            if not self.plan.strict:
                wanted, given = comparing.broadcast(wanted, given)
            references = References(wanted, exact.outputs[index] if exact else None, perturbed.output(index))
            known = self.known.setdefault(index, [])
            values.append(self._compared(references, given, wants_map=partial(comparing.worse, before=known)))
            known.append(values[-1])
        watched = self.plan.strict and self.plan.is_candidate and values
        inputs = tuple(self._inputs_after(eager, exact, actual, perturbed)) if watched else ()
        pooled = tuple(self._systematic(eager, exact, actual, values, perturbed)) if watched and exact else ()
        self._restore()
        return Judged(tuple(values), inputs, tuple(map(comparing.layout, eager.outputs)), systematic=pooled)

    def _systematic(
        self,
        eager: Returned,
        exact: Returned,
        actual: Returned,
        differences: Sequence[OutputDifference],
        perturbed: PerturbedResults,
    ) -> Iterator[SystematicError | None]:
        """Pool the errors of each right output with those of earlier draws. Further calls on a draw add nothing."""
        for index, (found, *produced) in enumerate(zip(differences, eager.outputs, actual.outputs, exact.outputs)):
            pool = self.pools.setdefault(index, bias.pool_for(eager.outputs[index].value))
            tensors = [each.value for each in produced if isinstance(each.value, torch.Tensor)]
            alike = len(tensors) == 3 and len({each.shape for each in tensors}) == 1
            if found.verdict is None and alike and (index, self.input_draw) not in self.pooled:
                self.pooled.add((index, self.input_draw))
                try:
                    own, given, wide = tensors
                    pool.add(bias.Results(own, given, wide, self.inputs, partial(perturbed.shaken, index)))
                except torch.cuda.OutOfMemoryError:
                    # the other draws and sizes tell as much
                    torch.cuda.empty_cache()
            yield pool.worst

    def _perturbed_results(self) -> PerturbedResults:
        def inputs() -> Sequence[Drawn]:
            self.witness_perturbed = True
            return self.inputs

        assert self.eager is not None
        kind = parsed(self.input_draw)[0].name
        return PerturbedResults(
            self.witness,
            inputs,
            self.plan.seed,
            eager=self.eager,
            halves=kind in ("halves", "ties"),
            offsets=kind in ("offsets", "deep"),
            still=[index for index, role in enumerate(self.plan.roles) if role.power],
        )

    def _restore(self) -> None:
        """Give the witness the inputs again if it has perturbed ones."""
        if self.witness_perturbed:
            self.witness.give(self.inputs)
            self.witness_perturbed = False

    def _compared(
        self,
        references: References,
        actual: Produced,
        *,
        wants_map: Callable[[OutputDifference], bool] = lambda found: True,
    ) -> OutputDifference:
        def on_cpu() -> OutputDifference:
            exact = _produced_on_cpu(references.exact) if references.exact is not None else None
            copied = References(_produced_on_cpu(references.eager), exact, _perturbed_on_cpu(references.perturbed))
            return comparing.compare(copied, _produced_on_cpu(actual), memory=False, wants_map=wants_map)

        return self._with_enough_memory(
            lambda: comparing.compare(references, actual, memory=False, wants_map=wants_map), on_cpu
        )

    def _with_enough_memory(self, on_device: Callable[[], T], on_cpu: Callable[[], T]) -> T:
        """Compute on the device, or on the CPU if the device runs out of memory."""
        try:
            return on_device()
        except torch.cuda.OutOfMemoryError:
            pass
        # outside the handler, whose traceback keeps the tensors computed so far alive
        torch.cuda.empty_cache()
        return on_cpu()

    def _inputs_after(
        self, eager: Returned, exact: Returned | None, actual: Returned, perturbed: PerturbedResults
    ) -> Iterator[InputDifference]:
        """Compare those inputs after the call that eager or the candidate changed."""
        for index in sorted({*eager.changed, *actual.changed}):
            if not 0 <= index < len(self.inputs) or not isinstance(self.inputs[index], torch.Tensor):
                continue
            wanted, given = (after(each, index, self.inputs) for each in (eager, actual))
            precise = after(exact, index, self.inputs) if exact else None
            found = self._compared(References(wanted, precise, perturbed.input(index)), given)
            yield InputDifference(index, index in eager.changed, index in actual.changed, found)


class TrialBench(LocalReferenceBench):
    """A bench on which mutants are tried. It remembers what perturbed inputs give."""

    @classmethod
    def of(cls, asked: telling_draws.Asked, seed: int, witness: Computing, device: Device) -> "TrialBench":
        known = tuple(asked.roles.get(spec.name, PLAIN_ROLE) for spec in asked.specs)
        return cls(BenchPlan(asked.specs, known, seed, strict=True, is_candidate=True), witness, device)

    def refer(self, *, exact: bool) -> str:
        problem = super().refer(exact=exact)
        self.results: dict[int, list[Produced]] = {}
        self.perturbed = self._perturbed_results()
        return problem

    def run(self, name: str) -> Returned:
        self._restore()
        return self.witness.run(name)

    def perturbed_output(self, index: int) -> Callable[[], Iterable[Produced]]:
        def results() -> Iterable[Produced]:
            if index not in self.results:
                self.results[index] = list(self.perturbed.output(index)())
            return self.results[index]

        return results


def _on_cpu(returned: Returned) -> Returned:
    return replace(returned, outputs=tuple(map(_produced_on_cpu, returned.outputs)))


def _produced_on_cpu(produced: Produced) -> Produced:
    value = produced.value
    return replace(produced, value=value.cpu()) if isinstance(value, torch.Tensor) else produced


def _perturbed_on_cpu(perturbed: Callable[[], Iterable[Produced]]) -> Callable[[], Iterable[Produced]]:
    """The same function with its results on the CPU; it still computes them only when called."""
    return lambda: map(_produced_on_cpu, perturbed())
