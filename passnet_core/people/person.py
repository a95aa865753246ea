"""Persons, and what each role may use."""

import math
from dataclasses import dataclass
from enum import StrEnum

from passnet_core.records import Stage

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
    bundles and outcomes that are stored. check_s, job_s: seconds that a pass may take in a check, and in a job of
    another stage. patience_s: seconds of judging that somebody may have had more than others who wait, before they go
    first. gpu: whether on a GPU too."""

    device_s: float
    jobs: int
    kept_bytes: float
    check_s: float
    job_s: float
    patience_s: float
    gpu: bool

    def deadline_s(self, stage: Stage) -> float:
        """How many seconds a pass may take in a job of this stage."""
        return self.check_s if stage is Stage.CHECK else self.job_s


MB = 2**20
ALLOWANCES = {
    PersonRole.VISITOR: Allowance(
        device_s=300.0, jobs=64, kept_bytes=32 * MB, check_s=10.0, job_s=60.0, patience_s=15.0, gpu=False
    ),
    PersonRole.MEMBER: Allowance(
        device_s=1_800.0, jobs=512, kept_bytes=512 * MB, check_s=20.0, job_s=120.0, patience_s=30.0, gpu=True
    ),
    PersonRole.TEACHER: Allowance(
        device_s=3_600.0, jobs=1_024, kept_bytes=2_048 * MB, check_s=20.0, job_s=300.0, patience_s=60.0, gpu=True
    ),
    PersonRole.OPERATOR: Allowance(
        device_s=math.inf,
        jobs=1_000_000,
        kept_bytes=math.inf,
        check_s=math.inf,
        job_s=math.inf,
        patience_s=math.inf,
        gpu=True,
    ),
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
