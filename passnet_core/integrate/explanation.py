"""What a backend did with the graphs that torch.compile gave it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class GraphExplanation:
    """One captured graph. operations: how many it has. matches: how often each pass is applied, by its name; passes
    that are not are left out. left_alone: why no pass may be applied or none matches, or empty. stayed: for each match
    that is left to the graph's own operations, the pass and why."""

    operations: int
    matches: dict[str, int]
    left_alone: str = ""
    stayed: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """How many matches were replaced."""
        return sum(self.matches.values())


@dataclass(frozen=True)
class Explanation:
    """The graphs in the order in which they were captured. missed: why a pass matched in none of them, by its name.
    bundles: how their digests begin. notes: sentences about them."""

    bundles: tuple[str, ...]
    graphs: tuple[GraphExplanation, ...]
    missed: dict[str, str]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        of = f"{'Bundle' if len(self.bundles) == 1 else 'Bundles'} {', '.join(self.bundles)}"
        if not self.graphs:
            return f"{of}: no graph was captured yet. Call the compiled model first."
        lines = [f"{of}: {len(self.graphs)} graphs, {sum(each.count for each in self.graphs)} matches."]
        for number, each in enumerate(self.graphs):
            found = ", ".join(f"{name} × {count}" for name, count in each.matches.items())
            said = found or each.left_alone or "no match is replaced"
            lines.append(f"graph {number}, {each.operations} operations: {said}")
            lines += [f"  left to its own operations: {match}" for match in each.stayed]
        lines += [f"{name} matched nowhere. {reason}" for name, reason in self.missed.items()]
        return "\n".join([*lines, *self.notes])
