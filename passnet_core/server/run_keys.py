"""The idempotency keys of runs: a request that is sent again is the run that it was the first time."""

import threading
from collections.abc import Callable

from passnet_core.access.personal import PersonalService
from passnet_core.execution.jobs import new_run_id
from passnet_core.records import digest_of
from passnet_core.server.ledger import Ledger
from passnet_core.server.program_forms import RunRequest
from passnet_core.server.refusals import KeyReused

RUNS_OF = "runs of "
"""What the ledger has before a person's id, apart from the callers of the judge's service."""


class RunKeys:
    """Safe to share between threads. Keys are a person's own, and kept as long as the ledger keeps answers."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger, self._lock = ledger, threading.Lock()

    def run_for(self, key: str, asked: RunRequest, access: PersonalService, submit: Callable[[str], str]) -> str:
        """The id of the run of this request: of the one that was started with this key, or of a new one. submit: starts
        a run with an id. Raises KeyReused, and what submit raises."""
        caller, request = f"{RUNS_OF}{access.owner}", digest_of(asked.model_dump(mode="json"))
        with self._lock:
            # the id is kept before the run is started: after a kill between the two, it is started by the next request
            run_id = str(self._ledger.keep_answer(caller, key, request, new_run_id()))
            if (kept := self._ledger.answer(caller, key)) is not None and kept[0] != request:
                raise KeyReused(key)
            return run_id if access.sees(run_id) else submit(run_id)

    def close(self) -> None:
        self._ledger.close()
