"""The door for what comes from outside: files, JSON, and the texts of arguments, addresses, models and servers.

Text that has passed it is valid Unicode, of limited length."""

import ast
import errno
import json
import os
import re
import stat
import threading
from pathlib import Path
from typing import Any, BinaryIO

from passnet_core.records.text import valid

LARGEST_FILE = 1 << 30
"""Most bytes of a file, where no other limit is named."""
LONGEST_NAME = 200
"""Most characters of a name or a passage that a message repeats."""
LONGEST_MESSAGE = 1000
"""Most characters of a message to a person."""
SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
"""Half of a character beyond U+FFFF, as JSON spells it."""
_PARSING = threading.RLock()


def shortened(text: str, most: int = LONGEST_NAME) -> str:
    """The text in valid Unicode; "…" stands for what is left out at its end."""
    text = valid(text)
    return text if len(text) <= most else text[: most - 1] + "…"


def quoted(text: str) -> str:
    """The text as a message repeats it: in quotes, shortened, with escapes for what cannot be printed."""
    return repr(shortened(text))


def printable(text: str) -> str:
    """Escape control characters: strangers choose names, and a terminal obeys what is printed on it."""
    return "".join(c if c in "\n\t" or c.isprintable() else repr(c)[1:-1] for c in text)


def from_json_text(text: str | bytes, *, mended: bool = True) -> Any:
    """The value of a JSON text. Raises ValueError for whatever is not JSON. mended: make its strings valid Unicode."""
    try:
        found = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not mended:
        return found
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    return _valid_within(found) if SURROGATE.search(text) else found


def _valid_within(value: Any) -> Any:
    match value:
        case str():
            return valid(value)
        case list():
            return [_valid_within(each) for each in value]
        case dict():
            return {valid(name): _valid_within(each) for name, each in value.items()}
    return value


def syntax_tree(code: str) -> ast.Module:
    """Like ast.parse, by one thread at a time: before 3.11.8, Python refuses good code now and then if several threads
    parse (gh-106905). Raises SyntaxError, ValueError, RecursionError, MemoryError."""
    with _PARSING:
        return ast.parse(code)


def opened(path: Path, most: int = LARGEST_FILE) -> BinaryIO:
    """Open a file for reading. Raises OSError for a folder, a pipe or a device, which might never end, for a file of
    more than `most` bytes, and for a name that no file has."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except ValueError:
        raise OSError(errno.EINVAL, "no file can have this name") from None
    try:
        about = os.fstat(descriptor)
        if stat.S_ISDIR(about.st_mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "it is not a plain file")
        if about.st_size > most:
            raise _too_large(most)
        return os.fdopen(descriptor, "rb")
    except OSError:
        os.close(descriptor)
        raise


def file_bytes(path: Path, most: int = LARGEST_FILE) -> bytes:
    """The content of a file. Raises OSError as opened does."""
    with opened(path, most) as file:
        # the size that a special file has told may be 0
        found = file.read(most + 1)
    if len(found) > most:
        raise _too_large(most)
    return found


def file_text(path: Path, most: int = LARGEST_FILE) -> str:
    """The text of a file in UTF-8, with or without a byte order mark, with "\\n" as the end of each line.

    Raises OSError as opened does, UnicodeDecodeError for another encoding."""
    text = file_bytes(path, most).decode("utf-8-sig")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def cause(error: OSError | UnicodeDecodeError) -> str:
    """Why a file cannot be read, without its name."""
    return (error.strerror or str(error)) if isinstance(error, OSError) else "it is not UTF-8 text"


def is_folder(path: Path) -> bool:
    """Whether there is a folder of this name. False for a name that none can have."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _too_large(most: int) -> OSError:
    return OSError(errno.EFBIG, f"it is larger than {most >> 20} MiB")
