"""Plan the calls of a verification at random: their order, their number, their kinds, and which of them are watched.

A candidate shares its process with the worker's code and may count calls. It must not be able to know which call is
the last, which is compared with another, or which is looked at more closely."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

FRESH = 0.4
"""The share of input draws that lie at new addresses. The others reuse the tensors of the call before."""
MOST_REPEATS = 1
"""How many input draws are made once more, with other numbers, at most."""
EXCHANGES = 2
"""In how many calls elements change places after the typical draw. One exchange may happen to leave a pass's
fingerprint, two hardly do."""
UNWATCHED = 0.25
"""The share of calls that are not watched. What they return is compared, bit by bit, with a watched call's."""


@dataclass(frozen=True)
class PlannedDraw:
    """An input draw and the calls on it. fresh: at new addresses. exchanges: how many further calls follow in which
    elements have changed places in the same tensors. relocates: a further call gets the same content elsewhere. again:
    further calls may get the same content in the same tensors, one of them with kernels that do nothing; where plans
    are executed, lanes that masks leave out hold anything."""

    input_draw: str
    fresh: bool
    watched: bool = True
    exchanges: int = 0
    relocates: bool = False
    again: bool = False

    @property
    def calls(self) -> int:
        """How many calls are compared where functions are called."""
        return 1 + self.exchanges + self.relocates


def planned_draws(input_draws: Sequence[str], seed: int, *, candidate: bool) -> tuple[PlannedDraw, ...]:
    """Plan a verification. candidate: a bundle is judged under the strict profile; otherwise each input draw gets one
    call, in order.

    Each input draw occurs at least once. Elements change places on the typical draw and perhaps on another, and each of
    these is relocated. Two draws are called again."""
    chance = random.Random(seed)
    if not candidate:
        fresh = set(chance.sample(list(input_draws[1:]), k=len(input_draws[1:]) * 2 // 5))
        return tuple(PlannedDraw(each, each == input_draws[0] or each in fresh, False) for each in input_draws)
    chosen = chance.sample(list(input_draws), k=chance.randint(0, MOST_REPEATS))
    repeats = sorted({again_named(each) for each in chosen} - set(input_draws))
    order = [*input_draws, *repeats]
    chance.shuffle(order)
    closer = {"typical", chance.choice(order)}
    again = set(chance.sample(order, k=min(2, len(order))))
    plan: list[PlannedDraw] = []
    for index, each in enumerate(order):
        changed = each in closer
        plan.append(
            PlannedDraw(
                each,
                fresh=index == 0 or chance.random() < FRESH,
                watched=chance.random() >= UNWATCHED,
                exchanges=EXCHANGES if each == "typical" else int(changed),
                relocates=changed,
                again=each in again,
            )
        )
    return tuple(plan)


def again_named(input_draw: str) -> str:
    """The name of the same draw with other numbers: "typical 2" after "typical", "edges 3" after "edges 2"."""
    kind, _, turn = input_draw.partition(" ")
    return f"{kind} {int(turn or 1) + 1}"
