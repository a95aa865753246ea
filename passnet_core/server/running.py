"""Running a service under uvicorn."""

import signal
import socket
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from passnet_core.server.connections import LimitedConfig

GRACE_S = 5
"""How many seconds requests in progress may go on after the service was asked to stop."""


class _Announced(uvicorn.Server):
    """Says on which port it listens, once it does, and has the service give up its work before it waits for it."""

    def __init__(self, config: uvicorn.Config, service: FastAPI, on_start: Callable[[int], None]) -> None:
        super().__init__(config)
        self._service, self._on_start = service, on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_start(self.servers[0].sockets[0].getsockname()[1])

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._service.state.close()
        await super().shutdown(sockets)


def serve(service: FastAPI, address: str, port: int, on_start: Callable[[int], None]) -> bool:
    """Serve until SIGINT or SIGTERM. port: 0 for any that is free. on_start: called with the port once it listens.
    Returns whether it ever listened; if not, uvicorn has printed why."""
    config = LimitedConfig(
        service,
        host=address,
        port=port,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=GRACE_S,
    )
    server = _Announced(config, service, on_start)
    # uvicorn raises the signal again once it has stopped, which would end the process before its judges are closed
    before = signal.signal(signal.SIGTERM, lambda number, frame: None)
    try:
        server.run()
    except SystemExit:
        return False
    finally:
        signal.signal(signal.SIGTERM, before)
    return server.started
