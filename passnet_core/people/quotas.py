"""How much is judged for each person: the meter of a server that serves many."""

import math

from passnet_core.errors import PlaygroundError, UnknownItem
from passnet_core.people.person import ALLOWANCES, Person, PersonRole
from passnet_core.people.register import Register


class QuotaExceeded(PlaygroundError):
    """A person has used what is allowed in an hour, or has too much waiting. retry_after_s: when to ask again."""

    def __init__(self, message: str, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class NotAllowed(PlaygroundError):
    """What the role of a person does not include, or anything that somebody who is banned asks for."""


class Quotas:
    """Counts seconds of judging by the owner of the work, and refuses an owner who has used what is allowed.

    The next job is refused, not the one that is being judged: an hour's use may exceed its limit by that job."""

    def __init__(self, register: Register) -> None:
        self._register = register

    def refusal(self, owner: str) -> str:
        if not owner:
            return ""
        try:
            person = self._register.person(owner)
        except UnknownItem:
            return self._exceeded(owner, ALLOWANCES[PersonRole.VISITOR].device_s)
        return ban_of(person) or self._exceeded(owner, person.allowance.device_s)

    def spent(self, owner: str, seconds: float) -> None:
        self._register.spent(owner, seconds)

    def admit(self, person: Person, jobs: int, waiting: int, *, on_gpu: bool) -> None:
        """Raises NotAllowed or QuotaExceeded unless this person may have so many more jobs judged.

        waiting: jobs of the person that wait or are being judged."""
        allowance = person.allowance
        if banned := ban_of(person):
            raise NotAllowed(banned)
        if on_gpu and not allowance.gpu:
            raise NotAllowed("Passes are timed on the GPU for those who have signed in. Sign in, or judge on the CPU.")
        if jobs + waiting > allowance.jobs:
            raise QuotaExceeded(
                f"At most {allowance.jobs} subgraphs may wait to be judged for you. {waiting} wait, so there is no room"
                f" for {jobs} more. Ask again when they are judged.",
                retry_after_s=60,
            )
        if exceeded := self._exceeded(person.id, allowance.device_s):
            raise QuotaExceeded(exceeded, math.ceil(self._register.free_in(person.id, allowance.device_s)))

    def _exceeded(self, owner: str, allowed_s: float) -> str:
        if self._register.used(owner) < allowed_s:
            return ""
        minutes = math.ceil(self._register.free_in(owner, allowed_s) / 60)
        return (
            f"You have used the {allowed_s / 60:.0f} minutes of judging that you may have in an hour."
            f" There is room again in about {minutes} min."
        )


def ban_of(person: Person) -> str:
    """What somebody who is banned is told; "" for others."""
    return (
        f"Nothing is done for you here: {person.banned.rstrip('.')}. Ask who runs this server." if person.banned else ""
    )
