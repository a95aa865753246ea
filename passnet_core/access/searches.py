"""A person's searches for passes for whole models."""

from passnet_core.people.person import Person, PersonRole
from passnet_core.people.quotas import NotAllowed
from passnet_core.service import Service
from passnet_core.whole_models.captured import ModelFile
from passnet_core.whole_models.searches import SearchProgress


class PersonalSearches:
    """Like ModelSearches, for one person. viewer: as in PersonalService."""

    def __init__(self, service: Service, person: Person | None, owner: str, viewer: str | None) -> None:
        self._searches = service.models
        self._person, self._owner, self._viewer = person, owner, viewer
        self._allowed = bool(service.settings.own_models)

    def start(self, file: ModelFile) -> str:
        """Like ModelSearches.start. Raises NotAllowed too: a model's code runs longer than any quota counts."""
        if self._person is not None and (not self._allowed or self._person.role is PersonRole.VISITOR):
            raise NotAllowed("Models of your own are run here for those only whom the operator of this server lets.")
        return self._searches.start(file, owner=self._owner)

    def mine(self) -> tuple[SearchProgress, ...]:
        """One's own that are in memory, newest first."""
        return self._searches.of(self._owner)

    def progress(self, search_id: str) -> SearchProgress:
        self._see(search_id)
        return self._searches.progress(search_id)

    def cancel(self, search_id: str) -> None:
        self._see(search_id)
        self._searches.cancel(search_id)

    def _see(self, search_id: str) -> None:
        """Raises UnknownItem for a search that is not here, and for another person's."""
        if self._searches.owner_of(search_id) != self._owner and self._viewer is not None:
            raise self._searches.none(search_id)
