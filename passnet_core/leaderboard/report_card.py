"""Report cards of language models: how far their attempts got, and what an accepted attempt costs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from passnet_core.leaderboard.grounds import Ground, ground_of
from passnet_core.records import ACCEPTED, UNLOADED, UNREPLACED, Baseline, Verdict
from passnet_core.records.trajectories import End, Ending
from passnet_core.store.rows import TrajectorySummary

STAGES: tuple[tuple[str, frozenset[Verdict]], ...] = (
    ("loads", UNLOADED),
    ("matches", UNREPLACED),
    ("right", frozenset(Verdict) - UNLOADED - UNREPLACED - ACCEPTED),
    ("faster", ACCEPTED - {Verdict.FASTER}),
)
"""For each step, the verdicts of subgraphs that passed the steps before it but not this one."""


@dataclass(frozen=True)
class Card:
    """One model's attempts over all tasks, on one ground and beside one baseline. accepted: attempts accepted on every
    subgraph. stages: from stages()."""

    ground: Ground
    baseline: Baseline
    model: str
    tasks: int
    attempts: int
    accepted: int
    stages: tuple[tuple[str, int, int], ...]
    tokens: int
    cost: float

    @property
    def cost_per_accepted(self) -> float | None:
        """The cost of all attempts divided by the accepted ones; None: none was accepted."""
        return self.cost / self.accepted if self.accepted else None


def stages(endings: Sequence[Ending]) -> tuple[tuple[str, int, int], ...]:
    """Return (step, attempts whose best bundle passed it on every subgraph, attempts) for each step."""
    left = [{verdict for verdict, _ in each.verdicts} for each in endings if each.verdicts]
    found = []
    for stage, stopping in STAGES:
        left = [verdicts for verdicts in left if not verdicts & stopping]
        found.append((stage, len(left), len(endings)))
    return tuple(found)


def cards(conversations: Iterable[TrajectorySummary]) -> tuple[Card, ...]:
    """Return one card per ground, baseline and model. Cards that are comparable follow each other, best first; those of
    the newest clock version and the default baseline come first. Counts only conversations that have ended and were
    held here, and none in which the model's server failed."""
    by_model: dict[tuple[Ground, Baseline, str], list[tuple[str, Ending]]] = {}
    for each in conversations:
        opening = each.opening
        if each.ending is not None and each.ending.end is not End.SERVER and not opening.recorded:
            key = ground_of(opening), opening.spec.baseline, opening.model
            by_model.setdefault(key, []).append((opening.task_id, each.ending))
    found = [
        Card(
            ground=ground,
            baseline=baseline,
            model=model,
            tasks=len({task_id for task_id, _ in attempts}),
            attempts=len(attempts),
            accepted=sum(ending.solved for _, ending in attempts),
            stages=stages([ending for _, ending in attempts]),
            tokens=sum(ending.tokens for _, ending in attempts),
            cost=sum(ending.cost for _, ending in attempts),
        )
        for (ground, baseline, model), attempts in by_model.items()
    ]
    order = list(Baseline)

    def place(card: Card) -> tuple[Any, ...]:
        *where, clock_version = card.ground
        conditions = -clock_version, order.index(card.baseline), *where
        return (*conditions, -card.accepted / card.attempts, card.model)

    return tuple(sorted(found, key=place))
