"""How much is judged and stored for each person: the meter of a server that serves many."""

import math

from passnet_core.errors import PlaygroundError
from passnet_core.people.person import Person, PersonRole
from passnet_core.people.register import Register
from passnet_core.records import Stage

VISITORS = "visitors"
"""Who has used what those who have not signed in have used together."""
TOGETHER_S = 1_800.0
"""How many seconds may be judged in any hour for all who have not signed in: a browser that forgets its cookie is
another visitor, so a limit for each of them would be none."""
CHECK_PATIENCE_S = 5.0
"""How many seconds more than others who wait anybody may have had of a checker, before they go first."""


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
        person = self._register.visitor(owner)
        return ban_of(person) or self._exceeded(person)

    def spent(self, owner: str, seconds: float) -> None:
        self._register.spent(owner, seconds)
        if owner and self._register.visitor(owner).role is PersonRole.VISITOR:
            self._register.spent(VISITORS, seconds)

    def longest_s(self, owner: str, stage: Stage) -> float:
        return self._register.visitor(owner).allowance.deadline_s(stage) if owner else math.inf

    def patience_s(self, owner: str, *, light: bool) -> float:
        if light:
            return CHECK_PATIENCE_S
        return self._register.visitor(owner).allowance.patience_s if owner else math.inf

    def check(self, person: Person) -> None:
        """Raises NotAllowed or QuotaExceeded if nothing more is judged for this person now."""
        if banned := ban_of(person):
            raise NotAllowed(banned)
        if exceeded := self._exceeded(person):
            raise QuotaExceeded(exceeded, math.ceil(self._free_in(person)))

    def admit(self, person: Person, jobs: int, waiting: int, *, on_gpu: bool) -> None:
        """Raises NotAllowed or QuotaExceeded unless this person may have so many more jobs judged.

        waiting: jobs of the person that wait or are being judged."""
        allowance = person.allowance
        self.check(person)
        if on_gpu and not allowance.gpu:
            raise NotAllowed("Passes are timed on the GPU for those who have signed in. Sign in, or judge on the CPU.")
        if jobs + waiting > allowance.jobs:
            raise QuotaExceeded(
                f"At most {allowance.jobs} subgraphs may wait to be judged for you. {waiting} wait, so there is no room"
                f" for {jobs} more. Ask again when they are judged.",
                retry_after_s=60,
            )

    def keep(self, person: Person, kept_bytes: int) -> None:
        """Raises NotAllowed if so many bytes of drafts, bundles and outcomes are all that is stored for this person.

        The next one is refused, not the one that exceeds the limit."""
        most = person.allowance.kept_bytes
        if kept_bytes >= most:
            way_out = "Sign in" if person.role is PersonRole.VISITOR else "Ask who runs this server"
            raise NotAllowed(
                f"You have stored the {most / 2**20:,.0f} MB of drafts, passes and results that a"
                f" {person.role.value} may store here, so nothing was stored now. Keep new passes in files of your own."
                f" {way_out} to store more."
            )

    def _exceeded(self, person: Person) -> str:
        """Why there is no room in this hour, or ""."""
        allowed_s = person.allowance.device_s
        if self._register.used(person.id) >= allowed_s:
            said = f"You have used the {allowed_s / 60:.0f} minutes of judging that you may have in an hour."
        elif person.role is PersonRole.VISITOR and self._register.used(VISITORS) >= TOGETHER_S:
            said = (
                f"Visitors have used the {TOGETHER_S / 60:.0f} minutes of judging that all of them may have in an hour"
                " together. Sign in, or wait."
            )
        else:
            return ""
        return f"{said} There is room again in about {math.ceil(self._free_in(person) / 60)} min."

    def _free_in(self, person: Person) -> float:
        """In how many seconds there is room again."""
        own = self._register.free_in(person.id, person.allowance.device_s)
        return max(own, self._register.free_in(VISITORS, TOGETHER_S) if person.role is PersonRole.VISITOR else 0.0)


def ban_of(person: Person) -> str:
    """What somebody who is banned is told; "" for others."""
    return (
        f"Nothing is done for you here: {person.banned.rstrip('.')}. Ask who runs this server." if person.banned else ""
    )
