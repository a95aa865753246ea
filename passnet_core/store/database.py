"""The store's DuckDB file, opened by this process: migrations, writing, and one method per question."""

import contextlib
import functools
import json
import re
import threading
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from passnet_core.errors import StoreError, StoreRefusal
from passnet_core.records import (
    Bundle,
    Clock,
    Contender,
    Outcome,
    Run,
    Verdict,
    digest_of,
    from_json,
    to_json,
)
from passnet_core.records.trajectories import Ending, Opening, Trajectory, Turn
from passnet_core.store.base import MIGRATIONS, StoreBusy
from passnet_core.store.rows import (
    BaselineRow,
    Certificate,
    Draft,
    EarlierRun,
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
    bits_of,
)

HERE = Path(__file__).parent
INCLUDE = re.compile(r"^-- include (\w+)$", re.MULTILINE)
CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "threads": 2,
    "memory_limit": "2GB",
    # the store contains strangers' text: no query may reach other files or the network
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
DISK_FULL = re.compile(r"no space left|file too large|disk quota|quota exceeded|out of disk", re.IGNORECASE)
PID = re.compile(r"\(PID (\d+)\)")
OUTCOME_COLUMNS = (
    "job_digest", "solver", "bundle_digest", "task_id", "subgraph_id", "subgraph_digest", "dtype", "verdict",
    "finished_at",
)  # fmt: skip
SPEC_COLUMNS = ("device", "stage", "capture", "profile", "baseline")
"""The columns of an outcome that are fields of it and of its spec, as JSON has them."""
LOG_BEGINS = b"d\0be\0"
"""How DuckDB's write-ahead log begins, if it has anything. DuckDB takes what begins otherwise for an empty log, and
writes over it."""


class Database:
    """The store in one DuckDB file. base.Store documents its methods."""

    def __init__(self, path: Path) -> None:
        """Open or create the file. Raises StoreBusy if another process has it open, StoreError if it is unusable."""
        self.path = path
        self._writing = threading.Lock()
        self._connection = self._open()
        with contextlib.ExitStack() as undoing:
            undoing.callback(self._connection.close)
            self._migrate()
            undoing.pop_all()

    def close(self) -> None:
        with self._writing, self._translated():
            self._connection.close()

    # --- writing ---

    def add_bundle(self, bundle: Bundle) -> None:
        with self._transaction() as cursor:
            _add_bundles(cursor, [bundle])

    def start_run(self, run: Run, jobs: tuple[JobName, ...], owner: str, visitor: str) -> None:
        with self._transaction() as cursor:
            _add_runs(cursor, [run], owner, visitor)
            _add_jobs(cursor, [(run.id, place, job) for place, job in enumerate(jobs)])

    def append(self, run_id: str, place: int, outcome: Outcome) -> None:
        with self._transaction() as cursor:
            _add_outcomes(cursor, [(run_id, place, outcome)])

    def import_runs(self, file_digest: str, files: tuple[RunFile, ...]) -> None:
        with self._transaction() as cursor:
            known = {run_id for (run_id,) in _execute(cursor, "known_runs", ids=[file.run.id for file in files])}
            new: dict[str, RunFile] = {}
            for file in files:
                if new.setdefault(file.run.id, file) != file:
                    raise _other_run(file)
                if file.run.id in known and self._is_here(cursor, file):
                    del new[file.run.id]
            outcomes = [
                (run_id, place, outcome) for run_id, file in new.items() for place, outcome in enumerate(file.outcomes)
            ]
            # all runs at once: a statement costs more than its rows
            _add_bundles(cursor, [bundle for file in new.values() for bundle in file.bundles])
            _add_runs(cursor, [file.run for file in new.values()], owner="", visitor="")
            _add_jobs(cursor, [(run_id, place, _job_name(outcome)) for run_id, place, outcome in outcomes])
            _add_outcomes(cursor, outcomes)
            if file_digest:
                _execute(cursor, "add_recorded_file", digest=file_digest)

    def save_draft(self, visitor: str, task_id: str, slot: str, bundle: Bundle, after: int | None) -> int | None:
        named = {"visitor": visitor, "task_id": task_id, "slot": slot}
        with self._transaction() as cursor:
            rows = _execute(cursor, "draft", **named, place=None)
            if rows and _read(Bundle, rows[0][2]) == bundle:
                return int(rows[0][0])
            if (rows[0][0] if rows else None) != after:
                return None
            ((place,),) = _execute(cursor, "save_draft", **named, saved_at=_now(), content=_text(bundle))
            return int(place)

    def adopt_drafts(self, visitor: str) -> None:
        self._write("adopt_drafts", visitor=visitor)

    def note_run(self, visitor: str, run_id: str, note: str) -> None:
        self._write("note_run", visitor=visitor, run_id=run_id, note=note)

    def star_run(self, visitor: str, run_id: str, starred: bool) -> None:
        self._write("star_run", visitor=visitor, run_id=run_id, starred=starred)

    def add_certificate(self, certificate: Certificate) -> None:
        self._write("add_certificate", id=certificate.id, content=_text(certificate))

    def start_trajectory(self, opening: Opening, owner: str, visitor: str) -> None:
        with self._transaction() as cursor:
            _add_trajectory(cursor, opening, owner, visitor)

    def add_turn(self, trajectory_id: str, turn: Turn) -> None:
        with self._transaction() as cursor:
            _add_turn(cursor, trajectory_id, turn)

    def end_trajectory(self, trajectory_id: str, ending: Ending) -> None:
        self._write("add_ending", trajectory_id=trajectory_id, content=_text(ending))

    def import_trajectory(self, file_digest: str, trajectory: Trajectory) -> None:
        with self._transaction() as cursor:
            _add_trajectory(cursor, trajectory.opening, owner="", visitor="")
            _add_bundles(cursor, [turn.bundle for turn in trajectory.turns if turn.bundle is not None])
            for turn in trajectory.turns:
                _add_turn(cursor, trajectory.opening.id, turn)
            if trajectory.ending is not None:
                _execute(cursor, "add_ending", trajectory_id=trajectory.opening.id, content=_text(trajectory.ending))
            if file_digest:
                _execute(cursor, "add_recorded_file", digest=file_digest)

    # --- questions ---

    def recorded_files(self) -> tuple[str, ...]:
        return tuple(digest for (digest,) in self._rows("recorded_files"))

    def run(self, run_id: str) -> Run | None:
        rows = self._rows("run", run_id=run_id)
        return _read(Run, rows[0][0]) if rows else None

    def runs(self, asked: RunQuery) -> tuple[RunSummary, ...]:
        rows = self._rows("runs", **to_json(asked))
        summaries = []
        for content, verdicts, numbers, accepted, device, median, by, before, device_before, same in rows:
            run = _read(Run, content)
            counts = tuple((Verdict(verdict), number) for verdict, number in zip(verdicts, numbers))
            earlier = None if before is None else EarlierRun(_read(Run, before), device_before, same)
            summaries.append(RunSummary(run, counts, accepted, len(run.job_digests), device, median, by, earlier))
        return tuple(summaries)

    def count_runs(self, asked: RunQuery) -> int:
        filters = {name: value for name, value in to_json(asked).items() if name not in ("limit", "offset", "after")}
        return int(self._rows("count_runs", **filters)[0][0])

    def visitor_of(self, run_id: str) -> str:
        rows = self._rows("visitor_of", run_id=run_id)
        return str(rows[0][0] or "") if rows else ""

    def run_notes(self, visitor: str, run_id: str | None) -> tuple[RunNote, ...]:
        return tuple(RunNote(*row) for row in self._rows("run_notes", visitor=visitor, run_id=run_id))

    def outcomes(self, run_id: str) -> tuple[Outcome, ...]:
        return tuple(_read_outcome(*row) for row in self._rows("outcomes", run_id=run_id))

    def outcomes_as_they_came(self, run_id: str) -> tuple[Outcome, ...]:
        return tuple(_read_outcome(*row) for row in self._rows("outcomes_as_they_came", run_id=run_id))

    def unfinished(self, run_id: str | None) -> tuple[Unfinished, ...]:
        found: dict[str, Unfinished] = {}
        for each_id, content, owner, place, *job in self._rows("unfinished", run_id=run_id):
            so_far = found.get(each_id) or Unfinished(_read(Run, content), owner, (), ())
            found[each_id] = Unfinished(so_far.run, owner, (*so_far.positions, place), (*so_far.jobs, JobName(*job)))
        return tuple(found.values())

    def bundle(self, digest: str) -> Bundle | None:
        rows = self._rows("bundle", digest=digest)
        return _read(Bundle, rows[0][0]) if rows else None

    def known(self, job_digest: str, environment_digest: str) -> Outcome | None:
        rows = self._rows("known", job_digest=job_digest, environment_digest=environment_digest)
        return _read_outcome(*rows[0]) if rows else None

    def judged_run(
        self, bundle_digest: str, task_id: str, subgraph_digest: str, viewer: str | None = None
    ) -> str | None:
        asked = {"bundle_digest": bundle_digest, "task_id": task_id, "subgraph_digest": subgraph_digest}
        rows = self._rows("judged_run", **asked, viewer=viewer)
        return rows[0][0] if rows else None

    def draft(self, visitor: str, task_id: str, slot: str, place: int | None) -> SavedDraft | None:
        rows = self._rows("draft", visitor=visitor, task_id=task_id, slot=slot, place=place)
        return SavedDraft(rows[0][0], rows[0][1], _read(Bundle, rows[0][2])) if rows else None

    def drafts(self, visitor: str) -> tuple[Draft, ...]:
        return tuple(Draft(*row) for row in self._rows("drafts", visitor=visitor))

    def kept_bytes(self, visitor: str, digests: tuple[str, ...]) -> int:
        return int(self._rows("kept_bytes", visitor=visitor, digests=list(digests))[0][0])

    def certificate(self, certificate_id: str) -> Certificate | None:
        rows = self._rows("certificate", id=certificate_id)
        return _read(Certificate, rows[0][0]) if rows else None

    def trajectory(self, trajectory_id: str) -> KeptTrajectory | None:
        rows = self._rows("trajectory", trajectory_id=trajectory_id)
        if not rows:
            return None
        opening, owner, ending, by = rows[0]
        turns = tuple(_read(Turn, content) for (content,) in self._rows("turns", trajectory_id=trajectory_id))
        found = Trajectory(_read(Opening, opening), turns, None if ending is None else _read(Ending, ending))
        return KeptTrajectory(found, owner, by)

    def trajectories(self, limit: int, task_id: str | None) -> tuple[TrajectorySummary, ...]:
        return tuple(
            TrajectorySummary(
                _read(Opening, opening), owner, None if ending is None else _read(Ending, ending), turns, accepted, by
            )
            for opening, owner, ending, turns, accepted, by in self._rows("trajectories", limit=limit, task_id=task_id)
        )

    def revision(self, viewer: str | None = None) -> int:
        return int(self._rows("revision", viewer=viewer)[0][0])

    def sees_bundle(self, digest: str, viewer: str) -> bool:
        return bool(self._rows("sees_bundle", digest=digest, viewer=viewer))

    def has_measured(self, visitor: str) -> bool:
        return bool(self._rows("has_measured", visitor=visitor))

    def scored(self, viewer: str | None = None) -> Scored:
        return Scored(*self._rows("scored", viewer=viewer)[0])

    def score_rows(
        self,
        task_id: str | None,
        viewer: str | None = None,
        left_out: tuple[str, ...] = (),
        apart: bool = False,
    ) -> tuple[ScoreRow, ...]:
        values = {"task_id": task_id, "viewer": viewer, "left_out": list(left_out), "apart": apart}
        return tuple(from_json(ScoreRow, row) for row in self._named_rows("score_rows", **values))

    def baseline_rows(self, viewer: str | None = None) -> tuple[BaselineRow, ...]:
        found = []
        for row in self._named_rows("baseline_rows", viewer=viewer):
            row["speedups"] = json.loads(row["speedups"])
            row["times"] = [[*each.values()] for each in json.loads(row["times"])]
            found.append(from_json(BaselineRow, row))
        return tuple(found)

    def standings(self, viewer: str | None = None) -> tuple[Standing, ...]:
        return tuple(from_json(Standing, row) for row in self._named_rows("standings", viewer=viewer))

    # --- inside ---

    def _open(self) -> duckdb.DuckDBPyConnection:
        if self.path.exists() and not self.path.is_file():
            raise StoreError(f"{self.path} is not a file. Move it away, or name another folder with PASSNET_HOME.")
        try:
            with self._log.open("rb") as log:
                if not LOG_BEGINS.startswith(log.read(len(LOG_BEGINS))):
                    raise self._broken_log("it is none of DuckDB's")
        except FileNotFoundError:
            pass
        except OSError as error:
            raise self._broken_log(error.strerror or str(error)) from error
        with self._translated():
            return duckdb.connect(str(self.path), config=CONFIG)

    @property
    def _log(self) -> Path:
        """DuckDB's write-ahead log. It is not there while the file has all that was written."""
        return self.path.with_name(f"{self.path.name}.wal")

    def _broken_log(self, problem: str) -> StoreError:
        return StoreError(
            f"{self._log}, the log of what was written last to the results file, cannot be used: {problem}. If it was "
            "damaged, move it away and start again: only what was written since the playground was last closed is lost."
        )

    def _migrate(self) -> None:
        """Apply the migrations that the file lacks, each in a transaction of its own."""
        with self._transaction() as cursor:
            cursor.execute("CREATE TABLE IF NOT EXISTS migrations (name VARCHAR PRIMARY KEY)")
        with self._translated(), self._connection.cursor() as cursor:
            applied = {name for (name,) in cursor.execute("SELECT name FROM migrations").fetchall()}
        files = {path.name: path for path in sorted(MIGRATIONS.glob("*.sql"))}
        unknown = sorted(applied - set(files))
        if unknown:
            raise StoreError(
                f"The results file {self.path} was written by a newer version of the playground (it has the migration "
                f"{unknown[-1]}). Install that version, or set PASSNET_HOME to another folder."
            )
        for name, path in files.items():
            if name not in applied:
                with self._transaction() as cursor:
                    cursor.execute(path.read_text(encoding="utf-8"))
                    cursor.execute("INSERT INTO migrations VALUES ($name)", {"name": name})

    def _rows(self, question: str, **values: Any) -> list[Any]:
        with self._translated(), self._connection.cursor() as cursor:
            return _execute(cursor, question, **values)

    def _named_rows(self, question: str, **values: Any) -> list[dict[str, Any]]:
        """The rows of a question whose columns have the names of a record's fields."""
        with self._translated(), self._connection.cursor() as cursor:
            rows = _execute(cursor, question, **values)
            return [dict(zip([name for name, *_ in cursor.description], row)) for row in rows]

    def _write(self, statement: str, **values: Any) -> None:
        with self._transaction() as cursor:
            _execute(cursor, statement, **values)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield a cursor in a transaction: committed at the end, rolled back on any error. One at a time."""
        with self._writing, self._translated(), self._connection.cursor() as cursor:
            cursor.begin()
            with contextlib.ExitStack() as undoing:
                undoing.callback(_roll_back, cursor)
                yield cursor
                cursor.commit()
                undoing.pop_all()

    def _is_here(self, cursor: duckdb.DuckDBPyConnection, file: RunFile) -> bool:
        """Whether the run is in the store already. Raises StoreRefusal if another run has its id."""
        rows = _execute(cursor, "run", run_id=file.run.id)
        if not rows:
            return False
        here = _read(Run, rows[0][0])
        # stored text may use older names of enum values: compare the records that it reads as
        outcomes = [_text(_read_outcome(*row)) for row in _execute(cursor, "outcomes", run_id=file.run.id)]
        if _unlabelled(here) != _unlabelled(file.run) or outcomes != [_text(each) for each in file.outcomes]:
            raise _other_run(file)
        return True

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn DuckDB's errors into errors that say what to do."""
        try:
            yield
        except duckdb.Error as error:
            raise self._explained(error) from error

    def _explained(self, error: duckdb.Error) -> StoreError:
        text = str(error)
        if "lock" in text.lower() and isinstance(error, duckdb.IOException):
            found = PID.search(text)
            who = f"process {found.group(1)}" if found else "another process"
            return StoreBusy(
                f"The results file {self.path} is open in {who}, which does not share it. "
                "End that process, or set PASSNET_HOME to another folder."
            )
        if DISK_FULL.search(text):
            return StoreError(
                f"The disk with the results file {self.path} is full, so nothing was saved. "
                "Free some space on it, then try again."
            )
        if isinstance(error, duckdb.ConnectionException):
            return StoreError("The results file is closed: the playground is shutting down. Start it again.")
        first_line = text.strip().partition("\n")[0]
        if str(self._log) in text:
            return self._broken_log(first_line.replace(f'"{self._log}"', "it").rstrip("."))
        return StoreError(
            f"The results file {self.path} cannot be used: {first_line} "
            "Check the file and its folder. If you move the file away, a new one is created."
        )


@functools.cache
def _sql(name: str) -> str:
    """The query of this name, with the parts of others that it includes."""
    text = (HERE / "sql" / f"{name}.sql").read_text(encoding="utf-8")
    return INCLUDE.sub(lambda included: _sql(included[1]), text)


def _execute(cursor: duckdb.DuckDBPyConnection, name: str, **values: Any) -> list[Any]:
    """Execute the query of this name, and return its rows."""
    return cursor.execute(_sql(name), values).fetchall()


def _text(record: Any) -> str:
    return _json(to_json(record))


def _json(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"), allow_nan=False)


def _findings_digest(outcome: Outcome) -> str:
    return digest_of(to_json(outcome.findings))


def _read(kind: type, text: str) -> Any:
    return from_json(kind, json.loads(text))


def _read_outcome(content: str, findings: str | None) -> Outcome:
    """Return an outcome of its row. findings: None where it has none, or has them inside its content."""
    data = json.loads(content)
    if findings is not None:
        data["findings"] = json.loads(findings)
    return from_json(Outcome, data)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _unlabelled(run: Run) -> tuple[Any, ...]:
    """Return the fields that make two runs equal: all but the id, the label and the origin."""
    return (run.started_at, run.solver, run.bundle_digest, run.spec, run.task_ids, run.job_digests)


def _roll_back(cursor: duckdb.DuckDBPyConnection) -> None:
    # a failed commit has ended the transaction already
    with contextlib.suppress(duckdb.Error):
        cursor.rollback()


def _other_run(file: RunFile) -> StoreRefusal:
    return StoreRefusal(
        f"Another run has the id {file.run.id!r} here. The imported file was changed: export the run again."
    )


def _job_name(outcome: Outcome) -> JobName:
    return JobName(outcome.job_digest, outcome.task_id, outcome.subgraph_id, outcome.subgraph_digest, outcome.dtype)


def _add_bundles(cursor: duckdb.DuckDBPyConnection, bundles: Sequence[Bundle]) -> None:
    found = {bundle.digest: bundle for bundle in bundles}
    _execute(
        cursor,
        "add_bundles",
        digests=list(found),
        authors=[bundle.author for bundle in found.values()],
        contents=[_text(bundle) for bundle in found.values()],
    )


def _add_trajectory(cursor: duckdb.DuckDBPyConnection, opening: Opening, owner: str, visitor: str) -> None:
    _execute(
        cursor,
        "add_trajectory",
        id=opening.id,
        task_id=opening.task_id,
        started_at=opening.started_at,
        owner=owner,
        visitor=visitor,
        content=_text(opening),
    )


def _add_turn(cursor: duckdb.DuckDBPyConnection, trajectory_id: str, turn: Turn) -> None:
    _execute(
        cursor,
        "add_turn",
        trajectory_id=trajectory_id,
        number=turn.number,
        accepted=None if turn.score is None else turn.score.accepted,
        content=_text(turn),
    )


def _add_runs(cursor: duckdb.DuckDBPyConnection, runs: Sequence[Run], owner: str, visitor: str) -> None:
    _execute(
        cursor,
        "add_runs",
        ids=[run.id for run in runs],
        started_at=[run.started_at for run in runs],
        solvers=[run.solver.value for run in runs],
        bundle_digests=[run.bundle_digest for run in runs],
        stages=[run.spec.stage.value for run in runs],
        recorded=[run.recorded for run in runs],
        owner=owner,
        visitor=visitor,
        contents=[_text(run) for run in runs],
    )


def _add_jobs(cursor: duckdb.DuckDBPyConnection, jobs: Sequence[tuple[str, int, JobName]]) -> None:
    """Add jobs, each with its run's id and its place in the run."""
    _execute(
        cursor,
        "add_jobs",
        run_ids=[run_id for run_id, _, _ in jobs],
        places=[place for _, place, _ in jobs],
        job_digests=[job.job_digest for _, _, job in jobs],
        task_ids=[job.task_id for _, _, job in jobs],
        subgraph_ids=[job.subgraph_id for _, _, job in jobs],
        subgraph_digests=[job.subgraph_digest for _, _, job in jobs],
        dtypes=[job.dtype for _, _, job in jobs],
    )


def _add_outcomes(cursor: duckdb.DuckDBPyConnection, outcomes: Sequence[tuple[str, int, Outcome]]) -> None:
    """Add outcomes, each with its run's id and its place in the run."""
    environments = {each.environment.digest: each.environment for _, _, each in outcomes if each.environment}
    contents = [_text(each) for each in environments.values()]
    _execute(cursor, "add_environments", digests=list(environments), contents=contents)
    findings = {_findings_digest(each): _text(each.findings) for _, _, each in outcomes if each.findings}
    if findings:
        _execute(cursor, "add_findings", digests=list(findings), contents=list(findings.values()))
    rows = [_columns(*each) for each in outcomes]
    if rows:
        _execute(cursor, "add_outcomes", **{name: [row[name] for row in rows] for name in rows[0]})


def _columns(run_id: str, place: int, outcome: Outcome) -> dict[str, Any]:
    own, baseline = outcome.speedup(), outcome.speedup(Clock.END_TO_END, Contender.BASELINE)
    data = {name: value for name, value in to_json(outcome).items() if name != "findings"}
    content = _json(data)
    return {
        "run_id": run_id,
        "place": place,
        **{name: data[name] for name in OUTCOME_COLUMNS},
        **{name: data["spec"][name] for name in SPEC_COLUMNS},
        "environment_digest": None if outcome.environment is None else outcome.environment.digest,
        "device_name": "" if outcome.environment is None else outcome.environment.device,
        "clock_version": 1 if outcome.environment is None else outcome.environment.clock_version,
        "judged": outcome.verdict.judged,
        "accepted": outcome.verdict.accepted,
        "error_class": None if outcome.error_class is None else outcome.error_class.value,
        "speedup": None if own is None else own.value,
        "baseline_speedup": None if baseline is None else baseline.value,
        "noise": outcome.noise,
        "correct_bits": bits_of(outcome),
        "findings_digest": _findings_digest(outcome) if outcome.findings else None,
        "content": content,
        "bytes": len(content.encode()),
    }
