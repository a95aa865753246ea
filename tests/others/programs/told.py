"""How the programs here are told what to do, and tell what they saw: JSON on the command line, and on the last line."""

import json
import sys
from collections.abc import Callable
from typing import Any


def order() -> dict[str, Any]:
    """What the test asked for."""
    asked: dict[str, Any] = json.loads(sys.argv[1])
    return asked


def tell(**found: Any) -> None:
    print("\n" + json.dumps(found))


def error_of(work: Callable[..., Any], *given: Any, **more: Any) -> str:
    """The name and the words of the error that a call raises; empty if it raises none."""
    try:
        work(*given, **more)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""
