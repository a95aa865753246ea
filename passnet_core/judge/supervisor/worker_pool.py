"""The fork servers that the referee keeps ready. This module loads no torch: they start while the referee does."""

import contextlib
from typing import TYPE_CHECKING

from passnet_core.errors import InfrastructureError
from passnet_core.judge.supervisor.fork_server import ForkServer, WorkerPlace
from passnet_core.records import Device

if TYPE_CHECKING:
    from passnet_core.judge.supervisor.worker_process import WorkerProcess


class WorkerPool:
    """Fork servers for the next job: the one bound to the last bundle, a warm spare, and the reference worker's.

    A fork server takes seconds to start, so the next one starts as soon as a job has ended."""

    def __init__(self, place: WorkerPlace) -> None:
        self.place = place
        self.serving: dict[Device, ForkServer] = {}
        self.spare: dict[Device, ForkServer] = {}
        self.witnesses: dict[Device, ForkServer] = {}
        self.repeaters: dict[Device, ForkServer] = {}
        self.residents: dict[str, WorkerProcess] = {}
        """By role, the CUDA worker that is kept from job to job, because its context takes seconds to create."""

    def for_bundle(self, digest: str, device: Device) -> ForkServer:
        """A ready fork server that has served this bundle or none."""
        serving = self.serving.get(device)
        if serving is not None and serving.alive and serving.bound_to == digest:
            return serving
        if serving is not None:
            self.dismiss("candidate")
            serving.stop()
        fresh = self._living(self.spare, device)
        self.spare.pop(device)
        fresh.bound_to = digest
        self.serving[device] = fresh
        self._ready(fresh)
        if device is Device.CPU:
            # the next spare starts while this job runs; on CUDA it would disturb the clocks
            self._living(self.spare, device)
        return fresh

    def for_witness(self, device: Device) -> ForkServer:
        """The ready fork server of reference workers, which never loads a bundle."""
        return self._ready(self._living(self.witnesses, device, "witness"))

    def start_repeater(self, device: Device) -> None:
        """Start the fork server of repeaters, if there is none, without waiting for it."""
        self._living(self.repeaters, device, "repeater")

    def for_repeater(self, device: Device) -> ForkServer:
        """The ready fork server of the workers that repeat kernels. It never loads a bundle's other code."""
        return self._ready(self._living(self.repeaters, device, "repeater"))

    def retire(self, fork_server: ForkServer) -> None:
        """Stops a fork server whose worker ended badly: it may have left processes or files behind."""
        for kept in (self.serving, self.witnesses, self.repeaters):
            if kept.get(fork_server.device) is fork_server:
                del kept[fork_server.device]
        fork_server.stop()

    def refill(self, device: Device, *, witness: bool) -> None:
        """Starts the processes that the next job will need, without waiting for them."""
        started = [self._living(self.spare, device)]
        if witness:
            started += [self._living(self.witnesses, device, "witness"), *self.serving.values()]
            for fork_server in started:
                fork_server.prime()

    def wait_until_quiet(self, device: Device) -> None:
        """Waits until no worker is being primed for the next job, which would disturb a measurement."""
        for kept in (self.serving, self.spare, self.witnesses):
            if device in kept and kept[device].alive:
                with contextlib.suppress(InfrastructureError):
                    kept[device].wait_until_quiet()

    def dismiss(self, who: str) -> None:
        """Ends the resident worker of this role."""
        worker = self.residents.pop(who, None)
        if worker is not None:
            worker.close()

    def close(self) -> None:
        for who in list(self.residents):
            self.dismiss(who)
        for kept in (self.serving, self.spare, self.witnesses, self.repeaters):
            for fork_server in kept.values():
                fork_server.stop()
            kept.clear()

    def _living(self, kept: dict[Device, ForkServer], device: Device, who: str = "candidate") -> ForkServer:
        fork_server = kept.get(device)
        if fork_server is None or not fork_server.alive:
            if fork_server is not None:
                fork_server.stop()
            fork_server = kept[device] = ForkServer(self.place, device, who)
        return fork_server

    def _ready(self, fork_server: ForkServer) -> ForkServer:
        try:
            fork_server.wait_until_ready()
        except InfrastructureError:
            self.retire(fork_server)
            raise
        return fork_server
