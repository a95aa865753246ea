"""Which conversations are exported, and which of them are kept for validation. Pure."""

import ast
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from passnet_core.graphs.fingerprint import operation_key, structure
from passnet_core.graphs.source import parse
from passnet_core.records import Bundle, Stage, Task, Verdict, digest_of
from passnet_core.records.trajectories import Opening, Trajectory
from passnet_core.solvers.llm.tools import written_by, written_in

Fingerprints = frozenset[str]
"""What makes two tasks related: they share one of these."""


@dataclass(frozen=True)
class ExportChoice:
    """Which conversations to export. None: any.

    split: of their tasks. at_least: the least share of accepted subgraphs, above 0 and at most 1. failed: whether to
    take those that fall short of it too. verdicts: the best bundle had only these. faster_than: in times eager's
    speed, as the geometric mean over the subgraphs. clock_version: of the times, which only --stage measure takes."""

    split: str = "train"
    at_least: float = 1.0
    failed: bool = False
    verdicts: frozenset[Verdict] | None = None
    faster_than: float | None = None
    stage: Stage | None = None
    clock_version: int | None = None

    def takes(self, each: Trajectory) -> bool:
        """Whether to export a conversation, as far as it alone tells; never one without turns or without an ending."""
        opening, end = each.opening, each.ending
        if end is None or not each.turns or opening.split != self.split:
            return False
        if not self.failed and end.accepted < max(self.at_least, 1e-9) * end.total:
            return False
        if self.verdicts is not None and not {verdict for verdict, _ in end.verdicts} <= self.verdicts:
            return False
        if self.faster_than is not None and (end.speedup is None or end.speedup <= self.faster_than):
            return False
        if self.clock_version is not None and (
            opening.spec.stage is not Stage.MEASURE or opening.clock_version != self.clock_version
        ):
            return False
        return self.stage in (None, opening.spec.stage)


@dataclass(frozen=True)
class Relations:
    """How tasks are related by what their subgraphs compute. task: finds a task by name, or returns None."""

    task: Callable[[str], Task | None]

    _known: dict[str, Fingerprints] = field(default_factory=dict, init=False, compare=False)

    def of(self, opening: Opening) -> Fingerprints:
        """The fingerprints of all subgraphs of a conversation's task. Of a task that is not known here any more, only
        the operations of the first subgraph are, and which inputs and code each has."""
        if opening.task_id not in self._known:
            task = self.task(opening.task_id)
            found = frozenset(opening.subgraphs) | {digest_of(list(opening.operators))}
            self._known[opening.task_id] = found if task is None else found | fingerprints(task)
        return self._known[opening.task_id]


def fingerprints(task: Task) -> Fingerprints:
    """For every subgraph of a task, its digest, its structure, and its sequence of operations with any arguments."""
    graphs = {each.code: parse(each.code) for each in task.subgraphs}
    digests = {each.digest for each in task.subgraphs}
    return frozenset(digests | {key(graph) for graph in graphs.values() for key in (structure, operation_key)})


def chosen(
    found: Iterable[Trajectory], choice: ExportChoice, related: Relations, held_back: Fingerprints
) -> Iterator[Trajectory]:
    """The conversations to export. held_back: fingerprints of tasks that no exported task may be related to, such as
    those of the eval tasks. Of conversations at one task that began and ended with the same code up to layout,
    comments and docstrings, only the first is kept."""
    seen: set[str] = set()
    for each in found:
        if not choice.takes(each) or related.of(each.opening) & held_back:
            continue
        key = digest_of([each.opening.task_id, _begun(each), _best(each)])
        if key not in seen:
            seen.add(key)
            yield each


def _begun(trajectory: Trajectory) -> list[str | None]:
    """The bundle that was to be repaired, and the code of the first answer."""
    answer = trajectory.turns[0].answer
    written = written_in(answer.text) if not answer.calls else written_by(answer.calls)
    return [trajectory.opening.start, *(f"{name} {_bare(code)}" for name, code in sorted(written.codes.items()))]


def _best(trajectory: Trajectory) -> str:
    """What is equal for conversations that came to the same. Without a bundle, each is only equal to itself."""
    digest = trajectory.ending.best if trajectory.ending else None
    if digest is None:
        return trajectory.opening.id
    whole = next((turn.bundle for turn in trajectory.turns if turn.bundle and turn.bundle.digest == digest), None)
    return digest if whole is None else gist(whole)


def gist(bundle: Bundle) -> str:
    """A digest of a bundle's code that is equal for code of another layout, or with other comments and docstrings."""
    helpers = sorted(_bare(file.code) for file in bundle.helpers)
    return digest_of([[_bare(file.code) for file in bundle.passes], helpers])


def _bare(code: str) -> str:
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return " ".join(code.split())
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and ast.get_docstring(node, clean=False) is not None
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(tree)


def families(tasks: Mapping[str, Collection[str]]) -> tuple[frozenset[str], ...]:
    """The tasks, in groups: two tasks are in one if they share a fingerprint, directly or through others. tasks: the
    fingerprints of each by its name."""
    holding: dict[str, list[str]] = defaultdict(list)
    for name, keys in tasks.items():
        for key in keys:
            holding[key].append(name)
    group = {name: name for name in tasks}

    def root(name: str) -> str:
        while group[name] != name:
            group[name] = group[group[name]]
            name = group[name]
        return name

    for names in holding.values():
        for other in names[1:]:
            group[root(other)] = root(names[0])
    members: dict[str, set[str]] = defaultdict(set)
    for name in tasks:
        members[root(name)].add(name)
    return tuple(frozenset(each) for each in members.values())


def divided(
    found: Sequence[Trajectory], share: float, related: Relations
) -> tuple[tuple[Trajectory, ...], tuple[Trajectory, ...]]:
    """The conversations in two parts, of which the second is for validation and has about this share of them.

    No task of one part is related to a task of the other: whole families of tasks go to one side. Their order is that
    of a digest of their names, so that a part changes little as conversations are added."""
    tasks = {each.opening.task_id: related.of(each.opening) for each in found}
    size: dict[str, int] = defaultdict(int)
    for each in found:
        size[each.opening.task_id] += 1
    apart: set[str] = set()
    count = 0
    groups = families(tasks)
    for members in sorted(groups, key=lambda names: digest_of(min(names))):
        added = sum(size[name] for name in members)
        nearer = abs(count + added - share * len(found)) < abs(count - share * len(found))
        if nearer and len(apart) + len(members) < len(tasks):
            apart |= members
            count += added
    first = tuple(each for each in found if each.opening.task_id not in apart)
    return first, tuple(each for each in found if each.opening.task_id in apart)
