"""What a pass matched, explained as data: its pattern, every pairing, or the search and what would mend it.

Patterns are written by strangers: what is kept of them is bounded here, and what is too large is left out whole.
"""

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
"""Attempts of a search that are kept."""
LONGEST_PATTERN = 64_000
"""Characters of a pattern's JSON beyond which nothing is explained."""
MOST_PASSES = 32
"""Passes of a bundle that are explained."""
MOST_MENDED = 4
"""Passes without a match for which edits are tried: each may take as long as some searches."""
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
    """The report of a pass with all that explains it. code: the pass's source, for lines to change; empty: not known.
    mend: whether to look for an edit.

    matching: what find_matches said of pattern and graph, with attempts to keep.
    """
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
    """A pattern's graph as text, exactly; empty where that is too long."""
    try:
        text = json.dumps(graph_to_json(pattern), separators=(",", ":"), ensure_ascii=False)
        text.encode()
    except (RecursionError, UnicodeError):
        return ""
    return text if len(text) <= LONGEST_PATTERN else ""


def pattern_from_text(text: str) -> Graph:
    """The inverse of pattern_to_text. Raises BadInput on anything else."""
    try:
        return graph_from_json(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"Not a pattern: {str(error)[:80]}") from error


def pattern_in_source(code: str) -> Graph | None:
    """The pattern of a pass as its source reads; None where that is no straight-line code."""
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
    """What does the same for the pass's source, as lines of it.

    The source is mended by itself, since tracing spells calls in another way than a person does; and what is written
    then is read and matched once more.
    """
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
