"""One verification under way: the calls it makes, what the checks say of each, and what is known so far."""

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from passnet_core.judge.numerics.input_draws import PROFILES, roles
from passnet_core.judge.numerics.local_bench import LocalReferenceBench
from passnet_core.judge.protocol.messages import (
    CALLABLES,
    CallableName,
    CandidateFault,
    CandidateGone,
    Produced,
    Returned,
)
from passnet_core.judge.protocol.reference_bench import (
    PLAIN_ROLE,
    BenchPlan,
    Judged,
    Layout,
    OutputDifference,
    ReferenceBench,
)
from passnet_core.judge.stages.findings import Verification
from passnet_core.judge.stages.prepared_job import PreparedJob
from passnet_core.judge.stages.sizes import Pace, Shapes
from passnet_core.records import Capture, Device, Evidence, Profile, Verdict

T = TypeVar("T")


class EagerFailed(Exception):
    """Eager, not the candidate, could not compute."""


class Decided(Exception):
    """A check that leaves nothing to be compared, with the verdict."""

    def __init__(self, verification: Verification) -> None:
        super().__init__(verification.reason)
        self.verification = verification


@dataclass(frozen=True)
class Objection:
    """What a check says against a call. An output has the first one only, in the order of CHECKS; what has a subject of
    its own stands beside it, with output 0. hint: what to do about it, where that shows."""

    output: int
    difference: OutputDifference
    hint: str = ""


@dataclass(frozen=True)
class ComparedCall:
    """One call that was compared. inputs: on which. returned: None for Inductor's, which never leaves the witness."""

    inputs: str
    returned: Returned | None
    judged: Judged

    def valued(self, *verdicts: Verdict) -> Iterator[Objection]:
        """Objects to the outputs of whose values the comparison says one of these."""
        for output, found in enumerate(self.judged.values):
            if found.verdict in verdicts:
                yield Objection(output, found)

    def outputs(self) -> Iterator[tuple[int, Layout, Produced]]:
        """Where eager's outputs lie and the candidate's; none of Inductor's."""
        if self.returned is not None:
            pairs = zip(self.judged.layouts, self.returned.outputs, strict=True)
            yield from ((output, eager, actual) for output, (eager, actual) in enumerate(pairs))

    def against(self, output: int, verdict: Verdict, problem: str) -> Objection:
        """Objects to a whole output, which is then close at no t."""
        return Objection(output, self.judged.values[output].unlike(verdict, problem))

    def beside(self, subject: str, problem: str, *, wrong_fraction: float = 1.0) -> Iterator[Objection]:
        """Objects to what is no output, as wrong values; to nothing where there is no output to stand beside."""
        for first in self.judged.values[:1]:
            unlike = first.unlike(Verdict.WRONG_VALUES, problem)
            yield Objection(0, replace(unlike, subject=subject, wrong_fraction=wrong_fraction))


@dataclass(frozen=True)
class CheckedOutputs:
    """How one output of one call differs: its values, or what a check objected to it."""

    inputs: str
    difference: OutputDifference
    hint: str = ""


@dataclass(frozen=True)
class Doubt:
    """Why right values would say nothing."""

    reason: str
    evidence: Evidence


class VerifySession:
    """What checks ask and what they leave. strict: by the judge's own profile, not PassNet's."""

    def __init__(
        self, asked: PreparedJob, each_call: "Sequence[Check]", compiling: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self.asked, self.each_call, self.compiling = asked, each_call, compiling
        self.is_candidate = asked.is_candidate
        self.name = CALLABLES[asked.solver]
        self.specs = asked.job.subgraph.inputs
        self.roles = roles(asked.graph, self.specs)
        self.drawings = PROFILES[asked.job.spec.profile]
        self.strict = asked.job.spec.profile is Profile.STRICT
        self.fresh = placements(self.drawings, asked.seed)
        self.bench = self._bench()
        on_cpu = asked.job.spec.device is Device.CPU
        self.pace = Pace(self.specs, self.drawings, interpreted=on_cpu and self.is_candidate)
        self.drawing = ""
        self.settled = False
        """Whether the bench has inputs with their references, and the candidate the same inputs."""
        self.held: dict[int, list[CheckedOutputs]] = {}
        self.compared: list[str] = []
        self.warnings: list[str] = []
        self.remarks: dict[int, dict[str, Evidence]] = {}
        """Of outputs that are right: warnings, each with its evidence."""
        self.doubt: Doubt | None = None
        self.exact_problem = ""
        self.prepared_for: Shapes | None = None

    def _bench(self) -> ReferenceBench:
        plan = BenchPlan(
            specs=self.specs,
            roles=tuple(self.roles.get(spec.name, PLAIN_ROLE) for spec in self.specs),
            seed=self.asked.seed,
            strict=self.strict,
            is_candidate=self.is_candidate,
        )
        witness = self.asked.witness
        return LocalReferenceBench(plan, witness) if self.asked.job.spec.device is Device.CPU else witness.bench(plan)

    # --- what is computed ---

    def prepare_eager(self) -> None:
        """Raises EagerFailed."""
        witness, preparations = self.asked.witness, self.asked.preparations
        self._witnessed(lambda: witness.prepare(CallableName.EAGER, preparations[CallableName.EAGER]))
        if not self.strict:
            return
        try:
            witness.prepare(CallableName.FLOAT64, preparations[CallableName.FLOAT64])
        except CandidateFault as fault:
            self.exact_problem = fault.text

    def choose_sizes(self, extra_calls: int) -> None:
        """Has the interpreter run on small inputs, where the recorded sizes may take too long."""
        probe = self.pace.consider(self.asked.graph, self.roles)
        if probe is None:
            return
        candidate = self.asked.candidate
        self.asked.report("estimating how long the interpreter takes")
        self.bench.draw("typical", probe.shapes)
        try:
            self._witnessed(lambda: self.bench.refer(exact=False))
            candidate.give(self.bench.taken())
            self._run(probe.shapes, fresh=True)
            start = time.monotonic()
            candidate.run(self.name)
        except (EagerFailed, CandidateFault):
            # a pass for the recorded sizes alone may be right: let the recorded sizes speak
            return
        per_element_s = (time.monotonic() - start) / probe.elements
        self.pace.choose(per_element_s, len(self.drawings) + (extra_calls if self.strict else 0))

    def draw(self, drawing: str) -> bool:
        """Has new inputs drawn and given; whether eager can compute on them. Raises EagerFailed where it never can."""
        self.drawing, self.settled = drawing, False
        try:
            self.bench.draw(drawing, self.pace.shapes)
            self.refer()
        except EagerFailed as failure:
            if not self.compared and drawing == self.drawings[0]:
                raise
            self.warnings.append(f"Eager fails on {drawing} inputs, which were left out: {failure}")
        return self.settled

    def refer(self) -> None:
        """Has eager compute on the bench's inputs, and its float64 form, and gives them. Raises EagerFailed."""
        self.settled = False
        wanted = self.strict and not self.exact_problem
        problem = self._witnessed(lambda: self.bench.refer(exact=wanted))
        self.exact_problem = self.exact_problem or problem
        if self.asked.candidate is not self.asked.witness:
            self.asked.candidate.give(self.bench.taken())
        self.settled = True

    def call(self, inputs: str, *, fresh: bool) -> ComparedCall:
        """Calls what is judged, and walks the checks of each call. inputs: what people call them. Raises Decided."""
        shapes = self.pace.shapes
        if self.is_candidate:
            returned = self._run(shapes, fresh=fresh)
            call = ComparedCall(inputs, returned, self.bench.judge(returned))
        else:
            if not self._prepared(shapes):
                with self.compiling():
                    self._prepare(shapes)
                    self.bench.compile()
            call = ComparedCall(inputs, None, self.bench.judge(None, fresh=fresh))
        self._keep(call, [objection for check in self.each_call for objection in check(self, call)])
        return call

    def add(self, call: ComparedCall, objections: Iterable[Objection]) -> None:
        """Holds what was found after a call beside what its outputs are."""
        for each in objections:
            self.held.setdefault(each.output, []).append(CheckedOutputs(call.inputs, each.difference, each.hint))

    def _keep(self, call: ComparedCall, objections: Sequence[Objection]) -> None:
        for output, values in enumerate(call.judged.values):
            found = [each for each in objections if each.output == output]
            own = [each for each in found if not each.difference.subject] or [Objection(output, values)]
            beside = [each for each in found if each.difference.subject]
            kept = self.held.setdefault(output, [])
            kept += [CheckedOutputs(call.inputs, each.difference, each.hint) for each in (own[0], *beside)]

    def _prepared(self, shapes: Shapes) -> bool:
        """Whether it is ready for calls. Compiled callables hold for the shapes of their first call."""
        bound = not self.is_candidate or self.asked.preparations[self.name].capture is Capture.COMPILED
        return self.prepared_for is not None and not (bound and shapes != self.prepared_for)

    def _prepare(self, shapes: Shapes) -> None:
        self.asked.candidate.prepare(self.name, self.asked.preparations[self.name])
        self.prepared_for = shapes

    def _run(self, shapes: Shapes, *, fresh: bool) -> Returned:
        if self._prepared(shapes):
            return self.asked.candidate.run(self.name, fresh=fresh)
        with self.compiling():
            self._prepare(shapes)
            return self.asked.candidate.run(self.name, fresh=fresh)

    def _witnessed(self, ask: Callable[[], T]) -> T:
        try:
            return ask()
        except (CandidateFault, CandidateGone) as end:
            if isinstance(end, CandidateFault) or (end.status is not None and end.status not in (0, -9)):
                raise EagerFailed(end.text) from end
            raise


Check: TypeAlias = Callable[[VerifySession, ComparedCall], Iterable[Objection]]
"""Looks at a call, or makes more of them, and gives what it objects to. Raises Decided where nothing can be compared,
CandidateFault where nothing was called."""


def placements(drawings: Sequence[str], seed: int) -> dict[str, bool]:
    """Which drawings lie at new addresses: the first, and at random less than half of the others."""
    others = list(drawings[1:])
    new = set(random.Random(seed).sample(others, k=len(others) * 2 // 5))
    return {drawing: drawing not in others or drawing in new for drawing in drawings}
