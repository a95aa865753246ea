"""What one person may see and do: the service, narrowed to what is this person's or everybody's.

A run is its owner's until the owner shares it. Runs of nobody are everybody's: those that came with the playground,
were imported, or were made by a command on the server. Whatever somebody may not see is told apart from nothing in no
way."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from passnet_core.errors import UnknownItem
from passnet_core.execution.runs_in_progress import Progress
from passnet_core.execution.scheduler import NOBODY
from passnet_core.outside import quoted
from passnet_core.people.person import Person, PersonRole
from passnet_core.people.quotas import NotAllowed, Quotas, ban_of
from passnet_core.people.register import Register
from passnet_core.records import Bundle, Device, EvalSpec, Outcome, Run, SolverKind, Task
from passnet_core.service import Service
from passnet_core.store.rows import RunSummary

if TYPE_CHECKING:
    from passnet_core.leaderboard.boards import Board


class PersonalService:
    """The service for one person. person: None for who may do everything, as on a machine of one's own."""

    def __init__(self, service: Service, register: Register | None = None, person: Person | None = None) -> None:
        self.service, self.person = service, person
        self._register = register
        if person is not None and ban_of(person):
            raise NotAllowed(ban_of(person))

    @property
    def owner(self) -> str:
        """Who owns what is begun here, as the store names it."""
        return NOBODY if self.person is None else self.person.id

    @property
    def viewer(self) -> str | None:
        """Whose runs are seen, besides those of nobody; None for all."""
        return None if self.person is None or self.person.role is PersonRole.OPERATOR else self.person.id

    @property
    def may_use_gpu(self) -> bool:
        return self.person is None or self.person.allowance.gpu

    # --- judging ---

    def submit(
        self,
        task: Task,
        bundle: Bundle | None,
        spec: EvalSpec,
        *,
        subgraph_ids: Sequence[str] | None = None,
        label: str = "",
        fresh: bool = False,
    ) -> str:
        """Like Service.submit. Raises NotAllowed and QuotaExceeded too."""
        if self.person is not None and self._register is not None:
            jobs = len(task.subgraphs if subgraph_ids is None else subgraph_ids)
            waiting = self.service.load_of(self.owner)
            Quotas(self._register).admit(self.person, jobs, waiting, on_gpu=spec.device is Device.CUDA)
        run_id = self.service.submit(
            task, bundle, spec, subgraph_ids=subgraph_ids, label=label, fresh=fresh, owner=self.owner
        )
        self._note("started a run", run_id)
        return run_id

    def cancel(self, run_id: str) -> None:
        """Like Service.cancel, for a run of one's own."""
        self._see(run_id)
        if self.viewer is not None and self.service.visitor_of(run_id) != self.owner:
            raise NotAllowed(f"Run {run_id} is not yours, so you cannot cancel it.")
        self.service.cancel(run_id)
        self._note("cancelled a run", run_id)

    def share(self, run_id: str, shared: bool = True) -> None:
        """Let everybody who has its link see a run of one's own, or nobody else any more."""
        self._see(run_id)
        if self.service.visitor_of(run_id) != self.owner:
            raise NotAllowed(f"Run {run_id} is not yours, so you cannot share it.")
        if self._register is None:
            raise NotAllowed("No person has a token here, so everybody sees every run.")
        self._register.share(run_id, self.owner, shared)
        self._note("shared a run" if shared else "stopped sharing a run", run_id)

    # --- what was judged ---

    def run(self, run_id: str) -> Run:
        self._see(run_id)
        return self.service.run(run_id)

    def progress(self, run_id: str) -> Progress:
        self._see(run_id)
        return self.service.progress(run_id)

    def outcomes(self, run_id: str) -> tuple[Outcome, ...]:
        self._see(run_id)
        return self.service.outcomes(run_id)

    def export_run(self, run_id: str) -> str:
        self._see(run_id)
        self._note("exported a run", run_id)
        return self.service.export_run(run_id)

    def runs(
        self, limit: int, task_id: str | None = None, solver: SolverKind | None = None, *, mine: bool = False
    ) -> tuple[RunSummary, ...]:
        """The newest runs first. mine: only one's own."""
        visitor = self.owner if mine and self.person is not None else None
        return self.service.runs(limit, task_id, solver, visitor=visitor, viewer=self.viewer)

    def bundle(self, digest: str) -> Bundle:
        """The bundle of a run that one sees, or one that comes with the playground."""
        for each in self.service.reference_bundles():
            if digest in (each.name, each.bundle.digest):
                return each.bundle
        if self.viewer is not None and not self.service.sees_bundle(digest, self.viewer):
            raise UnknownItem(f"There is no bundle {quoted(digest)} here. Take the digest from a run.")
        return self.service.bundle(digest)

    def boards(self, task_id: str | None = None) -> "tuple[Board, ...]":
        return self.service.boards(task_id, viewer=self.viewer)

    def used_s(self) -> float:
        """How many seconds were judged for this person in the last hour."""
        return 0.0 if self._register is None else self._register.used(self.owner)

    # --- inside ---

    def _see(self, run_id: str) -> None:
        """Raises UnknownItem for a run that is not here, and for one that this person may not see."""
        self.service.run(run_id)
        if self.viewer is None:
            return
        owner = self.service.visitor_of(run_id)
        if owner in (NOBODY, self.owner) or (self._register is not None and self._register.is_shared(run_id)):
            return
        raise self.service.no_run(run_id)

    def _note(self, deed: str, about: str) -> None:
        if self._register is not None and self.person is not None:
            self._register.note(self.person.id, deed, about)
