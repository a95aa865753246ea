"""Strings that strangers wrote (names, reasons, labels), made safe and readable as Markdown text."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

_DATED = re.compile(r"(.*\S), (\d{4}-\d\d-\d\d)", re.DOTALL)
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~:$&^=@/\"'])")


def plain(text: str) -> str:
    """The text as Markdown that shows exactly this text: no markup, no directive, no HTML, on one line."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def code_span(text: str) -> str:
    """The text as inline code, whatever backticks it holds."""
    text = " ".join(text.split())
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def key_of(widget: str, text: str) -> str:
    """A widget's key for this text, of which it holds nothing: Streamlit takes no two underscores in a key."""
    return f"{widget}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def when(moment: str) -> str:
    """An ISO 8601 time as "2026-03-04 05:06 UTC"; text that is no time stays as it is."""
    try:
        parsed = datetime.fromisoformat(moment)
    except ValueError:
        return moment
    return parsed.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC") if parsed.tzinfo else parsed.strftime("%Y-%m-%d %H:%M")


def span(days: Sequence[str]) -> str:
    """Days in order by the first and the last: "2026-03-04", "2026-03-04 to 2026-03-05"."""
    first, last = days[0], days[-1]
    return first if first == last else f"{first} to {last}"


def recorded(labels: Iterable[str]) -> str:
    """Where recorded results come from: "recorded: NVIDIA H200, 2026-03-04 to 2026-03-05", the days of one device
    together; empty where all labels are."""
    days: defaultdict[str, list[str]] = defaultdict(list)
    for label in sorted(set(labels) - {""}):
        dated = _DATED.fullmatch(label)
        days[dated[1] if dated else label] += [dated[2]] if dated else []
    said = [f"{name}, {span(found)}" if found else name for name, found in days.items()]
    return f"recorded: {'; '.join(said)}" if said else ""


def shape(sizes: tuple[int, ...]) -> str:
    """(2, 3) as "2×3"; no sizes as "scalar"."""
    return "×".join(str(size) for size in sizes) or "scalar"


def seconds(value: float) -> str:
    """A duration for people: "0.4 s", "12 s", "3 min 5 s"."""
    if value < 10:
        return f"{value:.1f} s"
    if value < 60:
        return f"{value:.0f} s"
    return f"{int(value // 60)} min {int(value % 60)} s"


def figure(value: float | None) -> str:
    """A number with three significant digits; no number is a dash."""
    return "–" if value is None else f"{value:.3g}"


def count(number: int, noun: str, plural: str = "") -> str:
    """ "1 subgraph", "3 subgraphs"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
