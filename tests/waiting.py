"""How long tests wait: the longer, the busier the machine is. No test compares with a clock."""

import os
import time
from collections.abc import Callable
from typing import TypeVar

Seen = TypeVar("Seen")


def patience() -> float:
    """How many times as long as on an idle machine something may take here: four, times what waits for each core."""
    waiting = os.getloadavg()[0] / len(os.sched_getaffinity(0))
    return 4 * max(1.0, waiting)


def seconds(idle_s: float) -> float:
    """A deadline for what takes at most so long on an idle machine, both in seconds. A test that passes waits less."""
    return idle_s * patience()


def eventually(look: Callable[[], Seen], what: str = "what was waited for", *, idle_s: float = 15) -> Seen:
    """Look until something is there (what is true), and return it.

    what: names it if it does not come. idle_s: how long it takes at most on an idle machine, in seconds. The deadline
    also grows with a load that comes up meanwhile."""
    began, limit_s = time.monotonic(), 0.0
    while not (seen := look()):
        limit_s = max(limit_s, seconds(idle_s))
        assert time.monotonic() - began < limit_s, f"{what} did not come within {limit_s:.0f} s"
        time.sleep(0.01)
    return seen
