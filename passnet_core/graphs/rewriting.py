"""Rewrite a graph: each match of a pass becomes one call of the pass's replacement function."""

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from passnet_core.errors import BadInput
from passnet_core.graphs import explaining
from passnet_core.graphs.effects import changed, effects, has_effect, storage_of
from passnet_core.graphs.ir import Graph, Listed, Node, NodeKind, Ref, Value, items_of, reading, references, substituted
from passnet_core.graphs.matching import Bind, Match, Matching, find_matches, plain_bind, remembered
from passnet_core.graphs.spelling import Names
from passnet_core.records import MissKind, NearestMiss, PassMatches


@dataclass(frozen=True)
class TracedPass:
    """A pass as plain data.

    arguments: replacement_args as a graph with the same inputs as the pattern; its result is the replacement's
    arguments. replacement: the name by which emitted source calls the replacement function, "replacement_0"."""

    name: str
    pattern: Graph
    arguments: Graph
    replacement: str


@dataclass(frozen=True)
class Rewriting:
    """A graph after its passes. calls: (replacement, name of the node that calls it), in the order of application."""

    graph: Graph
    reports: tuple[PassMatches, ...]
    calls: tuple[tuple[str, str], ...]


Stays: TypeAlias = Callable[[TracedPass, Match], bool]
"""Whether a match stays as it is."""


def rewrite(
    graph: Graph,
    passes: Sequence[TracedPass],
    *,
    bind: Bind = plain_bind,
    pattern_bind: Bind | None = None,
    explain: Mapping[str, str] | None = None,
    stays: Stays = lambda traced, match: False,
) -> Rewriting:
    """Apply each pass, in order, to all its matches. A pass without a match changes nothing; its report says why.

    A report names the nodes of the graph to which its pass was applied; replaced values keep their names.
    explain: name of a pass -> its source, to add explanations to the reports; None: no explanations.
    stays: tells the matches that are not replaced; the report leaves them out.
    Raises BadInput if pattern and replacement_args of a pass take different numbers of parameters."""
    bind = remembered(bind)
    keep = 0 if explain is None else explaining.ATTEMPTS
    reports: list[PassMatches] = []
    calls: list[tuple[str, str]] = []
    current = graph
    replaced: dict[str, str] = {}
    for each in passes:
        needed = needed_inputs(each)
        search = partial(find_matches, each.pattern, bind=bind, pattern_bind=pattern_bind, needed=needed)
        matching = search(current, keep=keep)
        if not matching.matches and replaced:
            matching = _too_late(graph, matching, search(graph), replaced)
        matching = replace(matching, matches=tuple(match for match in matching.matches if not stays(each, match)))
        if explain is None or len(reports) >= explaining.MOST_PASSES:
            reports.append(PassMatches(each.name, tuple(match.names for match in matching.matches), matching.miss))
        else:
            unmatched = sum(not report.matches for report in reports)
            reports.append(
                explaining.explained(
                    each.name, each.pattern, current, matching,
                    code=explain.get(each.name, ""), bind=bind, pattern_bind=pattern_bind, needed=needed,
                    mend=unmatched < explaining.MOST_MENDED,
                )
            )  # fmt: skip
        if matching.matches:
            current, names = _replaced(current, each, matching.matches)
            calls.extend((each.replacement, name) for name in names)
        for match in matching.matches:
            replaced.update(dict.fromkeys(match.names, each.name))
    return Rewriting(current, tuple(reports), tuple(calls))


def needed_inputs(each: TracedPass) -> frozenset[str]:
    """Return the pattern's inputs whose values replacement_args reads. Raises BadInput if it takes others."""
    pattern, arguments = each.pattern.inputs, each.arguments.inputs
    if len(pattern) != len(arguments):
        raise BadInput(
            f"In pass {each.name!r}, pattern takes {len(pattern)} arguments and replacement_args {len(arguments)}. "
            f"Give both the same parameters."
        )
    read = set(each.arguments.returned)
    for node in each.arguments.operations:
        read.update(node.inputs)
    return frozenset(first.name for first, second in zip(pattern, arguments) if second.name in read)


def _too_late(graph: Graph, matching: Matching, alone: Matching, replaced: Mapping[str, str]) -> Matching:
    """Explain the miss by the original graph, if that says more because earlier passes changed the graph. alone: what
    the search finds in the original graph. replaced: node -> the earlier pass that has replaced it."""
    if matching.miss is None or alone.miss is not None:
        vague = matching.miss is not None and matching.miss.graph_node not in graph.by_name
        return alone if vague else matching
    for match in alone.matches:
        for name, image in match.nodes.items():
            if image in replaced:
                reason = (
                    f"The earlier pass {replaced[image]} has already replaced {image}. "
                    f"Change the order of the passes, or the patterns, so that they do not overlap."
                )
                return Matching((), NearestMiss(MissKind.OVERLAP, name, image, reason))
    return matching


def _replaced(graph: Graph, each: TracedPass, matches: Sequence[Match]) -> tuple[Graph, list[str]]:
    """Replace each match by one call. Returns the graph and the calls' names. Values keep their names."""
    names = Names((*graph.by_name, each.replacement))
    deeds = _deeds(each.pattern)
    blocks = [_block(each, match, names, *deeds) for match in matches]
    return _ordered(graph, matches, [nodes for _, nodes in blocks]), [call for call, _ in blocks]


def _block(
    each: TracedPass, match: Match, names: Names, written: Sequence[str], shared: Sequence[str]
) -> tuple[str, list[Node]]:
    """Return the name of the call that replaces a match, and all new nodes: for arguments, the call, for results.
    written, shared: as _deeds returns them."""
    added: list[Node] = []

    def add(node: Node) -> Ref:
        added.append(node)
        return Ref(node.name)

    parameters = zip(each.pattern.inputs, each.arguments.inputs)
    bound: dict[str, Value] = {second.name: match.inputs.get(first.name) for first, second in parameters}
    for node in each.arguments.operations:
        bound[node.name] = add(replace(reading(node, bound), name=names.free(node.name), line=None))
    result = substituted(each.arguments.result, bound)
    arguments = items_of(result) if isinstance(result, Listed | tuple) else (result,)
    outputs = _outputs(each.pattern.result, match)
    whole = next((name for name, path in outputs if not path), None)
    writes, shares = _values(match, written), _values(match, shared)
    fused = whole or names.free("fused")
    call = add(Node(fused, NodeKind.CALL, each.replacement, arguments, writes=writes, shares=shares))
    parts: dict[tuple[int, ...], Ref] = {(): call}
    for name, path in outputs:
        for depth in range(1, len(path) + 1):
            if path[:depth] not in parts:
                item = (parts[path[: depth - 1]], path[depth - 1])
                chosen = name if depth == len(path) else names.free(f"{call.name}_part")
                parts[path[:depth]] = add(Node(chosen, NodeKind.CALL, "operator.getitem", item))
    return call.name, added


def _deeds(pattern: Graph) -> tuple[list[str], list[str]]:
    """The inputs of a pattern that it changes, and those in whose memory its results may lie."""
    storage = storage_of(pattern)
    written = {storage[each.name] for node in pattern.operations for each in changed(node)}
    returned = {storage[name] for name in pattern.returned}
    first, second = ([each.name for each in pattern.inputs if storage[each.name] in own] for own in (written, returned))
    return first, second


def _values(match: Match, inputs: Sequence[str]) -> tuple[str, ...]:
    """The values of the graph that a match gives to these inputs of its pattern."""
    found = (match.inputs.get(name) for name in inputs)
    return tuple(dict.fromkeys(each.name for each in found if isinstance(each, Ref)))


def _outputs(result: Value, match: Match) -> list[tuple[str, tuple[int, ...]]]:
    """List (name of a value in the graph, its path in the replacement's result), each value once."""
    found: dict[str, tuple[int, ...]] = {}

    def walk(value: Value, path: tuple[int, ...]) -> None:
        if isinstance(value, Ref) and value.name in match.nodes:
            found.setdefault(match.nodes[value.name], path)
        for index, each in enumerate(items_of(value)):
            walk(each, (*path, index))

    walk(result, ())
    return list(found.items())


def _ordered(graph: Graph, matches: Sequence[Match], blocks: Sequence[Sequence[Node]]) -> Graph:
    """Exchange each match's nodes for its block and sort the graph, so that each node comes after what it reads.

    Apart from that, the order stays the same, as does the order of effects. A block takes the place of the match's last
    operation."""
    before = effects(graph).before
    units: dict[str, Sequence[Node]] = {node.name: (node,) for node in graph.nodes}
    unit_of = {name: name for name in units}
    position = {name: index for index, name in enumerate(units)}
    for match, block in zip(matches, blocks):
        last = match.names[-1]
        for name in match.names:
            unit_of[name] = last
            del units[name]
        units[last] = block
    needs: dict[str, set[str]] = {}
    for unit, nodes in units.items():
        own = {node.name for node in nodes}
        read = [name for node in nodes for name in node.inputs if name not in own]
        needs[unit] = {unit_of[name] for name in read}
    for name, earlier in before.items():
        needs[unit_of[name]].update(unit_of[each] for each in earlier)
    followers: dict[str, list[str]] = {}
    for unit, needed in needs.items():
        needed.discard(unit)
        for need in needed:
            followers.setdefault(need, []).append(unit)
    waits = {unit: len(needed) for unit, needed in needs.items()}
    ready = [(position[unit], unit) for unit, count in waits.items() if not count]
    heapq.heapify(ready)
    ordered: list[Node] = []
    while ready:
        _, unit = heapq.heappop(ready)
        ordered.extend(units[unit])
        waits.pop(unit)
        for follower in followers.get(unit, ()):
            waits[follower] -= 1
            if not waits[follower]:
                heapq.heappush(ready, (position[follower], follower))
    assert not waits, "a match was accepted that cannot become one call"
    read_before = {name for match in matches for each in match.names for name in graph.by_name[each].inputs}
    parts = {node.name for block in blocks for node in block if node.target == "operator.getitem"}
    result = Graph(_without_dead(ordered, graph.result, read_before | parts), graph.result)
    result.check()
    return result


def _without_dead(nodes: Sequence[Node], result: Value, suspects: set[str]) -> tuple[Node, ...]:
    """Remove the suspects that nothing reads any more, and the nodes that only they read."""
    suspects = set(suspects)
    read = set(references(result))
    kept: list[Node] = []
    for node in reversed(nodes):
        dead = node.name in suspects and node.name not in read and node.kind is not NodeKind.INPUT
        if dead and not has_effect(node):
            suspects.update(node.inputs)
            continue
        read.update(node.inputs)
        kept.append(node)
    return tuple(reversed(kept))
