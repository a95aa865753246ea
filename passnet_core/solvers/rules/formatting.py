"""Break lines that are too long, within brackets, as formatters of Python do."""

import re

MOST = 116

_CLOSING = {"(": ")", "[": "]", "{": "}"}


def wrapped(code: str) -> str:
    """The code with long lines broken. What has no brackets stays as it is."""
    return "\n".join(line for each in code.split("\n") for line in _broken(each))


def _broken(line: str) -> list[str]:
    if len(line) <= MOST or line.lstrip().startswith(("#", '"""')):
        return [line]
    line = _with_brackets(line)
    body = line.lstrip()
    indent = line[: len(line) - len(body)]
    if operands := _operands(body):
        return [part for each in operands for part in _broken(indent + each)]
    groups = _groups(body)
    if not groups:
        return [line]
    start, end = max(groups, key=lambda each: each[1] - each[0])
    head, inner, tail = body[: start + 1], body[start + 1 : end].strip(), body[end:]
    deeper = f"{indent}    "
    items = [each.strip() for each in _items(inner)]
    if not inner or (len(items) == 1 and not _groups(inner) and not _operands(inner)):
        return [line]
    if len(deeper) + len(inner) <= MOST and not inner.endswith(","):
        return [indent + head, deeper + inner, *_broken(indent + tail)]
    comma = "," if len(items) > 1 or inner.endswith(",") else ""
    middle = [part for each in items if each for part in _with_comma(_broken(deeper + each), comma)]
    return [indent + head, *middle, *_broken(indent + tail)]


def _with_brackets(line: str) -> str:
    """The line with brackets around what may be broken only within some: a bare tuple, imported names, a condition, a
    sum."""
    for pattern in (r"(\s*return )(.+)()", r"(from \w+ import )(.+)()", r"(\s*)([\w, ]+)( = .+)"):
        if (found := re.fullmatch(pattern, line)) and len(_items(found[2])) > 1:
            return f"{found[1]}({found[2]}){found[3]}"
    for pattern in (r"(\s*if )(.+)(:)", r"(\s*\w+ = )(.+)()"):
        if (found := re.fullmatch(pattern, line)) and _operands(found[2]):
            return f"{found[1]}({found[2]}){found[3]}"
    return line


def _operands(text: str) -> list[str]:
    """The parts that operators join outside of brackets, each but the first with its operator, which binds least of
    all. Empty if there are none, or the text is more than an expression."""
    if len(_items(text)) > 1 or re.match(r"(\w+ = |if |return |for |from )", text):
        return []
    for sign in (" or ", " and ", " < ", " & ", " + ", " * "):
        places = [place for place, _ in _letters(text) if text.startswith(sign, place)]
        ends = [place for place in places if not any(start < place < end for start, end in _groups(text))]
        if ends:
            return [text[: ends[0]], *(text[one:other].strip() for one, other in zip(ends, [*ends[1:], len(text)]))]
    return []


def _with_comma(lines: list[str], comma: str) -> list[str]:
    return [*lines[:-1], lines[-1] + comma]


def _groups(text: str) -> list[tuple[int, int]]:
    """Where the outermost brackets open and close."""
    found: list[tuple[int, int]] = []
    open_at: list[int] = []
    for place, letter in _letters(text):
        if letter in _CLOSING:
            open_at.append(place)
        elif letter in _CLOSING.values() and open_at:
            start = open_at.pop()
            if not open_at:
                found.append((start, place))
    return found


def _items(text: str) -> list[str]:
    """The parts between commas that are in no bracket."""
    found, depth, start = [], 0, 0
    for place, letter in _letters(text):
        depth += (letter in _CLOSING) - (letter in _CLOSING.values())
        if letter == "," and not depth:
            found.append(text[start:place])
            start = place + 1
    return [*found, text[start:]]


def _letters(text: str) -> "list[tuple[int, str]]":
    """The letters outside of strings, with their places."""
    found: list[tuple[int, str]] = []
    quote = ""
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        else:
            found.append((place, letter))
    return found
