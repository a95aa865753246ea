"""A verification in progress: its calls, what the checks object to in each, and what is known so far."""

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from passnet_core.judge.numerics import telling_draws
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
    TellingDraws,
)
from passnet_core.judge.stages.findings import Verification
from passnet_core.judge.stages.prepared_job import PreparedJob
from passnet_core.judge.stages.sizes import Pace, Shapes, small_shapes
from passnet_core.records import Capture, Device, Evidence, Profile, Verdict

T = TypeVar("T")


class EagerFailed(Exception):
    """Eager failed, not the candidate."""


class Decided(Exception):
    """Raised by a check that ends the verification. verification: its result."""

    def __init__(self, verification: Verification) -> None:
        super().__init__(verification.reason)
        self.verification = verification


@dataclass(frozen=True)
class Objection:
    """A check's objection to a call. Of the objections to one output, only the first in the order of CHECKS counts.

    An objection to anything else than an output names it in difference.subject; all of those count, under output 0.
    hint: a sentence that says how to mend it, or empty."""

    output: int
    difference: OutputDifference
    hint: str = ""


@dataclass(frozen=True)
class ComparedCall:
    """A call and its comparison with eager. inputs: the words for its inputs. returned: None for Inductor, whose
    outputs stay in the witness."""

    inputs: str
    returned: Returned | None
    judged: Judged

    def objections(self, *verdicts: Verdict) -> Iterator[Objection]:
        """Object to the outputs for which the comparison with eager gave one of these verdicts."""
        for output, found in enumerate(self.judged.values):
            if found.verdict in verdicts:
                yield Objection(output, found)

    def outputs(self) -> Iterator[tuple[int, Layout, Produced]]:
        """Each output with eager's memory layout and the candidate's; nothing for Inductor."""
        if self.returned is not None:
            pairs = zip(self.judged.layouts, self.returned.outputs, strict=True)
            yield from ((output, eager, actual) for output, (eager, actual) in enumerate(pairs))

    def objection(self, output: int, verdict: Verdict, problem: str) -> Objection:
        """Object to a whole output, which then is close at no tolerance."""
        return Objection(output, self.judged.values[output].unlike(verdict, problem))

    def objections_to(self, subject: str, problem: str, *, wrong_fraction: float = 1.0) -> Iterator[Objection]:
        """Object to anything else than an output, as wrong values; nothing if the call has no outputs."""
        for first in self.judged.values[:1]:
            unlike = first.unlike(Verdict.WRONG_VALUES, problem)
            yield Objection(0, replace(unlike, subject=subject, wrong_fraction=wrong_fraction))


@dataclass(frozen=True)
class CheckedOutput:
    """How one output of one call differs from eager's, or what a check objected to it."""

    inputs: str
    difference: OutputDifference
    hint: str = ""


@dataclass(frozen=True)
class Doubt:
    """Why this subgraph cannot tell right values from wrong ones, with its evidence."""

    reason: str
    evidence: Evidence


class VerifySession:
    """Makes the calls of one verification, runs the checks of each, and keeps what they find.

    compiling: entered for a first call, which compiles."""

    def __init__(
        self, asked: PreparedJob, each_call: "Sequence[Check]", compiling: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self.asked, self.each_call, self.compiling = asked, each_call, compiling
        self.is_candidate = asked.is_candidate
        self.name = CALLABLES[asked.solver]
        self.specs = asked.job.subgraph.inputs
        self.roles = roles(asked.graph, self.specs)
        self.input_draws = PROFILES[asked.job.spec.profile]
        self.strict = asked.job.spec.profile is Profile.STRICT
        self.fresh = placements(self.input_draws, asked.seed)
        self.plan = self._plan()
        self.bench = self._bench()
        on_cpu = asked.job.spec.device is Device.CPU
        self.pace = Pace(self.specs, self.input_draws, interpreted=on_cpu and self.is_candidate)
        self.input_draw = ""
        """The name of the input draw that is being compared."""
        self.settled = False
        """Whether the bench has references for its inputs, and the candidate has the same inputs."""
        self.differences: dict[int, list[CheckedOutput]] = {}
        self.compared: list[str] = []
        self.warnings: list[str] = []
        self.evidence: list[Evidence] = []
        self.remarks: dict[int, dict[str, Evidence]] = {}
        """For each output: warnings, each with its evidence."""
        self.doubt: Doubt | None = None
        self.exact_problem = ""
        self.prepared_for: Shapes | None = None

    def _plan(self) -> BenchPlan:
        return BenchPlan(
            specs=self.specs,
            roles=tuple(self.roles.get(spec.name, PLAIN_ROLE) for spec in self.specs),
            seed=self.asked.seed,
            strict=self.strict,
            is_candidate=self.is_candidate,
        )

    def _bench(self) -> ReferenceBench:
        plan, witness = self.plan, self.asked.witness
        return LocalReferenceBench(plan, witness) if self.asked.job.spec.device is Device.CPU else witness.bench(plan)

    # --- what is computed ---

    def prepare_eager(self) -> None:
        """Have the witness prepare eager and, under the strict profile, its float64 form. Raises EagerFailed."""
        witness, preparations = self.asked.witness, self.asked.preparations
        self._witnessed(lambda: witness.prepare(CallableName.EAGER, preparations[CallableName.EAGER]))
        if not self.strict:
            return
        try:
            witness.prepare(CallableName.FLOAT64, preparations[CallableName.FLOAT64])
        except CandidateFault as fault:
            self.exact_problem = fault.text

    def choose_draws(self) -> None:
        """Add the input draws that tell the subgraph from its mutants to those of the strict profile."""
        if not (self.strict and self.is_candidate):
            return
        self.asked.report("choosing inputs that tell right from wrong")
        shapes = small_shapes(self.asked.graph, self.specs, self.roles)
        source = self.asked.preparations[CallableName.EAGER].source
        digest = telling_draws.digest_of(
            source, [replace(spec, shape=shape) for spec, shape in zip(self.specs, shapes)]
        )

        def choose() -> TellingDraws:
            # in the witness also on the CPU: very many small calls, each of which would cross a process border
            return self._witnessed(lambda: self.asked.witness.bench(self.plan).telling(source, shapes))

        try:
            found = telling_draws.remembered(digest, choose)
        except EagerFailed:
            # the first input draw fails as well, and says so
            return
        self.input_draws = found.draws
        self.fresh = placements(self.input_draws, self.asked.seed)
        self.pace.input_draws = self.input_draws
        self.evidence += _untold(found)

    def choose_sizes(self, extra_calls: int) -> None:
        """Reduce the sizes if Triton's interpreter would take too long on the recorded ones, judged by one small call.

        extra_calls: how many calls the strict profile makes besides one per input draw."""
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
            # a pass made for the recorded sizes alone may be right: compare it at those
            return
        per_element_s = (time.monotonic() - start) / probe.elements
        self.pace.choose(per_element_s, len(self.input_draws) + (extra_calls if self.strict else 0))

    def draw(self, input_draw: str) -> bool:
        """Draw new inputs and give them to the candidate. Return whether eager can compute on them.

        Raises EagerFailed if eager fails on the first input draw."""
        self.input_draw, self.settled = input_draw, False
        try:
            self.bench.draw(input_draw, self.pace.shapes)
            self.refer()
        except EagerFailed as failure:
            if not self.compared and input_draw == self.input_draws[0]:
                raise
            self.warnings.append(f"Eager fails on {input_draw} inputs, so they were left out: {failure}")
        return self.settled

    def refer(self) -> None:
        """Compute the references on the bench's inputs, and give these inputs to the candidate. Raises EagerFailed."""
        self.settled = False
        wanted = self.strict and not self.exact_problem
        problem = self._witnessed(lambda: self.bench.refer(exact=wanted))
        self.exact_problem = self.exact_problem or problem
        if self.asked.candidate is not self.asked.witness:
            self.asked.candidate.give(self.bench.taken())
        self.settled = True

    def call(self, inputs: str, *, fresh: bool) -> ComparedCall:
        """Call the callable that is judged, compare the outputs, and run the checks of each call.

        inputs: the words for the inputs, for reasons. fresh: put them at new addresses. Raises Decided."""
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
        """Keep objections that were made after a call, in addition to those made to it."""
        for each in objections:
            self.differences.setdefault(each.output, []).append(CheckedOutput(call.inputs, each.difference, each.hint))

    def _keep(self, call: ComparedCall, objections: Sequence[Objection]) -> None:
        """Keep for each output the first objection, or else its comparison; keep all objections to other things."""
        for output, values in enumerate(call.judged.values):
            found = [each for each in objections if each.output == output]
            own = [each for each in found if not each.difference.subject] or [Objection(output, values)]
            beside = [each for each in found if each.difference.subject]
            kept = self.differences.setdefault(output, [])
            kept += [CheckedOutput(call.inputs, each.difference, each.hint) for each in (own[0], *beside)]

    def _prepared(self, shapes: Shapes) -> bool:
        """Whether the callable is ready for these shapes. A compiled one serves only the shapes of its first call."""
        bound = not self.is_candidate or self.asked.preparations[self.name].capture is Capture.COMPILED
        return self.prepared_for is not None and not (bound and shapes != self.prepared_for)

    def _prepare(self, shapes: Shapes) -> None:
        self.asked.candidate.prepare(self.name, self.asked.preparations[self.name])
        self.prepared_for = shapes

    def _run(self, shapes: Shapes, *, fresh: bool) -> Returned:
        """Run the candidate's callable, and prepare it first if it is not ready for these shapes."""
        if self._prepared(shapes):
            return self.asked.candidate.run(self.name, fresh=fresh)
        with self.compiling():
            self._prepare(shapes)
            return self.asked.candidate.run(self.name, fresh=fresh)

    def _witnessed(self, ask: Callable[[], T]) -> T:
        """Ask the witness. Its faults and crashes become EagerFailed; a kill (-9) and an orderly end do not."""
        try:
            return ask()
        except (CandidateFault, CandidateGone) as end:
            if isinstance(end, CandidateFault) or (end.status is not None and end.status not in (0, -9)):
                raise EagerFailed(end.text) from end
            raise


def _untold(found: TellingDraws) -> Iterator[Evidence]:
    """Name the slips that the inputs cannot tell from the subgraph, if there are any."""
    names = [f"{name} (within the bound)" for name in found.untold] + [
        f"{name} (no difference)" for name in found.alike
    ]
    if names:
        counts = {"slips told apart": found.told, "slips not told apart": len(names), "slips not tried": found.untried}
        figures = tuple((name, float(count)) for name, count in counts.items())
        yield Evidence("what inputs cannot tell", "; ".join(names), figures)


Check: TypeAlias = Callable[[VerifySession, ComparedCall], Iterable[Objection]]
"""Looks at a call, or makes more calls, and returns its objections. Raises Decided if the outputs cannot be compared,
and CandidateFault if no pass was called."""


def placements(input_draws: Sequence[str], seed: int) -> dict[str, bool]:
    """Choose which input draws lie at new addresses: the first, and at random two fifths of the others."""
    others = list(input_draws[1:])
    new = set(random.Random(seed).sample(others, k=len(others) * 2 // 5))
    return {each: each not in others or each in new for each in input_draws}
