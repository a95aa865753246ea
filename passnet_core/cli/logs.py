"""What servers log: nothing that strangers have sent acts on a terminal, passes for another line, or tells a secret."""

import logging
import re
import sys
import threading
import traceback
from collections.abc import Collection
from types import TracebackType
from typing import Any

from passnet_core.outside import printable, shortened
from passnet_core.settings import Settings

LONGEST_LINE = 500
"""Most characters of a message, and of a line of a traceback: no body fits in."""
CUT = "…"
SECRETS = re.compile(
    r"""\bpassnet_[\w-]{16,}
    | \bsk-[\w-]{8,}
    | (?i:\b(?:bearer|basic)\s+)[^\s'",]+
    | (?i:\b(?:passnet_browser|_streamlit_\w+|cookie|authorization|token|api_key|secret)["']?\s*[=:]\s*)[^\s&;,]+
    | [?&](?:code|state|join)=[^\s&]+
    """,
    re.VERBOSE,
)
"""Tokens of persons, keys of models, and the values of headers, cookies and parameters that hold secrets."""
_log = logging.getLogger("passnet")


def clean_logs(settings: Settings) -> None:
    """Clean from here on every record of this process, whichever logger makes it, and log what would be printed: what
    ends a thread, what Python cannot raise, warnings."""
    known = {*settings.judge_tokens.values(), settings.models.key} - {""}
    make = logging.getLogRecordFactory()

    def clean(*given: Any, **more: Any) -> logging.LogRecord:
        return _cleaned(make(*given, **more), known)

    logging.setLogRecordFactory(clean)
    logging.captureWarnings(True)
    logging.getLogger("py.warnings").addHandler(logging.StreamHandler())
    threading.excepthook = lambda ended: _uncaught(
        "A thread ended", ended.exc_type, ended.exc_value, ended.exc_traceback
    )
    sys.unraisablehook = lambda lost: _uncaught(
        "An error was ignored", lost.exc_type, lost.exc_value, lost.exc_traceback
    )


def _cleaned(record: logging.LogRecord, known: Collection[str]) -> logging.LogRecord:
    try:
        message = record.getMessage()
    except (TypeError, ValueError):  # a logger must not fail where it was only given the wrong arguments
        message = str(record.msg)
    record.msg, record.args = _line(message, known), ()
    if record.exc_info and record.exc_info[0] is not None:
        told = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
        # what an error repeats may have lines: none of them begins as a record does
        record.exc_text = "\n".join(f"  | {_line(line, known)}" for line in told.splitlines())
    return record


def _line(text: str, known: Collection[str]) -> str:
    """The text in one line, without secrets."""
    for secret in known:
        text = text.replace(secret, CUT)
    return printable(shortened(SECRETS.sub(CUT, text), LONGEST_LINE)).replace("\n", r"\n").replace("\t", r"\t")


def _uncaught(what: str, kind: type[BaseException], error: BaseException | None, place: TracebackType | None) -> None:
    if error is not None and not issubclass(kind, SystemExit):
        _log.error(what, exc_info=(kind, error, place))
