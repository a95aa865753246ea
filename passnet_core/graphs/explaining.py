"""Explain as data what a pass matched: its pattern and the matched pairs, or the failed attempts and a working edit.

Patterns come from strangers, so the size of an explanation is bounded here. What is too large is left out entirely."""

import json
from collections.abc import Collection

from passnet_core.errors import BadInput
from passnet_core.graphs.ir import Graph, graph_from_json, graph_to_json
from passnet_core.graphs.matching import Bind, Match, Matching, find_matches, shown
from passnet_core.graphs.mending import TRIAL_BUDGET, Mended, mended
from passnet_core.graphs.respelling import FUNCTION, lines_changed, respelled
from passnet_core.graphs.source import parse_function
from passnet_core.records import LineChange, MatchAttempt, Pairing, PassMatches, PatternEdit

ATTEMPTS = 12
"""Most failed attempts that a report keeps."""
LONGEST_PATTERN = 64_000
"""Most characters of a pattern's JSON. A pass with a longer pattern gets no explanation."""
MOST_PASSES = 32
"""Most passes of a bundle that get an explanation."""
MOST_MENDED = 4
"""Most passes without a match for which edits are tried: that takes as long as several searches."""
_MOST_PAIRS = 5_000
_PAIRS_OF_AN_ATTEMPT = 60
_LONGEST_SOURCE = 200_000


def explained(
    name: str,
    pattern: Graph,
    graph: Graph,
    matching: Matching,
    *,
    code: str = "",
    bind: Bind,
    pattern_bind: Bind | None = None,
    needed: Collection[str] | None = None,
    mend: bool = True,
) -> PassMatches:
    """Report on a pass with everything that explains its matches, or why it has none.

    matching: the result of find_matches for pattern and graph, with attempts kept. code: the source of the pass, used
    to say which lines to change; empty: unknown. mend: whether to look for an edit."""
    names = tuple(match.names for match in matching.matches)
    text = pattern_to_text(pattern)
    if not text:
        return PassMatches(name, names, matching.miss)
    edit = None
    if mend and matching.attempts and not matching.matches:
        found = mended(pattern, graph, matching, bind=bind, pattern_bind=pattern_bind, needed=needed)
        if found is not None:
            lines = _lines(code, graph, found, bind, pattern_bind or bind, needed)
            then = found.matching.miss.reason if found.matching.miss and not found.matching.matches else ""
            words = tuple(change.words for change in found.changes)
            edit = PatternEdit(words, len(found.matching.matches), then, lines)
    return PassMatches(
        name,
        names,
        matching.miss,
        pattern=text,
        pairings=tuple(_pairing(match) for match in matching.matches[: _MOST_PAIRS // max(len(pattern.nodes), 1)]),
        attempts=tuple(_bounded(each) for each in matching.attempts),
        tried=matching.tried,
        edit=edit,
    )


def pattern_to_text(pattern: Graph) -> str:
    """Write a pattern's graph as JSON text without loss; empty if that is too long."""
    try:
        text = json.dumps(graph_to_json(pattern), separators=(",", ":"), ensure_ascii=False)
        text.encode()
    except (RecursionError, UnicodeError):
        return ""
    return text if len(text) <= LONGEST_PATTERN else ""


def pattern_from_text(text: str) -> Graph:
    """Read what pattern_to_text wrote. Raises BadInput on anything else."""
    try:
        return graph_from_json(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"Not a pattern: {str(error)[:80]}") from error


def pattern_in_source(code: str) -> Graph | None:
    """Read the pattern from the source of a pass; None if it is not straight-line code."""
    try:
        return parse_function(code, FUNCTION)
    except BadInput:
        return None


def _pairing(match: Match) -> Pairing:
    return Pairing(tuple(match.nodes.items()), tuple((name, shown(value)) for name, value in match.inputs.items()))


def _bounded(attempt: MatchAttempt) -> MatchAttempt:
    fitted = attempt.fitted[:_PAIRS_OF_AN_ATTEMPT]
    left = _PAIRS_OF_AN_ATTEMPT - len(fitted)
    return MatchAttempt(attempt.anchor, fitted, attempt.differences, attempt.beyond[:left])


def _lines(
    code: str, graph: Graph, found: Mended, bind: Bind, pattern_bind: Bind, needed: Collection[str] | None
) -> tuple[LineChange, ...]:
    """Return the lines of the source to change for the same effect; none if that is not certain.

    The pattern is mended again as read from the source, because tracing spells calls differently than people do. The
    changed source is then parsed and matched once more."""
    if not code or len(code) > _LONGEST_SOURCE:
        return ()

    def searched(pattern: Graph) -> Matching:
        return find_matches(
            pattern, graph, bind=bind, pattern_bind=pattern_bind, needed=needed, keep=ATTEMPTS, budget=TRIAL_BUDGET
        )

    try:
        read = parse_function(code, FUNCTION)
        better = mended(read, graph, searched(read), bind=bind, pattern_bind=pattern_bind, needed=needed)
        after = respelled(code, read, better.changes) if better else None
        if after is None or after == code:
            return ()
        again = searched(parse_function(after, FUNCTION))
    except BadInput:
        return ()
    same = [match.names for match in again.matches] == [match.names for match in found.matching.matches]
    return lines_changed(code, after) if same and again.nearness == found.matching.nearness else ()
