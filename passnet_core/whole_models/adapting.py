"""Find passes for a model: capture it, look in the gallery, have the rules write the rest, judge, and measure."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from passnet_core.corpus.catalogue import check_sizes
from passnet_core.corpus.cutting import standalone
from passnet_core.corpus.members import likeness_key
from passnet_core.corpus.partitioning import PREFIX, split_of, task_name
from passnet_core.errors import BadInput
from passnet_core.execution.backends.base import DeviceInfo
from passnet_core.graphs.effects import is_random
from passnet_core.graphs.ir import Node
from passnet_core.graphs.source import emit
from passnet_core.graphs.vocabulary import operator_label
from passnet_core.operations.binding import regular
from passnet_core.records import (
    DISQUALIFIED,
    WRONG,
    Bundle,
    Device,
    EvalSpec,
    Family,
    Outcome,
    Stage,
    Subgraph,
    Task,
    Verdict,
    from_json,
    to_json,
)
from passnet_core.whole_models.captured import CapturedModel, ModelFile, captured_model
from passnet_core.whole_models.choosing import RULES, MatchingPass, candidates, chosen, together
from passnet_core.whole_models.report import IN_WHOLE, GalleryMatch, MatchedPart, ModelReport, PassInModel, graph_of
from passnet_core.whole_models.survey import FoundBundle, SurveyAnswer, SurveyQuestion
from passnet_core.whole_models.timing import TimingAnswer, TimingQuestion, Way

if TYPE_CHECKING:
    from passnet_core.solvers.rules.solver import WrittenBundle

CAPTURING = "passnet_core.whole_models.capturing"
SURVEYING = "passnet_core.whole_models.surveying"
MEASURING = "passnet_core.whole_models.measuring"
"""The programs that run in the sandbox."""

ROUNDS = 25
"""In how many rounds a whole model is timed."""

RANDOM = "The model draws random numbers, so what it gives differs from call to call."
NAMED = 5
"""How many operations a reason names that leaves them as they are."""

CULPABLE = WRONG | DISQUALIFIED | {Verdict.CRASHED, Verdict.COMPILE_FAILED, Verdict.REWRITE_FAILED}
"""The verdicts on a whole graph of which a single pass may be the cause."""

WHOLE_DEADLINE_S = 900.0
"""How long judging a whole graph may take."""


class RunProgram(Protocol):
    """Runs a program of this package in the sandbox, as LocalBackend.program does."""

    def __call__(
        self,
        module: str,
        given: bytes,
        limit_s: float,
        *,
        device: Device,
        folders: Sequence[Path],
        cancelled: threading.Event,
    ) -> bytes: ...


JudgeTask = Callable[[Task, Bundle, EvalSpec], Sequence[Outcome]]
"""Judges a bundle on every subgraph of a task."""


@dataclass(frozen=True)
class SearchStep:
    """Progress, as a sentence. done, total: how much of it, if it can be counted."""

    text: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True)
class Workshop:
    """What is needed to find passes for a model.

    judge, judge_whole: for parts of the model, and for its whole graphs. gallery: bundles by name; of equals those that
    come first are preferred. keep: gets the tasks that were cut from the model. tell: gets progress. cancelled: when
    set, the work ends soon with BadInput. folders: what the file may read and import. limit_s: for each program, in
    seconds. judged_here: the judge's device is in this machine, where the programs run."""

    program: RunProgram
    judge: JudgeTask
    judge_whole: JudgeTask
    here: DeviceInfo
    gallery: Mapping[str, Bundle]
    keep: Callable[[Sequence[Task]], object] = lambda tasks: None
    tell: Callable[[SearchStep], object] = lambda step: None
    cancelled: threading.Event = field(default_factory=threading.Event)
    folders: tuple[Path, ...] = ()
    limit_s: float = 1800.0
    spec: EvalSpec = field(default_factory=EvalSpec)
    judged_here: bool = True

    def step(self, text: str, done: int = 0, total: int = 0) -> None:
        """Tell of progress. Raises BadInput if the work was cancelled."""
        if self.cancelled.is_set():
            raise BadInput("It was stopped.")
        self.tell(SearchStep(text, done, total))

    @property
    def timed(self) -> bool:
        """Whether times are taken."""
        return self.spec.device is Device.CUDA


def adapt(file: ModelFile, shop: Workshop) -> ModelReport:
    """Find passes for the model that the file makes, and run the model with them. Raises BadInput if it cannot be
    captured or the work is cancelled, InfrastructureError if this machine cannot run the programs."""
    began = time.monotonic()
    report = timed(search(file, shop), file, shop)
    return replace(report, took_s=time.monotonic() - began)


def search(file: ModelFile, shop: Workshop) -> ModelReport:
    """Find passes for the model that the file makes, without running it as a whole. Raises like adapt."""
    began = time.monotonic()
    shop.step("Capturing the model.")
    model = captured_model(_ran(shop, CAPTURING, file))
    shop.step(f"Looking for {len(shop.gallery)} bundles of the gallery in {model.operations:,} operations.")
    found = _survey(shop, model, list(shop.gallery.values()))
    gallery = {name: list(candidates(each, bundle, name)) for (name, bundle), each in zip(shop.gallery.items(), found)}
    shop.step("Writing passes for what the gallery lacks.")
    written, problem = _written(model)
    own: list[MatchingPass] = []
    if written is not None:
        (looked,) = _survey(shop, model, [written.bundle])
        own = list(candidates(looked, written.bundle, RULES))
    bundle, passes, whole = _right_as_a_whole(
        model, [each for several in gallery.values() for each in several], own, shop
    )
    used = {each.origin for each in passes if not each.left_out}
    matches = tuple(
        GalleryMatch(
            name, tuple(each.name for each in several), sum(len(each.matches) for each in several), name in used
        )
        for name, several in gallery.items()
        if several
    )
    environment = shop.here.environment
    return ModelReport(
        model=model,
        bundle=bundle,
        passes=passes,
        gallery=matches,
        left=_left(written, problem),
        whole=whole,
        timing=None,
        device=environment.device if environment else shop.here.label,
        date=datetime.now(UTC).date().isoformat(),
        took_s=time.monotonic() - began,
        notes=tuple(_notes(model)),
    )


def _notes(model: CapturedModel) -> Iterator[str]:
    if _draws(model):
        yield RANDOM
    for place, graph in enumerate(model.graphs):
        if graph.opaque:
            names = _listed([*dict.fromkeys(operator_label(node) for node in graph.opaque)])
            yield (
                f"Graph {place} has {len(graph.opaque)} operations that the judge cannot compute ({names}): as a whole"
                " it was judged with what they give drawn like other inputs, and with what they read compared."
            )


def _draws(model: CapturedModel) -> bool:
    return any(is_random(node) for graph in model.graphs for node in graph.graph.operations)


# --- finding ---


def _ran(shop: Workshop, program: str, question: Any, device: Device = Device.CPU) -> bytes:
    asked = json.dumps(to_json(question), allow_nan=False).encode()
    return shop.program(program, asked, shop.limit_s, device=device, folders=shop.folders, cancelled=shop.cancelled)


def _survey(shop: Workshop, model: CapturedModel, bundles: Sequence[Bundle]) -> tuple[FoundBundle, ...]:
    question = SurveyQuestion(tuple(each.code for each in model.graphs), tuple(bundles))
    answer = from_json(SurveyAnswer, json.loads(_ran(shop, SURVEYING, question)))
    if [each.digest for each in answer.bundles] != [each.digest for each in bundles]:
        raise BadInput("The search of the gallery gave a damaged answer.")
    return answer.bundles


def _written(model: CapturedModel) -> "tuple[WrittenBundle | None, str]":
    """What the rules write for all graphs together, or why they write nothing."""
    # they take a third of a second to load, and most of what imports this needs none
    from passnet_core.solvers.rules.regions import Surveyed
    from passnet_core.solvers.rules.solver import attempt, fused, written_for

    subgraphs = tuple(model.subgraph(place) for place in range(len(model.graphs)))
    pairs = zip(subgraphs, model.graphs)
    try:
        with attempt(model.name):
            cuts = [fused(Surveyed(each, regular(graph.judged[0]), graph.specs)) for each, graph in pairs]
            return written_for(Task(model.name, Family.TYPICAL, "", subgraphs), cuts), ""
    except BadInput as error:
        return None, str(error)


def _left(written: "WrittenBundle | None", problem: str) -> tuple[str, ...]:
    if written is None:
        return (problem,)
    libraries = f"To libraries: {', '.join(written.libraries)}." if written.libraries else ""
    names: dict[str, list[str]] = {}
    for each in written.left:
        name, _, reason = each.partition(": ")
        names.setdefault(reason, []).append(name)
    return tuple(filter(None, (libraries, *(f"{reason}: {_listed(several)}" for reason, several in names.items()))))


def _listed(names: Sequence[str]) -> str:
    first = ", ".join(names[:NAMED])
    return f"{first} and {len(names) - NAMED} more" if len(names) > NAMED else first


# --- judging ---


def _right_as_a_whole(
    model: CapturedModel, gallery: Sequence[MatchingPass], own: Sequence[MatchingPass], shop: Workshop
) -> tuple[Bundle | None, tuple[PassInModel, ...], tuple[Outcome, ...]]:
    """A bundle of accepted passes with which every graph is right as a whole, None if there is none; what came of every
    pass that was judged; and the outcomes of the whole graphs. A pass that is refused, or with which a graph is wrong,
    is chosen no more, so that another one can take its place."""
    refused: dict[tuple[str, str], PassInModel] = {}
    known: dict[tuple[object, ...], PassInModel] = {}
    while True:
        judged = _accepted(model, gallery, own, refused, known, shop)
        if not judged:
            return None, tuple(refused.values()), ()
        # without those that match nothing after others, passes may have other names
        bundle, names = together([candidate for candidate, _ in judged])
        passes = [replace(each, name=name) for name, (_, each) in zip(names, judged, strict=True)]
        places = sorted({part.graph for each in passes for part in each.parts})
        whole = [_judged_whole(model, place, bundle, shop) for place in places]
        wrong = next((each for each in whole if not each.verdict.accepted), None)
        if wrong is None:
            return bundle, (*passes, *refused.values()), tuple(whole)
        place = graph_of(wrong)
        said = f"{IN_WHOLE.format(place)} {wrong.verdict.value}: {wrong.reason}"
        for candidate, each in _culprits(model, judged, wrong, shop):
            refused[candidate.key] = replace(each, left_out=said)


def _culprits(
    model: CapturedModel, judged: Sequence[tuple[MatchingPass, PassInModel]], wrong: Outcome, shop: Workshop
) -> list[tuple[MatchingPass, PassInModel]]:
    """The passes without which a graph that is wrong as a whole is right: one if there is such a one, else as many as
    it takes. All that match in it, if nobody can say whether it is right."""
    place = graph_of(wrong)
    present = [each for each in judged if any(part.graph == place for part in each[1].parts)]

    def right_without(left: Sequence[tuple[MatchingPass, PassInModel]]) -> bool:
        rest = [candidate for candidate, each in judged if all(each is not other for _, other in left)]
        return bool(rest) and _judged_whole(model, place, together(rest)[0], shop).verdict.accepted

    if wrong.verdict not in CULPABLE or len(present) == 1:
        return present
    for each in present:
        if right_without([each]):
            return [each]
    count = next((count for count in range(2, len(present)) if right_without(present[:count])), len(present))
    return present[:count]


def _accepted(
    model: CapturedModel,
    gallery: Sequence[MatchingPass],
    own: Sequence[MatchingPass],
    refused: dict[tuple[str, str], PassInModel],
    known: dict[tuple[object, ...], PassInModel],
    shop: Workshop,
) -> list[tuple[MatchingPass, PassInModel]]:
    """The passes that are accepted together, of those that are not refused. Those that are refused meanwhile join
    them."""
    while True:
        picked = chosen(
            [each for each in gallery if each.key not in refused], [each for each in own if each.key not in refused]
        )
        judged = _judged(model, picked, known, shop) if picked else []
        new = {candidate.key: each for candidate, each in judged if each.left_out}
        refused |= new
        if not new:
            return judged


def _judged(
    model: CapturedModel,
    picked: Sequence[MatchingPass],
    known: dict[tuple[object, ...], PassInModel],
    shop: Workshop,
) -> list[tuple[MatchingPass, PassInModel]]:
    """Judge each pass on what it matches when all are applied in turn. known: what was judged before, and is not judged
    again."""
    bundle, by_name = together(picked)
    shop.step("Cutting the matches out of the model.")
    (found,) = _survey(shop, model, [bundle])
    if found.problem:
        raise BadInput(f"The chosen passes do not work together: {found.problem}")
    cut = {each.name: _cut(model, each.name, each.places) for each in found.passes if each.count}
    shop.keep([task for task, _ in cut.values() if task.subgraphs])
    judged: list[tuple[MatchingPass, PassInModel]] = []
    for number, (name, (task, parts)) in enumerate(cut.items(), 1):
        candidate = by_name[name]
        key = (candidate.key, tuple(each.digest for each in task.subgraphs))
        if key not in known:
            here = PassInModel(name, candidate.origin, task, parts, ())
            objection = _objection_before(here, shop)
            if not objection:
                sizes = len(task.subgraphs)
                shop.step(f"Judging {name} on {sizes} subgraph{'' if sizes == 1 else 's'}.", number, len(cut))
                here = replace(here, outcomes=tuple(shop.judge(task, candidate.bundle, shop.spec)))
                objection = _objection(here)
            known[key] = replace(here, left_out=objection)
        judged.append((candidate, replace(known[key], name=name, task=task, parts=parts)))
    return judged


def _objection_before(found: PassInModel, shop: Workshop) -> str:
    """Why a pass is not judged at all, or empty."""
    if not found.parts:
        return "what it matches cannot be cut out of the model, so it cannot be judged"
    if not shop.timed and max(len(each.nodes) for each in found.parts) == 1:
        return "it replaces single operations, which seldom gains; a GPU could tell"
    return ""


def _objection(judged: PassInModel) -> str:
    """Why a pass that was judged is left out, or empty."""
    refused = next((each for each in judged.outcomes if not each.verdict.accepted), None)
    if refused is not None:
        return f"{refused.subgraph_id}: {refused.verdict.value}. {refused.reason}"
    saved = judged.saved_us()
    return f"it would cost {-saved:.1f} µs a call" if saved is not None and saved < 0 else ""


def _cut(
    model: CapturedModel, name: str, places: Sequence[Sequence[Sequence[str]]]
) -> tuple[Task, tuple[MatchedPart, ...]]:
    """The matches of a pass as a task, with equal ones as one subgraph, and each match with its subgraph. Matches that
    a number enters or leaves cannot be cut out."""
    found: list[tuple[int, tuple[str, ...], Subgraph]] = []
    for place, matches in enumerate(places):
        graph = model.graphs[place]
        position = {node.name: index for index, node in enumerate(graph.graph.operations)}
        for names in matches:
            part = tuple(node for node in graph.graph.operations if node.name in set(names))
            subgraph = _subgraph(model, place, part, position)
            if subgraph is not None:
                found.append((place, tuple(names), subgraph))
    if not found:
        return Task(name, Family.FUSIBLE, "", ()), ()
    kept: dict[tuple[object, ...], Subgraph] = {}
    parts: list[MatchedPart] = []
    for place, names, each in found:
        first = kept.setdefault(likeness_key(each), each)
        parts.append(MatchedPart(place, names, first.id, model.graphs[place].calls))
    task_id = found[0][2].task_id
    subgraphs = tuple(replace(each, task_id=task_id) for each in kept.values())
    task = Task(task_id, Family.FUSIBLE, split_of(task_id), subgraphs)
    check_sizes(task)
    return task, tuple(parts)


def _subgraph(model: CapturedModel, place: int, part: tuple[Node, ...], position: Mapping[str, int]) -> Subgraph | None:
    graph = model.graphs[place]
    made = standalone(graph.graph, part, dict(graph.specs)) if part else None
    if made is None:
        return None
    alone, inputs = made
    # what says that an input is a parameter of the model
    names = {spec.name: spec.original_name or spec.name for spec in graph.specs.values() if spec}
    inputs = tuple(replace(each, original_name=names[each.original_name]) for each in inputs)
    subgraph = Subgraph("", PREFIX + task_name(alone, Family.FUSIBLE), model.name, emit(alone), inputs)
    where = f"{subgraph.dtype or 'none'}/{place}/{model.name}_op{position[part[0].name]}"
    return replace(subgraph, id=where)


def _judged_whole(model: CapturedModel, place: int, bundle: Bundle, shop: Workshop) -> Outcome:
    """Judge a graph with a bundle."""
    shop.step(f"Judging graph {place} as a whole with {len(bundle.passes)} passes.")
    task = Task(model.name, Family.TYPICAL, "", (model.subgraph(place),))
    (outcome,) = shop.judge_whole(task, bundle, replace(shop.spec, deadline_s=WHOLE_DEADLINE_S))
    return outcome


def timed(report: ModelReport, file: ModelFile, shop: Workshop) -> ModelReport:
    """The report with the model run in several ways, or why it was not run. Raises like adapt."""
    if report.bundle is None:
        return replace(report, untimed="There is nothing to run it with.")
    if not shop.timed:
        return replace(report, untimed="Times need a GPU. The judge has compared the values of its graphs.")
    if not shop.judged_here:
        return replace(report, untimed="The whole model runs on this machine only, and another one's GPU has judged.")
    try:
        return replace(report, timing=timing_of(file, report.bundle, shop))
    except BadInput as error:
        return replace(report, untimed=str(error))


def timing_of(file: ModelFile, bundle: Bundle, shop: Workshop) -> TimingAnswer:
    """Run the model with a bundle in several ways. Raises like adapt."""
    shop.step("Running the whole model.")
    question = TimingQuestion(file, bundle, shop.spec.device, tuple(Way), ROUNDS)
    return from_json(TimingAnswer, json.loads(_ran(shop, MEASURING, question, shop.spec.device)))


def spec_for(here: DeviceInfo) -> EvalSpec:
    """How passes for a model are judged on this machine: with times if it has a GPU."""
    timed = here.device is Device.CUDA
    return EvalSpec(stage=Stage.MEASURE if timed else Stage.VERIFY, device=here.device)
