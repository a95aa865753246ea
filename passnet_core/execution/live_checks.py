"""Checks while somebody types: static rules and matching in the background, of which nothing is stored."""

import threading
from collections import OrderedDict
from concurrent.futures import Future, wait
from dataclasses import dataclass, field

from passnet_core.execution.jobs import of_job
from passnet_core.execution.scheduler import Scheduler
from passnet_core.records import REUSED, Job, Outcome, Verdict

KEPT = 200
"""How many outcomes are remembered."""


@dataclass(frozen=True)
class _Check:
    outcome: "Future[Outcome]" = field(default_factory=Future)
    superseded: threading.Event = field(default_factory=threading.Event)


class LiveChecks:
    """Checks jobs in the background, and remembers the outcomes. Safe to share between threads; call close() at the
    end."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._lock = threading.Lock()
        self._known: OrderedDict[str, _Check] = OrderedDict()
        """The checks by job digest, the least recently asked for first."""
        self._latest: dict[tuple[str, str], str] = {}
        """Per owner and subgraph digest, the job digest that was last asked for."""

    def within(self, job: Job, owner: str, seconds: float) -> Outcome | None:
        """The outcome of a check if it is known within so many seconds; otherwise the check goes on, so ask again.

        An older check that the same owner asked for on this subgraph is given up if it has not started."""
        check = self._asked(job, owner)
        if not wait([check.outcome], seconds).done:
            return None
        outcome = check.outcome.result()
        if outcome.verdict is Verdict.CANCELLED:
            return None
        return of_job(outcome, job)

    def known(self, job: Job) -> Outcome | None:
        """The outcome of a check of an equal job, if one has ended with an outcome that is reused."""
        with self._lock:
            check = self._known.get(job.digest)
        if check is None or not check.outcome.done() or check.outcome.exception() is not None:
            return None
        outcome = check.outcome.result()
        return of_job(outcome, job) if outcome.verdict in REUSED else None

    def close(self) -> None:
        """Give up all checks."""
        with self._lock:
            for each in self._known.values():
                each.superseded.set()

    def _asked(self, job: Job, owner: str) -> _Check:
        with self._lock:
            place = (owner, job.subgraph.digest)
            before = self._known.get(self._latest.get(place, ""))
            if before is not None and self._latest[place] != job.digest:
                before.superseded.set()
            self._latest[place] = job.digest
            check = self._known.get(job.digest)
            if check is None or _is_to_repeat(check):
                check = self._known[job.digest] = _Check()
                threading.Thread(target=self._ask, args=(job, owner, check), name="passnet-live", daemon=True).start()
            self._known.move_to_end(job.digest)
            while len(self._known) > KEPT:
                digest, _ = self._known.popitem(last=False)
                self._latest = {place: latest for place, latest in self._latest.items() if latest != digest}
        return check

    def _ask(self, job: Job, owner: str, check: _Check) -> None:
        try:
            check.outcome.set_result(self._scheduler.judge(job, lambda event: None, check.superseded, owner=owner))
        except BaseException as error:  # raised where somebody waits for it
            check.outcome.set_exception(error)


def _is_to_repeat(check: _Check) -> bool:
    """Whether a check was given up, or failed for a reason that may have passed."""
    if not check.outcome.done():
        return check.superseded.is_set()
    failed = check.outcome.exception() is not None
    return failed or check.outcome.result().verdict in (Verdict.CANCELLED, Verdict.INFRASTRUCTURE)
