"""What services remember in a file of its own: answers by idempotency key, and of the judge's service the outcomes of
jobs.

A shared file, and not the store: rewards come by the thousand, nobody browses them, and an answer has to survive a
kill."""

import json
import time
from pathlib import Path
from typing import Any

from passnet_core.records import Outcome, from_json, to_json
from passnet_core.shared_file import SharedFile

FILE = "judge-service.sqlite"
KEPT_S = 7 * 24 * 3600.0
"""How long an answer is kept for its idempotency key, and an outcome for equal jobs."""
TIDY_EVERY = 1000
"""After how many outcomes those that are too old are deleted."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    caller TEXT NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL, answer TEXT NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (caller, key)
);
CREATE TABLE IF NOT EXISTS outcomes (
    job TEXT NOT NULL, environment TEXT NOT NULL, outcome TEXT NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (job, environment)
);
"""


class Ledger:
    """Safe to share between threads, and between processes. Raises InfrastructureError if the file cannot be used."""

    def __init__(self, folder: Path) -> None:
        self._file = SharedFile(folder / FILE, SCHEMA)
        self._written = 0
        self._tidy()

    def answer(self, caller: str, key: str) -> tuple[str, Any] | None:
        """The digest of the request that this caller's key stands for, and its answer; None if there is none."""
        found = self._file.row("SELECT request, answer FROM answers WHERE caller = ? AND key = ?", caller, key)
        return None if found is None else (found[0], json.loads(found[1]))

    def keep_answer(self, caller: str, key: str, request: str, answer: Any) -> Any:
        """Keep an answer, and return the one that the key has from now on: the first that was kept."""
        row = (caller, key, request, json.dumps(answer), time.time())
        self._file.row("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?)", *row)
        kept = self.answer(caller, key)
        return answer if kept is None else kept[1]

    def outcome(self, job: str, environment: str) -> Outcome | None:
        """The outcome of a job with this digest in this environment, if it is known."""
        found = self._file.row("SELECT outcome FROM outcomes WHERE job = ? AND environment = ?", job, environment)
        return None if found is None else from_json(Outcome, json.loads(found[0]))

    def keep_outcome(self, outcome: Outcome) -> None:
        """Keep an outcome of a judge."""
        if outcome.environment is not None:
            told = json.dumps(to_json(outcome), allow_nan=False)
            where = outcome.environment.digest
            row = (outcome.job_digest, where, told, time.time())
            self._file.row("INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?, ?)", *row)
            self._written += 1
            if self._written % TIDY_EVERY == 0:
                self._tidy()

    def close(self) -> None:
        self._file.close()

    def _tidy(self) -> None:
        """Delete what is too old."""
        for table in ("answers", "outcomes"):
            self._file.row(f"DELETE FROM {table} WHERE at < ?", time.time() - KEPT_S)
