"""VERIFY: the same inputs to eager and to the candidate, for each drawing, and what the comparison says.

Some drawings lie at new addresses, others in the very tensors of the call before: which, the seed decides. After one of
them two elements of each input change places, in the same tensors, twice, and then the same content lies elsewhere.
"""

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch

from passnet_core.errors import BadInput
from passnet_core.graphs.ir import Graph
from passnet_core.graphs.placement import placed
from passnet_core.judge import building, comparing, elements, signatures
from passnet_core.judge.bench import Bench, BenchHere, Judged, Plan
from passnet_core.judge.candidacy import (
    CandidateClient,
    CandidateFault,
    CandidateGone,
    Preparation,
    Returned,
    Verification,
)
from passnet_core.judge.comparing import Difference
from passnet_core.judge.inputs import PLAIN, PROFILES, Role, dtype_of, roles
from passnet_core.records import (
    WRONG,
    Accuracy,
    Capture,
    Device,
    Evidence,
    Job,
    Profile,
    Solver,
    Subgraph,
    TensorSpec,
    Verdict,
)

Shapes = tuple[tuple[int, ...], ...]

INTERPRETER_BUDGET_S = 20.0
"""What all drawings together may take in the interpreter at the recorded sizes, by estimate; else they are reduced."""

PROBE_ELEMENTS = 32_768
"""The estimate comes from a run on about so many input elements; smaller subgraphs need none."""

EXCHANGED, ELSEWHERE = "typical, two elements exchanged in place", "typical, at another address"
"""The calls beside the drawings."""

EXCHANGES = 2
"""The elements by which a pass tells inputs apart may be among those exchanged once, hardly twice."""

EXTRA_CALLS = EXCHANGES + 1

MISFITS = (
    RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError, AssertionError, ArithmeticError,
)  # fmt: skip
"""What torch raises where sizes do not fit an operation."""

LEAST_SIZE = 2
MOST_STEPS = 40


@dataclass(frozen=True)
class Step:
    """One choice of sizes. elements: of all inputs together."""

    shapes: Shapes
    elements: int


class _EagerFailed(Exception):
    """Eager, not the candidate, could not compute."""


def verify(
    job: Job,
    graph: Graph,
    preparations: Mapping[str, Preparation],
    candidate: CandidateClient,
    witness: CandidateClient,
    *,
    seed: int,
    report: Callable[[str], None],
    compiling: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Verification:
    """Compares the candidate with eager on every drawing of the job's profile. compiling: entered for a first call,
    which compiles and may take long.

    The candidate's faults pass through as CandidateEnd; eager's become the verdict EAGER_FAILED.
    """
    problem = subgraph_problem(job.subgraph, graph)
    if problem:
        return Verification(Verdict.EAGER_FAILED, f"Eager cannot run this subgraph: {problem}", None)
    trial = _Trial(job, graph, preparations, candidate, witness, seed, report, compiling)
    try:
        return trial.verification()
    except _EagerFailed as failure:
        return Verification(Verdict.EAGER_FAILED, f"Eager failed: {failure}", None, tuple(trial.warnings))


def subgraph_problem(subgraph: Subgraph, graph: Graph) -> str:
    """Why this graph of a subgraph cannot be run; empty: it can."""
    problem = signatures.refusal(graph)
    if problem:
        return problem
    names = [node.name for node in graph.inputs]
    if names != [spec.name for spec in subgraph.inputs]:
        return f"its metadata describes {len(subgraph.inputs)} inputs, forward takes {', '.join(names) or 'none'}."
    try:
        for spec in subgraph.inputs:
            dtype_of(spec)
    except BadInput as error:
        return str(error)
    return ""


class _Trial:
    """One verification. What is kept between drawings lies here."""

    def __init__(
        self,
        job: Job,
        graph: Graph,
        preparations: Mapping[str, Preparation],
        candidate: CandidateClient,
        witness: CandidateClient,
        seed: int,
        report: Callable[[str], None],
        compiling: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self.job = job
        self.graph = graph
        self.preparations = preparations
        self.candidate = candidate
        self.witness = witness
        self.seed = seed
        self.report = report
        self.compiling = compiling
        self.name = "baseline" if job.solver is Solver.INDUCTOR else "passes"
        self.specs: tuple[TensorSpec, ...] = job.subgraph.inputs
        self.roles: Mapping[str, Role] = roles(graph, self.specs)
        self.drawings = PROFILES[job.spec.profile]
        self.warnings: list[str] = []
        self.differences: dict[int, list[tuple[str, Difference]]] = {}
        self.compared: list[str] = []
        self.strict = job.spec.profile is Profile.STRICT
        self.fresh = placements(self.drawings, seed)
        plan = Plan(
            specs=self.specs,
            roles=tuple(self.roles.get(spec.name, PLAIN) for spec in self.specs),
            seed=seed,
            strict=self.strict,
            ours=self.name == "passes",
        )
        self.bench: Bench = BenchHere(plan, witness) if job.spec.device is Device.CPU else witness.bench(plan)
        self.control_problem = ""
        self.layouts: dict[int, str] = {}
        self.exact_problem = ""
        self.prepared_for: Shapes | None = None
        self.full = Step(tuple(spec.shape for spec in self.specs), _elements([spec.shape for spec in self.specs]))
        self.reduced = ""

    def verification(self) -> Verification:
        self._prepare_eager()
        steps = self._steps()
        at = self._first_step(steps)
        spent = 0.0
        for index, drawing in enumerate(self.drawings):
            self.report(f"comparing {drawing} inputs ({index + 1} of {len(self.drawings)})")
            start = time.monotonic()
            problem = self._compare(drawing, steps[at])
            last = time.monotonic() - start
            if problem is None and drawing == "typical" and self.strict:
                calls = EXTRA_CALLS + len(self.drawings) - index - 1
                if self._interpreted and spent + last * (1 + calls) > 2 * INTERPRETER_BUDGET_S:
                    self.warnings.append(
                        "Calls on inputs that were changed in place were left out: they take too long."
                    )
                else:
                    self.report("comparing them once more, changed in place and moved")
                    problem = self._compare_again(steps[at])
            if problem is not None:
                return problem
            spent += time.monotonic() - start
            left = len(self.drawings) - index - 1
            if self._interpreted and left and spent + left * last > 2 * INTERPRETER_BUDGET_S:
                if at + 1 == len(steps):
                    self._stop_early(index + 1, spent)
                    break
                at += 1
        if at and not self.reduced:
            self.reduced = self._reduction(steps[at])
        return self._concluded()

    # --- what is computed ---

    def _prepare_eager(self) -> None:
        self._witnessed(lambda: self.witness.prepare("eager", self.preparations["eager"]))
        if not self.strict:
            return
        try:
            self.witness.prepare("float64", self.preparations["float64"])
        except CandidateFault as fault:
            self.exact_problem = fault.text

    def _prepared(self, shapes: Shapes) -> bool:
        """Whether the candidate is ready for calls. Compiled callables hold for the shapes of their first call."""
        bound = self.name == "baseline" or self.preparations[self.name].capture is Capture.COMPILED
        return self.prepared_for is not None and not (bound and shapes != self.prepared_for)

    def _prepare(self, shapes: Shapes) -> None:
        self.candidate.prepare(self.name, self.preparations[self.name])
        self.prepared_for = shapes

    def _compare(self, drawing: str, step: Step) -> Verification | None:
        """Adds one drawing to what is known; a verdict at once where the returns have not even the same form."""
        try:
            self.bench.draw(drawing, step.shapes)
            self._refer()
        except _EagerFailed as failure:
            if not self.compared and drawing == self.drawings[0]:
                raise
            self.warnings.append(f"Eager fails on {drawing} inputs, which were left out: {failure}")
            return None
        if self.candidate is not self.witness:
            self.candidate.give(self.bench.taken())
        problem = self._judge(drawing, step.shapes, fresh=self.fresh[drawing])
        if problem is None:
            self.compared.append(drawing)
            if self.strict:
                self.control_problem = self.bench.control()
        return problem

    def _compare_again(self, step: Step) -> Verification | None:
        """After typical inputs: nearly the same ones in the same tensors, and then the same ones elsewhere."""
        if not self.strict or self.name == "baseline" or "typical" not in self.compared:
            return None
        self.bench.draw("typical", step.shapes)
        for _ in range(EXCHANGES):
            self.bench.exchange()
            try:
                self._refer()
            except _EagerFailed:
                return None
            self.candidate.give(self.bench.taken())
            problem = self._judge(EXCHANGED, step.shapes, fresh=False)
            if problem is not None:
                return problem
        return self._judge(ELSEWHERE, step.shapes, fresh=True)

    def _refer(self) -> None:
        """Has eager compute on the inputs, and its float64 form; that it cannot be had is said once."""
        wanted = self.strict and not self.exact_problem
        problem = self._witnessed(lambda: self.bench.refer(exact=wanted))
        self.exact_problem = self.exact_problem or problem

    def _judge(self, drawing: str, shapes: Shapes, *, fresh: bool) -> Verification | None:
        """Adds one call to what is known, or says that the returns have not even the same form."""
        if self.name == "passes":
            found = self.bench.judge(self._run(shapes, fresh=fresh))
        else:
            if not self._prepared(shapes):
                with self.compiling():
                    self._prepare(shapes)
                    self.bench.compile()
            found = self.bench.judge(None, fresh=fresh)
        if found.problem:
            return self._unlike(found, drawing)
        for index, (differences, layout) in enumerate(zip(found.differences, found.layouts)):
            self.differences.setdefault(index, []).extend((drawing, each) for each in differences)
            if layout:
                self.layouts.setdefault(index, layout)
        return None

    def _run(self, shapes: Shapes, *, fresh: bool = True) -> Returned:
        if self._prepared(shapes):
            returned = self.candidate.run(self.name, fresh=fresh)
        else:
            with self.compiling():
                self._prepare(shapes)
                returned = self.candidate.run(self.name, fresh=fresh)
        if returned.matches == 0 and self.name == "passes":
            raise CandidateFault(
                "rewrite",
                "The passes match the recorded graph, but nothing in the graph that torch.compile captured. "
                "Try direct capture, or write the pattern as torch.compile records it.",
            )
        return returned

    def _witnessed(self, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except (CandidateFault, CandidateGone) as end:
            if isinstance(end, CandidateFault) or (end.status is not None and end.status not in (0, -9)):
                raise _EagerFailed(end.text) from end
            raise

    # --- sizes ---

    @property
    def _interpreted(self) -> bool:
        return self.job.spec.device is Device.CPU and self.name == "passes"

    def _steps(self) -> tuple[Step, ...]:
        """The recorded sizes and smaller ones, where the interpreter may need them."""
        if not self._interpreted or self.full.elements <= PROBE_ELEMENTS:
            return (self.full,)
        return (self.full, *smaller(self.graph, self.specs, self.roles))

    def _first_step(self, steps: Sequence[Step]) -> int:
        """The largest sizes that the interpreter should finish in time, by a run on small ones."""
        if len(steps) == 1:
            return 0
        probe = next((step for step in steps if step.elements <= PROBE_ELEMENTS), steps[-1])
        self.report("estimating how long the interpreter takes")
        self.bench.draw("typical", probe.shapes)
        try:
            self._witnessed(lambda: self.bench.refer(exact=False))
        except _EagerFailed:
            return 0
        try:
            self.candidate.give(self.bench.taken())
            self._run(probe.shapes)
            start = time.monotonic()
            self.candidate.run(self.name)
        except CandidateFault:
            # a pass for the recorded sizes alone may be right: let the recorded sizes speak
            return 0
        per_element = (time.monotonic() - start) / probe.elements
        affordable = INTERPRETER_BUDGET_S / (len(self.drawings) + (EXTRA_CALLS if self.strict else 0))
        for index, step in enumerate(steps):
            if per_element * step.elements <= affordable:
                return index
        return len(steps) - 1

    def _reduction(self, step: Step) -> str:
        changed = [
            f"{spec.name} {list(spec.shape)} → {list(shape)}"
            for spec, shape in zip(self.specs, step.shapes)
            if spec.shape != shape
        ]
        shown = ", ".join(changed[:4]) + (f" and {len(changed) - 4} more" if len(changed) > 4 else "")
        return (
            f"The recorded sizes would take Triton's interpreter over {INTERPRETER_BUDGET_S:.0f} s, so smaller ones"
            f" were compared: {shown}."
        )

    def _stop_early(self, done: int, spent: float) -> None:
        left_out = ", ".join(self.drawings[done:])
        self.reduced = (
            f"{spent:.0f} s of Triton's interpreter were spent and the sizes cannot be reduced further, so these"
            f" drawings were left out: {left_out}."
        )

    # --- what it means ---

    def _unlike(self, found: Judged, drawing: str) -> Verification:
        outputs = tuple(
            comparing.gather([(drawing, each) for each in differences], index)
            for index, differences in enumerate(found.differences)
        )
        accuracy = Accuracy(outputs, (drawing,))
        return Verification(Verdict.WRONG_TYPE, f"The result has the wrong form: {found.problem}.", accuracy)

    def _concluded(self) -> Verification:
        accuracy = Accuracy(
            tuple(comparing.gather(found, index) for index, found in sorted(self.differences.items())),
            tuple(self.compared),
            self.reduced,
        )
        warnings, evidence = list(self.warnings), []
        if self.reduced:
            warnings.append(self.reduced)
        if self.exact_problem:
            warnings.append(f"No float64 reference: values are judged by closeness at t = {elements.FALLBACK_T}.")
            evidence.append(Evidence("float64 reference", self.exact_problem))
        for index, layout in sorted(self.layouts.items()):
            warnings.append(f"Output {index} is laid out otherwise than eager's.")
            evidence.append(Evidence("strides", f"Output {index}: {layout}."))
        worst = _worst(self.differences)
        if worst is None:
            count = len(self.compared)
            reason = f"Every output is right on {count} drawing{'s' if count != 1 else ''} of inputs."
            if self.control_problem:
                evidence.append(Evidence("negative control", self.control_problem))
                reason = (
                    "Every output is right, but no computation is needed for that, so that this subgraph cannot rank"
                    f" anybody. As right would be: {self.control_problem}."
                )
                return Verification(Verdict.INCONCLUSIVE, reason, accuracy, tuple(warnings), tuple(evidence))
            return Verification(Verdict.VALUES_ONLY, reason, accuracy, tuple(warnings), tuple(evidence))
        index, drawing, difference = worst
        assert difference.verdict is not None
        subject = difference.subject or f"Output {index}"
        how = "less precise than it must be" if difference.verdict is Verdict.LOWER_PRECISION else "wrong"
        said = difference.problem.removeprefix(f"{subject}: ")
        reason = f"{subject} is {how} on {_inputs(drawing)}: {said}.{_hint(difference)}"
        if self.reduced:
            evidence.append(Evidence("sizes", self.reduced))
        return Verification(difference.verdict, reason, accuracy, tuple(warnings), tuple(evidence))


def _worst(found: Mapping[int, Sequence[tuple[str, Difference]]]) -> tuple[int, str, Difference] | None:
    """The gravest difference, the earliest of equals."""
    order = [verdict for verdict in Verdict if verdict in WRONG]
    wrong = [
        (order.index(difference.verdict), turn, index, drawing, difference)
        for index, differences in found.items()
        for turn, (drawing, difference) in enumerate(differences)
        if difference.verdict is not None
    ]
    if not wrong:
        return None
    _, _, index, drawing, difference = min(wrong, key=lambda each: each[:3])
    return index, drawing, difference


def _inputs(drawing: str) -> str:
    name, comma, rest = drawing.partition(",")
    return f"{name} inputs{comma}{rest}"


def _hint(difference: Difference) -> str:
    """What the numbers look like, where they look like something."""
    if difference.verdict is Verdict.LOWER_PRECISION:
        if difference.dtype == "float32":
            return " Compute in float32 throughout: no half precision, no TF32."
        return " Accumulate in float32 and round once."
    if difference.verdict is Verdict.WRONG_VALUES and difference.actual == 0 and difference.wrong_fraction < 1:
        return " The wrong element is 0: is every element written?"
    return ""


# --- inputs beside the drawings --------------------------------------------------------------------------------------


def placements(drawings: Sequence[str], seed: int) -> dict[str, bool]:
    """Which drawings lie at new addresses: the first, and at random less than half of the others."""
    others = list(drawings[1:])
    new = set(random.Random(seed).sample(others, k=len(others) * 2 // 5))
    return {drawing: drawing not in others or drawing in new for drawing in drawings}


# --- smaller sizes ---------------------------------------------------------------------------------------------------


def smaller(graph: Graph, specs: Sequence[TensorSpec], known_roles: Mapping[str, Role]) -> tuple[Step, ...]:
    """Ever smaller sizes at which the subgraph still computes the same kind of thing, down to PROBE_ELEMENTS or so.

    All axes of one recorded size shrink together, leading axes first; the source's own literals decide what may shrink.
    """
    probe = _Probe(graph, specs, known_roles)
    recorded: Shapes = tuple(spec.shape for spec in specs)
    form = probe.form(recorded)
    sizes = _sizes(recorded)
    now = {size: size for size in sizes}
    steps: list[Step] = []
    while form is not None and sizes and len(steps) < MOST_STEPS:
        tried = {**now, sizes[0]: max(LEAST_SIZE, now[sizes[0]] // 2)}
        shapes: Shapes = tuple(tuple(tried.get(size, size) for size in shape) for shape in recorded)
        if tried != now and probe.form(shapes) == form:
            now = tried
            steps.append(Step(shapes, _elements(shapes)))
            if steps[-1].elements <= PROBE_ELEMENTS:
                break
        else:
            sizes = sizes[1:]
    return tuple(steps)


def _sizes(shapes: Shapes) -> list[int]:
    """Distinct sizes that can shrink: those of leading axes first, of the same axis the largest first."""
    places: dict[int, int] = {}
    for shape in shapes:
        for axis, size in enumerate(shape):
            if size > LEAST_SIZE:
                places[size] = min(places.get(size, axis), axis)
    return sorted(places, key=lambda size: (places[size], -size))


def _elements(shapes: Sequence[Sequence[int]]) -> int:
    return max(1, sum(math.prod(shape) for shape in shapes))


class _Probe:
    """Runs the subgraph on tensors without content, to see whether sizes fit."""

    def __init__(self, graph: Graph, specs: Sequence[TensorSpec], known_roles: Mapping[str, Role]) -> None:
        self.module = building.module_of(placed(graph, "meta"), {})
        self.specs = specs
        self.numbers = {spec.name for spec in specs if known_roles.get(spec.name, Role()).number}

    def form(self, shapes: Shapes) -> tuple[Any, ...] | None:
        """Rank and dtype of every output; None where it does not run."""
        try:
            with torch.device("meta"), torch.no_grad():
                result = self.module(*(self._input(spec, shape) for spec, shape in zip(self.specs, shapes)))
        except MISFITS:
            return None
        finally:
            # a subgraph may switch gradients off for good
            torch.set_grad_enabled(True)
        outputs = result if isinstance(result, tuple | list) else (result,)
        return tuple((each.dim(), each.dtype) if isinstance(each, torch.Tensor) else type(each) for each in outputs)

    def _input(self, spec: TensorSpec, shape: tuple[int, ...]) -> Any:
        if spec.name in self.numbers:
            return int(spec.data[0]) if spec.data else 1
        return torch.empty(shape, dtype=dtype_of(spec))
