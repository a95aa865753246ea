"""One job, from its rules to its outcome. Loads no torch before the job's fork servers are on their way."""

import contextlib
import functools
import secrets
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from passnet_core.errors import InfrastructureError, PlaygroundError
from passnet_core.graphs.ir import Graph
from passnet_core.judge.protocol.messages import CandidateEnd
from passnet_core.judge.stages import census, check, verdict
from passnet_core.judge.stages.findings import Facts
from passnet_core.judge.stages.job_workers import Emit, JobWorkers
from passnet_core.judge.supervisor.device_lock import DeviceLock
from passnet_core.records import WRONG, Bundle, Device, Evidence, Job, Outcome, Phase, Profile, Stage, Verdict

if TYPE_CHECKING:
    from passnet_core.judge.stages.prepared_job import PreparedJob
    from passnet_core.judge.supervisor.worker_process import WorkerProcess


REMEMBERED = "judge.sqlite"
"""The file, in the judge's folder, of what the judge remembers beyond a referee."""


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
        candidate = self.workers.start(running, "candidate", admission.bundle)
        rewritten = self._matched(admission.bundle, candidate, graph)
        if rewritten is not None and stage is not Stage.CHECK:
            self._compute(graph, rewritten, candidate, self.workers.start(running, "witness"), running)

    def _matched(self, bundle: Bundle, candidate: "WorkerProcess", graph: Graph) -> Graph | None:
        """Load the passes and replace their matches in the graph. None: there is nothing to compute."""
        self._enter(Phase.LOAD, "Loading the passes and tracing their patterns.")
        loaded = check.load(bundle, candidate, self.job.spec)
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
        from passnet_core.judge.stages import measure, verify
        from passnet_core.judge.stages.planned_candidate import PlannedCandidate
        from passnet_core.judge.stages.prepared_job import PASSNET_SEED, PreparedJob, preparations
        from passnet_core.judge.stages.remembered import Remembered

        self._enter(Phase.VERIFY, "Comparing values with eager.")
        bundle, spec, device = self.bundle, self.job.spec, self.workers.device
        prepares = self.loaded is not None and self.loaded.prepares
        prepared = preparations(self.job, graph, rewritten, device, prepares=prepares)
        # drawn only now that the passes are loaded: they cannot have prepared for it
        seed = spec.seed
        if seed is None:
            seed = PASSNET_SEED if spec.profile is Profile.PASSNET else secrets.randbelow(1 << 31)
        planned: PlannedCandidate | None = None
        if self.loaded is not None and device is Device.CPU and spec.profile is Profile.STRICT:
            assert bundle is not None
            assert self.loaded is not None
            inputs = [each.name for each in self.job.subgraph.inputs]
            start = functools.partial(self.workers.start, running)
            planned = PlannedCandidate(bundle, self.loaded.loaded, inputs, candidate, start)
        asked = PreparedJob(
            self.job,
            graph,
            prepared,
            candidate,
            witness,
            seed,
            self._report,
            planned,
            Remembered(self.workers.home / REMEMBERED),
        )
        if planned is not None and not verify.subgraph_problem(self.job.subgraph, graph):
            asked = self._rescaled(asked)
        lock = self.workers.lock(self._report)
        with lock.shared():
            verified = verify.verify(asked, compiling=lock.paused)
            candidate.settle()
            self.facts = replace(self.facts, verification=verified)
            if verified.verdict is not Verdict.VALUES_ONLY:
                if verified.executed is not None and verified.executed.verdict in CERTAIN:
                    # a race is wrong also where the values cannot tell right from wrong
                    self.facts = replace(self.facts, census=verified.executed)
                return
            if bundle is not None and self.loaded is not None and spec.profile is Profile.STRICT:
                self._enter(Phase.CENSUS, "Listing the kernels launched.")
                names = self.loaded.replacement_names
                calls = [each.launches for each in verified.watched]
                counted = census.judged(bundle, device, calls, graph, rewritten, names)
                counted = census.combined(counted, verified.executed)
                self.facts = replace(self.facts, census=counted)
                if counted.verdict is not Verdict.VALUES_ONLY:
                    return
        if spec.stage is not Stage.MEASURE:
            return
        self._enter(Phase.MEASURE, "Measuring time.")
        measured = measure.measure(asked, functools.partial(self._alone, lock))
        candidate.settle()
        self.facts = replace(self.facts, measurement=measured)

    def _rescaled(self, asked: "PreparedJob") -> "PreparedJob":
        """The job for Triton's interpreter: if numbers of the source keep its sizes from shrinking, they shrink too,
        where its passes leave them open."""
        from passnet_core.judge.numerics.input_draws import roles
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
