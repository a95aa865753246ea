"""What the programs share that run in the judge's sandbox: a record comes in as JSON, another goes out."""

import json
import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from passnet_core.errors import BadInput
from passnet_core.records import from_json, to_json

T = TypeVar("T")


def answering(kind: type[T], answer: Callable[[T], Any]) -> int:
    """Read a record of this kind from standard input, and write the answer's record to standard output.

    Returns exit code 0, or 2 with a sentence on standard error."""
    # libraries may print to standard output, which must contain only the answer: send their output to standard error
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        found = to_json(answer(from_json(kind, json.loads(sys.stdin.read()))))
    except (BadInput, ValueError, RecursionError, MemoryError) as error:
        print(" ".join(str(error).split()) or f"{type(error).__name__}.", file=sys.stderr)
        return 2
    out.write(json.dumps(found, allow_nan=False).encode())
    out.close()
    return 0
