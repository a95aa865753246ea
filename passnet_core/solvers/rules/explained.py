"""What the rules write for a task, with the reasons for the rest as people read them."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from passnet_core.errors import BadInput
from passnet_core.graphs.source import parse
from passnet_core.graphs.vocabulary import operator_label
from passnet_core.operations.binding import regular
from passnet_core.records import Task
from passnet_core.solvers.rules.regions import Surveyed
from passnet_core.solvers.rules.solver import WrittenBundle, written

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
