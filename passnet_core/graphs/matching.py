"""Find a pattern in a graph. Without a match, report the attempt that came nearest and why it failed.

Matching has phases, each of which can name what it rejected: candidates (nodes that could be the pattern's last
operation), structure (same calls, same arguments), contained (nothing outside the match needs a value that would
disappear), order (the match can become one call), not overlapping. Operands are never swapped: a + b does not match
b + a."""

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from passnet_core.errors import BadInput
from passnet_core.graphs.effects import live
from passnet_core.graphs.emission import written
from passnet_core.graphs.ir import DeviceLiteral, Graph, Listed, Node, NodeKind, Ref, Slice, Value, references
from passnet_core.graphs.ordering import TopologicalOrder
from passnet_core.graphs.vocabulary import operator_label
from passnet_core.operations.binding import Call
from passnet_core.records import Difference, MatchAttempt, MissKind, NearestMiss

BUDGET = 500_000
"""Most steps of one search: a pattern may be written to make the search endless."""


Bind: TypeAlias = Callable[[Node], Call]


def plain_bind(node: Node) -> Call:
    """Read the call as it is spelled: positional arguments are named "0", "1", ...; methods get a leading dot."""
    positional = tuple((str(index), value) for index, value in enumerate(node.args))
    return Call(f".{node.target}" if node.kind is NodeKind.METHOD else node.target, positional + node.kwargs)


def remembered(bind: Bind) -> Bind:
    """Cache a bind, so that it runs once per node."""
    # keyed by identity: nodes that compare equal can still differ in 1, 1.0 and True
    known: dict[int, tuple[Node, Call]] = {}

    def ask(node: Node) -> Call:
        if id(node) not in known:
            known[id(node)] = (node, bind(node))
        return known[id(node)][1]

    return ask


@dataclass(frozen=True)
class Match:
    """One occurrence. nodes: pattern operation -> graph operation. inputs: pattern input -> value in the graph."""

    nodes: Mapping[str, str]
    inputs: Mapping[str, Value]
    names: tuple[str, ...]
    """The matched operations of the graph, in graph order."""


@dataclass(frozen=True)
class Matching:
    """All matches in graph order, or the nearest miss.

    If nothing matches: attempts are the nearest failed attempts, nearest first, as many as the caller wants to keep;
    tried is the number of all attempts; nearness is the score of the nearest one, larger is nearer; steps is the number
    of steps that the search took."""

    matches: tuple[Match, ...]
    miss: NearestMiss | None = None
    attempts: tuple[MatchAttempt, ...] = ()
    tried: int = 0
    nearness: tuple[int, ...] = ()
    steps: int = 0


def find_matches(
    pattern: Graph,
    graph: Graph,
    *,
    bind: Bind = plain_bind,
    pattern_bind: Bind | None = None,
    needed: Collection[str] | None = None,
    taken: Mapping[str, str] | None = None,
    keep: int = 0,
    budget: int | None = None,
) -> Matching:
    """Find all matches that do not overlap, the earliest first.

    bind: reads a node in canonical form, for both graphs unless pattern_bind is given.
    needed: pattern inputs that the replacement reads, so a match must give them a value; None: no requirement.
    taken: node that no match may contain -> the reason, as a sentence without its full stop.
    keep: number of failed attempts to report if nothing matches; it affects nothing else.
    budget: most steps of the search; None: BUDGET."""
    most = BUDGET if budget is None else budget
    reads = remembered(bind), remembered(pattern_bind or bind)
    return _Search(pattern, graph, *reads, needed or (), dict(taken or {}), keep, most).matching()


class _BudgetSpent(Exception):
    """The search took more steps than its budget allows."""


@dataclass
class _Fit:
    """A partial match. images: the inverse of nodes. differences: those that a diagnosis passed over, each with the
    number of nodes that were matched before it."""

    nodes: dict[str, str] = field(default_factory=dict)
    images: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, Value] = field(default_factory=dict)
    differences: list[tuple[int, Difference]] = field(default_factory=list)

    def copy(self) -> "_Fit":
        return _Fit(dict(self.nodes), dict(self.images), dict(self.inputs), list(self.differences))


@dataclass(frozen=True)
class _Place:
    """The argument that is being compared, of a pair of operations. The pattern's last operation has none above it."""

    pattern: Node
    graph: Node
    argument: str
    index: int

    @property
    def words(self) -> str:
        if self.pattern.target.startswith("operator.") and self.index < 2:
            which = ("the first operand", "the second operand")[self.index]
        else:
            which = f"argument {self.index + 1}" if self.argument.isdigit() else f"the argument {self.argument}"
        return f"{which} of {called(self.pattern)}"


# the phase in which an attempt failed: a later phase is nearer to a match
_STRUCTURE, _CONTAINED, _ORDER = range(3)
# breaks ties among attempts that came equally far: a larger number is nearer to a match
_NEARNESS = {MissKind.LITERAL: 2, MissKind.USES: 2, MissKind.OVERLAP: 3}
_Score: TypeAlias = tuple[int, int, int, int]
"""How near an attempt came, larger is nearer: phase, matched pairs, minus the differences, kind of the first one."""
_MOST_SINKS = 64
_MOST_DIFFERENCES = 12
_PARTIAL_ATTEMPTS = 3
_PARTIAL_STEPS = 20_000
"""Attempts and steps up to which a diagnosis also tries parts of the pattern that cannot be nearer than the best."""


@dataclass
class _Search:
    """One pattern in one graph."""

    pattern: Graph
    graph: Graph
    read: Bind
    read_pattern: Bind
    needed: Collection[str]
    taken: dict[str, str]
    keep: int
    budget: int
    steps: int = 0
    diagnosing: bool = False
    best: tuple[_Score, NearestMiss] | None = None
    kept: list[tuple[_Score, MatchAttempt]] = field(default_factory=list)
    tried: int = 0
    paired: set[tuple[str, str]] = field(default_factory=set)

    # --- facts about both graphs ---

    @cached_property
    def order(self) -> TopologicalOrder:
        return TopologicalOrder(self.graph, self._step)

    @cached_property
    def live(self) -> dict[str, Node]:
        return live(self.pattern)

    @cached_property
    def readers(self) -> dict[str, tuple[str, ...]]:
        """Live operation of the pattern -> the live operations that read it."""
        return {name: tuple(user for user in self.pattern.users[name] if user in self.live) for name in self.live}

    @cached_property
    def sinks(self) -> tuple[Node, ...]:
        """Live operations of the pattern that no other one reads. The search for a match begins at the first."""
        return tuple(node for name, node in self.live.items() if not self.readers[name])

    @cached_property
    def by_target(self) -> dict[str, list[Node]]:
        targets: dict[str, list[Node]] = {}
        for node in self.graph.operations:
            targets.setdefault(self.read(node).target, []).append(node)
        return targets

    # --- the search ---

    def matching(self) -> Matching:
        impossible = self._impossible()
        if impossible:
            only = MatchAttempt((impossible.pattern_node, None), (), (impossible,))
            miss = NearestMiss(impossible.kind, impossible.pattern_node, None, impossible.reason)
            return Matching((), miss, (only,) if self.keep else (), 1)
        matches: list[Match] = []
        try:
            for anchor in self._candidates(self.sinks[0]):
                fit = next(self._fits(0, _Fit(), (anchor,)), None)
                if fit is not None:
                    matches.append(self._accepted(fit))
            if matches:
                return Matching(tuple(matches))
            self.diagnosing = True
            for _ in self._fits(0, _Fit(), tuple(self._candidates(self.sinks[0], free=False))):
                break
            self._look_for_parts()
        except _BudgetSpent:
            if matches or self.best is None:
                given_up = f"The search was given up after {self.budget} steps."
                reason = f"{given_up} Make the pattern smaller or less repetitive."
                miss = NearestMiss(MissKind.OTHER, self.sinks[0].name, None, reason)
                return Matching(tuple(matches), miss, steps=self.steps)
        assert self.best is not None
        score, miss = self.best
        return Matching((), miss, tuple(attempt for _, attempt in self.kept), self.tried, score, self.steps)

    def _impossible(self) -> Difference | None:
        """Return the reason why the pattern cannot match any graph, or None."""
        if not self.live:
            first = self.pattern.nodes[-1].name if self.pattern.nodes else ""
            return Difference(MissKind.OTHER, first, None, "The pattern returns nothing that it computes.")
        if len(self.sinks) > _MOST_SINKS:
            reason = f"The pattern has {len(self.sinks)} separate results; at most {_MOST_SINKS} can be matched."
            return Difference(MissKind.OTHER, self.sinks[0].name, None, reason)
        values = [value for node in self.live.values() for _, value in self.read_pattern(node).arguments]
        read = set(references(tuple(values)))
        for node in self.pattern.inputs:
            if node.name in self.needed and node.name not in read:
                reason = (
                    f"Nothing that the pattern returns depends on its input {node.name}, so a match gives it no value. "
                    f"Use {node.name} in the pattern, or leave it out of replacement_args."
                )
                return Difference(MissKind.DEAD_INPUT, node.name, None, reason)
        return None

    def _candidates(self, sink: Node, *, free: bool = True) -> Iterator[Node]:
        for node in self.by_target.get(self.read_pattern(sink).target, ()):
            if not free or node.name not in self.taken:
                yield node

    def _fits(self, index: int, fit: _Fit, candidates: Iterable[Node] | None = None) -> Iterator[_Fit]:
        """Yield every way to match the sinks from index on, given a partial match."""
        if index == len(self.sinks):
            problem = self._disorder(fit)
            if problem is None:
                yield fit
            else:
                self._note(_ORDER, fit, problem)
            return
        sink = self.sinks[index]
        tried = False
        for candidate in self._candidates(sink, free=not self.diagnosing) if candidates is None else candidates:
            tried = True
            extended, problem = self._structure(fit, sink, candidate)
            if problem is not None:
                self._note(_STRUCTURE, extended, problem)
                continue
            leaks = self._leaks(extended)
            problem = next(leaks, None)
            if problem is not None:
                if self.diagnosing:
                    everything = itertools.islice((problem, *leaks), _MOST_DIFFERENCES)
                    extended.differences.extend((len(extended.nodes), each) for each in everything)
                self._note(_CONTAINED, extended, problem)
                continue
            yield from self._fits(index + 1, extended)
        if self.diagnosing and not tried:
            self._note(_STRUCTURE, fit, self._absent(sink))

    def _accepted(self, fit: _Fit) -> Match:
        names = tuple(sorted(fit.images, key=self.order.position.__getitem__))
        self.taken.update({name: f"{name} already belongs to another match of this pattern" for name in names})
        self.order.accept(names)
        return Match(fit.nodes, fit.inputs, names)

    def _step(self, count: int = 1) -> None:
        self.steps += count
        if self.steps > self.budget:
            raise _BudgetSpent

    # --- phase: structure ---

    def _structure(self, fit: _Fit, sink: Node, candidate: Node) -> tuple[_Fit, Difference | None]:
        """Match the sink and all that it reads, beginning at the candidate. Return the fit and the first difference.

        A diagnosis continues after a difference, to find the attempt that fits best overall."""
        fit = fit.copy()
        first: Difference | None = None
        work: list[tuple[Value, Value, _Place | None]] = [(Ref(sink.name), Ref(candidate.name), None)]
        while work:
            self._step()
            pattern_value, graph_value, place = work.pop()
            placed = len(fit.nodes)
            problem, operands = self._compared(fit, pattern_value, graph_value, place)
            work.extend(reversed(operands))
            if problem is not None:
                first = first or problem
                if not self.diagnosing:
                    break
                if len(fit.differences) < _MOST_DIFFERENCES:
                    fit.differences.append((placed, problem))
        return fit, first

    def _compared(
        self, fit: _Fit, wanted: Value, found: Value, place: _Place | None
    ) -> tuple[Difference | None, Sequence[tuple[Value, Value, _Place | None]]]:
        """Compare two values: return how they differ themselves, and the pairs of their parts still to be compared."""
        if isinstance(wanted, Ref):
            node = self.pattern.by_name[wanted.name]
            if node.kind is NodeKind.INPUT:
                return self._input(fit, node, found, place), ()
            return self._operation(fit, node, found, place)
        assert place is not None
        match wanted, found:
            case (tuple() | Listed(), tuple() | Listed()):
                indexing = place.pattern.target in ("operator.getitem", "operator.setitem")
                left, right = _items(wanted), _items(found)
                # x[[0, 1]] picks rows, x[(0, 1)] an element
                if len(left) == len(right) and not (
                    indexing and isinstance(wanted, Listed) != isinstance(found, Listed)
                ):
                    return None, [(each, other, place) for each, other in zip(left, right)]
            case (Slice(), Slice()):
                ends = zip((wanted.start, wanted.stop, wanted.step), (found.start, found.stop, found.step))
                return None, [(each, other, place) for each, other in ends]
            case _ if same(wanted, found):
                return None, ()
        in_graph = f"the value of {found.name}" if isinstance(found, Ref) else shown(found)
        where = f"in the graph (node {place.graph.name})"
        reason = f"{place.words} is {shown(wanted)} in the pattern, but {in_graph} {where}."
        return Difference(MissKind.LITERAL, place.pattern.name, place.graph.name, _capital(reason)), ()

    def _input(self, fit: _Fit, node: Node, found: Value, place: _Place | None) -> Difference | None:
        before = fit.inputs.setdefault(node.name, found)
        if same(before, found):
            return None
        assert place is not None
        reason = (
            f"The pattern uses its input {node.name} in several places, but the graph has different values there: "
            f"{shown(before)} and {shown(found)} (node {place.graph.name})."
        )
        return Difference(MissKind.LITERAL, place.pattern.name, place.graph.name, reason)

    def _operation(
        self, fit: _Fit, node: Node, found: Value, place: _Place | None
    ) -> tuple[Difference | None, Sequence[tuple[Value, Value, _Place | None]]]:
        if not isinstance(found, Ref):
            assert place is not None
            reason = (
                f"{place.words} comes from {called(node)} in the pattern, "
                f"but is {shown(found)} in the graph (node {place.graph.name})."
            )
            return Difference(MissKind.LITERAL, place.pattern.name, place.graph.name, _capital(reason)), ()
        other = self.graph.by_name[found.name]
        problem = self._clash(fit, node, other, place)
        if problem is not None or fit.nodes.get(node.name) == other.name:
            return problem, ()
        wanted_call, found_call = self.read_pattern(node), self.read(other)
        if wanted_call.target != found_call.target:
            return self._other_operator(node, other, place), ()
        fit.nodes[node.name] = other.name
        fit.images[other.name] = node.name
        wanted, given = dict(wanted_call.arguments), dict(found_call.arguments)
        places = {key: _Place(node, other, key, index) for index, key in enumerate({**wanted, **given})}
        pairs = [(wanted[key], given[key], places[key]) for key in wanted if key in given]
        # literals first: they rule out a candidate at once
        pairs.sort(key=lambda pair: isinstance(pair[0], Ref))
        for key, at in places.items():
            if key not in wanted or key not in given:
                where = "the pattern" if key in wanted else f"the graph (node {other.name})"
                reason = f"{at.words} is given only in {where}, as {shown({**given, **wanted}[key])}."
                return Difference(MissKind.LITERAL, node.name, other.name, _capital(reason)), pairs
        return self._swapped(node, other, wanted, given), pairs

    def _clash(self, fit: _Fit, node: Node, other: Node, place: _Place | None) -> Difference | None:
        """Return why the two nodes cannot be paired, whatever they compute."""
        if node.name in fit.nodes:
            if fit.nodes[node.name] == other.name:
                return None
            reason = (
                f"The pattern computes {node.name} once and uses it in several places; "
                f"the graph computes {fit.nodes[node.name]} and {other.name} separately for them."
            )
            return Difference(MissKind.USES, node.name, other.name, reason)
        if other.name in fit.images:
            reason = (
                f"The pattern computes {fit.images[other.name]} and {node.name} separately; "
                f"the graph computes {other.name} once and uses it for both."
            )
            return Difference(MissKind.USES, node.name, other.name, reason)
        if other.name in self.taken:
            return Difference(MissKind.OVERLAP, node.name, other.name, f"{_capital(self.taken[other.name])}.")
        if other.kind is NodeKind.INPUT:
            where = f"{place.words} comes from" if place else "there is"
            reason = f"In the pattern, {where} {called(node)}; in the graph it is the input {other.name}."
            return Difference(MissKind.OPERATOR, node.name, other.name, reason)
        return None

    def _other_operator(self, node: Node, other: Node, place: _Place | None) -> Difference:
        if called(node) == called(other):
            reason = f"The graph calls {called(node)} in a different form (node {other.name})."
        elif operator_label(node) == operator_label(other):
            reason = (
                f"The graph calls {called(other)} (node {other.name}) where the pattern calls {called(node)}. They may "
                f"compute the same, but a pattern matches only the function that it calls: call the graph's."
            )
        else:
            where = f"For {place.words}, the" if place else "The"
            reason = f"{where} pattern has {called(node)}, but the graph has {called(other)} (node {other.name})."
        return Difference(MissKind.OPERATOR, node.name, other.name, reason)

    def _swapped(
        self, node: Node, other: Node, wanted: Mapping[str, Value], given: Mapping[str, Value]
    ) -> Difference | None:
        """Report operands of + or * that fit only in the opposite order."""
        if operator_label(node) not in ("add", "mul") or len(wanted) < 2:
            return None
        first, second = list(wanted)[:2]
        straight = self._alike(wanted[first], given[first]) and self._alike(wanted[second], given[second])
        crossed = self._alike(wanted[first], given[second]) and self._alike(wanted[second], given[first])
        if straight or not crossed:
            return None
        reason = (
            f"The graph has the operands of {called(node)} in the opposite order: "
            f"{shown(given[first])}, then {shown(given[second])} (node {other.name}). Swap them in the pattern."
        )
        return Difference(MissKind.LITERAL, node.name, other.name, reason)

    def _alike(self, wanted: Value, found: Value) -> bool:
        """Whether two operands agree, without comparing what they read themselves."""
        if not isinstance(wanted, Ref):
            return same(wanted, found)
        node = self.pattern.by_name[wanted.name]
        if node.kind is NodeKind.INPUT:
            return True
        other = self.graph.by_name[found.name] if isinstance(found, Ref) else None
        if other is None or other.kind is NodeKind.INPUT:
            return False
        return self.read_pattern(node).target == self.read(other).target

    # --- phase: contained ---

    def _leaks(self, fit: _Fit) -> Iterator[Difference]:
        """Report the values that would disappear although something outside the match needs them."""
        for name, image in fit.nodes.items():
            if name in self.pattern.returned or any(reader not in fit.nodes for reader in self.readers[name]):
                continue
            outside = [user for user in self.graph.users[image] if user not in fit.images]
            if outside or image in self.graph.returned:
                where = f"{outside[0]} also uses it" if outside else "the graph returns it"
                reason = (
                    f"{image} ({called(self.graph.by_name[image])}) is needed outside the match: {where}. "
                    f"Return {name} from the pattern, and its value from the replacement."
                )
                yield Difference(MissKind.NOT_RETURNED, name, image, reason)
        for name, value in fit.inputs.items():
            for read in references(value):
                if read in fit.images:
                    reason = (
                        f"The pattern's input {name} would be {read}, which the match itself computes: "
                        f"the graph uses {read} once more than the pattern uses {fit.images[read]}."
                    )
                    yield Difference(MissKind.USES, fit.images[read], read, reason)

    # --- phase: order ---

    def _disorder(self, fit: _Fit) -> Difference | None:
        """Return why the matched operations cannot become one call, or None."""
        last = max(fit.images, key=self.order.position.__getitem__)
        between = self.order.between(fit.images)
        if between is not None:
            reason = (
                f"{between} lies between the matched operations: it depends on one of them, and another depends on it. "
                f"One call cannot be both before and after {between}."
            )
            return Difference(MissKind.OTHER, fit.images[last], between, reason)
        between = self.order.between(fit.images, with_effects=True)
        if between is not None:
            reason = (
                f"{between} has to stay between the matched operations: one call would break the order of changes in "
                f"place, of random draws or of global switches."
            )
            return Difference(MissKind.OTHER, fit.images[last], between, reason)
        late = self.order.late_read(fit.images)
        if late is None:
            return None
        reason = (
            f"{late.changer} changes {late.changed} in place, and {late.reader or 'the result of the graph'} reads it "
            f"afterwards as {late.read}: if the replacement returns a new value, that read would still get the old one."
        )
        return Difference(MissKind.NOT_RETURNED, fit.images[late.changer], late.changer, reason)

    # --- the nearest miss ---

    def _note(self, phase: int, fit: _Fit, problem: Difference, *, seen: bool = False) -> None:
        """Keep a failed attempt if it is among the nearest. seen: it is part of an attempt that was noted before."""
        if not self.diagnosing:
            return
        score = (phase, len(fit.nodes), -(len(fit.differences) or 1), _NEARNESS.get(problem.kind, 1))
        nearest = self.best is None or score > self.best[0]
        if seen and not nearest:
            return
        self.tried += 1
        self.paired.update(fit.nodes.items())
        if len(self.kept) < self.keep or (self.keep and score > self.kept[-1][0]):
            # equally near attempts stay in the order in which they were tried
            place = next((at for at, (other, _) in enumerate(self.kept) if score > other), len(self.kept))
            self.kept.insert(place, (score, _attempt(fit, problem)))
            del self.kept[self.keep :]
        if not nearest:
            return
        pairs = tuple((name, fit.nodes[name]) for name in self.live if name in fit.nodes)
        self.best = (score, NearestMiss(problem.kind, problem.pattern_node, problem.graph_node, problem.reason, pairs))

    def _may_be_near(self, pairs: int) -> bool:
        """Whether an attempt with at most this many pairs could be among the nearest."""
        enough = min(self.keep, _PARTIAL_ATTEMPTS) if self.steps < _PARTIAL_STEPS else 0
        if len(self.kept) < enough or self.best is None:
            return True
        return (_STRUCTURE, pairs, -1, max(_NEARNESS.values())) > (self.kept[enough - 1][0] if enough else self.best[0])

    def _absent(self, sink: Node) -> Difference:
        twin = next((each for each in self.graph.operations if operator_label(each) == operator_label(sink)), None)
        if twin is not None:
            return self._other_operator(sink, twin, None)
        return Difference(MissKind.ABSENT, sink.name, None, f"The graph has no {called(sink)}.")

    def _look_for_parts(self) -> None:
        """Look for the largest part of the pattern that (nearly) occurs, and report what the graph has after it."""
        for place, node in reversed(list(enumerate(self.live.values(), 1))):
            for candidate in self._candidates(node) if self.readers[node.name] else ():
                if not self._may_be_near(place):
                    return
                fit, problem = self._structure(_Fit(), node, candidate)
                seen = (node.name, candidate.name) in self.paired
                self._note(_STRUCTURE, fit, problem or self._instead(node, candidate), seen=seen)

    def _instead(self, node: Node, candidate: Node) -> Difference:
        expected = self.live[self.readers[node.name][0]]
        follower = next(iter(self.graph.users[candidate.name]), None)
        after = f"After {candidate.name} ({called(candidate)}), the pattern has {called(expected)}, but the graph"
        if follower is None:
            reason = f"{after} returns the value."
            return Difference(MissKind.OPERATOR, expected.name, candidate.name, reason)
        found = self.graph.by_name[follower]
        reason = f"{after} has {called(found)} (node {follower})."
        if called(found) == called(expected) and _operand(found, candidate.name) != _operand(expected, node.name):
            reason = (
                f"After {candidate.name} ({called(candidate)}), pattern and graph both have {called(found)} (node"
                f" {follower}), but the graph has its operands in another order. Write them as the graph does."
            )
        return Difference(MissKind.OPERATOR, expected.name, follower, reason)


def _operand(node: Node, name: str) -> int | None:
    """The place of a value among the operands of an operation; None if it is within another one."""
    return next((place for place, each in enumerate(node.args) if each == Ref(name)), None)


def _attempt(fit: _Fit, problem: Difference) -> MatchAttempt:
    """Record an attempt: the pairs in the order in which they matched, and where it failed."""
    pairs = list(fit.nodes.items())
    failed = (problem.pattern_node, problem.graph_node)
    before = fit.differences[0][0] if fit.differences else len(pairs)
    # an operation is matched before its arguments are compared, so the pair that failed may be among the matched
    fitted, behind = ([pair for pair in part if pair != failed] for part in (pairs[:before], pairs[before:]))
    differences = tuple(each for _, each in fit.differences) or (problem,)
    return MatchAttempt(pairs[0] if pairs else failed, tuple(fitted), differences, tuple(behind))


def same(left: Value, right: Value) -> bool:
    """Whether two values are equal as arguments: 1 is 1.0 but not True, a list is a tuple, NaN is NaN."""
    match left, right:
        case (tuple() | Listed(), tuple() | Listed()):
            items, others = _items(left), _items(right)
            return len(items) == len(others) and all(same(each, other) for each, other in zip(items, others))
        case (Slice(), Slice()):
            return same((left.start, left.stop, left.step), (right.start, right.stop, right.step))
        case (DeviceLiteral(), DeviceLiteral()):
            return (left.type, left.index or 0) == (right.type, right.index or 0)
        case (bool(), _) | (_, bool()):
            return isinstance(left, bool) and isinstance(right, bool) and left == right
        case (int() | float(), int() | float()):
            return left == right or (left != left and right != right)
    return type(left) is type(right) and left == right


def called(node: Node) -> str:
    """Name what an operation calls, for a sentence."""
    return f"the method {node.target}" if node.kind is NodeKind.METHOD else node.target or f"the input {node.name}"


def shown(value: Value) -> str:
    """Write a value for a sentence, in at most 60 characters."""
    try:
        text = written(value)
    except BadInput:
        text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _items(value: Value) -> tuple[Value, ...]:
    if isinstance(value, Listed):
        return value.items
    assert isinstance(value, tuple)
    return value


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
