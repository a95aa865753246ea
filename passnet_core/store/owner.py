"""Names of processes. A name identifies the process that works on a run, also after its process id was reused."""

import os
from pathlib import Path


def this_process() -> str:
    """Return the name of the calling process: its id and its start time."""
    return _name(os.getpid())


def alive(owner: str) -> bool:
    """Whether the process of this name still runs on this machine."""
    number = owner.partition(":")[0]
    return number.isdecimal() and _exists(int(number)) and _name(int(number)) == owner


def _name(pid: int) -> str:
    return f"{pid}:{_started(pid)}"


def _started(pid: int) -> str:
    try:
        # the command's name, in parentheses, may contain spaces; the start time is the 20th field after it
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        # a process that was killed keeps its number until its parent has asked for its exit status
        return "ended" if fields[0] in "ZX" else fields[19]
    except (OSError, IndexError):
        return ""  # without /proc, the process id alone must do


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
