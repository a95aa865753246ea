"""The classes of a server: who teaches whom, by which invitation, and what is assigned, in a file of its own.

An invitation is kept as it is, since its teacher may read it again. A renewed one makes the former worthless."""

import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from passnet_core.errors import BadInput, UnknownItem
from passnet_core.outside import quoted
from passnet_core.people.person import LONGEST_NAME, Person, PersonRole
from passnet_core.people.quotas import NotAllowed
from passnet_core.shared_file import SharedFile

GROUPS_FILE = "classes.sqlite"
SECRET_BYTES = 24
LONGEST_SECRET = 200
LONGEST_ITEM = 200
"""How many characters the id of a lesson or a task may have that is assigned."""
MOST_TAUGHT = 50
"""How many classes a teacher may have."""
MOST_JOINED = 50
MOST_MEMBERS = 300
MOST_ASSIGNMENTS = 100
WRONG_INVITATION = "This invitation does not open a class: ask your teacher for the link that holds now."

SCHEMA = """
PRAGMA foreign_keys = ON;
CREATE TABLE IF NOT EXISTS classes (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, teacher TEXT NOT NULL, invitation TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS members (
    class TEXT NOT NULL REFERENCES classes (id) ON DELETE CASCADE, person TEXT NOT NULL, joined_at TEXT NOT NULL,
    name TEXT NOT NULL, PRIMARY KEY (class, person)
);
CREATE INDEX IF NOT EXISTS members_by_person ON members (person);
CREATE TABLE IF NOT EXISTS assignments (
    id TEXT PRIMARY KEY, class TEXT NOT NULL REFERENCES classes (id) ON DELETE CASCADE, kind TEXT NOT NULL,
    item TEXT NOT NULL, opens_at TEXT NOT NULL, due_at TEXT NOT NULL, UNIQUE (class, kind, item)
);
"""
GROUP = "id, name, teacher, invitation, created_at"
MEMBER = "person, joined_at, name"
ASSIGNMENT = "id, kind, item, opens_at, due_at"


class AssignmentKind(StrEnum):
    LESSON = "lesson"
    TASK = "task"


@dataclass(frozen=True)
class Group:
    """A class. teacher_id: the person who made it. invitation: the secret with which one joins. created_at: ISO 8601 in
    UTC, as all moments here."""

    id: str
    name: str
    teacher_id: str
    invitation: str = field(repr=False)
    created_at: str


@dataclass(frozen=True)
class GroupMember:
    """Somebody in a class. name: as it was when they joined."""

    person_id: str
    joined_at: str
    name: str


@dataclass(frozen=True)
class Assignment:
    """A lesson or a task that a class is to do. item: its id. due_at: later than opens_at."""

    id: str
    kind: AssignmentKind
    item: str
    opens_at: str
    due_at: str


class Groups:
    """Safe to share between threads, and between processes. All methods raise InfrastructureError if the file cannot be
    used. Who may call them is not decided here."""

    def __init__(self, folder: Path) -> None:
        self._file = SharedFile(folder / GROUPS_FILE, SCHEMA)

    def close(self) -> None:
        self._file.close()

    # --- classes ---

    def add(self, name: str, teacher: Person) -> Group:
        """Make a class. Raises BadInput for a name that is none, and for one class too many."""
        name = " ".join(name.split())
        if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
            raise BadInput(f"The name of a class has 1 to {LONGEST_NAME} printable characters. Choose another one.")
        added = self._file.row(
            f"INSERT INTO classes ({GROUP}) SELECT ?, ?, ?, ?, ?"
            f" WHERE (SELECT count(*) FROM classes WHERE teacher = ?) < {MOST_TAUGHT} RETURNING {GROUP}",
            secrets.token_hex(8), name, teacher.id, _invitation(), _now(), teacher.id,
        )  # fmt: skip
        if added is None:
            raise BadInput(f"You have {MOST_TAUGHT} classes, and no more can be made. Close one first.")
        return Group(*added)

    def group(self, group_id: str) -> Group:
        """Raises UnknownItem."""
        return self._found(self._file.row(f"SELECT {GROUP} FROM classes WHERE id = ?", group_id), group_id)

    def all(self) -> tuple[Group, ...]:
        """All classes, by name."""
        return _groups(self._file.rows(f"SELECT {GROUP} FROM classes ORDER BY name, id"))

    def taught_by(self, person_id: str) -> tuple[Group, ...]:
        """The classes of a teacher, by name."""
        return _groups(self._file.rows(f"SELECT {GROUP} FROM classes WHERE teacher = ? ORDER BY name, id", person_id))

    def joined_by(self, person_id: str) -> tuple[Group, ...]:
        """The classes in which a person is a student, by name."""
        return _groups(
            self._file.rows(
                f"SELECT {GROUP} FROM classes WHERE id IN (SELECT class FROM members WHERE person = ?)"
                " ORDER BY name, id",
                person_id,
            )
        )

    def renew(self, group_id: str) -> Group:
        """Give a class another invitation: with the former, nobody joins any more. Raises UnknownItem."""
        renewed = self._file.row(
            f"UPDATE classes SET invitation = ? WHERE id = ? RETURNING {GROUP}", _invitation(), group_id
        )
        return self._found(renewed, group_id)

    def end(self, group_id: str) -> Group:
        """Delete a class with its members and assignments. Raises UnknownItem."""
        return self._found(self._file.row(f"DELETE FROM classes WHERE id = ? RETURNING {GROUP}", group_id), group_id)

    def nothing(self, group_id: str) -> UnknownItem:
        """What is said of a class that is not here, and in the same words of one that somebody may not see."""
        return UnknownItem(f"There is no class {quoted(group_id)} that you may see. Ask its teacher for an invitation.")

    # --- members ---

    def invited(self, invitation: str) -> Group:
        """The class that an invitation opens. Raises UnknownItem for a wrong or a renewed one."""
        found = None
        if invitation.isascii() and len(invitation) <= LONGEST_SECRET:
            found = self._file.row(f"SELECT {GROUP} FROM classes WHERE invitation = ?", invitation)
        if found is None:
            raise UnknownItem(WRONG_INVITATION)
        return Group(*found)

    def join(self, invitation: str, person: Person) -> Group:
        """Enter somebody into the class that an invitation opens; who is in it stays in it. Raises NotAllowed for who
        has not signed in, UnknownItem for a wrong or a renewed invitation, BadInput where there is no room."""
        if person.role is PersonRole.VISITOR:
            raise NotAllowed("Classes are for those who have signed in. Sign in first.")
        group = self.invited(invitation)
        if group in self.joined_by(person.id):
            return group
        if len(self.joined_by(person.id)) >= MOST_JOINED:
            raise BadInput(f"You are in {MOST_JOINED} classes, and no more can be joined. Leave one first.")
        entered = self._file.row(
            f"INSERT INTO members (class, {MEMBER}) SELECT id, ?, ?, ? FROM classes WHERE invitation = ?"
            f" AND (SELECT count(*) FROM members WHERE class = classes.id) < {MOST_MEMBERS}"
            " ON CONFLICT (class, person) DO UPDATE SET name = excluded.name RETURNING class",
            person.id, _now(), person.name, invitation,
        )  # fmt: skip
        if entered is None:
            group = self.invited(invitation)
            raise BadInput(f"{group.name} has {MOST_MEMBERS} students, and no room for more. Ask its teacher.")
        return group

    def members(self, group_id: str) -> tuple[GroupMember, ...]:
        """Who is in a class, by name."""
        found = self._file.rows(f"SELECT {MEMBER} FROM members WHERE class = ? ORDER BY name, person", group_id)
        return tuple(GroupMember(*row) for row in found)

    def leave(self, group_id: str, person_id: str) -> None:
        """Take a person out of a class. Raises UnknownItem for who is not in it."""
        gone = self._file.row(
            "DELETE FROM members WHERE class = ? AND person = ? RETURNING person", group_id, person_id
        )
        if gone is None:
            raise UnknownItem(f"There is no student {quoted(person_id)} in this class.")

    # --- assignments ---

    def assign(self, group_id: str, kind: AssignmentKind, item: str, opens_at: str, due_at: str) -> Assignment:
        """Assign a lesson or a task; what is assigned already gets these dates. opens_at, due_at: ISO 8601 with a time
        zone. Raises BadInput for what no id can be, for moments that are none, if it is due before it opens, and for
        one assignment too many; UnknownItem if there is no such class."""
        if not 0 < len(item) <= LONGEST_ITEM or not item.isprintable():
            raise BadInput(
                f"The id of a {kind.value} has 1 to {LONGEST_ITEM} printable characters. Choose another one."
            )
        opens, due = _moment(opens_at), _moment(due_at)
        if opens >= due:
            raise BadInput(
                f"This would be due at {_said(due)}, but open at {_said(opens)} only. Choose a later due date."
            )
        self.group(group_id)
        assigned = self._file.row(
            f"INSERT INTO assignments (class, {ASSIGNMENT}) SELECT id, ?, ?, ?, ?, ? FROM classes WHERE id = ? AND ("
            f" (SELECT count(*) FROM assignments WHERE class = classes.id) < {MOST_ASSIGNMENTS}"
            " OR EXISTS (SELECT 1 FROM assignments WHERE class = classes.id AND kind = ? AND item = ?))"
            " ON CONFLICT (class, kind, item) DO UPDATE SET opens_at = excluded.opens_at, due_at = excluded.due_at"
            f" RETURNING {ASSIGNMENT}",
            secrets.token_hex(4), kind.value, item, opens.isoformat(), due.isoformat(), group_id, kind.value, item,
        )  # fmt: skip
        if assigned is None:
            raise BadInput(f"This class has {MOST_ASSIGNMENTS} assignments, and no room for more. Withdraw one first.")
        return _assignment(assigned)

    def assignments(self, group_id: str) -> tuple[Assignment, ...]:
        """What is assigned to a class, the first due first."""
        found = self._file.rows(f"SELECT {ASSIGNMENT} FROM assignments WHERE class = ? ORDER BY due_at, item", group_id)
        return tuple(map(_assignment, found))

    def withdraw(self, group_id: str, assignment_id: str) -> None:
        """Assign something no longer. Raises UnknownItem."""
        gone = self._file.row(
            "DELETE FROM assignments WHERE class = ? AND id = ? RETURNING id", group_id, assignment_id
        )
        if gone is None:
            raise UnknownItem(f"There is no assignment {quoted(assignment_id)} in this class.")

    def _found(self, row: Any | None, group_id: str) -> Group:
        if row is None:
            raise self.nothing(group_id)
        return Group(*row)


def _groups(rows: Iterable[Any]) -> tuple[Group, ...]:
    return tuple(Group(*row) for row in rows)


def _assignment(row: Any) -> Assignment:
    return Assignment(row[0], AssignmentKind(row[1]), *row[2:])


def _moment(text: str) -> datetime:
    """The moment that an ISO 8601 text names, in UTC, to the second. Raises BadInput."""
    try:
        found = datetime.fromisoformat(text)
        if found.tzinfo is None:
            raise ValueError
        return found.astimezone(UTC).replace(microsecond=0)
    except (ValueError, OverflowError):
        raise BadInput(f"{quoted(text)} is no moment in UTC. Write it like 2026-03-04T17:00:00+00:00.") from None


def _said(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def _invitation() -> str:
    return secrets.token_urlsafe(SECRET_BYTES)


def _now() -> str:
    return datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds")
