"""How many connections a server keeps open, and how long one may keep it waiting: uvicorn's protocol with limits.

uvicorn has no deadline for headers, for bodies, or for answers that nobody reads, and no limit for one address."""

import asyncio
import ipaddress
import resource
from collections import Counter
from collections.abc import Hashable
from functools import cache, lru_cache
from typing import Any

import h11
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_OPEN = 1024
"""How many connections are open at once, where the process may open twice as many files."""
SHARE = 4
"""One address may have one of so many parts of them."""
HEADERS_S = 10.0
"""How many seconds a connection may be without a request whose headers are complete."""
BODY_S = 120.0
"""How many seconds the rest of a request, or of a message on a WebSocket, may take. Interfaces that read bodies answer
earlier; this is for everything else."""
LEAST_READ, UNREAD_S = 32 << 10, 30.0
"""How many bytes of an answer a client has to read in how many seconds."""
LOOK_EVERY_S = 2.0
"""How often each connection is looked at."""
CROWDED = "Too many connections from where you are are open. Close some, or ask again in a minute.\n"


def most_open() -> int:
    """How many connections may be open at once: no more than half of the files that this process may open."""
    return min(MOST_OPEN, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)


@lru_cache(maxsize=4096)
def network_of(host: str) -> str:
    """Whose address it is: an IPv6 address stands for its network of 64 bits, all of which one customer has."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is None:
            return str(ipaddress.ip_network((int(address) >> 64 << 64, 64)))
        address = address.ipv4_mapped
    return str(address)


class LimitedConfig(uvicorn.Config):
    """uvicorn's configuration with these limits. Behind a proxy that FORWARDED_ALLOW_IPS names (this machine unless it
    is set), an address is the one that the proxy tells."""

    def __init__(self, app: Any, **options: Any) -> None:
        # backlog: so many connections are accepted before any of them is refused
        super().__init__(app, **{"http": LimitedConnection, "backlog": 128, "proxy_headers": False, **options})

    def load(self) -> None:
        super().load()
        shares: Any = AddressShares(self.loaded_app, self.forwarded_allow_ips)
        self.loaded_app = ProxyHeadersMiddleware(shares, self.forwarded_allow_ips)
        if self.ws_protocol_class is not None:
            from passnet_core.server.web_sockets import LimitedWebSocket  # only pages have WebSockets, and the package

            self.ws_protocol_class = LimitedWebSocket


def limit_all_servers() -> None:
    """Have every server that this process makes keep these limits, also Streamlit's, which takes no class of ours."""
    uvicorn.Config = LimitedConfig  # type: ignore[assignment, misc]


class AddressShares:
    """An ASGI middleware that answers so many requests and WebSockets of one address at once, also of those that come
    through a proxy. proxies: as FORWARDED_ALLOW_IPS has them; what comes from a proxy itself is not limited."""

    def __init__(self, app: ASGIApp, proxies: list[str] | str) -> None:
        self._app, self._proxies = app, _trusted(proxies)
        self._at_once: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        host = (scope.get("client") or ("",))[0]
        if not host or (host in self._proxies and not self._proxies.always_trust):
            await self._app(scope, receive, send)
            return
        network = network_of(host)
        if self._at_once[network] >= most_open() // SHARE:
            await _refuse(scope, receive, send)
            return
        self._at_once[network] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._at_once[network] -= 1
            self._at_once += Counter()  # keeps no addresses that have no request


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1013})
        return
    answer = PlainTextResponse(CROWDED, 429, {"Retry-After": "60", "Connection": "close"})
    await answer(scope, receive, send)


def _trusted(proxies: list[str] | str) -> Any:
    """The addresses of proxies, as uvicorn reads them."""
    return _read_proxies(proxies if isinstance(proxies, str) else ",".join(proxies))


@cache
def _read_proxies(proxies: str) -> Any:
    nothing: Any = None
    return ProxyHeadersMiddleware(nothing, proxies).trusted_hosts


class Watched(asyncio.Protocol):
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


class LimitedConnection(Watched, H11Protocol):
    """An HTTP connection: refused if too many are open, and ended if headers, a body or a reader are not there in
    time."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if self._is_one_too_many():
            length = len(CROWDED)
            head = f"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
            self.transport.write((head + CROWDED).encode())
            self.transport.close()

    def awaited(self) -> tuple[Hashable, float] | None:
        if self.cycle is None or self.cycle.response_complete:
            return ("request", self.cycle), HEADERS_S
        return (("body", self.cycle), BODY_S) if self.conn.their_state is h11.SEND_BODY else None

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._looking.cancel()
        super().handle_websocket_upgrade(event)

    def _is_one_too_many(self) -> bool:
        if len(self.connections) > most_open():
            return True
        if self.client is None or self.client[0] in _trusted(self.config.forwarded_allow_ips):
            return False  # a proxy's connections are many people's
        network = network_of(self.client[0])
        clients = [getattr(each, "client", None) for each in self.connections]
        return sum(each is not None and network_of(each[0]) == network for each in clients) > most_open() // SHARE
