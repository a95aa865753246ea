"""How many connections a server keeps open, and how long one may keep it waiting: uvicorn's protocol with limits.

uvicorn has no deadline for headers, for bodies, or for answers that nobody reads, and no limit for one address."""

import ipaddress
import resource
from collections.abc import Hashable
from functools import cache, lru_cache
from typing import Any

import h11
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

from passnet_core.server import awaiting
from passnet_core.server.at_once import AtOnce
from passnet_core.server.awaiting import AwaitedConnection

MOST_OPEN = 1024
"""How many connections are open at once, where the process may open twice as many files."""
SHARE = 4
"""One address may have one of so many parts of them."""
CROWDED = "Too many connections are open, from your address or in all. Ask again in a minute.\n"


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
        self._at_once = AtOnce()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        host = (scope.get("client") or ("",))[0]
        if not host or (host in self._proxies and not self._proxies.always_trust):
            await self._app(scope, receive, send)
            return
        with self._at_once.one_more(network_of(host), most_open() // SHARE) as room:
            await (self._app if room else _refuse)(scope, receive, send)


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


class LimitedConnection(AwaitedConnection, H11Protocol):
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
            return ("request", self.cycle), awaiting.HEADERS_S
        return (("body", self.cycle), awaiting.BODY_S) if self.conn.their_state is h11.SEND_BODY else None

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
