"""The device of one job, and the workers that compute for it. Loads no torch before it starts the first of them."""

import contextlib
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from passnet_core.errors import InfrastructureError
from passnet_core.judge.protocol.messages import CandidateEnd, CandidateFault
from passnet_core.judge.supervisor import machine
from passnet_core.judge.supervisor.device_lock import DeviceLock
from passnet_core.judge.supervisor.fork_server import ForkServer
from passnet_core.judge.supervisor.worker_pool import WorkerPool
from passnet_core.records import Bundle, Capture, Device, Environment, Job, Phase, Profile, Stage

if TYPE_CHECKING:
    from passnet_core.judge.supervisor.worker_process import WorkerProcess

Emit = Callable[[str, str], None]
"""Sends an event of a job, its phase and its text, to whoever asked for the job."""

OF_BUNDLES = frozenset({"candidate", "executor"})
"""The roles on CUDA whose workers come from the fork server of a bundle, which has one at a time."""

RESIDENT_JOBS = 100
"""How many jobs a worker on CUDA serves before it is replaced: compiling leaves memory behind."""


class JobWorkers:
    """Finds the job's device, and takes its candidate worker and its witness from the pool."""

    def __init__(self, job: Job, pool: WorkerPool, home: Path, emit: Emit) -> None:
        self.job, self.pool, self.home, self.emit = job, pool, home, emit
        self.device = job.spec.device
        self.environment: Environment | None = None
        """None until the device is found."""
        self.logs: dict[str, str] = {}
        """What each worker that has ended wrote to its log, by its role."""
        self._staying: list[WorkerProcess] = []
        """Workers that have ended this job and still hold what belongs to it."""

    def find_device(self) -> Environment:
        """Find the job's device, and start its processes without waiting for them. CHECK makes do with a CPU. Raises
        InfrastructureError if the device is missing."""
        isolation = self.pool.place.isolation
        try:
            self.environment = machine.environment(self.device, isolation)
        except InfrastructureError:
            if self.job.spec.stage is not Stage.CHECK:
                raise
            self.device = Device.CPU
            self.environment = machine.environment(self.device, isolation)
        self.refill()
        return self.environment

    def refill(self) -> None:
        """Start the processes that a job like this one needs, without waiting for them."""
        spec = self.job.spec
        checking, compiling = spec.stage is Stage.CHECK, spec.capture is Capture.COMPILED
        planned = spec.profile is Profile.STRICT and self.job.bundle is not None
        self.pool.refill(self.device, checking=checking, compiling=compiling, planned=planned)

    def tidy(self) -> None:
        """Have the workers that stay forget the job, and start what a next one needs. Call it when nobody waits for the
        job any more."""
        for worker in self._staying:
            try:
                worker.forget()
            except CandidateEnd as end:
                self._dismissed(worker, worker.fork_server, end)
        self._staying = []
        if self.environment is not None:
            self.refill()

    def lock(self, waiting: Callable[[str], None]) -> DeviceLock:
        """The lock on the job's device; a CPU needs none. waiting: told, in words, what the lock waits for."""
        return DeviceLock(None if self.device is Device.CPU else self.home, waiting)

    def start(
        self,
        running: contextlib.ExitStack,
        who: str,
        bundle: Bundle | None = None,
        *,
        device: Device | None = None,
        compiling: bool | None = None,
        alone: bool = False,
    ) -> "WorkerProcess":
        """Start the "candidate", the "witness", the "executor" or the "compiler". It ends with running; if it ends
        badly, so does its fork server.

        bundle: what a candidate or an executor on CUDA is to load. device: None: the job's. compiling: whether it
        needs torch's compiler; None: if the job does. On CUDA a worker stays for later jobs; alone: this one neither
        has served a job before nor stays."""
        from passnet_core.judge.supervisor.worker_process import WorkerProcess

        trusted = who == "witness"
        spec, device = self.job.spec, device or self.device
        checking = spec.stage is Stage.CHECK
        if bundle is None or checking:
            fork_server = self.pool.ready("checker" if checking else who, device)
        else:
            fork_server = self.pool.for_bundle(bundle.digest, device)
        if compiling is None:
            compiled = spec.capture is Capture.COMPILED or (trusted and self.job.bundle is None)
            compiling = compiled and not checking
        staying = device is Device.CUDA and not alone and not checking
        if device is Device.CUDA and who in OF_BUNDLES and not checking:
            for other in OF_BUNDLES - (set() if alone else {who}):
                self.pool.dismiss(other)
        resident = self.pool.residents.get(who) if staying else None
        if resident is not None and (
            resident.fork_server is not fork_server
            or resident.lost
            or not fork_server.alive
            or resident.jobs >= RESIDENT_JOBS
        ):
            self.pool.dismiss(who)
            resident = None
        lifetime_s = math.inf if staying else None
        try:
            worker = resident or WorkerProcess(
                fork_server, who, deadline_s=spec.deadline_s, lifetime_s=lifetime_s, compiling=compiling
            )
        except InfrastructureError:
            self.pool.retire(fork_server)
            raise
        worker.begin(spec.deadline_s, (lambda text: None) if trusted else (lambda text: self.emit(Phase.LOG, text)))
        if staying:
            self.pool.residents[who] = worker
        running.push(lambda kind, error, trace: self._end(worker, fork_server, error, staying))
        return worker

    def _end(
        self, worker: "WorkerProcess", fork_server: ForkServer, error: BaseException | None, staying: bool
    ) -> None:
        """End a worker. One that stays only forgets the job, later, because its CUDA context took seconds to set up."""
        mine = error is not None and not (isinstance(error, CandidateEnd) and error.who != worker.who)
        if staying and not mine:
            self._staying.append(worker)
            self.logs[worker.who] = worker.log.text
            return
        self._dismissed(worker, fork_server, error)

    def _dismissed(self, worker: "WorkerProcess", fork_server: ForkServer, error: BaseException | None) -> None:
        """End a worker for good, and its fork server if the worker ended badly."""
        if self.pool.residents.get(worker.who) is worker:
            del self.pool.residents[worker.who]
        self.logs[worker.who] = worker.close()
        blamed = isinstance(error, CandidateEnd) and error.who == worker.who
        harmless = isinstance(error, CandidateFault) and error.kind not in ("protocol", "memory")
        if (blamed and not harmless) or not fork_server.alive:
            self.pool.retire(fork_server)
