"""The conversations with language models that one person sees, and the servers that may be asked for it."""

from passnet_core.access.visit import Visit
from passnet_core.leaderboard.report_card import Card
from passnet_core.people.person import PersonRole
from passnet_core.people.quotas import NotAllowed
from passnet_core.records import Bundle, Task
from passnet_core.records.trajectories import Message, Trajectory
from passnet_core.service import Service
from passnet_core.solvers.conversations import ConversationOrder, ConversationStanding
from passnet_core.solvers.llm.chat import ChatServer, Model
from passnet_core.store.rows import TrajectorySummary


class PersonalTalks:
    """Like Conversations, for one person. viewer, owner: as in PersonalService.

    A conversation is its owner's until the owner shares it; those that came with the playground are everybody's."""

    def __init__(self, service: Service, visit: Visit, owner: str, viewer: str | None) -> None:
        self._service, self._talks, self._visit = service, service.conversations, visit
        self._register, self._person, self._note = visit.register, visit.person, visit.note
        self._owner, self._viewer = owner, viewer

    # --- which servers ---

    @property
    def servers(self) -> tuple[str, ...] | None:
        """The addresses of the model servers that may be asked; None for any. Somebody whom a server serves must not
        choose to which machines it sends requests: they may be reachable from it only."""
        if self._person is None:
            return None
        known = self._service.settings
        own = (known.models.base_url,) if known.models.base_url or known.models.key else ()
        return tuple(dict.fromkeys((*own, *known.model_servers)))

    @property
    def has_key(self) -> bool:
        """Whether the key that the playground was started with is used for this person."""
        known = self._service.settings.models
        return bool(known.key) and (self._person is None or self._person.role is not PersonRole.VISITOR)

    def server(self, url: str, key: str) -> ChatServer:
        """The server at an address, or the one that the playground was started with if it is empty. key: the person's
        own. The playground's key goes to its own server only. Raises BadInput, NotAllowed."""
        known = self._service.settings.models
        url = url or known.base_url
        if self.servers is not None and url not in self.servers:
            raise NotAllowed("This server of models may not be asked from here. Choose one of the list.")
        return ChatServer(url, key or (known.key if url == known.base_url and self.has_key else ""))

    # --- conversations ---

    def start(self, model: Model, task: Task, order: ConversationOrder) -> str:
        """Like Conversations.start. Raises NotAllowed and QuotaExceeded too."""
        self._visit.admit(kept_bytes=self._service.kept_bytes)
        if order.after is not None:
            self._see(order.after[0])
        talk = self._talks.start(model, task, order, visitor=self._owner)
        self._note("started a conversation", talk)
        return talk

    def standing(self, talk: str) -> ConversationStanding:
        self._see(talk)
        return self._talks.standing(talk)

    def trajectory(self, talk: str) -> Trajectory:
        self._see(talk)
        return self._talks.trajectory(talk)

    def start_bundle(self, talk: str) -> Bundle | None:
        """The bundle that a model was asked to repair, or None."""
        start = self.trajectory(talk).opening.start
        return None if start is None else self._service.bundle(start)

    def stop(self, talk: str) -> None:
        """Like Conversations.stop, for a conversation of one's own."""
        if not self.is_own(talk) and self._viewer is not None:
            raise NotAllowed("This conversation is not yours, so you cannot stop it.")
        self._talks.stop(talk)

    def latest(self, limit: int, task_id: str | None = None) -> tuple[TrajectorySummary, ...]:
        """One's own, the newest first."""
        return self._talks.latest(limit, task_id, self._owner or None)

    def recorded(self) -> tuple[TrajectorySummary, ...]:
        return self._talks.recorded()

    def cards(self) -> tuple[Card, ...]:
        return self._talks.cards(self._viewer)

    def in_progress(self, summary: TrajectorySummary) -> bool:
        return self._talks.in_progress(summary)

    def first_messages(self, task: Task) -> tuple[Message, ...]:
        return self._talks.first_messages(task)

    # --- sharing ---

    def is_own(self, talk: str) -> bool:
        """Whether this person asked for a conversation. Raises UnknownItem for one that this person may not see."""
        self._see(talk)
        return self._talks.visitor_of(talk) == self._owner

    def is_shared(self, talk: str) -> bool:
        """Whether everybody who has its link sees a conversation."""
        return self._register is None or self._register.is_shared(talk)

    def share(self, talk: str, shared: bool = True) -> None:
        """Let everybody who has its link see a conversation of one's own, or nobody else any more."""
        if not self.is_own(talk) or self._register is None:
            raise NotAllowed("This conversation is not yours, so you cannot share it.")
        self._register.share(talk, self._owner, shared)
        self._note("shared a conversation" if shared else "stopped sharing a conversation", talk)

    # --- inside ---

    def _see(self, talk: str) -> None:
        owner = self._talks.visitor_of(talk)
        if self._viewer is None or owner in ("", self._owner):
            return
        if self._register is None or not self._register.is_shared(talk):
            raise self._talks.none(talk)
