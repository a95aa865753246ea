"""The referee: takes jobs from a backend, has children do the dangerous work, and says of each job what is true.

It runs no candidate code, holds references and verdicts, and answers every job with exactly one outcome. It talks over
a private channel, one JSON object a line: {"job": …} or {"warm": …} come in, {"event": …} and {"outcome": …} go out.
{"inspect": …} and {"compile": …} judge nothing; {"inspection": …} answers them, or {"problem": …}.
"""

import contextlib
import ctypes
import importlib
import json
import math
import os
import secrets
import select
import shutil
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from passnet_core.errors import BadInput, InfrastructureError, PlaygroundError
from passnet_core.judge.protocol.messages import CallableName, CandidateEnd, CandidateFault, Preparation
from passnet_core.judge.stages.findings import Facts
from passnet_core.judge.supervisor import machine, sandbox
from passnet_core.judge.supervisor.device_lock import DeviceLock
from passnet_core.judge.supervisor.fork_server import ForkServer, WorkerPlace
from passnet_core.judge.supervisor.worker_pool import WorkerPool
from passnet_core.records import (
    Bundle,
    Capture,
    Contender,
    Device,
    Environment,
    EvalSpec,
    Evidence,
    Finding,
    Inspection,
    Job,
    MatchReport,
    Outcome,
    PassKernels,
    Phase,
    Profile,
    Stage,
    Subgraph,
    Verdict,
    from_json,
    to_json,
)

if TYPE_CHECKING:
    from passnet_core.graphs.ir import Graph
    from passnet_core.graphs.rewriting import TracedPass
    from passnet_core.judge.supervisor.child import Child

Emit = Callable[[str, str], None]

PASSNET_SEED = 1024

M_MMAP_MAX, M_TRIM_THRESHOLD = -4, -1

NEEDED_LATER = (
    "passnet_core.bundles.static_rules.findings",
    "passnet_core.graphs.placement",
    "passnet_core.graphs.rewriting",
    "passnet_core.judge.stages.census",
    "passnet_core.judge.stages.measure",
    "passnet_core.judge.stages.verdict",
    "passnet_core.judge.stages.verify",
    "passnet_core.judge.supervisor.child",
)
"""Modules that a job imports; several of them load torch."""

RESIDENT_JOBS = 100
"""After so many jobs a child on CUDA is replaced: what compiling leaves behind grows."""


def main(descriptor: int, isolation: str, home: Path) -> None:
    """Serves until the channel closes or SIGTERM comes. To be run as a program of its own."""
    signal.signal(signal.SIGTERM, _leave)
    # comparing gains nothing from more, and waits for every core that a new process keeps busy
    os.environ.setdefault("OMP_NUM_THREADS", str(min(4, os.cpu_count() or 1)))
    _keep_freed_memory()
    channel = socket.socket(fileno=descriptor)
    channel.set_inheritable(False)
    threading.Thread(target=_leave_when_alone, args=(channel,), daemon=True).start()
    scratch = _own_scratch(home / "scratch")
    pool = WorkerPool(WorkerPlace(sandbox.chosen(isolation), scratch))
    try:
        with channel.makefile("rw", encoding="utf-8", newline="\n") as lines:
            for line in lines:
                request = json.loads(line)
                if "warm" in request:
                    pool.refill(Device(request["warm"]["device"]), witness=request["warm"]["witness"])
                    _load_the_rest()
                elif "inspect" in request:
                    _inspect(request["inspect"], pool, home, lines)
                elif "compile" in request:
                    _compile(request["compile"], pool, home, lines)
                else:
                    asked = request.get("survey", request)
                    _answer(asked["job"], asked.get("codes", ()), pool, home, lines)
                    _return_freed_memory()
    except (BrokenPipeError, ConnectionResetError):
        return
    finally:
        # the end of the channel may have come first
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        pool.close()
        shutil.rmtree(scratch, ignore_errors=True)


def _keep_freed_memory() -> None:
    """Comparing large tensors would else spend most of its time on pages that come and go. GNU's C library only."""
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.CDLL(None)
        library.mallopt(M_MMAP_MAX, 0)
        library.mallopt(M_TRIM_THRESHOLD, (1 << 31) - 1)


def _return_freed_memory() -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _own_scratch(folder: Path) -> Path:
    """A folder of this process alone, after the folders of referees that were killed have been removed."""
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.iterdir():
        if left.name.isdigit() and not Path("/proc", left.name).exists():
            shutil.rmtree(left, ignore_errors=True)
    own = folder / str(os.getpid())
    own.mkdir(exist_ok=True)
    return own


def _load_the_rest() -> None:
    """Loads torch, and what else a job needs: late, so that fork servers start meanwhile, and before the first job."""
    for module in NEEDED_LATER:
        importlib.import_module(module)


def _leave(number: int, frame: FrameType | None) -> None:
    # the backend and the end of its channel may both ask: the second must not break off the cleaning up
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(0)


def _leave_when_alone(channel: socket.socket) -> None:
    """Ends this process when the backend is gone, also amid a job. (A death signal would come with the thread that
    started this process, which may end long before its program.)"""
    poll = select.poll()
    poll.register(channel, select.POLLRDHUP)
    poll.poll()
    os.kill(os.getpid(), signal.SIGTERM)


def _answer(asked: Any, codes: Sequence[str], pool: WorkerPool, home: Path, lines: Any) -> None:
    """Judges one job and writes its events and its outcome, with the matches of its passes in other sources."""

    def write(**fields: Any) -> None:
        lines.write(json.dumps(fields, allow_nan=False) + "\n")
        lines.flush()

    def emit(stage: str, text: str) -> None:
        write(event={"stage": stage, "text": text})

    job = from_json(Job, asked)
    trial = Trial(job, pool, home, emit)
    outcome = to_json(trial.outcome())
    write(outcome=outcome, counts=[trial.matches_in(code) for code in codes] if trial.passes else [])
    # the next job's processes start now, when nobody waits
    if trial.environment is not None:
        pool.refill(trial.device, witness=job.spec.stage is not Stage.CHECK)


def _inspect(asked: Any, pool: WorkerPool, home: Path, lines: Any) -> None:
    """Writes what eager and TorchInductor make of a subgraph, or in a sentence why nobody can say."""
    _tell(lines, lambda: _unjudged(asked, None, pool, home).inspection(with_code=asked["code"]))


def _compile(asked: Any, pool: WorkerPool, home: Path, lines: Any) -> None:
    """Writes what Triton makes of the kernels of a bundle on a subgraph, or in a sentence why nobody can say."""

    def found() -> PassKernels:
        trial = _unjudged(asked, from_json(Bundle, asked["bundle"]), pool, home)
        kernels = trial.kernels()
        # the candidate of the next job starts now, when nobody waits
        pool.refill(trial.device, witness=True)
        return kernels

    _tell(lines, found)


def _unjudged(asked: Any, bundle: Bundle | None, pool: WorkerPool, home: Path) -> "Trial":
    spec = EvalSpec(stage=Stage.VERIFY, device=Device(asked["device"]), deadline_s=asked["deadline_s"])
    return Trial(Job(from_json(Subgraph, asked["subgraph"]), bundle, spec), pool, home, lambda stage, text: None)


def _tell(lines: Any, found: Callable[[], object]) -> None:
    """Writes what is found where nothing is judged, or why it cannot be."""
    told: dict[str, Any]
    try:
        told = {"inspection": to_json(found())}
    except BadInput as error:
        told = {"problem": str(error), "bad_input": True}
    except (PlaygroundError, CandidateEnd) as error:
        told = {"problem": f"The subgraph could not be inspected: {error}", "bad_input": False}
    except Exception as error:  # a bug of the judge: who asked hears of it, and the referee goes on
        traceback.print_exc()
        told = {"problem": f"The judge itself failed while it inspected a subgraph: {error!r}", "bad_input": False}
    lines.write(json.dumps(told, allow_nan=False) + "\n")
    lines.flush()


class Trial:
    """One job, from its rules to its outcome."""

    def __init__(self, job: Job, pool: WorkerPool, home: Path, emit: Emit) -> None:
        self.job = job
        self.pool = pool
        self.home = home
        self.emit = emit
        self.device = job.spec.device
        self.environment: Environment | None = None
        self.facts = Facts()
        self.replacements: dict[str, str] = {}
        """Per key of a replacement function how to call it."""
        self.passes: tuple[TracedPass, ...] = ()
        """As loaded."""
        self.prepares = False
        """Whether the bundle has the hook prepare(weights), and may use it."""
        self.logs: dict[str, str] = {}

    def outcome(self) -> Outcome:
        """The one outcome of this job, whatever happens."""
        start = time.monotonic()
        try:
            with contextlib.ExitStack() as children:
                self._judge(children)
        except CandidateEnd as end:
            self.facts = replace(self.facts, end=end)
        except PlaygroundError as error:
            self.facts = replace(self.facts, problem=str(error))
        except Exception as error:  # a bug of the judge: the job gets its one outcome, with the trace
            self.facts = self._with_own_failure(error)
        wall_s = round(time.monotonic() - start, 4)
        try:
            return self._decided(wall_s)
        except Exception as error:  # a bug of the judge: the job gets its one outcome, with the trace
            self.facts = self._with_own_failure(error)
            return self._decided(wall_s)

    def inspection(self, *, with_code: bool) -> Inspection:
        """What eager and TorchInductor make of the job's subgraph: nothing is judged. Raises BadInput for a subgraph
        that cannot be run, PlaygroundError, and CandidateEnd where the witness failed."""
        from passnet_core.graphs import placement, source
        from passnet_core.judge.numerics import input_draws
        from passnet_core.judge.stages import verify

        self._find_device()
        assert self.environment is not None
        subgraph, graph = self.job.subgraph, self._graph()
        if problem := verify.subgraph_problem(subgraph, graph):
            raise BadInput(f"Subgraph {subgraph.id!r} cannot be run: {problem}")
        given = input_draws.without_content(subgraph.inputs, input_draws.roles(graph, subgraph.inputs))
        placed = source.emit(placement.placed(graph, self.device.value))
        known: Inspection | None = None
        try:
            with contextlib.ExitStack() as children:
                witness = self._child(children, "witness", compiling=with_code)
                with self._lock().shared():
                    found = witness.propagate(placed, given)
                known = Inspection(
                    subgraph_digest=subgraph.digest,
                    environment=self.environment,
                    values=found.values,
                    values_problem=found.problem,
                    accelerator=witness.accelerator(),
                )
                code = witness.generate(placed, given) if with_code else None
        except CandidateEnd as end:
            if known is None:
                raise
            return replace(known, code_problem=f"TorchInductor did not write its code: {end}")
        return replace(known, code_problem=code) if isinstance(code, str) else replace(known, code=code)

    def kernels(self) -> PassKernels:
        """What Triton makes of the kernels that the job's bundle launches on its subgraph: nothing is judged. In a
        candidate that lives for this alone. Raises as inspection does."""
        from passnet_core.graphs import placement
        from passnet_core.judge.numerics import input_draws
        from passnet_core.judge.stages import verify

        bundle, subgraph, graph = self.job.bundle, self.job.subgraph, self._graph()
        assert bundle is not None
        self._find_device()
        assert self.environment is not None
        known = partial(PassKernels, subgraph.digest, bundle.digest, self.environment)
        if problem := verify.subgraph_problem(subgraph, graph):
            raise BadInput(f"Subgraph {subgraph.id!r} cannot be run: {problem}")
        if self._rejected(bundle):
            fatal = next(each for each in self.facts.findings if each.fatal)
            return known(problem=f"A rule rejects the passes, so that nothing of them is executed: {fatal.message}")
        try:
            with contextlib.ExitStack() as children:
                candidate = self._child(children, "candidate", alone=True)
                rewritten = self._matched(bundle, candidate, graph)
                if rewritten is None:
                    return known(problem=self.facts.rewrite_problem or "No pass matches this subgraph.")
                here = self.device.value
                preparations = self._preparations(placement.placed(graph, here), placement.placed(rewritten, here))
                candidate.prepare(CallableName.PASSES, preparations[CallableName.PASSES])
                candidate.give(
                    input_draws.draw(subgraph.inputs, "recorded", 0, roles=input_draws.roles(graph, subgraph.inputs))
                )
                with self._lock().alone():
                    found = candidate.compiled(CallableName.PASSES)
        except CandidateFault as fault:
            return known(problem=f"The passes failed before their kernels were compiled: {str(fault)[:1000]}")
        return known(found) if found else known(problem="The replacements launch no Triton kernel here.")

    def matches_in(self, code: str) -> int | None:
        """How many matches the loaded passes have in another source; None: it cannot be read or rewritten."""
        from passnet_core.graphs import rewriting, source
        from passnet_core.judge.protocol import signatures

        try:
            changed = rewriting.rewrite(source.parse(code), self.passes, bind=signatures.bind)
        except (BadInput, RecursionError):
            return None
        return sum(len(each.matches) for each in changed.reports)

    def _with_own_failure(self, error: Exception) -> Facts:
        """A bug of the judge: the job still gets its outcome, with all that is needed to mend it."""
        trace = Evidence("the judge's own failure", traceback.format_exc()[-8000:])
        problem = f"The judge itself failed while it had to {self.facts.during or 'start'}: {error!r}"
        return Facts(problem=problem, during=self.facts.during, evidence=(trace,))

    def _decided(self, wall_s: float) -> Outcome:
        from passnet_core.judge.stages import verdict

        return verdict.outcome(
            self.job,
            self.facts,
            environment=self.environment,
            wall_s=wall_s,
            finished_at=datetime.now(UTC).isoformat(timespec="seconds"),
            log_tail=self.logs.get("candidate", ""),
        )

    def _judge(self, children: contextlib.ExitStack) -> None:
        """The stages, one after the other; leaves in self.facts what each found."""
        stage = self.job.spec.stage
        if self.job.bundle is None and stage is Stage.CHECK:
            raise InfrastructureError("Inductor has no passes to check. Ask for the stage verify or measure.")
        self._find_device()
        graph = self._graph()
        candidate: Child | None = None
        rewritten = graph
        if self.job.bundle is not None:
            if self._rejected(self.job.bundle):
                return
            candidate = self._child(children, "candidate")
            rewritten_or_none = self._matched(self.job.bundle, candidate, graph)
            if rewritten_or_none is None or stage is Stage.CHECK:
                return
            rewritten = rewritten_or_none
        witness = self._child(children, "witness")
        self._compute(graph, rewritten, candidate or witness, witness)

    def _graph(self) -> "Graph":
        """The subgraph as parsed. Raises BadInput."""
        from passnet_core.graphs import source

        try:
            return source.parse(self.job.subgraph.code)
        except BadInput as error:
            raise BadInput(f"Subgraph {self.job.subgraph.id!r} cannot be read: {error}") from error

    def _find_device(self) -> None:
        isolation = self.pool.place.isolation
        try:
            self.environment = machine.environment(self.device, isolation)
        except InfrastructureError:
            if self.job.spec.stage is not Stage.CHECK:
                raise
            # rules and matching need no device
            self.device = Device.CPU
            self.environment = machine.environment(self.device, isolation)
        self.pool.refill(self.device, witness=self.job.spec.stage is not Stage.CHECK)

    def _rejected(self, bundle: Bundle) -> bool:
        from passnet_core.bundles.static_rules.findings import findings

        self._enter(Phase.RULES, "Reading the passes.")
        spec = self.job.spec
        found = findings(bundle, self._cap, passnet=spec.profile is Profile.PASSNET)
        self.facts = replace(self.facts, findings=found)
        return any(finding.fatal for finding in found)

    def _matched(self, bundle: Bundle, candidate: "Child", graph: "Graph") -> "Graph | None":
        """Loads the bundle and rewrites the graph; None where that is the end of it."""
        from passnet_core.graphs import rewriting, source
        from passnet_core.judge.protocol import signatures

        self._enter(Phase.LOAD, "Loading the passes and tracing their patterns.")
        loaded = candidate.load(bundle)
        self.prepares = loaded.prepares and self.job.spec.profile is Profile.STRICT
        unused = ("PassNet's rules know no prepare(weights): it was not called.",)
        self.facts = replace(
            self.facts, warnings=loaded.warnings + (unused if loaded.prepares and not self.prepares else ())
        )
        cap = self._cap
        if cap is not None and len(loaded.replacements) > cap:
            self.facts = replace(self.facts, findings=(*self.facts.findings, _over_the_cap(bundle, loaded, cap)))
            return None
        self.passes = loaded.passes
        self._enter(Phase.MATCH, "Matching the patterns against the graph.")
        try:
            sources = {file.name.removesuffix(".py"): file.code for file in bundle.passes}
            changed = rewriting.rewrite(graph, loaded.passes, bind=signatures.bind, explain=sources)
        except BadInput as error:
            self.facts = replace(self.facts, during=Phase.REWRITE, rewrite_problem=str(error))
            return None
        for each in loaded.passes:
            self.replacements.setdefault(each.replacement, f"the replacement of {each.name}")
        report = MatchReport(changed.reports)
        if report.count:
            report = replace(report, rewritten=source.emit(changed.graph))
        self.facts = replace(self.facts, match=report)
        return changed.graph if report.count else None

    def _compute(self, graph: "Graph", rewritten: "Graph", candidate: "Child", witness: "Child") -> None:
        from passnet_core.graphs import placement
        from passnet_core.judge.stages import census, measure, verify
        from passnet_core.judge.stages.prepared_job import PreparedJob

        self._enter(Phase.VERIFY, "Comparing values with eager.")
        preparations = self._preparations(
            placement.placed(graph, self.device.value), placement.placed(rewritten, self.device.value)
        )
        # drawn only now that the candidate has been loaded: it cannot have prepared for it
        seed = self.job.spec.seed
        if seed is None:
            seed = PASSNET_SEED if self.job.spec.profile is Profile.PASSNET else secrets.randbelow(1 << 31)
        asked = PreparedJob(
            self.job, graph, preparations, candidate, witness, seed,
            report=lambda text: self.emit(self.facts.during, text),
        )  # fmt: skip
        lock = self._lock()
        with lock.shared():
            found = verify.verify(asked, compiling=lock.paused)
            self.facts = replace(self.facts, verification=found)
            if found.verdict is not Verdict.VALUES_ONLY:
                return
            if self.job.bundle is not None and self.job.spec.profile is Profile.STRICT:
                self._enter(Phase.CENSUS, "Listing the kernels launched.")
                tallies = candidate.census(CallableName.PASSES)
                counted = census.judged(self.job.bundle, self.device, tallies, graph, rewritten, self.replacements)
                self.facts = replace(self.facts, census=counted)
                if counted.verdict is Verdict.LIBRARY:
                    return
        if self.job.spec.stage is not Stage.MEASURE:
            return
        self._enter(Phase.MEASURE, "Measuring time.")
        with lock.alone():
            self.pool.wait_until_quiet(self.device)
            measured = measure.measure(asked)
        self.facts = replace(self.facts, measurement=measured)

    @property
    def _cap(self) -> int | None:
        """Most distinct replacement functions; PassNet allows one."""
        spec = self.job.spec
        passnets = spec.profile is Profile.PASSNET and spec.replacement_cap is None
        return 1 if passnets else spec.replacement_cap

    def _preparations(self, graph: "Graph", rewritten: "Graph") -> dict[CallableName, Preparation]:
        from passnet_core.graphs import source
        from passnet_core.judge.numerics.input_draws import is_parameter

        weights = [spec.name for spec in self.job.subgraph.inputs if self.prepares and is_parameter(spec)]
        capture = self.job.spec.capture
        original = source.emit(graph)
        for_passes = original if capture is Capture.COMPILED else source.emit(rewritten)
        eager = Preparation(Contender.EAGER, original, capture, self.device)
        return {
            CallableName.EAGER: eager,
            CallableName.FLOAT64: replace(eager, float64=True),
            CallableName.BASELINE: replace(eager, contender=Contender.BASELINE),
            CallableName.PASSES: replace(eager, contender=Contender.PASSES, source=for_passes, weights=tuple(weights)),
        }

    def _child(
        self, children: contextlib.ExitStack, who: str, *, compiling: bool | None = None, alone: bool = False
    ) -> "Child":
        """A fresh child, which ends with the trial; its fork server too, where the child did not end well. compiling:
        whether it needs torch's compiler; None: as the job says. alone: on CUDA too it has served no job before, and
        serves none after."""
        from passnet_core.judge.supervisor.child import Child

        trusted = who == "witness"
        bundle = self.job.bundle
        if trusted or bundle is None:
            fork_server = self.pool.for_witness(self.device)
        else:
            fork_server = self.pool.for_bundle(bundle.digest, self.device)
        on_log = (lambda text: None) if trusted else (lambda text: self.emit(Phase.LOG, text))
        spec = self.job.spec
        compiled = spec.capture is Capture.COMPILED or (trusted and bundle is None)
        if compiling is None:
            compiling = compiled and spec.stage is not Stage.CHECK
        staying = self.device is Device.CUDA and not alone
        if alone:
            self.pool.dismiss(who)
        resident = self.pool.residents.get(who) if staying else None
        if resident is not None and (
            resident.fork_server is not fork_server
            or resident.lost
            or not fork_server.alive
            or resident.jobs >= RESIDENT_JOBS
        ):
            self.pool.dismiss(who)
            resident = None
        try:
            child = resident or Child(
                fork_server,
                who,
                deadline_s=spec.deadline_s,
                lifetime_s=math.inf if staying else None,
                compiling=compiling,
            )
        except InfrastructureError:
            self.pool.retire(fork_server)
            raise
        child.begin(spec.deadline_s, on_log)
        if staying:
            self.pool.residents[who] = child
        children.push(lambda kind, error, trace: self._over(child, fork_server, error, staying))
        return child

    def _over(self, child: "Child", fork_server: ForkServer, error: BaseException | None, staying: bool) -> None:
        """Ends the child, or has it forget the job, where a context that took seconds to set up is worth keeping."""
        mine = error is not None and not (isinstance(error, CandidateEnd) and error.who != child.who)
        if staying and not mine:
            try:
                child.forget()
                self.logs[child.who] = child.log.text
                return
            except CandidateEnd as end:
                error = end
        if staying:
            self.pool.residents.pop(child.who, None)
        self.logs[child.who] = child.close()
        blamed = isinstance(error, CandidateEnd) and error.who == child.who
        harmless = isinstance(error, CandidateFault) and error.kind not in ("protocol", "memory", "restless")
        if (blamed and not harmless) or not fork_server.alive:
            self.pool.retire(fork_server)

    def _lock(self) -> DeviceLock:
        home = None if self.device is Device.CPU else self.home
        return DeviceLock(home, lambda text: self.emit(self.facts.during or Phase.START, text))

    def _enter(self, phase: Phase, text: str) -> None:
        self.facts = replace(self.facts, during=phase)
        self.emit(phase, text)


def _over_the_cap(bundle: Bundle, loaded: Any, cap: int) -> Finding:
    return Finding(
        file=bundle.passes[0].name,
        line=1,
        column=1,
        rule="replacement-cap",
        message=f"The bundle has {len(loaded.replacements)} distinct replacement functions; at most {cap} may be.",
        remedy="Return one shared function from every replacement_func(), and tell it by a literal what to do.",
    )
