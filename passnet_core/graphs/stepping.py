"""A match report as steps to go through one by one: each match, or each failed attempt of a pass without a match."""

import string
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from passnet_core.graphs.ir import Graph
from passnet_core.graphs.rendering import Marks, PairMark, groups_of
from passnet_core.records import Difference, MatchAttempt, MatchReport, PassMatches


@dataclass(frozen=True)
class Paired:
    """A node of the pattern and its counterpart in the graph. mark: shown on both, a number for an operation, a letter
    for an input. beyond: the two were matched only after the first difference."""

    mark: str
    pattern: str
    graph: str
    beyond: bool = False


@dataclass(frozen=True)
class Step:
    """One match or one failed attempt. pass_number and number count from 1. differences: empty for a match."""

    pass_number: int
    name: str
    number: int
    total: int
    nodes: tuple[str, ...]
    pairs: tuple[Paired, ...] = ()
    anchor: tuple[str, str | None] | None = None
    differences: tuple[Difference, ...] = ()

    @property
    def failed(self) -> Difference | None:
        """Why the attempt failed; None for a match."""
        return self.differences[0] if self.differences else None

    @property
    def place(self) -> str:
        """The step in a link: "2.3" is the third step of the second pass."""
        return f"{self.pass_number}.{self.number}"


def steps(report: MatchReport) -> tuple[Step, ...]:
    """List all steps, pass by pass. Outcomes of older versions give steps with as much as they recorded."""
    return tuple(step for number, each in enumerate(report.passes, 1) for step in _steps(number, each))


def _steps(number: int, each: PassMatches) -> Iterator[Step]:
    for index, names in enumerate(each.matches):
        pairing = each.pairings[index] if index < len(each.pairings) else None
        operations = _numbered(pairing.nodes if pairing else ())
        inputs = tuple(Paired(_letters(at), *pair) for at, pair in enumerate(pairing.inputs if pairing else ()))
        yield Step(number, each.name, index + 1, len(each.matches), names, (*operations, *inputs))
    if each.matches:
        return
    attempts = each.attempts or _attempt_from_miss(each)
    for index, attempt in enumerate(attempts):
        nodes = tuple(graph for _, graph in (*attempt.fitted, *attempt.beyond))
        pairs = (*_numbered(attempt.fitted), *_numbered(attempt.beyond, len(attempt.fitted), beyond=True))
        yield Step(
            number, each.name, index + 1, len(attempts), nodes, pairs, attempt.anchor, attempt.differences
        )  # fmt: skip


def _attempt_from_miss(each: PassMatches) -> tuple[MatchAttempt, ...]:
    """Make an attempt from the nearest miss, for an outcome that recorded nothing else."""
    miss = each.miss
    if miss is None:
        return ()
    failed = (miss.pattern_node, miss.graph_node)
    fitted = tuple(pair for pair in miss.matched if pair != failed)
    return (MatchAttempt(failed, fitted, (Difference(miss.kind, miss.pattern_node, miss.graph_node, miss.reason),)),)


def _numbered(pairs: tuple[tuple[str, str], ...], before: int = 0, *, beyond: bool = False) -> tuple[Paired, ...]:
    return tuple(Paired(str(at), *pair, beyond) for at, pair in enumerate(pairs, before + 1))


def _letters(index: int) -> str:
    """Count in letters: a to z, then a2 to z2, and so on."""
    turn, at = divmod(index, len(string.ascii_lowercase))
    return string.ascii_lowercase[at] + (str(turn + 1) if turn else "")


def graph_marks(report: MatchReport, step: Step, graph: Graph) -> Marks:
    """Mark a step in the graph. All other matches become faint."""
    groups, current = groups_of(report.passes), {*step.nodes}
    pairs = _pairs(((each.graph, each.pattern, each.mark) for each in step.pairs), step, "the pattern's")
    failed = step.failed
    tried = {node for each in report.passes for attempt in each.attempts for node in _touched(attempt)}
    return Marks(
        groups={**groups, **dict.fromkeys(current, step.pass_number)},
        passes=[each.name for each in report.passes],
        miss=failed.graph_node if failed else None,
        reason=failed.reason if failed else "",
        pairs={name: pair for name, pair in pairs.items() if name in graph.by_name},
        faint=frozenset(groups) - current,
        focus=tuple(sorted(current | ({failed.graph_node} if failed and failed.graph_node else set()))),
        apart=frozenset(tried),
    )


def pattern_marks(report: MatchReport, step: Step) -> Marks:
    """Mark a step in the pattern, with the same marks as in the graph."""
    failed = step.failed
    operations = [each.pattern for each in step.pairs if each.mark.isdecimal()]
    return Marks(
        groups=dict.fromkeys(operations, step.pass_number),
        passes=[each.name for each in report.passes],
        miss=failed.pattern_node if failed else None,
        reason=failed.reason if failed else "",
        pairs=_pairs(((each.pattern, each.graph, each.mark) for each in step.pairs), step, "the graph's"),
    )


def _touched(attempt: MatchAttempt) -> Iterator[str]:
    for _, node in (*attempt.fitted, *attempt.beyond):
        yield node
    for each in attempt.differences[:1]:
        if each.graph_node:
            yield each.graph_node


def _pairs(triples: Iterator[tuple[str, str, str]], step: Step, side: str) -> Mapping[str, PairMark]:
    """Node -> its mark. A value that is the counterpart of several inputs gets the marks of all of them."""
    found: dict[str, PairMark] = {}
    for name, other, mark in triples:
        before = found.get(name)
        marks = f"{before.mark},{mark}" if before else mark
        words = f"{before.words}, {other}" if before else f"{side} {other}"
        found[name] = PairMark(marks, words, step.pass_number)
    return found
