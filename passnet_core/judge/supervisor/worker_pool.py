"""The fork servers that the referee keeps ready. This module loads no torch: they start while the referee does."""

import contextlib
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from passnet_core.errors import InfrastructureError
from passnet_core.judge.supervisor.device_lock import lock_file
from passnet_core.judge.supervisor.fork_server import ForkServer, WorkerPlace
from passnet_core.judge.supervisor.zygote import Zygote
from passnet_core.records import Device, Isolation

if TYPE_CHECKING:
    from passnet_core.judge.supervisor.worker_process import WorkerProcess


TRIALS = 3
"""How many zygotes have to fail before none is tried any more: one may have been killed while it tried."""


class WorkerPool:
    """Fork servers for the next job: the one bound to the last bundle, warm spares, the checker, and those of the
    witness, the executor and the compiler.

    A fork server takes seconds to start, so the next ones start while and after a job runs. spares: how many are kept
    per device. home: the folder of the device's lock, under which workers are primed; None: that of the scratch files.
    """

    def __init__(self, place: WorkerPlace, *, spares: int = 1, home: Path | None = None) -> None:
        self.place = place
        self.count = spares
        self.lock = lock_file(home or place.folder)
        self.zygote: Zygote | None = None
        """Forks the fork servers of the CPU. None: none was needed yet, or no process can enter a sandbox here."""
        self._entering = place.isolation is Isolation.SANDBOXED
        self._compiling = False
        """Whether a job wanted torch's compiler."""
        self.spares: dict[Device, list[ForkServer]] = {}
        """The oldest first."""
        self.serving: dict[Device, ForkServer] = {}
        self.lasting: dict[tuple[str, Device], ForkServer] = {}
        """Those that serve one job after the other, by the role of their workers."""
        self.residents: dict[str, WorkerProcess] = {}
        """By role, the CUDA worker that is kept from job to job, because its context takes seconds to create."""

    def for_bundle(self, digest: str, device: Device) -> ForkServer:
        """A ready fork server that has served this bundle or none."""
        serving = self.serving.get(device)
        if serving is not None and serving.alive and serving.bound_to == digest:
            return serving
        if serving is not None:
            for who, resident in list(self.residents.items()):
                if resident.fork_server is serving:
                    self.dismiss(who)
            serving.stop()
        fresh = self.serving[device] = self._most_advanced(device)
        fresh.bound_to = digest
        self._await(fresh)
        if device is Device.CPU:
            # the next spare starts while this job runs; on CUDA it would disturb the clocks
            self._filled(device)
        return fresh

    def fresh(self, device: Device) -> ForkServer:
        """A ready fork server that serves nobody yet, and that the pool does not keep."""
        return self._await(self._started(device, "candidate"))

    def ready(self, who: str, device: Device) -> ForkServer:
        """The ready fork server of the workers of a role. Those of a "checker" only load bundles, one after the other,
        and nobody asks for their values and times. A "witness" never loads a bundle, and an "executor" or a "compiler"
        never loads its other code than kernels."""
        return self._await(self.start(who, device))

    def start(self, who: str, device: Device) -> ForkServer:
        """Start the fork server of a role, if there is none, without waiting for it."""
        fork_server = self.lasting.get((who, device))
        if fork_server is None or not fork_server.alive:
            if fork_server is not None:
                fork_server.stop()
            fork_server = self.lasting[who, device] = self._started(device, who)
        return fork_server

    def retire(self, fork_server: ForkServer) -> None:
        """Stops a fork server whose worker ended badly: it may have left processes or files behind."""
        self.serving = {device: each for device, each in self.serving.items() if each is not fork_server}
        self.lasting = {role: each for role, each in self.lasting.items() if each is not fork_server}
        fork_server.stop()

    def refill(self, device: Device, *, checking: bool, compiling: bool = False, planned: bool = True) -> None:
        """Starts the processes that the next job will need, without waiting for them. checking: it is a CHECK.
        compiling: it has compiled capture. planned: plans are recorded, which takes no GPU.

        Workers are primed as soon as their fork servers have loaded torch and nobody measures on the device."""
        if checking:
            self.start("checker", device)
            return
        self._compiling |= compiling
        needed = [*self._filled(device), self.start("witness", device), *self.serving.values()]
        if planned or device is Device.CPU:
            self.start("executor", Device.CPU)
        if device is Device.CPU:
            self.start("compiler", device)
        if planned and device is Device.CUDA:
            needed += [*self._filled(Device.CPU), self.start("witness", Device.CPU)]
        for fork_server in needed:
            fork_server.prime(self.lock, compiling=compiling)

    @contextlib.contextmanager
    def spares_at_rest(self) -> Iterator[None]:
        """Stops the spares for a measurement: those that still load torch would compute beside it."""
        stopped: list[ForkServer | Zygote] = [*self.spares.get(Device.CUDA, [])]
        stopped += [self.zygote] if self.zygote is not None else self.spares.get(Device.CPU, [])
        for each in stopped:
            each.rest()
        try:
            yield
        finally:
            for each in stopped:
                each.wake()

    def dismiss(self, who: str) -> None:
        """Ends the resident worker of this role."""
        worker = self.residents.pop(who, None)
        if worker is not None:
            worker.close()

    def close(self) -> None:
        for who in list(self.residents):
            self.dismiss(who)
        spares = itertools.chain(*self.spares.values())
        for fork_server in (*spares, *self.serving.values(), *self.lasting.values()):
            fork_server.stop()
        for kept in (self.spares, self.serving, self.lasting):
            kept.clear()
        if self.zygote is not None:
            self.zygote.stop()
            self.zygote = None

    def _filled(self, device: Device) -> list[ForkServer]:
        """The living spares, after starting those that are missing."""
        before = self.spares.get(device, [])
        spares = self.spares[device] = [each for each in before if each.alive]
        for each in before:
            if each not in spares:
                each.stop()
        while len(spares) < self.count:
            spares.append(self._started(device, "candidate"))
        return spares

    def _started(self, device: Device, who: str) -> ForkServer:
        return ForkServer(self.place, device, who, zygote=self._able_zygote(device), compiling=self._compiling)

    def _able_zygote(self, device: Device) -> Zygote | None:
        """The running zygote; None for CUDA, where a context takes longer to create than torch to load, and where no
        process can enter a sandbox."""
        if device is not Device.CPU or not self._entering:
            return None
        if self.zygote is not None and not self.zygote.alive:
            self.zygote.stop()
            self.zygote = None
        for _ in range(TRIALS):
            if self.zygote is not None:
                return self.zygote
            fresh = Zygote()
            if fresh.is_able():
                self.zygote = fresh
            else:
                fresh.stop()
        self._entering = self.zygote is not None
        return self.zygote

    def _most_advanced(self, device: Device) -> ForkServer:
        """Takes the spare with a primed worker; else the one that has loaded torch; else the oldest."""
        spares = self._filled(device)
        for each in spares:
            each.look()
        chosen = max(spares, key=lambda each: (each.primed, each.ready))
        spares.remove(chosen)
        return chosen

    def _await(self, fork_server: ForkServer) -> ForkServer:
        try:
            fork_server.wait_until_ready()
        except InfrastructureError:
            self.retire(fork_server)
            raise
        return fork_server
