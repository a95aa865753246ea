"""Decide whether operations of a graph can become one call, next to groups that already did."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter

from passnet_core.graphs.effects import Effects, changed, effects, shares_memory
from passnet_core.graphs.ir import Graph


@dataclass(frozen=True)
class LateRead:
    """A read of memory that changer changed before, by another name than its result. reader "": the graph's result."""

    changer: str
    changed: str
    reader: str
    read: str


class TopologicalOrder:
    """Which operations must come before which. Each accepted group of operations counts as one.

    step: called with the amount of work done; it may raise to stop the search."""

    def __init__(self, graph: Graph, step: Callable[[int], None]) -> None:
        self.graph = graph
        self.step = step
        self.position = {node.name: index for index, node in enumerate(graph.nodes)}
        # equal within a group and rising along every dependency, so that a search can stop at its last member
        self.rank = dict(self.position)
        self.groups: dict[str, frozenset[str]] = {}

    @cached_property
    def effects(self) -> Effects:
        return effects(self.graph)

    def between(self, names: Collection[str], *, with_effects: bool = False) -> str | None:
        """Return an operation outside that depends on one of the names and that another depends on, if there is one.

        Then the names cannot become one call. with_effects: the order of effects counts as a dependency too."""
        last = max(self.rank[name] for name in names)
        seen: set[str] = set()
        work = list(names)
        while work:
            name = work.pop()
            self.step(1)
            for follower in self._followers(name, with_effects):
                if follower in names:
                    if name not in names:
                        return name
                elif follower not in seen and self.rank[follower] < last:
                    # an operation that follows one member of a group follows all of them
                    members = self.groups.get(follower, (follower,))
                    seen.update(members)
                    work.extend(members)
        return None

    def late_read(self, names: Collection[str]) -> LateRead | None:
        """Find a read, outside the names, of memory that one of them changed before, but not through their results."""
        storage = self.effects.storage
        for changer in sorted(names, key=self.position.__getitem__):
            for value in changed(self.graph.by_name[changer]):
                for reader, read in self._reads_after(changer, names):
                    if storage[read] == storage[value.name] and not self._flows_from(read, names):
                        return LateRead(changer, value.name, reader, read)
        return None

    def accept(self, names: Sequence[str]) -> None:
        """Treat these operations as one from now on."""
        group = frozenset(names)
        self.groups.update(dict.fromkeys(names, group))
        last = max(self.rank[name] for name in names)
        followers = (follower for name in names for follower in self._followers(name, True))
        if all(follower in group or self.rank[follower] > last for follower in followers):
            self.rank.update(dict.fromkeys(names, last))
        else:
            self._rank_anew()

    def _rank_anew(self) -> None:
        units = {name: self.groups.get(name, frozenset((name,))) for name in self.position}
        sorter = TopologicalSorter[frozenset[str]]()
        for name, unit in units.items():
            sorter.add(unit)
            for follower in self._followers(name, True):
                if follower not in unit:
                    sorter.add(units[follower], unit)
        self.rank = {name: place for place, unit in enumerate(sorter.static_order()) for name in unit}

    def _followers(self, name: str, with_effects: bool) -> tuple[str, ...]:
        users = self.graph.users[name]
        return users + self.effects.after.get(name, ()) if with_effects else users

    def _reads_after(self, changer: str, names: Collection[str]) -> Iterator[tuple[str, str]]:
        """Yield (reader, value) for each later read outside the names, the graph's result last."""
        late = self.graph.nodes[self.position[changer] + 1 :]
        self.step(len(late))
        for node in late:
            if node.name not in names:
                yield from ((node.name, read) for read in node.inputs)
        yield from (("", read) for read in sorted(self.graph.returned))

    def _flows_from(self, name: str, names: Collection[str]) -> bool:
        """Whether a value is the result of one of the names, or a view of one."""
        found = {name}
        work = [name]
        while work:
            name = work.pop()
            if name in names:
                return True
            more = {each.name for each in shares_memory(self.graph.by_name[name])} - found
            found |= more
            work.extend(more)
        return False
