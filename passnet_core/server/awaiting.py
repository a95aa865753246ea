"""How long a connection may keep a server waiting."""

import asyncio
from collections.abc import Hashable
from typing import Any

HEADERS_S = 10.0
"""How many seconds a connection may be without a request whose headers are complete."""
BODY_S = 120.0
"""How many seconds the rest of a request, or of a message on a WebSocket, may take. Interfaces that read bodies answer
earlier; this is for everything else."""
LEAST_READ, UNREAD_S = 32 << 10, 30.0
"""How many bytes of an answer a client has to read in how many seconds."""
LOOK_EVERY_S = 2.0
"""How often each connection is looked at."""


class AwaitedConnection(asyncio.Protocol):
    """A connection that ends when its client keeps it waiting. It is looked at now and then, as no event tells that
    nothing happens. A part of uvicorn's protocols, which have the loop and the transport."""

    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    _looking: asyncio.TimerHandle
    _awaited: tuple[Hashable, float] = (None, 0.0)
    """What the client is to do, and since when, in the loop's seconds."""
    _unread: tuple[int, float] = (0, 0.0)
    """How many bytes wait for the client to read them, and since when."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._looking = self.loop.call_later(LOOK_EVERY_S, self._look)

    def connection_lost(self, exc: Exception | None) -> None:
        self._looking.cancel()
        super().connection_lost(exc)

    def resume_writing(self) -> None:
        self._unread = (0, 0.0)
        super().resume_writing()

    def awaited(self) -> tuple[Hashable, float] | None:
        """What the client is to do now, and within how many seconds; None if it is not its turn."""
        raise NotImplementedError

    def _look(self) -> None:
        self._looking = self.loop.call_later(LOOK_EVERY_S, self._look)
        if self._is_unread() or self._is_late():
            # closing would wait for what is unread
            self.transport.abort()

    def _is_unread(self) -> bool:
        size, now = self.transport.get_write_buffer_size(), self.loop.time()
        before, since = self._unread
        if not size or not before or size <= before - LEAST_READ:
            self._unread = (size, now)
            return False
        return now - since > UNREAD_S

    def _is_late(self) -> bool:
        awaited, now = self.awaited(), self.loop.time()
        if awaited is None or self.transport.get_write_buffer_size():
            self._awaited = (None, now)
            return False
        what, within_s = awaited
        if what != self._awaited[0]:
            self._awaited = (what, now)
        return now - self._awaited[1] > within_s
