"""What an operator sees and does: load, quotas, roles, bans and the audit log."""

from dataclasses import dataclass

from passnet_core.errors import BadInput
from passnet_core.people.person import LogEntry, Person, PersonRole
from passnet_core.people.quotas import VISITORS, NotAllowed
from passnet_core.people.register import Register
from passnet_core.service import Service


@dataclass(frozen=True)
class Usage:
    """What was judged for somebody. used_s: seconds in the last hour. load: how much waits or is being judged."""

    person: Person
    used_s: float
    load: int


class OperatorDesk:
    """For operators only: raises NotAllowed for others."""

    def __init__(self, service: Service, register: Register | None, person: Person | None) -> None:
        if register is None or person is None or person.role is not PersonRole.OPERATOR:
            raise NotAllowed("This is for those who run this server.")
        self._service, self._register, self._operator = service, register, person

    def people(self) -> tuple[Person, ...]:
        """All who have signed in, or were entered by a command, and visitors who were banned."""
        return self._register.people()

    def usage(self) -> tuple[Usage, ...]:
        """Everybody for whom something was judged in the last hour, or waits, the most first."""
        used, loads = self._register.usage(), self._service.loads()
        owners = [each for each in dict.fromkeys((*used, *loads)) if each and each != VISITORS]
        return tuple(Usage(self._register.visitor(each), used.get(each, 0.0), loads.get(each, 0)) for each in owners)

    def visitors_used_s(self) -> float:
        """How many seconds were judged in the last hour for all who have not signed in."""
        return self._register.used(VISITORS)

    def set_role(self, person: Person, role: PersonRole) -> None:
        """Raises BadInput for oneself, and for what nobody can be made."""
        self._must_be_other(person)
        if PersonRole.VISITOR in (role, person.role):
            raise BadInput("Visitors have not signed in: they have no other role, and nobody can be made one.")
        self._register.set_role(person, role)
        self._register.note(self._operator.id, f"gave the role {role.value}", person.id)

    def ban(self, named: str, reason: str) -> None:
        """Do nothing more for the person with this name or id, or for a visitor with this id. reason: what they are
        told; "" lifts a ban. Raises BadInput for oneself, and for too long a reason."""
        person = next((each for each in self.people() if named in (each.id, each.name)), None)
        person = person or self._register.visitor(named)
        self._must_be_other(person)
        self._register.ban(person, reason)
        self._register.note(self._operator.id, "banned" if reason else "lifted a ban", person.id)

    def log(self, limit: int) -> tuple[LogEntry, ...]:
        """The audit log, the newest entries first."""
        return self._register.log(limit)

    def _must_be_other(self, person: Person) -> None:
        if person.id == self._operator.id:
            raise BadInput("You cannot do this to yourself. Ask another operator.")
