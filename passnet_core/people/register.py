"""The register of a server's persons: roles, tokens, seconds used, and the audit log, in a file of its own.

A token is shown once; the register has only its SHA-256 digest, which is enough for 32 random bytes."""

import hashlib
import secrets
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from passnet_core.errors import BadInput, UnknownItem
from passnet_core.outside import quoted
from passnet_core.people.person import LONGEST_NAME, LogEntry, Person, PersonRole, TokenNote
from passnet_core.shared_file import SharedFile

FILE = "people.sqlite"
PREFIX = "passnet_"
"""How every token begins, so that scanners for leaked keys can find it."""
HOUR_S = 3600.0
DAY_S = 24 * HOUR_S
KEPT_S = DAY_S
"""How long it is kept how many seconds somebody used."""
LOG_KEPT_S = 365 * DAY_S
LONGEST_REASON = 300
LONGEST_LIFE_DAYS = 366
MOST_NAMESAKES = 1_000
MOST_TOKENS = 20
"""How many tokens a person may have."""
TIDY_EVERY = 1_000

SCHEMA = """
CREATE TABLE IF NOT EXISTS people (
    id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, role TEXT NOT NULL, created_at TEXT NOT NULL,
    banned TEXT NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS tokens (
    id TEXT PRIMARY KEY, digest TEXT NOT NULL UNIQUE, person TEXT NOT NULL, label TEXT NOT NULL,
    created_at TEXT NOT NULL, expires_at TEXT NOT NULL, used_at TEXT NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS used (person TEXT NOT NULL, at REAL NOT NULL, seconds REAL NOT NULL);
CREATE INDEX IF NOT EXISTS used_by ON used (person, at);
CREATE TABLE IF NOT EXISTS shared (run TEXT PRIMARY KEY, person TEXT NOT NULL, at REAL NOT NULL);
CREATE INDEX IF NOT EXISTS shared_by ON shared (person);
CREATE TABLE IF NOT EXISTS log (at REAL NOT NULL, person TEXT NOT NULL, deed TEXT NOT NULL, about TEXT NOT NULL);
"""
PERSON = "id, name, role, created_at, banned"
TOKEN = "id, person, label, created_at, expires_at, used_at"


class Register:
    """Safe to share between threads, and between processes. All methods raise InfrastructureError if the file cannot be
    used."""

    def __init__(self, folder: Path) -> None:
        self._file = SharedFile(folder / FILE, SCHEMA)
        self._written = 0
        self._tidy()

    def close(self) -> None:
        self._file.close()

    # --- persons ---

    def add(self, name: str, role: PersonRole) -> Person:
        """Enter a person. Raises BadInput if the name is taken, or none."""
        name = " ".join(name.split())
        if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
            raise BadInput(f"A name has 1 to {LONGEST_NAME} printable characters. Choose another one.")
        row = (secrets.token_hex(16), name, role.value, _now(), "")
        added = self._file.row(
            f"INSERT INTO people ({PERSON}) VALUES (?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING RETURNING {PERSON}",
            *row,
        )
        if added is None:
            raise BadInput(f"There is a person named {quoted(name)} already. Choose another name.")
        return _person(added)

    def visitor(self, visitor_id: str) -> Person:
        """Somebody who has not signed in. Only those who were banned are entered."""
        return self._with_id(visitor_id) or Person(visitor_id, f"visitor {visitor_id[:8]}", PersonRole.VISITOR, "")

    def signed_in(self, person_id: str, name: str) -> Person:
        """Who has signed in, as a member the first time. name: as the provider of the sign-in has it; a number follows
        if another person has that name."""
        name = "".join(filter(str.isprintable, " ".join(name.split())))[: LONGEST_NAME - 5] or "Somebody"
        for number in range(1, MOST_NAMESAKES):
            # the question first: it waits for nobody who writes
            if (known := self._with_id(person_id)) is not None:
                return known
            row = (person_id, name if number == 1 else f"{name} {number}", PersonRole.MEMBER.value, _now(), "")
            added = self._file.row(
                f"INSERT INTO people ({PERSON}) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING {PERSON}", *row
            )
            if added is not None:
                return _person(added)
        raise BadInput(f"There are too many persons named {quoted(name)}. Ask who runs this server.")

    def people(self) -> tuple[Person, ...]:
        """All persons, by name."""
        return tuple(map(_person, self._file.rows(f"SELECT {PERSON} FROM people ORDER BY name")))

    def person(self, named: str) -> Person:
        """The person with this id or name. Raises UnknownItem."""
        found = self._file.row(f"SELECT {PERSON} FROM people WHERE ? IN (id, name) ORDER BY id = ? DESC", named, named)
        if found is None:
            raise UnknownItem(f"There is no person {quoted(named)} here. List them with: passnet people list")
        return _person(found)

    def with_id(self, person_id: str) -> Person:
        """The person with this id, however others call themselves. Raises UnknownItem."""
        found = self._with_id(person_id)
        if found is None:
            raise UnknownItem(
                f"There is no person with the id {quoted(person_id)} here. Roles and tokens are given by id, as anybody"
                " can choose a name. List them with: passnet people list"
            )
        return found

    def _with_id(self, person_id: str) -> Person | None:
        found = self._file.row(f"SELECT {PERSON} FROM people WHERE id = ?", person_id)
        return None if found is None else _person(found)

    def set_role(self, person: Person, role: PersonRole) -> Person:
        return self._changed(person, "role", role.value)

    def ban(self, person: Person, reason: str) -> Person:
        """Do nothing more for a person, whose tokens and runs stay. reason: what they are told; "" lifts a ban."""
        reason = " ".join(reason.split())
        if len(reason) > LONGEST_REASON:
            raise BadInput(
                f"The reason has {len(reason)} characters, but at most {LONGEST_REASON} are kept. Shorten it."
            )
        if person.role is PersonRole.VISITOR:
            row = (person.id, person.name, person.role.value, person.created_at or _now())
            self._file.row(f"INSERT INTO people ({PERSON}) VALUES (?, ?, ?, ?, '') ON CONFLICT DO NOTHING", *row)
        return self._changed(person, "banned", reason)

    def _changed(self, person: Person, column: str, value: str) -> Person:
        self._file.row(f"UPDATE people SET {column} = ? WHERE id = ?", value, person.id)
        return self.person(person.id)

    # --- tokens ---

    def issue(self, person: Person, label: str, days: int) -> str:
        """Make a token, and return it: it can never be read again. Raises BadInput for a life that is too long, a label
        that is none, and one token too many."""
        if not 1 <= days <= LONGEST_LIFE_DAYS:
            raise BadInput(f"A token lasts from 1 to {LONGEST_LIFE_DAYS} days, not {days}.")
        if len(label) > LONGEST_NAME or not label.isprintable():
            raise BadInput(f"A label has at most {LONGEST_NAME} printable characters. Choose another one.")
        if len(self.tokens(person)) >= MOST_TOKENS:
            raise BadInput(f"{person.name} has {MOST_TOKENS} tokens, and no more can be made. Revoke one first.")
        token = PREFIX + secrets.token_urlsafe(32)
        expires = datetime.fromtimestamp(time.time() + days * DAY_S, UTC).isoformat(timespec="seconds")
        self._file.row(
            f"INSERT INTO tokens (digest, {TOKEN}) VALUES (?, ?, ?, ?, ?, ?, '')",
            _digest(token), secrets.token_hex(4), person.id, label, _now(), expires,
        )  # fmt: skip
        return token

    def tokens(self, person: Person) -> tuple[TokenNote, ...]:
        """What is known of a person's tokens, the oldest first; not the tokens."""
        found = self._file.rows(f"SELECT {TOKEN} FROM tokens WHERE person = ? ORDER BY rowid", person.id)
        return tuple(TokenNote(*row) for row in found)

    def revoke(self, token_id: str) -> TokenNote:
        """Have a token open nothing any more. Raises UnknownItem."""
        found = self._file.row(f"DELETE FROM tokens WHERE id = ? RETURNING {TOKEN}", token_id)
        if found is None:
            raise UnknownItem(f"There is no token {quoted(token_id)} here. List them with: passnet people tokens NAME")
        return TokenNote(*found)

    def has_tokens(self) -> bool:
        """Whether anybody has a token."""
        return self._file.row("SELECT 1 FROM tokens LIMIT 1") is not None

    def holder(self, token: str) -> Person | None:
        """Whose token this is; None if it is nobody's, or no longer valid."""
        found = self._file.row("SELECT id, person, used_at FROM tokens WHERE digest = ? AND expires_at > ?",
                               _digest(token), _now())  # fmt: skip
        if found is None:
            return None
        if found[2][:16] != _now()[:16]:  # once a minute is often enough
            self._file.row("UPDATE tokens SET used_at = ? WHERE id = ?", _now(), found[0])
        return self._with_id(found[1])

    # --- what was used ---

    def spent(self, owner: str, seconds: float) -> None:
        """Note that judging took so many seconds for the person with this id."""
        if owner:
            self._file.row("INSERT INTO used VALUES (?, ?, ?)", owner, time.time(), seconds)
            self._count()

    def usage(self) -> dict[str, float]:
        """How many seconds were judged in the last hour for each person for whom anything was, the most first."""
        since = time.time() - HOUR_S
        return dict(
            self._file.rows(
                "SELECT person, sum(seconds) FROM used WHERE at > ? GROUP BY person ORDER BY sum(seconds) DESC", since
            )
        )

    def used(self, owner: str) -> float:
        """How many seconds were judged for the person with this id in the last hour."""
        since = time.time() - HOUR_S
        found = self._file.row("SELECT sum(seconds) FROM used WHERE person = ? AND at > ?", owner, since)
        return float(found[0] or 0.0) if found else 0.0

    def free_in(self, owner: str, allowed_s: float) -> float:
        """In how many seconds less than allowed_s will have been used in an hour, if nothing more is judged."""
        over = self.used(owner) - allowed_s
        if over < 0:
            return 0.0
        since = time.time() - HOUR_S
        for at, seconds in self._file.rows(
            "SELECT at, seconds FROM used WHERE person = ? AND at > ? ORDER BY at", owner, since
        ):
            over -= seconds
            if over < 0:
                return float(at - since)
        return HOUR_S

    # --- what is shared ---

    def share(self, run_id: str, owner: str, shared: bool) -> None:
        """Let everybody who has its link see a run, or nobody else any more."""
        if shared:
            self._file.row("INSERT OR REPLACE INTO shared VALUES (?, ?, ?)", run_id, owner, time.time())
        else:
            self._file.row("DELETE FROM shared WHERE run = ? AND person = ?", run_id, owner)

    def is_shared(self, run_id: str) -> bool:
        return self._file.row("SELECT 1 FROM shared WHERE run = ?", run_id) is not None

    def shared_by(self, owner: str) -> tuple[str, ...]:
        """The runs, conversations and bundles that the person with this id shares."""
        return tuple(each for (each,) in self._file.rows("SELECT run FROM shared WHERE person = ?", owner))

    # --- the log ---

    def note(self, person_id: str, deed: str, about: str = "") -> None:
        """Write a deed into the audit log."""
        self._file.row("INSERT INTO log VALUES (?, ?, ?, ?)", time.time(), person_id, deed, about)
        self._count()

    def log(self, limit: int, person_id: str | None = None) -> tuple[LogEntry, ...]:
        """The newest entries first, of one person or of all."""
        found = self._file.rows(
            "SELECT at, person, deed, about FROM log WHERE ? IS NULL OR person = ?"
            " ORDER BY at DESC, rowid DESC LIMIT ?",
            person_id, person_id, limit,
        )  # fmt: skip
        return tuple(LogEntry(_iso(row[0]), *row[1:]) for row in found)

    # --- inside ---

    def _count(self) -> None:
        self._written += 1
        if self._written % TIDY_EVERY == 0:
            self._tidy()

    def _tidy(self) -> None:
        """Delete what is too old."""
        self._file.row("DELETE FROM used WHERE at < ?", time.time() - KEPT_S)
        self._file.row("DELETE FROM log WHERE at < ?", time.time() - LOG_KEPT_S)


def _person(row: Any) -> Person:
    return Person(row[0], row[1], PersonRole(row[2]), row[3], row[4])


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogateescape")).hexdigest()


def _now() -> str:
    return _iso(time.time())


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
