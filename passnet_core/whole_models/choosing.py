"""Choose passes for a model from the gallery, and from what the rules wrote for it. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from passnet_core.records import Bundle
from passnet_core.whole_models.merging import merged, with_passes
from passnet_core.whole_models.survey import FoundBundle, FoundPass

RULES = "rules"
"""The origin of passes that the rules wrote for the model itself."""

Nodes = tuple[int, frozenset[str]]
"""A match: the place of the graph, and its nodes."""


@dataclass(frozen=True)
class MatchingPass:
    """A pass that matches in a model. origin: RULES, or the bundle's name in the gallery. bundle: with this pass only.
    operations: how many operations its largest match replaces. key: tells it from others."""

    name: str
    origin: str
    bundle: Bundle
    matches: tuple[Nodes, ...]

    @property
    def key(self) -> tuple[str, str]:
        return self.origin, self.name

    @property
    def operations(self) -> int:
        return max((len(nodes) for _, nodes in self.matches), default=0)


def candidates(found: FoundBundle, bundle: Bundle, origin: str) -> Iterator[MatchingPass]:
    """The passes of a bundle that match anywhere, in their order."""
    for each in found.passes:
        if each.count:
            yield MatchingPass(each.name, origin, with_passes(bundle, [each.name]), matches_of(each))


def matches_of(found: FoundPass) -> tuple[Nodes, ...]:
    return tuple((place, frozenset(names)) for place, places in enumerate(found.places) for names in places)


def chosen(gallery: Sequence[MatchingPass], rules: Sequence[MatchingPass]) -> list[MatchingPass]:
    """The passes for one bundle, in its order: those of the gallery, large ones first, then those of the rules that are
    still needed.

    A pass of the gallery is taken if none of its matches leaves a part of what the rules would replace together: a
    kernel of its own for that part would cost more than it saves. One that the rules wrote for another model has to
    replace more, since they write the same for this one, and for its dtypes. Of equals the first is taken."""
    regions = [match for each in rules for match in each.matches]
    taken: dict[int, set[str]] = {}
    kept: list[MatchingPass] = []
    for each in sorted(gallery, key=lambda each: -each.operations):
        free = [(place, nodes) for place, nodes in each.matches if not nodes & taken.get(place, set())]
        if free and all(_covers(match, regions, more=each.bundle.author == RULES) for match in free):
            kept.append(each)
            for place, nodes in free:
                taken.setdefault(place, set()).update(nodes)
    needed = [each for each in rules if any(not nodes <= taken.get(place, set()) for place, nodes in each.matches)]
    return [*kept, *needed]


def _covers(match: Nodes, regions: Sequence[Nodes], *, more: bool) -> bool:
    """Whether the match holds every region that it touches, and touches any. more: and is none of them."""
    touched = [nodes for place, nodes in regions if place == match[0] and nodes & match[1]]
    return bool(touched) and all(nodes <= match[1] for nodes in touched) and not (more and match[1] in touched)


def together(passes: Sequence[MatchingPass]) -> tuple[Bundle, Mapping[str, MatchingPass]]:
    """One bundle of these passes, in this order, and which of them each of its passes is."""
    bundle = merged([each.bundle for each in passes], author=RULES)
    return bundle, {file.name.removesuffix(".py"): each for file, each in zip(bundle.passes, passes, strict=True)}
