"""The ways in which the rules can write a task's bundle, and how fast each is by the cost model."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from passnet_core.errors import BadInput
from passnet_core.graphs.vocabulary import operator_label
from passnet_core.records import Bundle, Outcome, Task
from passnet_core.scoring.report import entry_of, score_report
from passnet_core.solvers.rules.contractions import ProductCode
from passnet_core.solvers.rules.costs import Estimate
from passnet_core.solvers.rules.forms import Form
from passnet_core.solvers.rules.regions import WRITTEN_LIBRARY, FusedRegion, Surveyed
from passnet_core.solvers.rules.solver import Cut, WrittenBundle, attempt, each_once, explained, written_for


@dataclass(frozen=True)
class Candidate:
    """One way to write a task's bundle.

    covered: subgraphs with a pass. speedup: the geometric mean over these, in times eager's speed, by the cost model.
    gainless: operations that the first candidate fuses and this one leaves to PyTorch, since that is as fast."""

    name: str
    written: WrittenBundle
    covered: int
    speedup: float
    gainless: tuple[str, ...] = ()

    @property
    def bundle(self) -> Bundle:
        return self.written.bundle


def candidates(task: Task) -> tuple[Candidate, ...]:
    """The ways to write a bundle for the task, first the one that fuses all that libraries do not compute. No two give
    the same bundle. Raises BadInput, in one sentence, if the rules cover nothing of the task."""
    with attempt(task.id):
        first = explained(task)
        found = {first.bundle.digest: _candidate(FUSED, first, first)}
        for name, way in OTHER_WAYS.items():
            if (written := way(task, first)) is not None:
                found.setdefault(written.bundle.digest, _candidate(name, each_once(written), first))
        return tuple(found.values())


MARGIN = 1.2
"""By so much another candidate must be faster by the cost model: what it says of smaller differences is wrong as often
as right (docs/solver.md)."""


def by_model(found: Sequence[Candidate]) -> Candidate:
    """Among the candidates with a pass for most subgraphs, the first one, unless another is clearly faster by the cost
    model."""
    most = max(each.covered for each in found)
    first, *others = (each for each in found if each.covered == most)
    fastest = max(others, key=lambda each: each.speedup, default=first)
    return fastest if fastest.speedup > MARGIN * first.speedup else first


CLEARLY = 1.1
"""By so much the measured score of another candidate must be higher: two measurements of one bundle on one subgraph, in
two processes, differed by up to 14 % (docs/solver.md)."""


def by_measurement(found: Sequence[Candidate], judged: Mapping[str, Sequence[Outcome]]) -> Candidate:
    """Among the candidates that were judged and are accepted on most subgraphs, the first one, unless the aggregate
    score of another is clearly higher. judged: the outcomes by bundle digest."""
    accepted = {key: sum(each.verdict.accepted for each in outcomes) for key, outcomes in judged.items()}
    most = max(accepted.values())
    first, *others = (each for each in found if accepted.get(each.bundle.digest) == most)
    scores = {each.bundle.digest: worth(judged[each.bundle.digest]) or 1.0 for each in (first, *others)}
    best = max(others, key=lambda each: scores[each.bundle.digest], default=first)
    return best if scores[best.bundle.digest] > CLEARLY * scores[first.bundle.digest] else first


def worth(outcomes: Sequence[Outcome]) -> float | None:
    """The aggregate score of a bundle's outcomes on a task, which holds speed against precision: half precision that is
    only right at a generous tolerance counts for less than what is a little slower and right at a strict one. None if
    nothing was timed."""
    return score_report([entry_of(each) for each in outcomes]).aggregate if outcomes else None


def _candidate(name: str, written: WrittenBundle, first: WrittenBundle) -> Candidate:
    speedups = _estimate(written).speedups()
    return Candidate(name, written, len(speedups), _mean(speedups), tuple(dict.fromkeys(_dropped(first, written))))


def _estimate(written: WrittenBundle) -> Estimate:
    return Estimate([surveyed for surveyed, _ in written.cuts], written.forms)


def _mean(speedups: Mapping[str, float]) -> float:
    return math.exp(math.fsum(map(math.log, speedups.values())) / len(speedups)) if speedups else 1.0


def _dropped(first: WrittenBundle, written: WrittenBundle) -> list[str]:
    """What the first bundle fuses and the other one does not."""
    return [
        operator_label(node)
        for (surveyed, before), (_, after) in zip(first.cuts, written.cuts)
        for node in surveyed.graph.operations
        if any(node.name in each.nodes for each in before) and not any(node.name in each.nodes for each in after)
    ]


# --- the ways ---


def _gaining(task: Task, first: WrittenBundle) -> WrittenBundle | None:
    """Without the passes that gain nothing by the cost model, as long as each subgraph keeps one."""
    estimate = _estimate(first)
    before = estimate.speedups()
    left: frozenset[int] = frozenset()
    best = _mean(before)
    while True:
        trials = {
            number: _mean(found)
            for number in range(len(first.forms))
            if number not in left and (found := estimate.speedups(left | {number})).keys() == before.keys()
        }
        number = max(trials, key=lambda each: trials[each], default=None)
        if number is None or trials[number] < best:
            break
        left, best = left | {number}, trials[number]
    cuts = [
        (surveyed, [each for each in regions if estimate.owner(surveyed.subgraph.id, each.nodes) not in left])
        for surveyed, regions in first.cuts
    ]
    return _written(task, cuts) if left else None


def _products(task: Task, first: WrittenBundle) -> WrittenBundle | None:
    """With products and convolutions as part of a pass, where one kernel computes them and what follows, and reads each
    factor from one tensor."""
    cuts = [(surveyed, surveyed.regions(library=True)) for surveyed, _ in first.cuts]
    if not any(_holds_product(surveyed, each) for surveyed, regions in cuts for each in regions):
        return None
    for _ in range(2):
        written = _written(task, cuts)
        if written is None:
            return None
        unfit = _unfit(written) - {
            (surveyed.subgraph.id, frozenset(each.nodes)) for surveyed, regions in first.cuts for each in regions
        }
        if not unfit:
            return written
        subgraphs = {subgraph_id for subgraph_id, _ in unfit}
        cuts = [old if old[0].subgraph.id in subgraphs else new for old, new in zip(first.cuts, cuts)]
    return None


def _unfit(written: WrittenBundle) -> set[tuple[str, frozenset[str]]]:
    """Subgraphs and operations of the regions with a product that more than one kernel computes, or none by tiles, or
    one that puts factors together from several tensors: their tiles may not fit in a processor."""
    return {
        (found.surveyed.subgraph.id, frozenset(found.region.nodes))
        for forms in written.forms
        for form in forms
        if not _is_one_product(form)
        for found in form.found
        if _holds_product(found.surveyed, found.region)
    }


def _is_one_product(form: Form) -> bool:
    """Whether one kernel with tl.dot does all of it, and reads each factor from one tensor."""
    match form.kernels:
        case [ProductCode() as code]:
            return code.loads <= 2
    return False


def _holds_product(surveyed: Surveyed, region: FusedRegion) -> bool:
    return any(operator_label(surveyed.graph.by_name[name]) in WRITTEN_LIBRARY for name in region.nodes)


def _written(task: Task, cuts: Sequence[Cut]) -> WrittenBundle | None:
    """The bundle for these regions. None if nothing of them can be written."""
    try:
        return written_for(task, cuts)
    except BadInput:
        return None


FUSED = "fused"
OTHER_WAYS: Mapping[str, Callable[[Task, WrittenBundle], WrittenBundle | None]] = {
    "gaining": _gaining,
    "products": _products,
}
"""How else the rules can write a task's bundle, given the first one. None if that makes no difference."""
