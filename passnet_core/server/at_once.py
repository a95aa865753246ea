"""How much is under way at once, and for whom."""

import contextlib
import math
import threading
from collections import Counter
from collections.abc import Iterator


class AtOnce(Counter[str]):
    """How many of something are under way for each name. Safe to share between threads."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def one_more(self, name: str, most: float = math.inf) -> Iterator[bool]:
        """Count one more in the block. Yields whether there was room; without, nothing is counted."""
        with self._lock:
            room = self[name] < most
            if room:
                self[name] += 1
        try:
            yield room
        finally:
            if room:
                with self._lock:
                    self[name] -= 1
                    if not self[name]:
                        del self[name]
