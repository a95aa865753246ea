"""WebSockets with limits: uvicorn's protocol, which takes messages of any size that the app allows, and any number of
pings from a client that does not read the answers."""

from collections.abc import Hashable
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from passnet_core.server import awaiting
from passnet_core.server.awaiting import AwaitedConnection

LARGEST_MESSAGE = 5 << 20
"""The most bytes of a message: what a page's editor and its other fields hold."""
SMALL_MESSAGE = 64 << 10
MOST_UNFINISHED = 128 << 20
"""The most bytes of messages on all connections together that have begun and not ended."""


class LimitedWebSocket(AwaitedConnection, WebSocketsSansIOProtocol):
    """A WebSocket: ended if its message is too large, does not end in time, or what is sent to it is not read."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.conn.max_message_size = LARGEST_MESSAGE
        self._messages = 0

    def awaited(self) -> tuple[Hashable, float] | None:
        return (self._messages, awaiting.BODY_S) if self.unfinished_bytes() else None

    def unfinished_bytes(self) -> int:
        """How much has come of a message that has not ended."""
        return len(self.conn.reader.buffer) + sum(map(len, self.frames))

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self.writable.is_set():
            # answers to pings are written however many wait to be read
            self.transport.pause_reading()
        if self.unfinished_bytes() > SMALL_MESSAGE and self._unfinished_of_all() > MOST_UNFINISHED:
            self.transport.abort()

    def resume_writing(self) -> None:
        super().resume_writing()
        if not self.read_paused:
            self.transport.resume_reading()

    def send_receive_event_to_app(self) -> None:
        self._messages += 1
        super().send_receive_event_to_app()

    def _unfinished_of_all(self) -> int:
        sockets = (each for each in self.connections if isinstance(each, LimitedWebSocket))
        # one that was ended just now is still among the connections, and would have all others ended with it
        return sum(each.unfinished_bytes() for each in sockets if not each.transport.is_closing())
