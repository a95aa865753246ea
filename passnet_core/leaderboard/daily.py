"""The subgraph of the day: one of those that TorchInductor was timed on by the newest clock, another one every day."""

import hashlib
from collections.abc import Iterable
from datetime import date

from passnet_core.records import Baseline, Capture
from passnet_core.store.rows import BaselineRow


def of_day(day: date, rows: Iterable[BaselineRow]) -> tuple[str, str] | None:
    """The task and the subgraph of a day, the same for everybody who has these rows; None without any."""
    usual = [row for row in rows if row.capture is Capture.DIRECT and row.baseline is Baseline.INDUCTOR]
    newest = max((row.clock_version for row in usual), default=None)
    timed = {(row.task_id, row.subgraph_id) for row in usual if row.clock_version == newest}
    return min(timed, key=lambda each: hashlib.sha256(f"{day} {each}".encode()).digest(), default=None)
