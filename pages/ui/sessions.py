"""Streamlit's sessions, with one mend: what a script has drawn last reaches the browser on a busy server too."""

import functools
from typing import TYPE_CHECKING

from streamlit.runtime.app_session import AppSession, AppSessionState

if TYPE_CHECKING:
    from streamlit.runtime.scriptrunner import RerunData

RETRY_S = 0.01

_create = AppSession._create_scriptrunner


def keep_last_messages() -> None:
    """Have sessions deliver all that a script has sent before they start the next one.

    Streamlit 1.67 takes a request for a fragment, finds that the script's thread has just ended, and starts a new one
    at once. Whatever the old one has sent and the server's event loop has not handled yet is dropped then, since it
    comes from another script than the present one: on a server whose event loop lags, the end of a page is missing
    until somebody presses something. Call it once, before the server starts."""
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
