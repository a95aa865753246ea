"""Makes strings that strangers wrote (names, reasons, labels) safe in Markdown, and formats values as text."""

import difflib
import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from passnet_core.records import Bundle

_DATED = re.compile(r"(.*\S), (\d{4}-\d\d-\d\d)", re.DOTALL)
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~:$&^=@/\"'])")


def plain(text: str) -> str:
    """Return Markdown that shows exactly this text on one line: no markup, no directive, no HTML takes effect."""
    return _MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def code_span(text: str) -> str:
    """Return the text as inline code, whatever backticks it contains."""
    text = " ".join(text.split())
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def key_of(widget: str, text: str) -> str:
    """Return a widget's key for this text, as a hash: Streamlit allows no two underscores in a row in a key."""
    return f"{widget}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def when(moment: str) -> str:
    """Return an ISO 8601 time as "2026-03-04 05:06 UTC"; any other text unchanged."""
    try:
        parsed = datetime.fromisoformat(moment)
    except ValueError:
        return moment
    return parsed.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC") if parsed.tzinfo else parsed.strftime("%Y-%m-%d %H:%M")


def clock(moment: str) -> str:
    """Return an ISO 8601 time of today as "at 15:26 UTC", of another day as "on 2026-03-04"; other text unchanged."""
    shown = when(moment)
    day, _, time = shown.partition(" ")
    if not time or not shown.endswith("UTC"):
        return shown
    return f"at {time}" if day == datetime.now(UTC).strftime("%Y-%m-%d") else f"on {day}"


def short_when(moment: str) -> str:
    """Return an ISO 8601 time of today as "15:26", of another day as "2026-03-04 15:26", both UTC; other text
    unchanged."""
    shown = when(moment).removesuffix(" UTC")
    return shown.removeprefix(datetime.now(UTC).strftime("%Y-%m-%d "))


def is_before(finished: str, started: str) -> bool:
    """Whether something had finished before something else started. Both are ISO 8601 times; the first is cut to whole
    seconds, so within one second it is not known, and taken for no."""
    try:
        return datetime.fromisoformat(finished) + timedelta(seconds=1) <= datetime.fromisoformat(started)
    except (ValueError, TypeError):
        return False


def span(days: Sequence[str]) -> str:
    """Return sorted days by the first and the last: "2026-03-04", "2026-03-04 to 2026-03-05"."""
    first, last = days[0], days[-1]
    return first if first == last else f"{first} to {last}"


def recorded(labels: Iterable[str]) -> str:
    """Say where recorded results come from: "recorded: NVIDIA H200, 2026-03-04 to 2026-03-05". The days of a device are
    joined; empty if all labels are."""
    days: defaultdict[str, list[str]] = defaultdict(list)
    for label in sorted(set(labels) - {""}):
        dated = _DATED.fullmatch(label)
        days[dated[1] if dated else label] += [dated[2]] if dated else []
    sources = [f"{name}, {span(found)}" if found else name for name, found in days.items()]
    return f"recorded: {'; '.join(sources)}" if sources else ""


def shape(sizes: tuple[int, ...]) -> str:
    """Return (2, 3) as "2×3", and () as "scalar"."""
    return "×".join(str(size) for size in sizes) or "scalar"


def seconds(value: float) -> str:
    """Return a duration as "0.4 s", "12 s" or "3 min 5 s"."""
    if value < 10:
        return f"{value:.1f} s"
    if value < 60:
        return f"{value:.0f} s"
    return f"{int(value // 60)} min {int(value % 60)} s"


def figure(value: float | None) -> str:
    """Return a number with three significant digits; None as a dash."""
    return "–" if value is None else f"{value:.3g}"


def count(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: "1 subgraph", "3 subgraphs"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def codes(bundle: Bundle) -> dict[str, str]:
    """Return the code of each file, by name."""
    return {file.name: file.code for file in bundle.files}


def difference(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return a unified diff, file by file; files that are gone come last."""
    parts: list[str] = []
    for name in dict.fromkeys([*after, *before]):
        old, new = before.get(name), after.get(name)
        if old != new:
            parts += difflib.unified_diff(
                (old or "").splitlines(), (new or "").splitlines(),
                name if old is not None else "nothing", name if new is not None else "nothing", lineterm="",
            )  # fmt: skip
    return "\n".join(parts)
