"""Streamlit's sessions, with two mends for what is busy: what a script has drawn last reaches the browser, and a button
that is pressed once is pressed once."""

import functools
from typing import TYPE_CHECKING

from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession, AppSessionState

if TYPE_CHECKING:
    from streamlit.runtime.scriptrunner import RerunData

RETRY_S = 0.01

PRESSED = frozenset({"trigger_value", "string_trigger_value", "json_trigger_value", "chat_input_value"})
"""The kinds of values that a widget has only in the request that tells of them."""

_create = AppSession._create_scriptrunner
_request = AppSession.request_rerun


def mend() -> None:
    """Mend the sessions. Call it once, before the server starts."""
    keep_last_messages()
    press_once()


def press_once() -> None:
    """Have sessions read what was pressed from no request that a page makes by itself.

    Streamlit 1.67 keeps a press of a button in the browser until it sends it, as soon as the page has nothing else to
    do. If it is time to draw a fragment again then, that request comes first and tells of the press too: the button's
    callback is called twice, and one click starts two runs."""
    AppSession.request_rerun = _request_pressed_once  # type: ignore[method-assign,assignment]


def _request_pressed_once(session: AppSession, asked: ClientState | None) -> None:
    if asked is not None and asked.is_auto_rerun:
        kept = [each for each in asked.widget_states.widgets if each.WhichOneof("value") not in PRESSED]
        del asked.widget_states.widgets[:]
        asked.widget_states.widgets.extend(kept)
    _request(session, asked)


def keep_last_messages() -> None:
    """Have sessions deliver all that a script has sent before they start the next one.

    Streamlit 1.67 takes a request for a fragment, finds that the script's thread has just ended, and starts a new one
    at once. Whatever the old one has sent and the server's event loop has not handled yet is dropped then, since it
    comes from another script than the present one: on a server whose event loop lags, the end of a page is missing
    until somebody presses something."""
    AppSession._create_scriptrunner = _create_in_turn  # type: ignore[method-assign,assignment]


def _create_in_turn(session: AppSession, asked: "RerunData") -> None:
    """Start a script once the last one is forgotten, which is the end of all that it has sent."""
    if session._scriptrunner is None:
        _create(session, asked)
    else:
        session._event_loop.call_later(RETRY_S, functools.partial(_again, session, asked))


def _again(session: AppSession, asked: "RerunData") -> None:
    if session._state is AppSessionState.SHUTDOWN_REQUESTED:
        return
    # another request may have started one meanwhile
    if session._scriptrunner is None or not session._scriptrunner.request_rerun(asked):
        _create_in_turn(session, asked)
