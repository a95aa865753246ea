"""The solver: a task's subgraphs in, a bundle out, without a model."""

from dataclasses import dataclass, field

from passnet_core.bundles import carried
from passnet_core.errors import BadInput
from passnet_core.graphs.source import parse
from passnet_core.graphs.spelling import Names
from passnet_core.records import Bundle, Task
from passnet_core.records.bundles import PassFile
from passnet_core.solvers.rules.kernels import Unsupported
from passnet_core.solvers.rules.passes import (
    Aliases,
    Form,
    Found,
    Shared,
    extracted,
    formed,
    pass_file,
    skeleton,
    title,
)  # fmt: skip
from passnet_core.solvers.rules.regions import Surveyed


@dataclass
class Written:
    """A bundle, and why parts of the subgraphs are left as they are."""

    bundle: Bundle
    left: list[str] = field(default_factory=list)


def written(task: Task) -> Written:
    """Write a bundle for a task. Raises BadInput if nothing of it is covered."""
    shared: dict[str, list[Found]] = {}
    left: list[str] = []
    for subgraph in task.subgraphs:
        surveyed = Surveyed(subgraph, parse(subgraph.code))
        regions = surveyed.regions() or surveyed.regions(library=True)
        left += [f"{name}: {reason}" for name, reason in surveyed.reasons.items()]
        for region in regions:
            found = extracted(surveyed, region)
            shared.setdefault(skeleton(found.graph), []).append(found)
    names = Names(taken=("launching", "planning", "torch", "triton", "tl", "libdevice"))
    passes: list[PassFile] = []
    for each in sorted(shared.values(), key=lambda each: -len(each[0].graph.operations)):
        together = Shared(each)
        name = names.free(title(together.graph))
        try:
            forms = _forms(together, name)
            passes.append(pass_file(together, forms, f"{name}.py", name, f"{name}: written by rules."))
        except Unsupported as problem:
            left.append(f"{name}: {problem}")
    if not passes:
        raise BadInput(
            f"The rules cover nothing of {task.id}: {'; '.join(dict.fromkeys(left)) or 'there is no operation'}."
        )
    return Written(Bundle(tuple(passes), (carried.launching(), carried.planning()), author="rules"), left)


def _forms(shared: Shared, name: str) -> list[tuple[Form, list[int]]]:
    """The kernels for each combination of ranks and dtypes. Raises Unsupported."""
    for exactly in (False, True):
        found: list[tuple[Form, list[int]]] = []
        groups = shared.forms(exactly=exactly)
        try:
            for place, members in enumerate(groups):
                own = f"{name}_{place + 1}" if len(groups) > 1 else name
                found.append((formed(shared, members, own, exactly=exactly), members))
        except Aliases:
            continue
        return found
    raise Unsupported("results that are inputs")
