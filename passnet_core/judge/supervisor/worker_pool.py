"""The fork servers that the referee keeps at hand. Loads no torch: they start while the referee still loads it."""

import contextlib
from typing import TYPE_CHECKING

from passnet_core.errors import InfrastructureError
from passnet_core.judge.supervisor.fork_server import ForkServer, WorkerPlace
from passnet_core.records import Device

if TYPE_CHECKING:
    from passnet_core.judge.supervisor.child import Child


class WorkerPool:
    """Fork servers at hand: one that has served the bundle before, one spare, and the witness's.

    A fork server takes seconds to start, so the next one starts when a job is over.
    """

    def __init__(self, place: WorkerPlace) -> None:
        self.place = place
        self.serving: dict[Device, ForkServer] = {}
        self.spare: dict[Device, ForkServer] = {}
        self.witnesses: dict[Device, ForkServer] = {}
        self.residents: dict[str, Child] = {}
        """On CUDA, the child of each role that stays from job to job."""

    def for_bundle(self, digest: str, device: Device) -> ForkServer:
        """A ready fork server that has served no other bundle."""
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
            # meanwhile; on CUDA it would disturb the clocks
            self._living(self.spare, device)
        return fresh

    def for_witness(self, device: Device) -> ForkServer:
        """A ready fork server that never serves a bundle."""
        return self._ready(self._living(self.witnesses, device, "witness"))

    def retire(self, fork_server: ForkServer) -> None:
        """Ends a fork server whose child ended badly: it may have left something behind."""
        for kept in (self.serving, self.witnesses):
            if kept.get(fork_server.device) is fork_server:
                del kept[fork_server.device]
        fork_server.stop()

    def refill(self, device: Device, *, witness: bool) -> None:
        """Starts what the next job will need, without waiting for it."""
        started = [self._living(self.spare, device)]
        if witness:
            started += [self._living(self.witnesses, device, "witness"), *self.serving.values()]
            for fork_server in started:
                fork_server.prime()

    def wait_until_quiet(self, device: Device) -> None:
        """Returns when no child is being made ready for a next job beside a measurement."""
        for kept in (self.serving, self.spare, self.witnesses):
            if device in kept and kept[device].alive:
                with contextlib.suppress(InfrastructureError):
                    kept[device].wait_until_quiet()

    def dismiss(self, who: str) -> None:
        """Ends the child of this role that stays from job to job."""
        child = self.residents.pop(who, None)
        if child is not None:
            child.close()

    def close(self) -> None:
        for who in list(self.residents):
            self.dismiss(who)
        for kept in (self.serving, self.spare, self.witnesses):
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
