"""The solver: a task's subgraphs in, a bundle out, without a model."""

import builtins
import contextlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from passnet_core.bundles.static_rules.findings import findings
from passnet_core.errors import BadInput, PlaygroundError
from passnet_core.graphs.ir import Graph, NodeKind, Ref
from passnet_core.graphs.rewriting import TracedPass, rewrite
from passnet_core.graphs.source import parse
from passnet_core.graphs.spelling import Names
from passnet_core.graphs.vocabulary import operator_label
from passnet_core.operations.binding import bind, regular
from passnet_core.records import Bundle, Task
from passnet_core.records.bundles import PassFile
from passnet_core.solvers.rules.describing import docstring
from passnet_core.solvers.rules.forms import Form, forms_of
from passnet_core.solvers.rules.helpers import library
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.regions import FusedRegion, Surveyed
from passnet_core.solvers.rules.shared import FoundRegion, Shared, extracted, loose_skeleton, skeleton, spelled_alike
from passnet_core.solvers.rules.writing import pass_file, title

MOST_ROUNDS = 6
"""How often regions are chosen anew because a pattern matches something else than it was made for."""


Cut = tuple[Surveyed, list[FusedRegion]]
"""A subgraph with the regions that passes are to replace."""


@dataclass
class WrittenBundle:
    """A bundle. left: why parts of the subgraphs are left as they are. libraries: operations left to libraries.

    cuts: the subgraphs with the regions that the passes replace. forms: of each pass."""

    bundle: Bundle
    cuts: list[Cut]
    forms: list[list[Form]]
    left: list[str] = field(default_factory=list)
    libraries: list[str] = field(default_factory=list)


def written(task: Task) -> WrittenBundle:
    """Write a bundle for a task. Raises BadInput if nothing of it is covered."""
    return written_for(task, [fused(Surveyed(each, regular(parse(each.code)))) for each in task.subgraphs])


def fused(surveyed: Surveyed) -> Cut:
    """The regions between what is left to libraries; if there are none, views, or at last what libraries compute."""
    return surveyed, surveyed.regions() or surveyed.views() or surveyed.regions(library=True)


def written_for(task: Task, cuts: Sequence[Cut]) -> WrittenBundle:
    """Write a bundle whose passes replace these regions. Raises BadInput if none of them can be written."""
    return _Writing(task, cuts).bundle()


@contextlib.contextmanager
def attempt(task_id: str) -> Iterator[None]:
    """A block in which the rules write for a task. Raises BadInput, in one sentence, whatever goes wrong inside: a bug
    ends this task's attempt, and not those of others."""
    try:
        yield
    except PlaygroundError:
        raise
    except Exception as error:
        logging.getLogger(__name__).exception("The rules failed on %s.", task_id)
        said = f"{type(error).__name__}: {error}".replace("\n", " ")
        raise BadInput(f"The rules write no pass for {task_id}, because of an error of their own ({said}).") from error


FOLLOWS = " is not known"
"""The end of a reason that only follows from another one: what computes an operand was left alone."""


def explained(task: Task) -> WrittenBundle:
    """Write a bundle, with each reason once. Raises BadInput, in one sentence, if the rules cover nothing."""
    try:
        found = written(task)
    except BadInput as problem:
        unknown = ", ".join(dict.fromkeys(_unknown(task)))
        why = f"they do not write {unknown}" if unknown else "they leave all of its operations to PyTorch"
        raise BadInput(f"The rules write no pass for {task.id}: {why}.") from problem
    return each_once(found)


def each_once(found: WrittenBundle) -> WrittenBundle:
    """The bundle with each reason once."""
    return replace(found, left=list(_reasons(found.left)))


def _unknown(task: Task) -> Iterator[str]:
    """The operations that the rules do not write, except those that only lack an operand."""
    for subgraph in task.subgraphs:
        surveyed = Surveyed(subgraph, regular(parse(subgraph.code)))
        for name, reason in surveyed.reasons.items():
            node = surveyed.graph.by_name[name]
            if all(each in surveyed.values for each in node.inputs):
                label = operator_label(node)
                yield reason if label in reason else f"{label} ({reason})"


def _reasons(left: Iterable[str]) -> Iterable[str]:
    """The reasons in lines such as "tmp_1: histc", each once."""
    given = (each.partition(": ")[2] or each for each in left)
    return dict.fromkeys(each for each in given if not each.endswith(FOLLOWS))


class _Writing:
    def __init__(self, task: Task, cuts: Sequence[Cut]) -> None:
        self.task, self.regions = task, list(cuts)
        self.matched = False
        """Whether the patterns matched something when they were last applied."""
        self.left = [f"{name}: {reason}" for surveyed, _ in cuts for name, reason in surveyed.reasons.items()]

    def bundle(self) -> WrittenBundle:
        for _ in range(MOST_ROUNDS):
            together = self._together()
            if not self._regrouped(together):
                break
        names = Names(taken=("torch", "triton", "tl", "libdevice", "math", "operator", *library(), *vars(builtins)))
        passes: list[tuple[PassFile, list[Form]]] = []
        for own, each in zip(together, _widened(together)):
            name = names.free(title(own.graph))
            try:
                passes.append(_written(each, name))
            except Unsupported as problem:
                # what tells its own forms apart may not tell those of other regions
                try:
                    passes.append(_written(own, name))
                except Unsupported:
                    self.left.append(f"{name}: {problem}")
        if not passes:
            reasons = "; ".join(dict.fromkeys(self.left)) or "there is no operation"
            raise BadInput(f"The rules cover nothing of {self.task.id}: {reasons}.")
        files = tuple(file for file, _ in passes)
        bundle = Bundle(files, author="rules")
        self._check(bundle)
        forms = [each for _, each in passes]
        return WrittenBundle(bundle, self.regions, forms, self.left, list(dict.fromkeys(self._libraries())))

    def _check(self, bundle: Bundle) -> None:
        """Raises BadInput if the bundle breaks a static rule, or if its patterns match nothing of its own task."""
        broken = findings(bundle)
        if broken:
            raise BadInput(f"The rules wrote a pass that the judge would refuse: {broken[0].message}")
        if not self.matched:
            raise BadInput(f"The rules wrote passes for {self.task.id} that match nothing of it.")

    def _libraries(self) -> Iterator[str]:
        """The operations that no region holds because libraries compute them well."""
        for surveyed, regions in self.regions:
            fused = {name for each in regions for name in each.nodes}
            for node in surveyed.graph.operations:
                if node.name in surveyed.libraries and node.name not in fused:
                    yield operator_label(node)

    def _together(self) -> list[Shared]:
        """The regions by pattern, in the order of the passes: large patterns first, and such with more numbers."""
        groups: dict[str, list[FoundRegion]] = {}
        for surveyed, regions in self.regions:
            for region in regions:
                found = extracted(surveyed, region)
                groups.setdefault(skeleton(found.graph), []).append(found)
        alike: dict[str, set[str | int]] = {}
        for key, members in groups.items():
            graph = members[0].graph
            alike.setdefault(loose_skeleton(graph), set()).add(key)
            # other spellings count if they have a tensor there
            alike.setdefault(loose_skeleton(spelled_alike(graph)), set()).add(len(graph.inputs))
        shared: list[Shared] = []
        for members in groups.values():
            graph = members[0].graph
            # where a tensor may stand for a number, a pattern must name its numbers
            ambiguous = any(
                len(alike[each]) > 1 for each in (loose_skeleton(graph), loose_skeleton(spelled_alike(graph)))
            )
            for part in _by_numbers(members) if ambiguous else [members]:
                try:
                    shared.append(Shared(part))
                except Unsupported as problem:
                    self.left.append(str(problem))
        return sorted(
            shared, key=lambda each: (-len(each.graph.operations), len(each.literals), len(each.graph.inputs))
        )

    def _regrouped(self, together: Sequence[Shared]) -> bool:
        """Apply the patterns as a judge would. Whether one matched another region than those that it was made for: then
        that is a region of its subgraph from now on."""
        passes = [_traced(each, place) for place, each in enumerate(together)]
        self.matched = changed = False
        for index, (surveyed, regions) in enumerate(self.regions):
            known = {frozenset(each.nodes) for each in regions}
            reports = rewrite(surveyed.graph, passes, bind=bind).reports
            for report in reports:
                self.matched |= bool(report.matches)
                for names in report.matches:
                    if frozenset(names) in known or not surveyed.knows(names):
                        continue
                    kept = [each for each in regions if not set(each.nodes) & set(names)]
                    regions = [*kept, surveyed.region(set(names))]
                    known = {frozenset(each.nodes) for each in regions}
                    changed = True
            self.regions[index] = surveyed, regions
        return changed


def _widened(together: Sequence[Shared]) -> list[Shared]:
    """Each with the regions of the others that its pattern matches as well, as the judge reads calls: they are spelled
    or ordered otherwise, or the order of the passes leaves them to it."""
    alike: dict[tuple[str, ...], list[tuple[int, FoundRegion]]] = {}
    spelled = [loose_skeleton(shared.found[0].graph) for shared in together]
    for place, shared in enumerate(together):
        for each in shared.found:
            alike.setdefault(_labels(each.graph), []).append((place, each))
    widened: list[Shared] = []
    for place, shared in enumerate(together):
        others = [
            each for owner, each in alike[_labels(shared.graph)]
            if owner > place or (owner < place and spelled[owner] != spelled[place])
        ]  # fmt: skip
        taken = [found for each in others if (found := shared.taken(each)) is not None]
        widened.append(Shared([*shared.found, *taken]) if taken else shared)
    return widened


def _labels(graph: Graph) -> tuple[str, ...]:
    return tuple(sorted(operator_label(node) for node in graph.operations))


def _written(shared: Shared, name: str) -> tuple[PassFile, list[Form]]:
    forms = forms_of(shared, name)
    return pass_file(shared, forms, f"{name}.py", name, docstring(shared, forms)), forms


def _by_numbers(members: Sequence[FoundRegion]) -> list[list[FoundRegion]]:
    """The regions in groups in which all numbers are equal."""
    groups: dict[tuple[int | float, ...], list[FoundRegion]] = {}
    for each in members:
        groups.setdefault(each.numbers, []).append(each)
    return list(groups.values())


def _traced(shared: Shared, place: int) -> TracedPass:
    inputs = tuple(each for each in shared.graph.nodes if each.kind is NodeKind.INPUT)
    arguments = Graph(inputs, tuple(Ref(each.name) for each in inputs))
    return TracedPass(f"pass {place}", shared.graph, arguments, f"replacement_{place}")
