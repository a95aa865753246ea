"""An application served over a port of this machine, for tests that call it as its users do."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn

from passnet_core.server.connections import LimitedConfig
from tests.waiting import seconds


@contextlib.contextmanager
def listening(app: Any, *, before_end: Callable[[], None] = lambda: None, ws: str = "none") -> Iterator[str]:
    """Serve the application, and yield its address. before_end: called when the server is to stop. ws: how uvicorn
    serves WebSockets."""
    server = uvicorn.Server(
        LimitedConfig(app, port=0, log_level="warning", access_log=False, ws=ws, timeout_graceful_shutdown=1)
    )
    ready = threading.Event()
    startup = server.startup

    async def announced(*given: object, **more: object) -> None:
        await startup(*given, **more)  # type: ignore[arg-type]
        ready.set()

    server.startup = announced  # type: ignore[method-assign]
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        assert ready.wait(seconds(60)), "The service does not listen."
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        before_end()
        thread.join(seconds(30))
