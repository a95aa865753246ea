"""One job, from its rules to its outcome. Loads no torch before the job's fork servers are on their way."""

import contextlib
import functools
import secrets
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from passnet_core.errors import InfrastructureError, PlaygroundError
from passnet_core.graphs.ir import Graph
from passnet_core.judge.protocol.messages import CandidateEnd, CandidateFault
from passnet_core.judge.stages import census, check, verdict
from passnet_core.judge.stages.findings import Facts
from passnet_core.judge.stages.job_workers import Emit, JobWorkers
from passnet_core.judge.supervisor.device_lock import DeviceLock
from passnet_core.records import WRONG, Bundle, Capture, Device, Evidence, Job, Outcome, Phase, Profile, Stage, Verdict

if TYPE_CHECKING:
    from passnet_core.judge.stages.prepared_job import PreparedJob
    from passnet_core.judge.supervisor.worker_process import WorkerProcess


REMEMBERED = "judge.sqlite"
"""The file, in the judge's folder, of what the judge remembers beyond a referee."""


SHOWN = WRONG | {Verdict.CHEAT, Verdict.LIBRARY}
"""What counts of a candidate that is right on a GPU, if Triton's interpreter shows it."""

SEEN = "Right on this GPU, but not in Triton's interpreter, which watches memory:"

CERTAIN = WRONG | {Verdict.COMPILE_FAILED}
"""What the kernels themselves show, whatever the values."""


class JobPipeline:
    """Runs a job through its stages. Each stage leaves what it found in facts, of which the verdict is made."""

    def __init__(self, job: Job, workers: JobWorkers, emit: Emit) -> None:
        self.job, self.workers, self.emit = job, workers, emit
        self.facts = Facts()
        self.bundle = job.bundle
        """The bundle; once the rules are applied, without what they leave out."""
        self.loaded: check.LoadedPasses | None = None
        """None until the bundle is loaded, and if it has more replacement functions than allowed."""

    def outcome(self) -> Outcome:
        """Judge the job. Whatever happens, it gets this one outcome."""
        start = time.monotonic()
        try:
            with contextlib.ExitStack() as running:
                self._judge(running)
        except CandidateEnd as end:
            self.facts = replace(self.facts, end=end)
        except PlaygroundError as error:
            self.facts = replace(self.facts, problem=str(error))
        except Exception as error:  # a bug of the judge: the outcome carries its traceback
            self.facts = self._own_failure(error)
        wall_s = round(time.monotonic() - start, 4)
        try:
            return self._decided(wall_s)
        except Exception as error:  # a bug of the judge: the outcome carries its traceback
            self.facts = self._own_failure(error)
            return self._decided(wall_s)

    def matches_in(self, codes: Sequence[str]) -> list[int | None]:
        """Count the matches of the loaded passes in each of these sources; empty if no passes were loaded."""
        return [check.matches_in(code, self.loaded.passes) for code in codes] if self.loaded else []

    def _own_failure(self, error: Exception) -> Facts:
        """All that is needed to mend a bug of the judge, in place of what the stages found."""
        trace = Evidence("the judge's own failure", traceback.format_exc()[-8000:])
        problem = f"The judge itself failed in phase {self.facts.during or 'start'}: {error!r}"
        return Facts(problem=problem, during=self.facts.during, evidence=(trace,))

    def _decided(self, wall_s: float) -> Outcome:
        return verdict.outcome(
            self.job,
            self.facts,
            environment=self.workers.environment,
            wall_s=wall_s,
            finished_at=datetime.now(UTC).isoformat(timespec="seconds"),
            log_tail=self.workers.logs.get("candidate", ""),
        )

    def _judge(self, running: contextlib.ExitStack) -> None:
        """Run the stages, one after the other, as far as the job asks and its passes get."""
        bundle, stage = self.job.bundle, self.job.spec.stage
        if bundle is None and stage is Stage.CHECK:
            raise InfrastructureError("Inductor has no passes to check. Ask for the stage verify or measure.")
        self.workers.find_device()
        graph = check.parsed(self.job.subgraph)
        if bundle is None:
            witness = self.workers.start(running, "witness")
            self._compute(graph, graph, witness, witness, running)
            return
        self._enter(Phase.RULES, "Reading the passes.")
        admission = check.admitted(bundle, self.job.spec)
        self.bundle = admission.bundle
        self.facts = replace(self.facts, findings=admission.findings, warnings=admission.left_out)
        if any(finding.fatal for finding in self.facts.findings):
            return
        if stage is Stage.CHECK:
            self._matched(admission.bundle, self.workers.start(running, "candidate", admission.bundle), graph)
            return
        on_card = self.workers.device is Device.CUDA and self.job.spec.profile is Profile.STRICT
        early = self.workers.start(running, "witness") if on_card else None
        device, compiling = (Device.CPU, False) if on_card else (None, None)
        candidate = self.workers.start(running, "candidate", admission.bundle, device=device, compiling=compiling)
        rewritten = self._matched(admission.bundle, candidate, graph, early.card() if early is not None else None)
        if rewritten is not None:
            self._compute(graph, rewritten, candidate, early or self.workers.start(running, "witness"), running)

    def _matched(
        self, bundle: Bundle, candidate: "WorkerProcess", graph: Graph, card: Mapping[str, Any] | None = None
    ) -> Graph | None:
        """Load the passes and replace their matches in the graph. None: there is nothing to compute. card: of which a
        planner is told."""
        self._enter(Phase.LOAD, "Loading the passes and tracing their patterns.")
        loaded = check.load(bundle, candidate, self.job.spec, card)
        self.facts = replace(self.facts, warnings=(*self.facts.warnings, *loaded.warnings))
        if loaded.finding is not None:
            self.facts = replace(self.facts, findings=(*self.facts.findings, loaded.finding))
            return None
        self.loaded = loaded
        self._enter(Phase.MATCH, "Matching the patterns against the graph.")
        found = check.match(bundle, loaded.passes, graph)
        during = Phase.REWRITE if found.problem else Phase.MATCH
        self.facts = replace(self.facts, during=during, match=found.report, rewrite_problem=found.problem)
        return found.graph

    def _compute(
        self,
        graph: Graph,
        rewritten: Graph,
        candidate: "WorkerProcess",
        witness: "WorkerProcess",
        running: contextlib.ExitStack,
    ) -> None:
        """Compare values with eager, list the kernels that were launched, and take times."""
        from passnet_core.judge.stages import measure
        from passnet_core.judge.stages.prepared_job import PASSNET_SEED

        self._enter(Phase.VERIFY, "Comparing values with eager.")
        spec, device = self.job.spec, self.workers.device
        # drawn only now that the passes are loaded: they cannot have prepared for it
        seed = spec.seed
        if seed is None:
            seed = PASSNET_SEED if spec.profile is Profile.PASSNET else secrets.randbelow(1 << 31)
        start = functools.partial(self.workers.start, running)
        asked = self._asked(self.job, graph, rewritten, candidate, witness, seed, start)
        lock = self.workers.lock(self._report)
        with lock.shared():
            if not self._is_right(asked, graph, rewritten, compiling=lock.paused):
                return
        if asked.planned is not None and device is Device.CUDA and not self._is_right_watched(graph, rewritten, asked):
            return
        if spec.stage is not Stage.MEASURE:
            return
        self._enter(Phase.MEASURE, "Measuring time.")
        measured = measure.measure(asked, functools.partial(self._alone, lock))
        asked.timed.settle()
        self.facts = replace(self.facts, measurement=measured)

    def _asked(
        self,
        job: Job,
        graph: Graph,
        rewritten: Graph,
        candidate: "WorkerProcess",
        witness: "WorkerProcess",
        seed: int,
        start: "Callable[..., WorkerProcess]",
    ) -> "PreparedJob":
        """The job with its callables. start: starts the worker of a role, on the job's device."""
        from passnet_core.judge.stages import verify
        from passnet_core.judge.stages.planned_candidate import PlannedCandidate
        from passnet_core.judge.stages.prepared_job import PreparedJob, preparations
        from passnet_core.judge.stages.remembered import Remembered

        device = self.workers.device if job is self.job else job.spec.device
        prepares = self.loaded is not None and self.loaded.prepares
        prepared = preparations(job, graph, rewritten, device, prepares=prepares)
        planned: PlannedCandidate | None = None
        if self.loaded is not None and self.bundle is not None and job.spec.profile is Profile.STRICT:
            inputs, on_card = [each.name for each in job.subgraph.inputs], device is Device.CUDA
            planned = PlannedCandidate(self.bundle, self.loaded.loaded, inputs, candidate, start, on_card=on_card)
        known = Remembered(self.workers.home / REMEMBERED)
        asked = PreparedJob(job, graph, prepared, candidate, witness, seed, self._report, planned, known)
        if asked.interpreted is not None and not verify.subgraph_problem(job.subgraph, graph):
            asked = self._rescaled(asked)
        return asked

    def _is_right(
        self,
        asked: "PreparedJob",
        graph: Graph,
        rewritten: Graph,
        compiling: "Callable[[], AbstractContextManager[None]]" = contextlib.nullcontext,
    ) -> bool:
        """Compare values with eager and list the kernels, and note what was found. compiling: as verify has it."""
        from passnet_core.judge.stages import verify

        verified = verify.verify(asked, compiling=compiling)
        asked.candidate.settle()
        self.facts = replace(self.facts, verification=verified)
        if verified.verdict is not Verdict.VALUES_ONLY:
            if verified.executed is not None and verified.executed.verdict in CERTAIN:
                # a race is wrong also where the values cannot tell right from wrong
                self.facts = replace(self.facts, census=verified.executed)
            return False
        if self.bundle is not None and self.loaded is not None and asked.planned is not None:
            self._enter(Phase.CENSUS, "Listing the kernels launched.")
            names = self.loaded.replacement_names
            calls = [each.launches for each in verified.watched]
            counted = census.judged(self.bundle, calls, graph, rewritten, names)
            counted = census.combined(counted, verified.executed)
            self.facts = replace(self.facts, census=counted)
            return counted.verdict is Verdict.VALUES_ONLY
        return True

    def _is_right_watched(self, graph: Graph, rewritten: Graph, asked: "PreparedJob") -> bool:
        """Execute plans for another card in Triton's interpreter as well, which sees what a GPU hides: two programs
        that store to one element, a lane that a mask leaves out and that counts all the same. Note what is wrong with
        them. What the interpreter does not run, it says nothing of."""
        self._enter(Phase.VERIFY, "Watching what the kernels do to memory.")
        on_gpu = self.facts
        spec = replace(self.job.spec, device=Device.CPU, stage=Stage.VERIFY, capture=Capture.DIRECT)
        job = replace(self.job, spec=spec)
        told = ""
        try:
            with contextlib.ExitStack() as running:
                start = functools.partial(self.workers.start, running, device=Device.CPU, compiling=False)
                assert self.bundle is not None
                planner = start("candidate", self.bundle)
                # it is told of another card: what is right on one alone is wrong there
                planner.load(self.bundle)
                watched = self._asked(job, graph, rewritten, planner, start("witness"), asked.seed, start)
                self._is_right(replace(watched, beside_gpu=True), graph, rewritten)
        except CandidateEnd as end:
            if isinstance(end, CandidateFault) and end.kind == "outside":
                raise
            told = f"What the kernels do to memory was not watched: {end}"
        found = self.facts
        if not told and any(part is not None and part.verdict in SHOWN for part in (found.verification, found.census)):
            verification, counted = found.verification, found.census
            self.facts = replace(
                found,
                verification=verification and replace(verification, reason=f"{SEEN} {verification.reason}"),
                census=counted and replace(counted, reason=f"{SEEN} {counted.reason}"),
            )
            return False
        self.facts = replace(on_gpu, warnings=(*on_gpu.warnings, told) if told else on_gpu.warnings)
        return True

    def _rescaled(self, asked: "PreparedJob") -> "PreparedJob":
        """The job for Triton's interpreter: if numbers of the source keep its sizes from shrinking, they shrink too,
        where its passes leave them open."""
        from passnet_core.judge.numerics.input_roles import roles
        from passnet_core.judge.stages.written_sizes import rescaled

        loaded, report, specs = self.loaded, self.facts.match, self.job.subgraph.inputs
        assert loaded is not None
        assert report is not None

        def matched(graph: Graph) -> Graph | None:
            return check.matched_alike(graph, loaded.passes, report)

        found = rescaled(asked.graph, specs, roles(asked.graph, specs), matched)
        return asked if found is None else asked.at(found, prepares=loaded.prepares)

    @contextlib.contextmanager
    def _alone(self, lock: DeviceLock) -> Iterator[None]:
        """Hold the device alone, with nothing of this judge computing beside the job."""
        with lock.alone(), self.workers.pool.spares_at_rest():
            yield

    def _enter(self, phase: Phase, text: str) -> None:
        self.facts = replace(self.facts, during=phase)
        self.emit(phase, text)

    def _report(self, text: str) -> None:
        self.emit(self.facts.during or Phase.START, text)
