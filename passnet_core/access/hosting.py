"""A playground that is open: to the person at this machine, or to many."""

import contextlib
from dataclasses import dataclass

from passnet_core.access.personal import PersonalService
from passnet_core.errors import InfrastructureError
from passnet_core.execution.backends.base import Backend, DeviceInfo
from passnet_core.people.groups import Groups
from passnet_core.people.person import Person
from passnet_core.people.quotas import Quotas
from passnet_core.people.register import Register
from passnet_core.records import Isolation, digest_of
from passnet_core.service import Service, open_service
from passnet_core.settings import Settings

NO_SANDBOX = "Strangers' code is judged only in a sandbox, and this machine has none. Install bubblewrap"


@dataclass(frozen=True)
class Identity:
    """Who somebody is, as the provider of their sign-in says. subject: the provider's name for them, which lasts."""

    issuer: str
    subject: str
    name: str

    @property
    def id(self) -> str:
        return digest_of(f"person {self.issuer} {self.subject}")[:32]


class Host:
    """The service of this process, and who is let in. register: None: who can connect may do everything. groups: the
    classes; None where there are none."""

    def __init__(self, service: Service, register: Register | None, groups: Groups | None = None) -> None:
        self.service, self.register, self.groups = service, register, groups

    def person(self, visitor: str, identity: Identity | None) -> Person | None:
        """Who is there: who has signed in, or else the visitor with this id; None where everybody may do everything."""
        if self.register is None:
            return None
        if identity is not None:
            return self.register.signed_in(identity.id, identity.name)
        return self.register.visitor(visitor)

    def access(self, visitor: str, identity: Identity | None) -> PersonalService:
        """The service as somebody sees it. visitor: the id of who has not signed in. Raises NotAllowed for somebody
        who is banned."""
        owner = visitor if identity is None else identity.id
        return PersonalService(
            self.service, self.register, self.person(visitor, identity), owner=owner, groups=self.groups
        )

    def close(self) -> None:
        self.service.close()
        if self.register is not None:
            self.register.close()
        if self.groups is not None:
            self.groups.close()


def open_host(settings: Settings, *, keep_warm: bool = False, backend: Backend | None = None) -> Host:
    """Open the service, for many if the settings say so: then with quotas, and only where passes are judged in a
    sandbox. Raises like open_service, and InfrastructureError without a sandbox."""
    if not settings.serve:
        return Host(open_service(settings, keep_warm=keep_warm, backend=backend), None)
    with contextlib.ExitStack() as undoing:
        register = Register(settings.home)
        undoing.callback(register.close)
        groups = Groups(settings.home)
        undoing.callback(groups.close)
        service = open_service(settings, keep_warm=keep_warm, backend=backend, meter=Quotas(register))
        undoing.callback(service.close)
        require_sandbox(service.device())
        undoing.pop_all()
    return Host(service, register, groups)


def require_sandbox(here: DeviceInfo, otherwise: str = "") -> None:
    """Raises InfrastructureError unless passes are judged in a sandbox here. otherwise: what else the person can do."""
    if here.isolation is not Isolation.SANDBOXED:
        raise InfrastructureError(f"{NO_SANDBOX}{otherwise}.")
