"""A verification in progress: its calls, what the checks object to in each, and what is known so far."""

import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from passnet_core.judge.numerics import comparing, telling_draws
from passnet_core.judge.numerics.draws.drawing import dtype_of
from passnet_core.judge.numerics.input_draws import PROFILES
from passnet_core.judge.numerics.input_roles import roles
from passnet_core.judge.numerics.local_bench import LocalReferenceBench
from passnet_core.judge.protocol.messages import (
    CALLABLES,
    CallableName,
    CandidateFault,
    CandidateGone,
    Executed,
    Produced,
    Returned,
    Watched,
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
from passnet_core.judge.stages.findings import Decided, Verification
from passnet_core.judge.stages.planned_candidate import PlannedCandidate
from passnet_core.judge.stages.prepared_job import PreparedJob
from passnet_core.judge.stages.sizes import Pace, Shapes, small_shapes
from passnet_core.judge.supervisor.machine import judge_digest
from passnet_core.judge.supervisor.worker_process import WorkerProcess
from passnet_core.records import Accuracy, Capture, Device, Evidence, Profile, Verdict

T = TypeVar("T")

NOISY_DRAWS = 2
WATCHED_DRAWS = 3
"""On how many of the input draws the interpreter watches what kernels do to memory, where a GPU has compared values."""
WATCHED_S = 10.0
"""How many seconds of work a call may be then."""
DRAWN_AGAIN = ("typical 2",)
"""Draws that are made once more, with other numbers: errors that have a direction show in many elements."""

MOST_CHOSEN_BY = 1 << 25
"""With how many input elements subgraphs are altered to choose input draws, where they share the memory of a host."""


class EagerFailed(Exception):
    """Eager failed, not the candidate."""


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

    def objections_to(self, subject: str, problem: str) -> Iterator[Objection]:
        """Object to anything else than an output, as wrong values; nothing if the call has no outputs."""
        for first in self.judged.values[:1]:
            unlike = first.unlike(Verdict.WRONG_VALUES, problem)
            yield Objection(0, replace(unlike, subject=subject))


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


@dataclass(frozen=True)
class WatchedCall:
    """What the replacement functions did in a call. input_draw: on which it was made. shapes: of its inputs."""

    input_draw: str
    shapes: Shapes
    watched: Watched


@dataclass(frozen=True)
class ExecutedCall:
    """A call in which plans were executed, and what its replacement functions would have done."""

    watched: WatchedCall
    executed: Executed


UNDEFINED = (
    "the result depends on the order in which programs run, or on the values of lanes that a load masks out,"
    " and neither is defined on a GPU"
)


class VerifySession:
    """Makes the calls of one verification, runs the checks of each, and keeps what they find.

    compiling: entered for a first call, which compiles. before: what was compared of the same job when numbers of its
    source had shrunk; nothing is, here."""

    def __init__(
        self,
        asked: PreparedJob,
        each_call: "Sequence[Check]",
        compiling: Callable[[], AbstractContextManager[None]],
        *,
        before: "VerifySession | None" = None,
    ) -> None:
        self.asked, self.each_call, self.compiling, self.before = asked, each_call, compiling, before
        self.is_candidate = asked.is_candidate
        self.name = CALLABLES[asked.solver]
        self.specs = asked.job.subgraph.inputs
        self.roles = roles(asked.graph, self.specs)
        self.input_draws = PROFILES[asked.job.spec.profile]
        self.strict = asked.job.spec.profile is Profile.STRICT
        self.input_draw = self.input_draws[0]
        """The one that is being compared."""
        self.share = 1 / len(self.input_draws)
        """How much of all work in the interpreter a call may be."""
        self.plan = BenchPlan(
            specs=self.specs,
            roles=tuple(self.roles.get(spec.name, PLAIN_ROLE) for spec in self.specs),
            seed=asked.seed,
            strict=self.strict,
            is_candidate=self.is_candidate,
        )
        on_cpu, witness = asked.job.spec.device is Device.CPU, asked.witness
        self.bench: ReferenceBench = LocalReferenceBench(self.plan, witness) if on_cpu else witness.bench(self.plan)
        interpreted = on_cpu and self.is_candidate
        self.pace = Pace(self.specs, interpreted=interpreted, rescaled=asked.rescaled, uncompared=before is not None)
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
        self.chance = random.Random(asked.seed)
        self.noisy_draws = self._some_draws()
        """Those in whose calls lanes that a mask leaves out hold anything, in the interpreter."""
        self.watched: list[WatchedCall] = before.watched if before is not None else []
        """The candidate's calls, with what its replacement functions did in each."""
        self.planned_calls: list[ExecutedCall] = []
        """Those in which plans were executed."""

    def at_recorded_sizes(self) -> "VerifySession":
        """A session in which the subgraph is as it was recorded: this one, unless numbers of its source shrank."""
        whole = self.asked.whole
        return self if whole is None else VerifySession(whole, self.each_call, self.compiling, before=self)

    # --- what is computed ---

    def prepare_eager(self) -> None:
        """Have the witness prepare eager and, under the strict profile, its other forms. Raises EagerFailed."""
        witness, preparations = self.asked.witness, self.asked.preparations
        self.witnessed(lambda: witness.prepare(CallableName.EAGER, preparations[CallableName.EAGER]))
        if not self.strict:
            return
        try:
            witness.prepare(CallableName.MOVED, preparations[CallableName.MOVED])
            witness.prepare(CallableName.FLOAT64, preparations[CallableName.FLOAT64])
        except CandidateFault as fault:
            self.exact_problem = fault.text

    def choose_draws(self) -> None:
        """Add the input draws that tell the subgraph from its mutants to those of the strict profile."""
        if not (self.strict and self.is_candidate):
            return
        self.asked.report("choosing inputs that tell right from wrong")
        shapes = small_shapes(self.asked.graph, self.specs, self.roles)
        elements = sum(map(math.prod, shapes))
        if self.asked.job.spec.device is Device.CPU and elements > MOST_CHOSEN_BY:
            self.warnings.append(f"No inputs were chosen by altered subgraphs: they would have {elements:,} elements.")
            return
        source = self.asked.preparations[CallableName.EAGER].source
        digest = telling_draws.digest_of(
            source, [replace(spec, shape=shape) for spec, shape in zip(self.specs, shapes)], judge_digest()
        )

        def choose() -> TellingDraws:
            # in the witness also on the CPU: very many small calls, each of which would cross a process border
            return self.witnessed(lambda: self.asked.witness.bench(self.plan).telling(source, shapes))

        try:
            found = telling_draws.remembered(digest, choose, self.asked.remembered)
        except EagerFailed:
            # the first input draw fails as well, and says so
            return
        self.input_draws = (*found.draws, *(each for each in DRAWN_AGAIN if each not in found.draws))
        self.share = 1 / len(self.input_draws)
        self.noisy_draws = self._some_draws()
        self.evidence += _untold(found)

    def choose_watched(self) -> None:
        """Leave only some of the input draws, where a GPU has compared values on all of them."""
        if self.asked.beside_gpu:
            kept = self.chance.sample(self.input_draws, k=min(WATCHED_DRAWS, len(self.input_draws)))
            self.input_draws = tuple(each for each in self.input_draws if each in kept)
            self.noisy_draws = self._some_draws()

    def _some_draws(self) -> frozenset[str]:
        return frozenset(self.chance.sample(self.input_draws, k=min(NOISY_DRAWS, len(self.input_draws))))

    def choose_sizes(self) -> None:
        """Reduce the sizes if the recorded ones are too much work for Triton's interpreter, judged by what the kernels
        of one small call do. A bundle that fails at small sizes is compared at the recorded
        ones: it may be made for these alone."""
        probe = self.pace.consider(self.asked.graph, self.roles) if self.asked.interpreted else None
        if probe is None:
            return
        self.asked.report("estimating the work for Triton's interpreter")
        self.bench.draw("typical", probe.shapes)
        try:
            self.witnessed(lambda: self.bench.refer(exact=False))
            self.candidate.give(self.bench.taken())
            work_s = self.execute(probe.shapes, self.asked.seed).returned.work_s
        except (EagerFailed, CandidateFault):
            return
        if work_s is not None:
            self.pace.choose(work_s / probe.elements, self.share)

    def input_bytes(self, shapes: Shapes) -> int:
        """How many bytes the inputs of a call in these shapes have."""
        return sum(math.prod(shape) * dtype_of(spec).itemsize for spec, shape in zip(self.specs, shapes))

    def draw(self, input_draw: str) -> bool:
        """Draw new inputs and give them to the candidate. Return whether eager can compute on them.

        Raises EagerFailed if eager fails on the recorded inputs."""
        self.input_draw, self.settled = input_draw, False
        try:
            self.bench.draw(self.input_draw, self.pace.shapes)
            self.refer()
        except EagerFailed as failure:
            if self.input_draw == self.input_draws[0]:
                raise
            self.warnings.append(f"Eager fails on {self.input_draw} inputs, so they were left out: {failure}")
        return self.settled

    def refer(self) -> None:
        """Compute the references on the bench's inputs, and give these inputs to the candidate. Raises EagerFailed."""
        self.settled = False
        wanted = self.strict and not self.exact_problem
        problem = self.witnessed(lambda: self.bench.refer(exact=wanted))
        self.exact_problem = self.exact_problem or problem
        if self.candidate is not self.asked.witness:
            self.candidate.give(self.bench.taken())
        self.settled = True

    def call(self) -> ComparedCall:
        """Call the callable that is judged, compare the outputs, and run the checks of each call. Raises Decided."""
        shapes = self.pace.shapes
        if self.is_candidate:
            if self.asked.planned is not None:
                call = self._by_plans()
            else:
                returned = self._in_form(lambda: self._run(shapes))
                self.pace.note(returned.work_s)
                call = ComparedCall(self.input_draw, returned, self.bench.judge(returned))
        else:
            if not self._prepared(shapes):
                with self.compiling():
                    self._prepare(shapes)
                    self.bench.compile()
            call = ComparedCall(self.input_draw, None, self.bench.judge(None))
        self._keep(call, [objection for check in self.each_call for objection in check(self, call)])
        return call

    def _by_plans(self) -> ComparedCall:
        """Execute the plans on the inputs, and compare the outputs."""
        planned, shapes = self.asked.planned, self.pace.shapes
        assert planned is not None
        seed, noisy = self.chance.getrandbits(32), self.input_draw in self.noisy_draws
        most_s = WATCHED_S if self.asked.beside_gpu else None
        executed = self._in_form(lambda: self.execute(shapes, seed, noisy=noisy, most_s=most_s))
        judged = self.bench.judge(executed.returned)
        if judged.wrong and not judged.problem and self.asked.interpreted:
            # right in the interpreter's own order, and with its own values in lanes that a mask leaves out?
            plain = self.execute(shapes, None)
            plainly = self.bench.judge(plain.returned)
            if not plainly.wrong:
                executed, judged = replace(plain, problems=executed.problems or (UNDEFINED, *plain.problems)), plainly
        self.pace.note(executed.returned.work_s)
        watched = WatchedCall(self.input_draw, shapes, planned.watched(executed))
        self.watched.append(watched)
        self.planned_calls.append(ExecutedCall(watched, executed))
        return ComparedCall(self.input_draw, executed.returned, judged)

    def execute(
        self,
        shapes: Shapes,
        seed: int | None,
        *,
        noisy: bool = False,
        sampled: bool = False,
        most_s: float | None = None,
    ) -> Executed:
        """Execute the candidate's plans, and prepare the callable first if it is not ready for these shapes. The
        arguments are those of WorkerProcess.execute."""
        planned = self.asked.planned
        assert planned is not None
        with nullcontext() if self._prepared(shapes) else self._preparing(shapes):
            return planned.execute(self.name, seed, noisy=noisy, sampled=sampled, most_s=most_s)

    @property
    def candidate(self) -> "PlannedCandidate | WorkerProcess":
        """What is given inputs."""
        return self.asked.planned or self.asked.candidate

    def _in_form(self, run: Callable[[], T]) -> T:
        """Run the candidate. If a replacement function returned anything but plain tensors, raises Decided."""
        try:
            return run()
        except CandidateFault as fault:
            if fault.kind != "form":
                raise
            judged = self.bench.judge(Returned((Produced("no plain tensor"),), "", 0.0))
            outputs = (comparing.gather([(self.input_draw, each)], index) for index, each in enumerate(judged.values))
            accuracy = Accuracy(tuple(outputs), (self.input_draw,))
            raise Decided(Verification(Verdict.WRONG_TYPE, fault.text, accuracy)) from fault

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
        self.candidate.prepare(self.name, self.asked.preparations[self.name])
        self.prepared_for = shapes

    def _run(self, shapes: Shapes) -> Returned:
        """Run the candidate's callable, and prepare it first if it is not ready for these shapes. By PassNet's rules,
        the tensors that its replacement functions are given refuse operations in each of these calls."""
        with nullcontext() if self._prepared(shapes) else self._preparing(shapes):
            return self.asked.candidate.run(self.name)

    @contextmanager
    def _preparing(self, shapes: Shapes) -> Iterator[None]:
        """Prepare the callable for these shapes. Its first call, which compiles, is made in this context."""
        with self.compiling():
            self._prepare(shapes)
            yield

    def witnessed(self, ask: Callable[[], T]) -> T:
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
