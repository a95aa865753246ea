"""Find changes that make a pattern match. Each is tried by matching again, never guessed.

A failed search names the differences (records.MatchAttempt). Each kind of difference has changes that may remove it:
write an argument as in the graph, swap operands, call the same operation in the graph's form, return a value. A change
is kept if the pattern then matches or comes strictly nearer; the differences that remain are treated in the same way.
"""

import itertools
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from passnet_core.graphs.ir import Graph, Listed, Node, NodeKind, Ref, Value, references, with_arguments
from passnet_core.graphs.matching import Bind, Matching, called, find_matches, same, shown
from passnet_core.graphs.vocabulary import operator_label
from passnet_core.records import Difference, MissKind

MOST_TRIALS = 24
"""Most changes that are tried for one pattern."""
MOST_CHANGES = 6
"""Most changes that are combined into one edit."""
TRIAL_BUDGET = 50_000
"""Most search steps of one trial: a pattern may be written to make matching slow."""
MOST_STEPS = 100_000
"""Search steps of all failed trials together, after which no other trial begins."""
_ATTEMPTS = 3
_DIFFERENCES = 6


@dataclass(frozen=True)
class ArgumentChange:
    """An argument gets another value. place: its position or name in the call as written; a name that the call lacks
    is added. removed: the argument is removed instead."""

    node: str
    place: int | str
    value: Value
    words: str
    removed: bool = False


@dataclass(frozen=True)
class OperandSwap:
    """The first two operands are swapped."""

    node: str
    words: str


@dataclass(frozen=True)
class FormChange:
    """The same operation, called as in the graph. form: the new call; it reads the same nodes in the same order."""

    node: str
    form: Node
    words: str


@dataclass(frozen=True)
class ResultAdded:
    """The pattern returns one more of the values that it computes."""

    node: str
    words: str


Change: TypeAlias = ArgumentChange | OperandSwap | FormChange | ResultAdded


@dataclass(frozen=True)
class Mended:
    """A pattern after changes, and the search for it afterwards."""

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
    """Change the pattern so that it matches, or at least comes nearer; None if no known change helps.

    missed: the failed search for the pattern, with its attempts. Each change that is returned brought a match nearer.
    """
    trials = _Trials(graph, bind, pattern_bind or bind, needed)
    found = Mended(pattern, (), missed)
    while len(found.changes) < MOST_CHANGES and not found.matching.matches:
        better = trials.nearer(found)
        if better is None:
            break
        found = better
    return found if found.changes else None


@dataclass
class _Trials:
    """Tries a bounded number of changes of a pattern on one graph."""

    graph: Graph
    bind: Bind
    pattern_bind: Bind
    needed: Collection[str] | None
    trials: int = 0
    steps: int = 0

    def nearer(self, found: Mended) -> Mended | None:
        """Add one change: the first that makes the pattern match, else the one that brings it nearest."""
        best: Mended | None = None
        for attempt in found.matching.attempts[:_ATTEMPTS]:
            differences = attempt.differences[:_DIFFERENCES]
            for change in itertools.chain.from_iterable(self._answers(found.pattern, each) for each in differences):
                if self.trials >= MOST_TRIALS or self.steps >= MOST_STEPS:
                    return best
                self.trials += 1
                tried = self.tried(found, change)
                if tried.matching.matches:
                    return tried
                if tried.matching.nearness > (best or found).matching.nearness:
                    best = tried
            if best is not None:
                # a farther attempt is no better starting point
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

    def _answers(self, pattern: Graph, difference: Difference) -> Iterator[Change]:
        """Yield the changes that may remove a difference, the smallest first."""
        node = pattern.by_name.get(difference.pattern_node)
        other = self.graph.by_name.get(difference.graph_node or "")
        if node is None or other is None or NodeKind.INPUT in (node.kind, other.kind):
            return
        if difference.kind is MissKind.NOT_RETURNED:
            words = f"Return {node.name} from pattern too, and its value from the replacement."
            yield ResultAdded(node.name, words)
        elif self.pattern_bind(node).target == self.bind(other).target:
            if len(node.args) == 2 and not node.kwargs and operator_label(node) in ("add", "mul"):
                yield OperandSwap(node.name, f"Swap the operands of {_named(node)}.")
            yield from self._arguments(node, other)
        elif operator_label(node) == operator_label(other):
            words = f"Call {called(other)} as the graph does, instead of {_named(node)}."
            for form in _in_form_of(node, other):
                yield FormChange(node.name, form, words)

    def _arguments(self, node: Node, other: Node) -> Iterator[Change]:
        """Yield the changes that give a call the literals that it has in the graph."""
        wanted, given = dict(self.pattern_bind(node).arguments), dict(self.bind(other).arguments)
        for key in {**wanted, **given}:
            if key in given and (key not in wanted or not same(wanted[key], given[key])):
                value = given[key]
                if not any(references(value)) and not any(references(wanted.get(key))):
                    yield from self._given(node, key, value)
            elif key not in given:
                yield from self._left_out(node, key, wanted[key])

    def _given(self, node: Node, key: str, value: Value) -> Iterator[Change]:
        """Yield the change after which the call passes this value for the argument."""
        call = _named(node)
        for place, old in _literals(node):
            for spelled in (*_spelled_like(old, value), value):
                words = f"Write {shown(spelled)} instead of {shown(old)} as {_which(place, node, key)} of {call}."
                change = ArgumentChange(node.name, place, spelled, words)
                if self._sets(node, change, key, value):
                    yield change
                    return
        if key.isidentifier():
            change = ArgumentChange(node.name, key, value, f"Add {key}={shown(value)} to the arguments of {call}.")
            if self._sets(node, change, key, value):
                yield change

    def _left_out(self, node: Node, key: str, value: Value) -> Iterator[Change]:
        for place, old in _literals(node):
            if same(old, value) and (place == key or place == len(node.args) - 1):
                words = f"Leave out {_which(place, node)} of {_named(node)}: {shown(old)}."
                yield ArgumentChange(node.name, place, None, words, removed=True)

    def _sets(self, node: Node, change: ArgumentChange, key: str, value: Value) -> bool:
        """Whether the changed call passes this value for this argument, and every other argument as before."""
        before = dict(self.pattern_bind(node).arguments)
        after = dict(self.pattern_bind(_with_argument(node, change)).arguments)
        others = {name for name in {**before, **after} if name != key}
        kept = all(name in before and name in after and same(before[name], after[name]) for name in others)
        return kept and key in after and same(after[key], value)


def changed(pattern: Graph, change: Change) -> Graph:
    """Apply a change to the pattern's graph."""
    match change:
        case ArgumentChange():
            return pattern.with_node(_with_argument(pattern.by_name[change.node], change))
        case OperandSwap():
            node = pattern.by_name[change.node]
            return pattern.with_node(replace(node, args=(node.args[1], node.args[0], *node.args[2:])))
        case FormChange():
            return pattern.with_node(change.form)
    result = pattern.result if isinstance(pattern.result, tuple) else (pattern.result,)
    return Graph(pattern.nodes, (*result, Ref(change.node)))


def _with_argument(node: Node, change: ArgumentChange) -> Node:
    args, kwargs = list(node.args), dict(node.kwargs)
    if isinstance(change.place, int):
        args[change.place : change.place + 1] = [] if change.removed else [change.value]
    elif change.removed:
        del kwargs[change.place]
    else:
        kwargs[change.place] = change.value
    return replace(node, args=tuple(args), kwargs=tuple(kwargs.items()))


def _literals(node: Node) -> Iterator[tuple[int | str, Value]]:
    """Yield the position or name, and the value, of each argument that reads no node."""
    for index, value in enumerate(node.args):
        if not any(references(value)):
            yield index, value
    for name, value in node.kwargs:
        if not any(references(value)):
            yield name, value


def _spelled_like(old: Value, value: Value) -> Iterator[Value]:
    """Yield the value in the spelling of the old one: one number for several equal ones, a list for a tuple."""
    if isinstance(value, tuple) and isinstance(old, Listed):
        yield Listed(value)
    if isinstance(value, tuple) and value and isinstance(old, int) and all(same(each, value[0]) for each in value):
        yield value[0]
    if isinstance(value, tuple) and len(value) == 1:
        yield value[0]


def _in_form_of(node: Node, other: Node) -> Iterator[Node]:
    """Yield a call of the other's target with the node's arguments, then the other's call with the node's reads."""
    if not node.kwargs:
        yield replace(node, kind=other.kind, target=other.target)
    reads = iter(node.inputs)
    if len(node.inputs) == len(other.inputs):
        form = with_arguments(other, lambda each: Ref(next(reads)) if isinstance(each, Ref) else each)
        yield Node(node.name, form.kind, form.target, form.args, form.kwargs)


def _named(node: Node) -> str:
    return f"{called(node)} (pattern node {node.name})"


def _which(place: int | str, node: Node, parameter: str = "") -> str:
    """Name an argument in words; a position also gets the parameter's name, if that is known."""
    if isinstance(place, str):
        return f"the argument {place}"
    if node.target.startswith("operator.") and place < 2:
        return f"the {('first', 'second')[place]} operand"
    return f"argument {place + 1}" + (f" ({parameter})" if parameter.isidentifier() else "")
