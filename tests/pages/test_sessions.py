"""What sessions of Streamlit do on a busy machine."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession, AppSessionState

from pages.ui import sessions
from tests.page_client import run_apart
from tests.waiting import seconds


class Ended:
    """A script whose thread has ended: it takes no request any more."""

    def request_rerun(self, asked: object) -> bool:
        return False


def waiting(**more: Any) -> Any:
    """A session as Streamlit leaves it between the end of a script's thread and the handling of its last message."""
    state = AppSessionState.APP_IS_RUNNING
    return SimpleNamespace(_scriptrunner=Ended(), _state=state, _event_loop=asyncio.get_running_loop(), **more)


def test_the_next_script_starts_once_the_last_one_has_delivered_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[object] = []

    def start(session: Any, asked: object) -> None:
        assert session._scriptrunner is None, "Streamlit drops what other scripts have sent"
        started.append(asked)

    monkeypatch.setattr(sessions, "_create", start)

    async def serve() -> None:
        session = waiting()
        sessions._create_in_turn(session, cast(Any, "a fragment"))
        await asyncio.sleep(3 * sessions.RETRY_S)
        assert started == []
        session._scriptrunner = None
        while not started:
            await asyncio.sleep(sessions.RETRY_S)

        closed = waiting()
        sessions._create_in_turn(closed, cast(Any, "another"))
        closed._scriptrunner, closed._state = None, AppSessionState.SHUTDOWN_REQUESTED
        await asyncio.sleep(3 * sessions.RETRY_S)

    run_apart(asyncio.wait_for(serve(), seconds(60)))
    assert started == ["a fragment"]


def test_streamlit_still_starts_scripts_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AppSession, "_create_scriptrunner", sessions._create)
    monkeypatch.setattr(AppSession, "request_rerun", sessions._request)
    sessions.mend()
    assert AppSession._create_scriptrunner is cast(Any, sessions._create_in_turn)
    assert AppSession.request_rerun is cast(Any, sessions._request_pressed_once)


@pytest.mark.parametrize("by_itself", [True, False])
def test_what_was_pressed_is_read_from_the_visitors_own_request(
    monkeypatch: pytest.MonkeyPatch, by_itself: bool
) -> None:
    asked = ClientState(is_auto_rerun=by_itself)
    asked.widget_states.widgets.add(id="button", trigger_value=True)
    asked.widget_states.widgets.add(id="editor", json_trigger_value="[1]")
    asked.widget_states.widgets.add(id="typed", string_value="relu")
    heard: list[str] = []
    monkeypatch.setattr(
        sessions, "_request", lambda _, told: heard.extend(each.id for each in told.widget_states.widgets)
    )
    sessions._request_pressed_once(cast(Any, None), asked)
    assert heard == (["typed"] if by_itself else ["button", "editor", "typed"])
