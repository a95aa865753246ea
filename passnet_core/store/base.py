"""The interface of the store, whichever process has its file open."""

from pathlib import Path
from typing import Protocol

from passnet_core.errors import StoreError
from passnet_core.records import Bundle, Outcome, Run
from passnet_core.records.trajectories import Ending, Opening, Trajectory, Turn
from passnet_core.store.rows import (
    BaselineRow,
    Certificate,
    Draft,
    JobName,
    KeptTrajectory,
    RunFile,
    RunNote,
    RunQuery,
    RunSummary,
    SavedDraft,
    Scored,
    ScoreRow,
    Standing,
    TrajectorySummary,
    Unfinished,
)

FILE = "results.duckdb"
"""The store's file in its folder."""
MIGRATIONS = Path(__file__).parent / "migrations"


class StoreBusy(StoreError):
    """Another process has the file open."""


class StoreGone(StoreError):
    """The process that had the file open no longer answers; another may open it now."""


class Store(Protocol):
    """Every method may be called from any thread. Written data is on the disk when a method returns.
    A writing method changes nothing when it is called again with the same arguments.
    All methods raise StoreError."""

    def add_bundle(self, bundle: Bundle) -> None: ...

    def start_run(self, run: Run, jobs: tuple[JobName, ...], owner: str, visitor: str) -> None:
        """owner: the process that judges it. visitor: the person who asked for it, or ""."""

    def append(self, run_id: str, place: int, outcome: Outcome) -> None:
        """Add the outcome of the job at this place of a run, unless the place has one already."""

    def import_runs(self, file_digest: str, files: tuple[RunFile, ...]) -> None:
        """Add all of these runs or none. Raises StoreRefusal if another run has the id of one.
        file_digest: the digest of the data file that they come from, or ""."""

    def recorded_files(self) -> tuple[str, ...]:
        """Return the digests of the data files that were imported."""

    def run(self, run_id: str) -> Run | None: ...

    def runs(self, asked: RunQuery) -> tuple[RunSummary, ...]:
        """Return runs, newest first."""

    def count_runs(self, asked: RunQuery) -> int:
        """Return how many runs fit, whatever limit and offset are."""

    def visitor_of(self, run_id: str) -> str:
        """Return who asked for a run; "" for nobody, and for a run that is not here."""

    def note_run(self, visitor: str, run_id: str, note: str) -> None:
        """Keep a visitor's note on a run, in place of an older one. The run need not be here."""

    def star_run(self, visitor: str, run_id: str, starred: bool) -> None: ...

    def run_notes(self, visitor: str, run_id: str | None) -> tuple[RunNote, ...]:
        """Return what a visitor keeps about this run, or about all; runs without note and star are left out."""

    def outcomes(self, run_id: str) -> tuple[Outcome, ...]: ...

    def outcomes_as_they_came(self, run_id: str) -> tuple[Outcome, ...]:
        """Return the outcomes of a run so far, what was stored last at the end."""

    def unfinished(self, run_id: str | None) -> tuple[Unfinished, ...]: ...

    def bundle(self, digest: str) -> Bundle | None: ...

    def known(self, job_digest: str, environment_digest: str) -> Outcome | None:
        """Return the newest outcome of this job in this environment that was judged here, not imported."""

    def judged_run(
        self, bundle_digest: str, task_id: str, subgraph_digest: str, viewer: str | None = None
    ) -> str | None:
        """Return the id of the run that says most of this bundle on this subgraph, beyond what a check says.
        viewer: as in score_rows."""

    def save_draft(self, visitor: str, task_id: str, slot: str, bundle: Bundle, after: int | None) -> int | None:
        """Save a draft and return its place. after: the place of the draft that it was made from, None if there was
        none. Saves nothing and returns None if another draft has been saved since, unless that one is equal."""

    def draft(self, visitor: str, task_id: str, slot: str, place: int | None) -> SavedDraft | None:
        """Return the newest draft of this slot, or the one at this place."""

    def drafts(self, visitor: str) -> tuple[Draft, ...]:
        """Return a person's drafts, newest first."""

    def adopt_drafts(self, visitor: str) -> None:
        """Give a person the drafts that are nobody's: those of before drafts belonged to somebody."""

    def kept_bytes(self, visitor: str, digests: tuple[str, ...]) -> int:
        """Return how many bytes a person's drafts and outcomes have, together with these bundles and those of the
        person's runs. Equal findings count once."""

    def add_certificate(self, certificate: Certificate) -> None: ...

    def certificate(self, certificate_id: str) -> Certificate | None: ...

    def start_trajectory(self, opening: Opening, owner: str, visitor: str) -> None:
        """owner, visitor: as in start_run."""

    def add_turn(self, trajectory_id: str, turn: Turn) -> None:
        """Add a turn, unless the conversation already has one of this number."""

    def end_trajectory(self, trajectory_id: str, ending: Ending) -> None: ...

    def import_trajectory(self, file_digest: str, trajectory: Trajectory) -> None:
        """Add a conversation with the bundles of its turns, all or nothing. file_digest: as in import_runs."""

    def trajectory(self, trajectory_id: str) -> KeptTrajectory | None: ...

    def trajectories(self, limit: int, task_id: str | None) -> tuple[TrajectorySummary, ...]:
        """Return conversations, newest first."""

    def revision(self, viewer: str | None = None) -> int:
        """Return a number that grows with every outcome, run or bundle written. While it stays the same, so do the
        answers to the questions below. viewer: counts only what this visitor sees."""

    def has_measured(self, visitor: str) -> bool:
        """Whether a run of this visitor has an outcome of stage MEASURE."""

    def scored(self, viewer: str | None = None) -> Scored:
        """Return how many outcomes score_rows looks at. While they stay the same, so does its answer."""

    def score_rows(
        self,
        task_id: str | None,
        viewer: str | None = None,
        left_out: tuple[str, ...] = (),
        apart: bool = False,
    ) -> tuple[ScoreRow, ...]:
        """viewer: only from this visitor's runs, and from those that are nobody's; None: from all. left_out: the ids of
        runs whose outcomes do not count. apart: not from runs that are nobody's."""

    def sees_bundle(self, digest: str, viewer: str) -> bool:
        """Whether there is a run with this bundle that is this visitor's, or nobody's."""

    def baseline_rows(self, viewer: str | None = None) -> tuple[BaselineRow, ...]: ...

    def standings(self, viewer: str | None = None) -> tuple[Standing, ...]: ...

    def close(self) -> None: ...


QUESTIONS = frozenset(name for name in vars(Store) if not name.startswith("_")) - {"close"}
"""The names of the methods that another process may call."""
