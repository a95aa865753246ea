"""Matches of patterns in a graph. For a pattern that matches nothing: how close it came, and a repair."""

from dataclasses import dataclass

from passnet_core.records.enums import MissKind


@dataclass(frozen=True)
class NearestMiss:
    """The difference at which the closest match attempt failed. graph_node: None if no node could be the anchor."""

    kind: MissKind
    pattern_node: str
    graph_node: str | None
    reason: str
    matched: tuple[tuple[str, str], ...] = ()
    """The (pattern node, graph node) pairs that fitted before the attempt failed."""


@dataclass(frozen=True)
class Pairing:
    """How the parts of a pattern correspond to parts of the graph in one match.
    nodes: (pattern operation, graph node) pairs. inputs: (pattern input, value in the graph, as source) pairs."""

    nodes: tuple[tuple[str, str], ...]
    inputs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Difference:
    """One difference between a pattern and a graph. graph_node: None if no node of the graph is concerned."""

    kind: MissKind
    pattern_node: str
    graph_node: str | None
    reason: str


@dataclass(frozen=True)
class MatchAttempt:
    """One attempt to match a pattern that matches nowhere in the graph.

    anchor: (pattern operation, graph node) where the search began; the graph node is None if no node can be the anchor.
    fitted: the (pattern node, graph node) pairs that fit, in search order, up to the first difference. beyond: pairs
    that fit after that difference."""

    anchor: tuple[str, str | None]
    fitted: tuple[tuple[str, str], ...]
    differences: tuple[Difference, ...]
    beyond: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class LineChange:
    """A replacement of lines in a file. line: the first one, from 1. old, new: texts without a final newline."""

    line: int
    old: str
    new: str


@dataclass(frozen=True)
class PatternEdit:
    """A suggested repair of a pattern, which was tried: the changed pattern matches, or comes closer to a match.

    words: one sentence per change. matches: how many matches the changed pattern has; 0: it only comes closer. then:
    the next difference in that case; else empty. lines: the same repair as changes to the pass's source; empty if it
    could not be expressed there, or did not work when tried."""

    words: tuple[str, ...]
    matches: int
    then: str = ""
    lines: tuple[LineChange, ...] = ()


@dataclass(frozen=True)
class PassMatches:
    """The matches of one pass in one graph, or its nearest miss.

    name: the pass's file. matches: per match, the names of the matched graph nodes in graph order. miss: None if the
    pass matches.

    The other fields explain the result; older outcomes lack them. pattern: the traced pattern, as graphs.ir writes a
    graph in JSON; empty if too large. pairings: of the first matches, in order. attempts: the closest failed attempts,
    best first. tried: how many attempts failed in all. edit: a repair; None: none was found, or the pass matches."""

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
    """The matches of each pass of a bundle, in the order of the passes.
    rewritten: the graph after all passes, as Python source; None if nothing was rewritten."""

    passes: tuple[PassMatches, ...]
    rewritten: str | None = None

    @property
    def count(self) -> int:
        """The number of matches of all passes together."""
        return sum(len(each.matches) for each in self.passes)
