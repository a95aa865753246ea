"""Answers that depend on nothing but what they are named by, kept beyond the referee that found them.

They are a cache: losing them costs time and changes no verdict."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

MOST = 20_000
"""How many answers are kept; the oldest are dropped."""
WAIT_S = 2.0
"""How long to wait for another referee that writes."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    question TEXT PRIMARY KEY,
    answer TEXT NOT NULL
)
"""


class Remembered:
    """Answers by question, two texts. Several processes may use one file. Without a file nothing is remembered, and
    neither is it with one that cannot be read or written."""

    def __init__(self, file: Path | None = None) -> None:
        self.file = file

    def find(self, question: str) -> str | None:
        """The answer to a question, or None."""
        with contextlib.suppress(sqlite3.Error, OSError), self._opened() as answers:
            found = answers.execute("SELECT answer FROM answers WHERE question = ?", (question,)).fetchone()
            return None if found is None else str(found[0])
        return None

    def keep(self, question: str, answer: str) -> None:
        """Remember the answer to a question."""
        with contextlib.suppress(sqlite3.Error, OSError), self._opened() as answers:
            answers.execute("INSERT OR REPLACE INTO answers VALUES (?, ?)", (question, answer))
            answers.execute("DELETE FROM answers WHERE rowid <= (SELECT max(rowid) FROM answers) - ?", (MOST,))

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """A connection, whose transaction is committed at the end."""
        if self.file is None:
            raise FileNotFoundError("nothing is remembered")
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(sqlite3.connect(self.file, timeout=WAIT_S)) as connection, connection:
            connection.execute(SCHEMA)
            yield connection
