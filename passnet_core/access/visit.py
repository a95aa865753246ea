"""Who is here, and the register that limits and notes what they do."""

from collections.abc import Callable
from dataclasses import dataclass

from passnet_core.people.person import Person
from passnet_core.people.quotas import Quotas
from passnet_core.people.register import Register

KeptBytes = Callable[[str, tuple[str, ...]], int]


@dataclass(frozen=True)
class Visit:
    """register: None where one person does everything. person: None for who may do everything, and is not limited."""

    register: Register | None = None
    person: Person | None = None

    def admit(
        self, jobs: int = 1, waiting: int = 0, *, on_gpu: bool = False, kept_bytes: KeptBytes | None = None
    ) -> None:
        """Raises NotAllowed or QuotaExceeded like Quotas.admit. kept_bytes: as in keep, for what is stored besides."""
        if self.register is not None and self.person is not None:
            Quotas(self.register).admit(self.person, jobs, waiting, on_gpu=on_gpu)
        if kept_bytes is not None:
            self.keep(kept_bytes)

    def keep(self, kept_bytes: KeptBytes) -> None:
        """Raises NotAllowed like Quotas.keep. kept_bytes: Service.kept_bytes."""
        if self.register is not None and self.person is not None:
            shared = self.register.shared_by(self.person.id)
            Quotas(self.register).keep(self.person, kept_bytes(self.person.id, shared))

    def note(self, deed: str, about: str) -> None:
        """Write a deed into the audit log, if there is one."""
        if self.register is not None:
            self.register.note("" if self.person is None else self.person.id, deed, about)
