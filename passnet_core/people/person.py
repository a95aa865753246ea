"""Persons, and what each role may use."""

import math
from dataclasses import dataclass
from enum import StrEnum

LONGEST_NAME = 80


class PersonRole(StrEnum):
    """What somebody is on a server, from the least to the most."""

    VISITOR = "visitor"
    """Has not signed in."""
    MEMBER = "member"
    TEACHER = "teacher"
    OPERATOR = "operator"
    """Runs the server: sees everything, and is limited in nothing."""


TEACHERS = (PersonRole.TEACHER, PersonRole.OPERATOR)
"""Who may teach classes, and import runs that everybody sees."""


@dataclass(frozen=True)
class Allowance:
    """device_s: seconds of judging in any hour. jobs: how many may wait or be judged. kept_bytes: of all drafts,
    bundles and outcomes that are stored. gpu: whether on a GPU too."""

    device_s: float
    jobs: int
    kept_bytes: float
    gpu: bool


ALLOWANCES = {
    PersonRole.VISITOR: Allowance(300.0, 64, 32 * 2**20, gpu=False),
    PersonRole.MEMBER: Allowance(1_800.0, 512, 512 * 2**20, gpu=True),
    PersonRole.TEACHER: Allowance(3_600.0, 1_024, 2_048 * 2**20, gpu=True),
    PersonRole.OPERATOR: Allowance(math.inf, 1_000_000, math.inf, gpu=True),
}


@dataclass(frozen=True)
class Person:
    """id: as the store names the owner of drafts and runs. banned: why nothing is done for this person, or ""."""

    id: str
    name: str
    role: PersonRole
    created_at: str
    banned: str = ""

    @property
    def allowance(self) -> Allowance:
        return ALLOWANCES[self.role]


@dataclass(frozen=True)
class TokenNote:
    """What is kept of a token besides its digest. expires_at, used_at: ISO 8601 in UTC; "" for never."""

    id: str
    person_id: str
    label: str
    created_at: str
    expires_at: str
    used_at: str


@dataclass(frozen=True)
class LogEntry:
    """What a person did. about: the id of what it was done to."""

    at: str
    person_id: str
    deed: str
    about: str
