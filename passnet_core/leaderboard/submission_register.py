"""The register of submissions, in a file of its own: what was handed in, judged and taken back. Nothing is deleted."""

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from passnet_core.errors import UnknownItem
from passnet_core.leaderboard.submissions import BoardEntry, Judgement, JudgingRound, Retraction, Submission
from passnet_core.outside import quoted
from passnet_core.records import from_json, to_json
from passnet_core.shared_file import SharedFile

FILE = "submissions.sqlite"
SCHEMA = """
CREATE TABLE IF NOT EXISTS submissions (
    id TEXT PRIMARY KEY, title TEXT NOT NULL, version INTEGER NOT NULL, owner TEXT NOT NULL, code TEXT NOT NULL,
    name TEXT NOT NULL, bundles TEXT NOT NULL, submitted_at TEXT NOT NULL, note TEXT NOT NULL,
    appeared_at TEXT NOT NULL DEFAULT '', UNIQUE (owner, title, version)
);
CREATE TABLE IF NOT EXISTS rounds (
    submission TEXT NOT NULL, number INTEGER NOT NULL, runs TEXT NOT NULL, started_at TEXT NOT NULL,
    judgement TEXT NOT NULL DEFAULT '', PRIMARY KEY (submission, number)
);
CREATE TABLE IF NOT EXISTS retractions (
    submission TEXT PRIMARY KEY, reason TEXT NOT NULL, at TEXT NOT NULL, by_whom TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS evidence (item TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS changes (number INTEGER PRIMARY KEY AUTOINCREMENT);
"""
SUBMISSION = "id, title, version, owner, code, name, bundles, submitted_at, note"


class SubmissionRegister:
    """Safe to share between threads, and between processes. All methods raise InfrastructureError if the file cannot be
    used."""

    def __init__(self, folder: Path) -> None:
        self._file = SharedFile(folder / FILE, SCHEMA)

    def close(self) -> None:
        self._file.close()

    # --- what is here ---

    def revision(self) -> int:
        """A number that grows with everything that is written."""
        return int(self._file.rows("SELECT coalesce(max(number), 0) FROM changes")[0][0])

    def entries(self) -> tuple[BoardEntry, ...]:
        """All of them, the newest first."""
        return self._entries("", ())

    def entry(self, submission_id: str) -> BoardEntry:
        """Raises UnknownItem."""
        found = self._entries("WHERE id = ?", (submission_id,))
        if not found:
            raise no_submission(submission_id)
        return found[0]

    def unsettled(self) -> tuple[BoardEntry, ...]:
        """Those of which a judging has not been seen to have finished."""
        return self._entries("WHERE id IN (SELECT submission FROM rounds WHERE judgement = '')", ())

    def opens(self, item: str) -> bool:
        """Whether everybody sees the run with this id, or the bundle with this digest, as evidence."""
        return self._file.row("SELECT 1 FROM evidence WHERE item = ?", item) is not None

    # --- what happens ---

    def add(self, submission: Submission, runs: Iterable[tuple[str, str]]) -> Submission:
        """Enter a submission that is being judged by these runs, and return it as the next version of its title."""
        added = self._file.rows(
            f"INSERT INTO submissions ({SUBMISSION}) SELECT ?, ?, coalesce(max(version), 0) + 1, ?,"
            " coalesce(max(code), ?), ?, ?, ?, ? FROM submissions WHERE owner = ? AND title = ?"
            f" RETURNING {SUBMISSION}",
            submission.id, submission.title, submission.owner, submission.code, submission.name,
            json.dumps(submission.bundles), submission.submitted_at, submission.note, submission.owner,
            submission.title,
        )  # fmt: skip
        self.start_round(submission.id, runs, submission.submitted_at)
        return _submission(added[0])

    def start_round(self, submission_id: str, runs: Iterable[tuple[str, str]], at: str) -> None:
        """Note that a submission is being judged by these runs. runs: (task id, the run's id)."""
        self._file.row(
            "INSERT INTO rounds (submission, number, runs, started_at) SELECT ?, coalesce(max(number), 0) + 1, ?, ?"
            " FROM rounds WHERE submission = ?",
            submission_id, json.dumps(list(runs)), at, submission_id,
        )  # fmt: skip
        self._changed()

    def settle(self, submission_id: str, number: int, judgement: Judgement) -> None:
        """Keep what the judge found in a round, unless that is known already."""
        self._file.row(
            "UPDATE rounds SET judgement = ? WHERE submission = ? AND number = ? AND judgement = ''",
            json.dumps(to_json(judgement)), submission_id, number,
        )  # fmt: skip
        self._changed()

    def appear(self, entry: BoardEntry, at: str) -> None:
        """Open the evidence on a submission to everybody, for good."""
        self._file.row(
            "UPDATE submissions SET appeared_at = ? WHERE id = ? AND appeared_at = ''", at, entry.submission.id
        )
        for item in (*entry.run_ids, *(digest for _, digest in entry.submission.bundles)):
            self._file.row("INSERT OR IGNORE INTO evidence VALUES (?)", item)
        self._changed()

    def retract(self, submission_id: str, retraction: Retraction) -> bool:
        """Take a submission back, for good. Returns whether it was not taken back before."""
        taken = self._file.row(
            "INSERT OR IGNORE INTO retractions VALUES (?, ?, ?, ?) RETURNING 1",
            submission_id, retraction.reason, retraction.at, retraction.by,
        )  # fmt: skip
        self._changed()
        return taken is not None

    def rename(self, submission: Submission, name: str) -> None:
        """Show all versions of a submission under this name; "": anonymously."""
        self._file.row(
            "UPDATE submissions SET name = ? WHERE owner = ? AND title = ?", name, submission.owner, submission.title
        )
        self._changed()

    # --- inside ---

    def _entries(self, where: str, values: tuple[str, ...]) -> tuple[BoardEntry, ...]:
        found = self._file.rows(
            f"SELECT {SUBMISSION}, appeared_at FROM submissions {where} ORDER BY submitted_at DESC, rowid DESC", *values
        )
        if not found:
            return ()
        rounds: defaultdict[str, list[JudgingRound]] = defaultdict(list)
        for row in self._file.rows(
            "SELECT submission, number, runs, started_at, judgement FROM rounds ORDER BY number"
        ):
            judgement = from_json(Judgement, json.loads(row[4])) if row[4] else None
            rounds[row[0]].append(JudgingRound(row[1], _pairs(row[2]), row[3], judgement))
        taken = {row[0]: Retraction(*row[1:]) for row in self._file.rows("SELECT * FROM retractions")}
        # one without a round was cut off while it was entered, and nobody was told its id
        return tuple(
            BoardEntry(_submission(row[:-1]), tuple(rounds[row[0]]), taken.get(row[0]), row[-1])
            for row in found
            if rounds[row[0]]
        )

    def _changed(self) -> None:
        self._file.row("INSERT INTO changes DEFAULT VALUES")


def no_submission(submission_id: str) -> UnknownItem:
    """The error for a submission that is not here, or that somebody may not see."""
    return UnknownItem(
        f"There is no submission {quoted(submission_id)} here. List them with: passnet leaderboard submissions"
    )


def _submission(row: Any) -> Submission:
    submission_id, title, version, owner, code, name, bundles, submitted_at, note = row
    return Submission(submission_id, title, version, owner, code, name, _pairs(bundles), submitted_at, note)


def _pairs(text: str) -> tuple[tuple[str, str], ...]:
    return tuple((first, second) for first, second in json.loads(text))
