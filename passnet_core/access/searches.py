"""A person's searches for passes for whole models."""

from passnet_core.service import Service
from passnet_core.whole_models.captured import ModelFile
from passnet_core.whole_models.searches import SearchProgress


class PersonalSearches:
    """Like ModelSearches, for one person. viewer: as in PersonalService."""

    def __init__(self, service: Service, owner: str, viewer: str | None) -> None:
        self._searches = service.models
        self._owner, self._viewer = owner, viewer

    def start(self, file: ModelFile) -> str:
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
