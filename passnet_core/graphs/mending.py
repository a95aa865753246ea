"""What would make a pattern match: changes of its graph, each tried by matching again, never guessed.

A search that fails names what differs (matching.Attempt). Each kind of difference has changes that may answer it: an
argument written as the graph has it, operands swapped, the same operation in the graph's form, a value returned. One
is kept where the pattern then matches or comes strictly nearer; what differs then is answered in the same way.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from passnet_core.graphs.ir import Graph, Listed, Node, NodeKind, Ref, Slice, Value, references
from passnet_core.graphs.matching import Bind, Matching, called, find_matches, same, shown
from passnet_core.graphs.vocabulary import operator_label
from passnet_core.records import Difference, MatchAttempt, MissKind

MOST_TRIALS = 24
MOST_CHANGES = 6
TRIAL_BUDGET = 50_000
"""Steps of one trial: the pattern may be written to make matching slow."""
MOST_STEPS = 100_000
"""Steps of all trials that fail; the one that is under way then is the last."""
_ATTEMPTS = 3
_DIFFERENCES = 6


@dataclass(frozen=True)
class ArgumentChange:
    """An argument gets another value. place: which one as the call is spelled, by position or by name; a name that the
    call does not have yet is added. gone: it is left out."""

    node: str
    place: int | str
    value: Value
    words: str
    gone: bool = False


@dataclass(frozen=True)
class OperandSwap:
    """The first two operands change places."""

    node: str
    words: str


@dataclass(frozen=True)
class FormChange:
    """The same operation, called as the graph calls it. form: the new call; its reads are the old one's, in order."""

    node: str
    form: Node
    words: str


@dataclass(frozen=True)
class ResultAdded:
    """A value that the pattern computes becomes one more result."""

    node: str
    words: str


Change: TypeAlias = ArgumentChange | OperandSwap | FormChange | ResultAdded


@dataclass(frozen=True)
class Mended:
    """A pattern after changes, and what the search says of it then."""

    pattern: Graph
    changes: tuple[Change, ...]
    matching: Matching


def mended(
    pattern: Graph,
    graph: Graph,
    missed: Matching,
    *,
    bind: Bind,
    pattern_bind: Bind | None = None,
    needed: Collection[str] | None = None,
) -> Mended | None:
    """The pattern made to match by a few changes, or at least brought nearer; None where nothing that is known helps.

    missed: what the search said of the pattern, with its attempts. Every change was tried and brought it nearer.
    """
    trying = _Trying(graph, bind, pattern_bind or bind, needed)
    found = Mended(pattern, (), missed)
    while len(found.changes) < MOST_CHANGES and not found.matching.matches:
        better = trying.nearer(found)
        if better is None:
            break
        found = better
    return found if found.changes else None


class _Trying:
    """Tries changes of a pattern in one graph, a bounded number of them."""

    def __init__(self, graph: Graph, bind: Bind, pattern_bind: Bind, needed: Collection[str] | None) -> None:
        self.graph = graph
        self.bind = bind
        self.pattern_bind = pattern_bind
        self.needed = needed
        self.trials = 0
        self.steps = 0

    def nearer(self, found: Mended) -> Mended | None:
        """One change more: the first with which it matches, else the one that brings it nearest."""
        best: Mended | None = None
        for attempt in found.matching.attempts[:_ATTEMPTS]:
            for change in self.changes(found.pattern, attempt):
                if self.trials >= MOST_TRIALS or self.steps >= MOST_STEPS:
                    return best
                self.trials += 1
                tried = self.tried(found, change)
                if tried.matching.matches:
                    return tried
                if tried.matching.nearness > (best or found).matching.nearness:
                    best = tried
            if best is not None:
                # a farther attempt is no better place to begin at
                return best
        return best

    def tried(self, found: Mended, change: Change) -> Mended:
        pattern = changed(found.pattern, change)
        matching = find_matches(
            pattern, self.graph, bind=self.bind, pattern_bind=self.pattern_bind, needed=self.needed,
            keep=_ATTEMPTS, budget=TRIAL_BUDGET,
        )  # fmt: skip
        self.steps += matching.steps
        return Mended(pattern, (*found.changes, change), matching)

    def changes(self, pattern: Graph, attempt: MatchAttempt) -> Iterator[Change]:
        for difference in attempt.differences[:_DIFFERENCES]:
            yield from self._answers(pattern, difference)

    def _answers(self, pattern: Graph, difference: Difference) -> Iterator[Change]:
        """The changes that may answer a difference, the smallest first."""
        node = pattern.by_name.get(difference.pattern_node)
        other = self.graph.by_name.get(difference.graph_node or "")
        if node is None or other is None or NodeKind.INPUT in (node.kind, other.kind):
            return
        if difference.kind is MissKind.NOT_RETURNED:
            words = f"Return {node.name} from pattern as well, and its value from the replacement."
            yield ResultAdded(node.name, words)
        elif self.pattern_bind(node).target == self.bind(other).target:
            if len(node.args) == 2 and not node.kwargs and operator_label(node) in ("add", "mul"):
                yield OperandSwap(node.name, f"Swap the operands of {called(node)} ({node.name}).")
            yield from self._arguments(node, other)
        elif operator_label(node) == operator_label(other):
            words = f"Call {called(other)} as the graph does, instead of {called(node)} ({node.name})."
            for form in _in_form_of(node, other):
                yield FormChange(node.name, form, words)

    def _arguments(self, node: Node, other: Node) -> Iterator[Change]:
        """What makes a call's literals those of the graph's."""
        wanted, given = dict(self.pattern_bind(node).arguments), dict(self.bind(other).arguments)
        for key in {**wanted, **given}:
            if key in given and (key not in wanted or not same(wanted[key], given[key])):
                value = given[key]
                if not any(references(value)) and not any(references(wanted.get(key))):
                    yield from self._given(node, key, value)
            elif key not in given:
                yield from self._left_out(node, key, wanted[key])

    def _given(self, node: Node, key: str, value: Value) -> Iterator[Change]:
        """The value at the place of the call where it comes to mean this argument."""
        of = f"of {called(node)} ({node.name})"
        for place, old in _literals(node):
            for spelled in (*_spelled_like(old, value), value):
                words = f"Write {shown(spelled)} instead of {shown(old)} as {_which(place, node, key)} {of}."
                change = ArgumentChange(node.name, place, spelled, words)
                if self._means(node, change, key, value):
                    yield change
                    return
        if key.isidentifier():
            change = ArgumentChange(node.name, key, value, f"Write {key}={shown(value)} as an argument {of}.")
            if self._means(node, change, key, value):
                yield change

    def _left_out(self, node: Node, key: str, value: Value) -> Iterator[Change]:
        for place, old in _literals(node):
            if same(old, value) and (place == key or place == len(node.args) - 1):
                words = f"Leave out {_which(place, node)}, {shown(old)}, of {called(node)} ({node.name})."
                yield ArgumentChange(node.name, place, None, words, gone=True)

    def _means(self, node: Node, change: ArgumentChange, key: str, value: Value) -> bool:
        """Whether the changed call has this value for this argument, and all else as it was."""
        before = dict(self.pattern_bind(node).arguments)
        after = dict(self.pattern_bind(_with_argument(node, change)).arguments)
        others = {name for name in {**before, **after} if name != key}
        kept = all(name in before and name in after and same(before[name], after[name]) for name in others)
        return kept and key in after and same(after[key], value)


def changed(pattern: Graph, change: Change) -> Graph:
    """The pattern's graph with a change."""
    match change:
        case ArgumentChange():
            return _with_node(pattern, _with_argument(pattern.by_name[change.node], change))
        case OperandSwap():
            node = pattern.by_name[change.node]
            return _with_node(pattern, replace(node, args=(node.args[1], node.args[0], *node.args[2:])))
        case FormChange():
            return _with_node(pattern, change.form)
    result = pattern.result if isinstance(pattern.result, tuple) else (pattern.result,)
    return Graph(pattern.nodes, (*result, Ref(change.node)))


def _with_node(pattern: Graph, changed: Node) -> Graph:
    return Graph(tuple(changed if node.name == changed.name else node for node in pattern.nodes), pattern.result)


def _with_argument(node: Node, change: ArgumentChange) -> Node:
    args, kwargs = list(node.args), dict(node.kwargs)
    if isinstance(change.place, int):
        args[change.place : change.place + 1] = [] if change.gone else [change.value]
    elif change.gone:
        del kwargs[change.place]
    else:
        kwargs[change.place] = change.value
    return replace(node, args=tuple(args), kwargs=tuple(kwargs.items()))


def _literals(node: Node) -> Iterator[tuple[int | str, Value]]:
    """The arguments of a call that read nothing, as it is spelled."""
    for index, value in enumerate(node.args):
        if not any(references(value)):
            yield index, value
    for name, value in node.kwargs:
        if not any(references(value)):
            yield name, value


def _spelled_like(old: Value, value: Value) -> Iterator[Value]:
    """The value as the old one was spelled: a number for several equal ones, a list for a tuple."""
    if isinstance(value, tuple) and isinstance(old, Listed):
        yield Listed(value)
    if isinstance(value, tuple) and value and isinstance(old, int) and all(same(each, value[0]) for each in value):
        yield value[0]
    if isinstance(value, tuple) and len(value) == 1:
        yield value[0]


def _in_form_of(node: Node, other: Node) -> Iterator[Node]:
    """The node's own arguments for what the other calls; and the other's call, with the node's reads in it in order."""
    if not node.kwargs:
        yield replace(node, kind=other.kind, target=other.target)
    reads = iter(node.inputs)
    try:
        args = tuple([_read_anew(each, reads) for each in other.args])
        kwargs = tuple([(name, _read_anew(each, reads)) for name, each in other.kwargs])
    except StopIteration:
        return
    if next(reads, None) is None:
        yield Node(node.name, other.kind, other.target, args, kwargs)


def _read_anew(value: Value, reads: Iterator[str]) -> Value:
    """The value with each name in it replaced by the next one. Raises StopIteration where there is none."""
    match value:
        case Ref():
            return Ref(next(reads))
        case Listed(items):
            return Listed(tuple([_read_anew(each, reads) for each in items]))
        case Slice(start, stop, step):
            return Slice(*[_read_anew(each, reads) for each in (start, stop, step)])
        case tuple():
            return tuple([_read_anew(each, reads) for each in value])
    return value


def _which(place: int | str, node: Node, means: str = "") -> str:
    """An argument in words, with what it means where its place alone does not say that."""
    if isinstance(place, str):
        return f"the argument {place}"
    if node.target.startswith("operator.") and place < 2:
        return f"the {('first', 'second')[place]} operand"
    return f"argument {place + 1}" + (f", {means}," if means.isidentifier() else "")
