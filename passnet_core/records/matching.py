"""What patterns match in a graph; where they match nothing, how near they came and what would mend it."""

from dataclasses import dataclass

from passnet_core.records.enums import MissKind


@dataclass(frozen=True)
class NearestMiss:
    """Where the closest attempt failed. graph_node None: no node could even be the anchor."""

    kind: MissKind
    pattern_node: str
    graph_node: str | None
    reason: str
    matched: tuple[tuple[str, str], ...] = ()
    """(pattern node, graph node) pairs that did fit before it failed."""


@dataclass(frozen=True)
class Pairing:
    """Which is which in a match: (pattern operation, graph node), and (pattern input, the graph's value as source)."""

    nodes: tuple[tuple[str, str], ...]
    inputs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Difference:
    """One thing in which a pattern differs from a graph. graph_node None: no node of the graph has to do with it."""

    kind: MissKind
    pattern_node: str
    graph_node: str | None
    reason: str


@dataclass(frozen=True)
class MatchAttempt:
    """One place of a graph at which the search tried to fit a pattern that matches nothing.

    anchor: the pattern's operation that it began with, and the graph's node. fitted: (pattern node, graph node) in the
    order in which they fitted, up to the first difference; beyond: what fits all the same behind it.
    """

    anchor: tuple[str, str | None]
    fitted: tuple[tuple[str, str], ...]
    differences: tuple[Difference, ...]
    beyond: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class LineChange:
    """Lines of a file that others replace. line: the first, from 1; both texts without the last line's end."""

    line: int
    old: str
    new: str


@dataclass(frozen=True)
class PatternEdit:
    """Changes of a pattern that were tried together: with them it matches, or comes strictly nearer to that.

    words: a sentence per change. matches: how many there are then; 0: it comes nearer, and then is what differs next.
    lines: the same in the pass's source, where that could be told and was tried too.
    """

    words: tuple[str, ...]
    matches: int
    then: str = ""
    lines: tuple[LineChange, ...] = ()


@dataclass(frozen=True)
class PassMatches:
    """What one pass matched: per match the names of the graph's nodes, in graph order; or the nearest miss.

    The rest explains it, and older outcomes lack it. pattern: the traced pattern, as graphs.ir writes a graph in JSON;
    empty: it was too large to be kept. pairings: of the first matches, in their order. attempts: where nothing matches,
    the nearest first; tried: how many there were. edit: what would mend it.
    """

    name: str
    matches: tuple[tuple[str, ...], ...]
    miss: NearestMiss | None = None
    pattern: str = ""
    pairings: tuple[Pairing, ...] = ()
    attempts: tuple[MatchAttempt, ...] = ()
    tried: int = 0
    edit: PatternEdit | None = None


@dataclass(frozen=True)
class MatchReport:
    """Per pass, in order, against the subgraph's source. rewritten: the graph afterwards, as Python source."""

    passes: tuple[PassMatches, ...]
    rewritten: str | None = None

    @property
    def count(self) -> int:
        return sum(len(each.matches) for each in self.passes)
