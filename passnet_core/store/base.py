"""What can be asked of a store, wherever its file is open."""

from typing import Protocol

from passnet_core.errors import StoreError
from passnet_core.records import Bundle, Outcome, Run, SolverKind
from passnet_core.records.trajectories import Ending, Opening, Trajectory, Turn
from passnet_core.store.rows import (
    BaselineRow,
    Draft,
    JobName,
    KeptTrajectory,
    RunFile,
    RunSummary,
    SampleColumns,
    ScoreRow,
    Standing,
    TrajectorySummary,
    Unfinished,
)


class StoreBusy(StoreError):
    """Another process has the file open."""


class StoreGone(StoreError):
    """The process that had the file open no longer answers; another may open it now."""


class Store(Protocol):
    """Every method may be called from any thread; what it has written when it returns survives the process.

    Asked again with the same arguments, a writing method changes nothing. All raise StoreError.
    """

    def add_bundle(self, bundle: Bundle) -> None: ...

    def start_run(self, run: Run, jobs: tuple[JobName, ...], owner: str) -> None: ...

    def append(self, run_id: str, place: int, outcome: Outcome) -> None:
        """The first outcome of a place stays."""
        ...

    def import_runs(self, file_digest: str, files: tuple[RunFile, ...]) -> None:
        """All or nothing. file_digest: of the data file they come from, or "". StoreRefusal where an id is taken."""
        ...

    def recorded_files(self) -> tuple[str, ...]:
        """Digests of the data files taken in."""
        ...

    def run(self, run_id: str) -> Run | None: ...

    def runs(
        self, limit: int, task_id: str | None, solver: SolverKind | None, checks: bool
    ) -> tuple[RunSummary, ...]: ...

    def outcomes(self, run_id: str) -> tuple[Outcome, ...]: ...

    def unfinished(self, run_id: str | None) -> tuple[Unfinished, ...]: ...

    def bundle(self, digest: str) -> Bundle | None: ...

    def known(self, job_digest: str, environment_digest: str) -> Outcome | None:
        """The newest judged outcome made here."""
        ...

    def save_draft(self, task_id: str, slot: str, bundle: Bundle) -> None: ...

    def draft(self, task_id: str, slot: str) -> Bundle | None: ...

    def drafts(self) -> tuple[Draft, ...]: ...

    def start_trajectory(self, opening: Opening, owner: str) -> None: ...

    def add_turn(self, trajectory_id: str, turn: Turn) -> None:
        """The first turn of a number stays."""
        ...

    def end_trajectory(self, trajectory_id: str, ending: Ending) -> None: ...

    def import_trajectory(self, file_digest: str, trajectory: Trajectory) -> None:
        """All or nothing, with the bundles of its turns. file_digest: of the data file it comes from, or ""."""
        ...

    def trajectory(self, trajectory_id: str) -> KeptTrajectory | None: ...

    def trajectories(self, limit: int, task_id: str | None) -> tuple[TrajectorySummary, ...]:
        """Newest first."""
        ...

    def revision(self) -> int:
        """Grows with everything judged that is written; equal numbers mean equal answers to what follows."""
        ...

    def score_rows(self, task_id: str | None) -> tuple[ScoreRow, ...]: ...

    def baseline_rows(self) -> tuple[BaselineRow, ...]: ...

    def samples(self, run_id: str | None) -> SampleColumns: ...

    def standings(self) -> tuple[Standing, ...]: ...

    def close(self) -> None: ...


QUESTIONS = frozenset(name for name in vars(Store) if not name.startswith("_")) - {"close"}
"""The methods that another process may call."""
