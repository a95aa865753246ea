"""Alter files and folders as accidents, other programs and malice do. The same generator of random numbers gives the
same alterations."""

import json
import os
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

ODD_TEXTS = (
    "",
    " ",
    "\n",
    "\0",
    "a\0b",
    "\x1b[2J",
    "\u202etxt",
    "\ufeff",
    "\ud800",
    "caf\udce9",
    "é",
    "名前",
    "🔥" * 9,
    "..",
    "../../etc",
    "/",
    "~",
    "-",
    "--help",
    ".",
    "con",
    "a/b",
    "a\\b",
    "%s%n",
    "{}",
    "'\"",
    "<script>alert(1)</script>",
    "$(id)",
    "nan",
    "None",
    "١٢",
    "x" * 300,
    "x" * 100_000,
)
"""Texts that some program has fallen over. Two of them are no valid Unicode: a lone surrogate, and a byte of Latin-1 in
a file name as Python reads it."""

ODD_NUMBERS = (
    "0",
    "-1",
    "1.5",
    "1e999",
    "-1e999",
    "nan",
    "NaN",
    "Infinity",
    "True",
    "null",
    "1_000",
    "0x10",
    "9" * 30,
    "9" * 5000,
    str(1 << 31),
    str(1 << 63),
    str(1 << 64),
    "1e-400",
    "3j",
)
ODD_VALUES: tuple[Any, ...] = (None, True, 0, -1, 1.5, 10**30, float("nan"), float("inf"), [], {}, [[]], "", "\ud800")
ODD_CODE = (
    "(" * 300 + ")" * 300,
    "-" * 20_000 + "x",
    " + ".join(["x"] * 20_000),
    "[" * 90 + "]" * 90,
    "lambda: (yield)",
    "x.__class__.__mro__",
    "f'{x!r:{x}}'",
    "*x",
    "...",
    "await x",
    "x := 1",
    "'\\ud800'",
    "'\\N{SNOWMAN}'",
    "b'\\xff'",
    "1e999",
    "torch.relu(*[x] * 10**9)",
    "9" * 5000,
    "x[::0]",
    "x if x else",
    "\x0c",
    "async def f(): pass",
    "match x:\n    case _: pass",
    "global x",
    "import os",
    "class A: pass",
)

Alteration = Callable[[Random, bytes], bytes]


def _chunk(rng: Random, data: bytes) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.choice((1, 2, 8, 64, 512)))


def flipped(rng: Random, data: bytes) -> bytes:
    """Some bytes are others."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 4, 32)) if data else 0):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def inserted(rng: Random, data: bytes) -> bytes:
    start, _ = _chunk(rng, data)
    odd = rng.choice((b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"\x80" * 40, rng.randbytes(20), b"\r", b"\x0c", b"\t"))
    return data[:start] + odd + data[start:]


def removed(rng: Random, data: bytes) -> bytes:
    start, end = _chunk(rng, data)
    return data[:start] + data[end:]


def repeated(rng: Random, data: bytes) -> bytes:
    start, end = _chunk(rng, data)
    return data[:end] + data[start:end] * rng.choice((1, 2, 100)) + data[end:]


def cut_off(rng: Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def encoded(rng: Random, data: bytes) -> bytes:
    """The text in another encoding, or with other line ends."""
    text = data.decode(errors="replace")
    kind = rng.choice(("utf-16", "utf-8-sig", "latin-1", "utf-7", "lines", "old lines"))
    if kind in ("lines", "old lines"):
        return text.replace("\n", "\r\n" if kind == "lines" else "\r").encode()
    return text.encode(kind, errors="replace")


def lines_changed(rng: Random, data: bytes) -> bytes:
    lines = data.split(b"\n")
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            lines[first], lines[second] = lines[second], lines[first]
        case 1:
            lines[first:first] = [lines[second]]
        case 2:
            del lines[first]
        case _:
            lines[first] = b"    " + lines[first]
    return b"\n".join(lines)


def _replaced(rng: Random, data: bytes, pattern: str, options: Sequence[str]) -> bytes:
    text = data.decode(errors="surrogateescape")
    places = list(re.finditer(pattern, text))
    if not places:
        return flipped(rng, data)
    place = rng.choice(places)
    changed = text[: place.start()] + rng.choice(options) + text[place.end() :]
    return changed.encode(errors="surrogatepass")


def numbers(rng: Random, data: bytes) -> bytes:
    return _replaced(rng, data, r"(?<![\w.])\d+(\.\d+)?(e[+-]?\d+)?", ODD_NUMBERS)


def names(rng: Random, data: bytes) -> bytes:
    others = ("x", "self", "None", "class", "__class__", "é", "forward", "torch", "L_x_", "_", "ſ", "lambda", "float32")
    return _replaced(rng, data, r"[A-Za-z_]\w*", others)


def strings(rng: Random, data: bytes) -> bytes:
    escaped = [json.dumps(each) for each in ODD_TEXTS]
    return _replaced(rng, data, r'"[^"\n]*"|\'[^\'\n]*\'', escaped)


def code(rng: Random, data: bytes) -> bytes:
    return _replaced(rng, data, r"(?<== )[^\n]+|(?<=\()[^()\n]+(?=\))|(?<=return )[^\n]+", ODD_CODE)


def values(rng: Random, data: bytes) -> bytes:
    """A value of JSON is another one. For files with one value per line, in one line."""
    text = data.decode(errors="replace")
    lines = text.split("\n") if text.count("\n{") else [text]
    place = rng.randrange(len(lines))
    try:
        value = json.loads(lines[place])
    except (ValueError, RecursionError):
        return strings(rng, data)
    lines[place] = json.dumps(_value_changed(rng, value))
    if not rng.randrange(20):
        lines[place] = "[" * 100_000
    return "\n".join(lines).encode()


def _value_changed(rng: Random, value: Any) -> Any:
    if isinstance(value, dict) and value and rng.randrange(6):
        key = rng.choice(sorted(value))
        match rng.randrange(8):
            case 0:
                return {name: each for name, each in value.items() if name != key}
            case 1:
                return {**value, rng.choice(ODD_TEXTS): value[key]}
            case _:
                return {**value, key: _value_changed(rng, value[key])}
    if isinstance(value, list) and value and rng.randrange(4):
        place = rng.randrange(len(value))
        match rng.randrange(4):
            case 0:
                return [*value[:place], *value[place + 1 :]]
            case 1:
                return [*value, value[place]]
            case _:
                return [*value[:place], _value_changed(rng, value[place]), *value[place + 1 :]]
    return rng.choice((*ODD_VALUES, *ODD_TEXTS[:20], [value], {"x": value}))


ON_TEXT: tuple[Alteration, ...] = (
    flipped, inserted, removed, repeated, cut_off, encoded, lines_changed, numbers, numbers, names, names, strings,
    strings, code, code, values, values,
)  # fmt: skip


def altered(rng: Random, data: bytes) -> bytes:
    """The content of a file after one to three alterations."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        data = rng.choice(ON_TEXT)(rng, data)
    return data


# --- folders ---------------------------------------------------------------------------------------------------------


def alter_folder(rng: Random, folder: Path) -> None:
    """Alter one to three files below a folder: mostly their content; else what they are, and what they are called."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        places = sorted(path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink())
        if not places:
            return
        path = rng.choice(places)
        if rng.randrange(10) < 8 and path.is_file() and not path.is_symlink():
            path.write_bytes(altered(rng, path.read_bytes()))
        else:
            _replace(rng, path, folder)


def _replace(rng: Random, path: Path, folder: Path) -> None:
    """Something else is at the place of a file, or of the folder that it is in."""
    kind = rng.choice(("missing", "empty", "folder", "pipe", "loop", "away", "inside", "renamed", "renamed above"))
    if kind == "renamed":
        _rename(rng, path)
        return
    if kind == "renamed above":
        _rename(rng, path.parent if path.parent != folder else path)
        return
    beside = [each for each in folder.rglob("*") if each.is_file()]
    path.unlink()
    match kind:
        case "empty":
            path.touch()
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "loop":
            path.symlink_to(path.name)
        case "away":
            path.symlink_to(rng.choice(("/etc/hostname", "/nowhere", "/dev/zero", "/proc/self/mem", "..", "\udcff")))
        case "inside":
            path.symlink_to(rng.choice(beside or [folder]))


def _rename(rng: Random, path: Path) -> None:
    name = rng.choice([each for each in ODD_TEXTS if _is_name(each)])
    target = path.parent / name
    if not target.exists():
        path.rename(target)


def _is_name(text: str) -> bool:
    """Whether this system can have a file of this name."""
    try:
        return text not in ("", ".", "..") and not set(text) & set("/\0") and len(os.fsencode(text)) < 256
    except UnicodeEncodeError:
        return False


def copied(source: Path, target: Path) -> Path:
    """A copy of a file or folder, which may be altered."""
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    return target


def listing(place: Path) -> list[tuple[str, str, bytes]]:
    """What is below a place: each name, what it is, and its content."""
    found: list[tuple[str, str, bytes]] = []
    for path in sorted([place, *place.rglob("*")] if place.is_dir() and not place.is_symlink() else [place]):
        name = os.fspath(path)
        if path.is_symlink():
            found.append((name, "link", os.fsencode(os.readlink(path))))
        elif path.is_file():
            found.append((name, "file", path.read_bytes()))
        else:
            found.append((name, "folder" if path.is_dir() else "other", b""))
    return found
