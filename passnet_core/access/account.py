"""What somebody who has signed in has here: tokens for programs, and what was done in their name."""

from passnet_core.errors import UnknownItem
from passnet_core.outside import quoted
from passnet_core.people.person import LogEntry, Person, PersonRole, TokenNote
from passnet_core.people.quotas import NotAllowed
from passnet_core.people.register import Register


class Account:
    """For those who have signed in: raises NotAllowed for others."""

    def __init__(self, register: Register | None, person: Person | None) -> None:
        if register is None or person is None or person.role is PersonRole.VISITOR:
            raise NotAllowed("This is for those who have signed in. Sign in first.")
        self._register, self._person = register, person

    def tokens(self) -> tuple[TokenNote, ...]:
        """What is known of one's tokens, the oldest first; not the tokens."""
        return self._register.tokens(self._person)

    def issue(self, label: str, days: int) -> str:
        """Make a token for a program, and return it: it can never be read again. Raises like Register.issue."""
        token = self._register.issue(self._person, label, days)
        self._register.note(self._person.id, "made a token", label)
        return token

    def revoke(self, token_id: str) -> None:
        """Have a token of one's own open nothing any more. Raises UnknownItem."""
        if token_id not in (each.id for each in self.tokens()):
            raise UnknownItem(f"You have no token {quoted(token_id)}.")
        self._register.revoke(token_id)
        self._register.note(self._person.id, "revoked a token", token_id)

    def deeds(self, limit: int) -> tuple[LogEntry, ...]:
        """What was done in one's name, the newest first."""
        return self._register.log(limit, self._person.id)
