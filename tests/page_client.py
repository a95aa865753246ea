"""A browser's side of Streamlit's protocol, without drawing: many of them fit on a small machine.

It opens pages, reads what they say, types passes, presses buttons, and reruns fragments when the page asks for it, as
the script of a browser does."""

import asyncio
import contextlib
import json
import time
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

import httpx
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.BidiComponent_pb2 import BidiComponent
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect

from tests import waiting

Told = TypeVar("Told")

XSRF = "_streamlit_xsrf"
PATIENCE_S = waiting.seconds(75)
WHOLE = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_WITH_COMPILE_ERROR)


@dataclass
class Shown:
    """What a page shows since it was last drawn as a whole. texts: Markdown. buttons: their ids by label.
    components: the page's own, by name. errors: of the page's script."""

    texts: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    buttons: dict[str, str] = field(default_factory=dict)
    components: dict[str, BidiComponent] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)

    def take(self, fragment: "Shown") -> None:
        """Add what a fragment shows now; what it showed before stays."""
        self.texts += fragment.texts
        self.links += fragment.links
        self.buttons |= fragment.buttons
        self.components |= fragment.components
        self.errors += fragment.errors

    @property
    def text(self) -> str:
        return "\n".join([*self.texts, *self.links]).replace("\\", "")


class AsBrowsersDo(httpx.AsyncHTTPTransport):
    """Asks once more if the server has closed a connection that was kept."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        try:
            return await super().handle_async_request(request)
        except httpx.RemoteProtocolError:
            if request.method != "GET":
                raise
            return await super().handle_async_request(request)


class PageClient:
    """One browser. Use it as an asynchronous context."""

    def __init__(self, address: str, cookies: dict[str, str] | None = None) -> None:
        self.address = address
        self.http = httpx.AsyncClient(base_url=address, timeout=PATIENCE_S, cookies=cookies, transport=AsBrowsersDo())
        self.shown = Shown()
        self.redirect = ""
        """Where the page last sent the browser, to sign in or out."""
        self._socket: ClientConnection | None = None
        self._reader: asyncio.Task[None] | None = None
        self._timers: dict[str, asyncio.Task[None]] = {}
        self._whole = asyncio.Event()
        self._changed = asyncio.Condition()
        self._page, self._query, self._script = "", "", ""
        """The page that is open, by its name, and by the server's name once that is known."""
        self._coming, self._to_repeat = Shown(), dict[str, float]()
        """What is being drawn, and the fragments in it that are to be rerun, with their intervals in seconds."""
        self._unended: tuple[Shown, dict[str, float]] | None = None
        """The same of a page that was drawn as a whole, though nothing says so: where the run of a fragment follows at
        once, Streamlit drops the message."""
        self._is_whole = False
        """Whether the whole page is being drawn."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *failed: object) -> None:
        await self._hang_up()
        await self.http.aclose()

    async def open(self, page: str, query: str = "") -> float:
        """Open a page in a new tab, and wait until it is drawn. Returns the seconds that took."""
        await self._hang_up()
        began = time.monotonic()
        (await self.http.get(f"/{page}?{query}")).raise_for_status()
        (await self.http.get("/_stcore/health")).raise_for_status()
        told = dict(self.http.cookies)
        self._socket = await connect(
            f"{self.address.replace('http', 'ws', 1)}/_stcore/stream",
            subprotocols=["streamlit", told.get(XSRF, "none")],  # type: ignore[list-item]
            additional_headers={"Cookie": "; ".join(f"{name}={value}" for name, value in told.items())},
            origin=self.address,  # type: ignore[arg-type]
            max_size=None,
        )
        self._page, self._query, self._script = page, query, ""
        self._reader = asyncio.create_task(self._read(self._socket))
        await self._rerun()
        await self._drawn()
        return time.monotonic() - began

    async def press(self, label: str, *, drawn: bool = True) -> float:
        """Press a button, and wait until the page is drawn. Returns the seconds that took."""
        began = time.monotonic()
        await self._rerun(WidgetState(id=self.shown.buttons[label], trigger_value=True))
        if drawn:
            await self._drawn()
        return time.monotonic() - began

    async def type(self, code: str) -> float:
        """Have this code in the editor's first file. Returns the seconds until the page is drawn."""
        began = time.monotonic()
        editor = self.shown.components["editor"]
        shows = json.loads(editor.json)
        files = {each["name"]: each["code"] for each in shows["files"]} | {shows["files"][0]["name"]: code}
        held = {"slot": shows["slot"], "revision": shows["revision"], "files": files}
        await self._rerun(WidgetState(id=editor.id, json_value=json.dumps({"held": held})))
        await self._drawn()
        return time.monotonic() - began

    async def until(self, there: Callable[[Shown], bool], seconds: float = PATIENCE_S) -> float:
        """Wait until the page shows something. Returns the seconds that took. Raises TimeoutError."""
        began = time.monotonic()

        async def shown() -> None:
            async with self._changed:
                await self._changed.wait_for(lambda: there(self.shown))

        await self._wait(shown(), seconds)
        return time.monotonic() - began

    # --- inside ---

    async def _rerun(self, *pressed: WidgetState, fragment: str = "") -> None:
        asked = BackMsg()
        if self._script:
            asked.rerun_script.page_script_hash = self._script
        else:
            asked.rerun_script.page_name = self._page
        asked.rerun_script.query_string = self._query
        asked.rerun_script.widget_states.widgets.extend(pressed)
        asked.rerun_script.context_info.timezone = "UTC"
        asked.rerun_script.context_info.url = f"{self.address}/{self._page}"
        if fragment:
            asked.rerun_script.fragment_id = fragment
            asked.rerun_script.is_auto_rerun = True
        else:
            self._whole.clear()
        assert self._socket is not None
        await self._socket.send(asked.SerializeToString())

    async def _drawn(self) -> None:
        await self._wait(self._whole.wait(), PATIENCE_S)

    async def _wait(self, something: Coroutine[Any, Any, object], seconds: float) -> None:
        """Wait for something that the server brings about. Raises ConnectionError if it hangs up, TimeoutError."""
        awaited = asyncio.create_task(something)
        assert self._reader is not None
        done, _ = await asyncio.wait((awaited, self._reader), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if awaited in done:
            return
        awaited.cancel()
        if self._reader in done:
            self._reader.result()
            raise ConnectionError(f"The server hung up on {self._page!r}.")
        raise TimeoutError(f"{self._page!r} shows after {seconds:.0f} s:\n{self.shown.text[-2000:]}")

    async def _read(self, socket: ClientConnection) -> None:
        async for data in socket:
            assert isinstance(data, bytes)
            told = ForwardMsg()
            told.ParseFromString(data)
            await self._take(told)

    async def _take(self, told: ForwardMsg) -> None:
        kind = told.WhichOneof("type")
        if kind == "new_session":
            self._unended = (self._coming, self._to_repeat) if self._is_whole else None
            self._coming, self._to_repeat, self._is_whole = Shown(), {}, False
        elif kind == "navigation":
            self._is_whole = True
            self._script = told.navigation.page_script_hash
        elif kind == "delta":
            self._show(told)
        elif kind == "auto_rerun":
            self._to_repeat[told.auto_rerun.fragment_id] = told.auto_rerun.interval
        elif kind == "page_info_changed":
            self._query = told.page_info_changed.query_string
        elif kind == "auth_redirect":
            self.redirect = told.auth_redirect.url
        elif kind == "script_finished":
            self._finish(told.script_finished)
        async with self._changed:
            self._changed.notify_all()

    def _finish(self, how: int) -> None:
        """Show what was drawn: the whole page, or a fragment of it. What ended early is drawn again."""
        self._is_whole = False
        if how in WHOLE:
            self._show_whole(self._coming, self._to_repeat)
        elif how == ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY:
            if self._unended is not None:
                self._show_whole(*self._unended)
            self.shown.take(self._coming)
        self._unended = None

    def _show_whole(self, page: Shown, to_repeat: dict[str, float]) -> None:
        self._stop_timers()
        self.shown = page
        for fragment, interval in to_repeat.items():
            self._timers[fragment] = asyncio.create_task(self._repeat(fragment, interval))
        self._whole.set()

    def _show(self, told: ForwardMsg) -> None:
        shown, element = self._coming, told.delta.new_element
        kind = element.WhichOneof("type")
        if kind in ("markdown", "alert"):
            shown.texts.append(getattr(element, kind).body)
        elif kind == "heading":
            shown.texts.append(element.heading.body)
        elif kind == "button":
            shown.buttons[element.button.label] = element.button.id
        elif kind == "bidi_component":
            shown.components[element.bidi_component.component_name.rpartition(".")[2]] = element.bidi_component
        elif kind == "page_link":
            shown.links.append(element.page_link.label)
        elif kind == "exception":
            shown.errors.append(f"{element.exception.type}: {element.exception.message}")

    async def _repeat(self, fragment: str, interval: float) -> None:
        while True:
            await asyncio.sleep(interval)
            await self._rerun(fragment=fragment)

    def _stop_timers(self) -> None:
        for each in self._timers.values():
            each.cancel()
        self._timers.clear()

    async def _hang_up(self) -> None:
        self._stop_timers()
        if self._reader is not None:
            self._reader.cancel()
            with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                await self._reader
        if self._socket is not None:
            await self._socket.close()
        self._socket = self._reader = None


def run_apart(doing: Coroutine[Any, Any, Told]) -> Told:
    """Run something asynchronous to its end, in a thread of its own: Playwright keeps an event loop in that of the
    tests."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, doing).result()


async def together(doings: "list[Awaitable[None]]", at_once: int) -> None:
    """Do all of these, so many at once. The first that fails ends the others."""
    turns = asyncio.Semaphore(at_once)

    async def in_turn(doing: Awaitable[None]) -> None:
        async with turns:
            await doing

    async with asyncio.TaskGroup() as group:
        for each in doings:
            group.create_task(in_turn(each))
