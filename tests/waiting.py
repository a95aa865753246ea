"""How long tests wait: the longer, the busier the machine is. No test compares with a clock."""

import os
import time
from collections.abc import Callable
from typing import TypeVar

Seen = TypeVar("Seen")


def crowding() -> float:
    """How many processes want each core, at least one: so many times as long as alone does everything take."""
    return max(1.0, os.getloadavg()[0] / len(os.sched_getaffinity(0)))


def patience() -> float:
    """How many times as long as on an idle machine something may take here: three, times what waits for each core."""
    return 3 * crowding()


def seconds(idle_s: float) -> float:
    """A deadline for what takes at most so long on an idle machine, both in seconds. A test that passes waits less."""
    return idle_s * patience()


def short(idle_s: float) -> float:
    """A deadline that is meant to be missed: so long on an idle machine, and longer on a busy one, so that what comes
    before still meets it. In seconds."""
    # a judge has a low priority: others slow it down more than their number says
    return idle_s * (2 * crowding() - 1)


def eventually(look: Callable[[], Seen | None], what: str = "what was waited for", *, idle_s: float = 15) -> Seen:
    """Look until something is there (what is true), and return it.

    what: names it if it does not come. idle_s: how long it takes at most on an idle machine, in seconds. The deadline
    also grows with a load that comes up meanwhile."""
    began, limit_s = time.monotonic(), 0.0
    while not (seen := look()):
        limit_s = max(limit_s, seconds(idle_s))
        assert time.monotonic() - began < limit_s, f"{what} did not come within {limit_s:.0f} s"
        time.sleep(0.01)
    return seen
