"""The interface of the store, whichever process has its file open."""

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
    """Every method may be called from any thread. Written data is on the disk when a method returns.
    A writing method changes nothing when it is called again with the same arguments; save_draft adds an equal draft.
    All methods raise StoreError."""

    def add_bundle(self, bundle: Bundle) -> None: ...

    def start_run(self, run: Run, jobs: tuple[JobName, ...], owner: str) -> None: ...

    def append(self, run_id: str, place: int, outcome: Outcome) -> None:
        """Add the outcome of the job at this place of a run, unless the place has one already."""

    def import_runs(self, file_digest: str, files: tuple[RunFile, ...]) -> None:
        """Add all of these runs or none. Raises StoreRefusal if another run has the id of one.
        file_digest: the digest of the data file that they come from, or ""."""

    def recorded_files(self) -> tuple[str, ...]:
        """Return the digests of the data files that were imported."""

    def run(self, run_id: str) -> Run | None: ...

    def runs(
        self, limit: int, task_id: str | None, solver: SolverKind | None, checks: bool
    ) -> tuple[RunSummary, ...]: ...

    def outcomes(self, run_id: str) -> tuple[Outcome, ...]: ...

    def unfinished(self, run_id: str | None) -> tuple[Unfinished, ...]: ...

    def bundle(self, digest: str) -> Bundle | None: ...

    def known(self, job_digest: str, environment_digest: str) -> Outcome | None:
        """Return the newest outcome of this job in this environment that was judged here, not imported."""

    def save_draft(self, task_id: str, slot: str, bundle: Bundle) -> None: ...

    def draft(self, task_id: str, slot: str) -> Bundle | None: ...

    def drafts(self) -> tuple[Draft, ...]: ...

    def start_trajectory(self, opening: Opening, owner: str) -> None: ...

    def add_turn(self, trajectory_id: str, turn: Turn) -> None:
        """Add a turn, unless the conversation already has one of this number."""

    def end_trajectory(self, trajectory_id: str, ending: Ending) -> None: ...

    def import_trajectory(self, file_digest: str, trajectory: Trajectory) -> None:
        """Add a conversation with the bundles of its turns, all or nothing. file_digest: as in import_runs."""

    def trajectory(self, trajectory_id: str) -> KeptTrajectory | None: ...

    def trajectories(self, limit: int, task_id: str | None) -> tuple[TrajectorySummary, ...]:
        """Return conversations, newest first."""

    def revision(self) -> int:
        """Return a number that grows with every outcome, run or bundle written. While it stays the same, so do the
        answers to the questions below."""

    def score_rows(self, task_id: str | None) -> tuple[ScoreRow, ...]: ...

    def baseline_rows(self) -> tuple[BaselineRow, ...]: ...

    def samples(self, run_id: str | None) -> SampleColumns: ...

    def standings(self) -> tuple[Standing, ...]: ...

    def close(self) -> None: ...


QUESTIONS = frozenset(name for name in vars(Store) if not name.startswith("_")) - {"close"}
"""The names of the methods that another process may call."""
