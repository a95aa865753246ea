"""The bench: the inputs of a comparison, what eager and its float64 form give for them, and how a call differs.

It stands where the tensors lie: on the CPU in the referee, on CUDA in the witness, whose device then does the drawing
and the comparing. There nothing large travels but what a candidate is given and what it returns.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol, TypeVar

import torch

from passnet_core.judge import comparing
from passnet_core.judge.candidacy import CandidateFault, Computing, Produced, Returned
from passnet_core.judge.comparing import Difference, References
from passnet_core.judge.controls import Controls
from passnet_core.judge.inputs import LARGE, LEAST_SCALE, Drawn, Role, draw
from passnet_core.judge.moving import Nearby, after
from passnet_core.records import Device, TensorSpec, Verdict

TRIED_PLACES = 16

SPARE_BYTES = 1 << 30
"""Memory of the device that may be kept for the next call: a candidate, another process, has the rest."""

T = TypeVar("T")


@dataclass(frozen=True)
class Plan:
    """What is compared. strict: with a float64 reference, controls and an eye on memory. ours: a candidate's returns,
    not Inductor's."""

    specs: tuple[TensorSpec, ...]
    roles: tuple[Role, ...]
    """Of each input."""
    seed: int
    strict: bool
    ours: bool


@dataclass(frozen=True)
class Judged:
    """How one call differs. differences: per output; what it did to its inputs and to earlier results counts with the
    first. layouts: per output how its strides differ, or empty. problem: the returns have not even the same form."""

    differences: tuple[tuple[Difference, ...], ...]
    layouts: tuple[str, ...] = ()
    problem: str = ""


class Bench(Protocol):
    """One verification's tensors. The witness has "eager" prepared, and "float64" and "baseline" where they are asked
    for."""

    def draw(self, drawing: str, shapes: Sequence[Sequence[int]]) -> None:
        """The inputs of a drawing, in these sizes. Raises BadInput for what cannot be drawn."""
        ...

    def exchange(self) -> None:
        """Two elements of each input that is drawn change places."""
        ...

    def refer(self, *, exact: bool) -> str:
        """Has eager compute on the inputs, and, if wanted, its float64 form; why that could not. Large inputs on which
        eager then overflows, and float64 does not, are drawn again, smaller. Raises CandidateEnd where eager could
        not."""
        ...

    def taken(self) -> list[Drawn]:
        """The inputs on the CPU, to be given to a candidate."""
        ...

    def control(self) -> str:
        """Tries the negative controls on the inputs; what no output has told from a computation yet, or empty."""
        ...

    def compile(self) -> None:
        """Calls the witness's "baseline" for the first time, on the inputs; what it returns is not looked at. Raises
        CandidateEnd where it could not compute."""
        ...

    def judge(self, actual: Returned | None, *, fresh: bool = True) -> Judged:
        """How these returns differ from eager's on the inputs. None: those of the witness's "baseline", which is called
        now, with its inputs at new addresses or not. Raises CandidateEnd where that could not compute."""
        ...


@dataclass
class BenchHere:
    """A Bench in this process, on this device. witness: where its tensors lie there too."""

    plan: Plan
    witness: Computing
    device: Device = Device.CPU
    drawing: str = ""
    sizes: list[tuple[int, ...]] = field(default_factory=list)
    scale: float = 1.0
    inputs: list[Drawn] = field(default_factory=list)
    exchanges: int = 0
    eager: Returned | None = None
    exact: Returned | None = None
    known: dict[int, list[Difference]] = field(default_factory=dict)
    moved: bool = False
    """Whether the witness has other inputs than these."""

    def __post_init__(self) -> None:
        self.controls = Controls([spec.name for spec in self.plan.specs], self.plan.seed)

    def draw(self, drawing: str, shapes: Sequence[Sequence[int]]) -> None:
        self.drawing, self.sizes, self.scale = drawing, [tuple(shape) for shape in shapes], 1.0
        self._draw()

    def _draw(self) -> None:
        self.inputs = []
        self.eager = self.exact = None
        if self.device is Device.CUDA:
            self.witness.give([])
        specs = self.plan.specs
        roles = {spec.name: role for spec, role in zip(specs, self.plan.roles)}
        self.inputs = draw(
            specs,
            self.drawing,
            self.plan.seed,
            roles=roles,
            shapes=self.sizes,
            scale=self.scale,
            device=self.device.value,
        )
        self.exchanges = 0

    def exchange(self) -> None:
        seed = self.plan.seed + self.exchanges * len(self.inputs)
        self.inputs = [
            value if spec.data is not None else exchanged(value, seed + index)
            for index, (value, spec) in enumerate(zip(self.inputs, self.plan.specs))
        ]
        self.exchanges += 1

    def refer(self, *, exact: bool) -> str:
        problem = self._refer(exact)
        # where eager overflows, rounding alone decides which elements are lost, and the others say little
        while self.drawing in LARGE and self.scale > LEAST_SCALE and self._overflowed():
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
        self.eager = self.witness.run("eager")
        problem = ""
        try:
            self.exact = self.witness.run("float64") if exact else None
        except CandidateFault as fault:
            problem = fault.text
        if self.device is Device.CUDA and torch.cuda.memory_reserved() - torch.cuda.memory_allocated() > SPARE_BYTES:
            torch.cuda.empty_cache()
        return problem

    def taken(self) -> list[Drawn]:
        return [each.cpu() if isinstance(each, torch.Tensor) else each for each in self.inputs]

    def control(self) -> str:
        eager, exact, inputs = self.eager, self.exact, self.inputs
        assert eager is not None
        nearby = self._nearby()
        self._spared(
            lambda: self.controls.see(inputs, eager, exact, nearby.output),
            lambda: self.controls.see(
                self.taken(),
                _on_cpu(eager),
                _on_cpu(exact) if exact else None,
                lambda index: _moved_on_cpu(nearby.output(index)),
            ),
        )
        self._restore()
        return self.controls.problem

    def compile(self) -> None:
        self.witness.run("baseline")

    def judge(self, actual: Returned | None, *, fresh: bool = True) -> Judged:
        eager, exact = self.eager, self.exact
        assert eager is not None
        if actual is None:
            actual = self.witness.run("baseline", fresh=fresh)
        problem = comparing.structure_problem(eager, actual) if self.plan.ours else ""
        if problem or len(eager.outputs) != len(actual.outputs):
            problem = problem or "it returns another number of values"
            unlike = ((comparing.unlike(Verdict.WRONG_TYPE, problem, each),) for each in eager.outputs)
            return Judged(tuple(unlike), problem=problem)
        nearby = self._nearby()
        memory = self.plan.strict and self.plan.ours
        found: list[list[Difference]] = []
        layouts: list[str] = []
        for index, (wanted, given) in enumerate(zip(eager.outputs, actual.outputs)):
            references = References(wanted, exact.outputs[index] if exact else None, nearby.output(index))
            known = self.known.setdefault(index, [])
            difference = self._compared(references, given, memory=memory, mapped=partial(comparing.worse, before=known))
            known.append(difference)
            found.append([difference])
            layouts.append(comparing.other_strides(wanted, given) if self.plan.ours else "")
        if memory and found:
            beside = self._side_effects(eager, exact, actual, nearby)
            self.known[0] += beside
            found[0] += beside
        self._restore()
        return Judged(tuple(map(tuple, found)), tuple(layouts))

    def _nearby(self) -> Nearby:
        def inputs() -> Sequence[Drawn]:
            self.moved = True
            return self.inputs

        return Nearby(self.witness, inputs, self.plan.seed)

    def _restore(self) -> None:
        """Gives the witness the inputs again, where it had moved ones since."""
        if self.moved:
            self.witness.give(self.inputs)
            self.moved = False

    def _compared(
        self,
        references: References,
        actual: Produced,
        *,
        memory: bool = False,
        mapped: Callable[[Difference], bool] = lambda found: True,
    ) -> Difference:
        def on_cpu() -> Difference:
            exact = _produced_on_cpu(references.exact) if references.exact is not None else None
            there = References(_produced_on_cpu(references.eager), exact, _moved_on_cpu(references.moved))
            return comparing.compare(there, _produced_on_cpu(actual), memory=memory, mapped=mapped)

        return self._spared(lambda: comparing.compare(references, actual, memory=memory, mapped=mapped), on_cpu)

    def _spared(self, there: Callable[[], T], on_cpu: Callable[[], T]) -> T:
        """What is found on the device, or on the CPU where the device has too little memory left for it."""
        try:
            return there()
        except torch.cuda.OutOfMemoryError:
            pass
        # not within the handler, whose traceback keeps what was computed alive
        torch.cuda.empty_cache()
        return on_cpu()

    def _side_effects(
        self, eager: Returned, exact: Returned | None, actual: Returned, nearby: Nearby
    ) -> list[Difference]:
        """What a call did to its inputs and to what was returned before, where eager does not do the same."""
        first = eager.outputs[0]
        found: list[Difference] = []
        for index in sorted({*eager.changed, *actual.changed}):
            if not 0 <= index < len(self.inputs) or not isinstance(self.inputs[index], torch.Tensor):
                continue
            wanted, given = (after(each, index, self.inputs) for each in (eager, actual))
            precise = after(exact, index, self.inputs) if exact else None
            own = self._compared(References(wanted, precise, nearby.input(index)), given)
            if own.verdict is None and (index in eager.changed or not own.max_error):
                continue
            subject = f"Input {self.plan.specs[index].name} after the call"
            problem = own.problem or f"it is off by up to {own.max_error:.3g}"
            if index not in eager.changed:
                problem = "it was changed, which eager does not do: " + problem.replace("eager's", "before")
            elif index not in actual.changed:
                problem = f"it was left as it was, and eager changes it: {problem}"
            whole = comparing.unlike(Verdict.WRONG_VALUES, f"{subject}: {problem}", first)
            found.append(replace(whole, wrong_fraction=own.wrong_fraction, subject=subject))
        for index in actual.overwrote:
            problem = "what an earlier call had returned was overwritten by this one"
            found.append(
                replace(comparing.unlike(Verdict.WRONG_VALUES, problem, first), subject=f"Output {index} of a call")
            )
        for index in actual.late:
            problem = (
                "it was not there yet when the stream of the call had done all its work:"
                " wait for other streams before returning"
            )
            found.append(replace(comparing.unlike(Verdict.WRONG_VALUES, problem, first), subject=f"Output {index}"))
        return found


def _on_cpu(returned: Returned) -> Returned:
    return replace(returned, outputs=tuple(map(_produced_on_cpu, returned.outputs)))


def _produced_on_cpu(produced: Produced) -> Produced:
    value = produced.value
    return replace(produced, value=value.cpu()) if isinstance(value, torch.Tensor) else produced


def _moved_on_cpu(moved: Callable[[], Iterable[Produced]]) -> Callable[[], Iterable[Produced]]:
    """As References asks for them: still computed only when asked for."""
    return lambda: map(_produced_on_cpu, moved())


def exchanged(value: Drawn, seed: int) -> Drawn:
    """Two elements, at random and unequal where some are, have changed places: sums and extremes stay."""
    if not isinstance(value, torch.Tensor) or value.numel() < 2:
        return value
    generator = torch.Generator().manual_seed(seed)
    flat = value.clone(memory_format=torch.contiguous_format).reshape(-1)
    places = torch.randint(0, flat.numel(), (TRIED_PLACES,), generator=generator)
    tried = flat[places.to(flat.device)]
    size = (torch.view_as_real(tried)[..., 0] if tried.is_complex() else tried).double()
    first, second = places[int(size.argmin())], places[int(size.argmax())]
    flat[first], flat[second] = flat[second].clone(), flat[first].clone()
    return flat.reshape(value.shape)
