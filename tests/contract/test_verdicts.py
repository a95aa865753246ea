"""What the judge concludes: VERIFY with real callables in this process, MEASURE with given times, and the precedence.

The seam is CandidateClient; the processes behind it have tests of their own.
"""

import itertools
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pytest

torch = pytest.importorskip("torch")

from judging import ADD_RELU, bundle, subgraph  # noqa: E402

from passnet_core.graphs.placement import placed  # noqa: E402
from passnet_core.graphs.rewriting import TracedPass, rewrite  # noqa: E402
from passnet_core.graphs.source import emit, parse  # noqa: E402
from passnet_core.judge import building, deciding, measuring, signatures, tracing, verifying  # noqa: E402
from passnet_core.judge.candidacy import (  # noqa: E402
    CandidateFault,
    CandidateGone,
    CandidateTimeout,
    Facts,
    Measurement,
    Preparation,
    Produced,
    Returned,
    Verification,
)
from passnet_core.records import (  # noqa: E402
    Accuracy,
    Capture,
    Clock,
    Contender,
    Device,
    Environment,
    EvalSpec,
    Finding,
    Isolation,
    Job,
    MatchReport,
    MissKind,
    NearestMiss,
    OutputAccuracy,
    PassMatches,
    Profile,
    Speedup,
    Stage,
    Subgraph,
    TensorSpec,
    Verdict,
)

Function = Callable[..., object]


def relu_of_sum(a, b):
    return torch.relu(a + b)


class Here:
    """A candidate and witness in this process: what a child answers, without a child."""

    who = "candidate"

    def __init__(self, traced: Sequence[TracedPass] = (), functions: dict[str, Function] | None = None) -> None:
        self.traced, self.functions = tuple(traced), functions or {}
        self.calls: dict[str, building.Prepared] = {}
        self.inputs: list[object] = []
        self.given: list[list[tuple[int, ...]]] = []

    def prepare(self, name: str, preparation: Preparation) -> None:
        self.calls[name] = building.prepared(preparation, self.traced, self.functions)

    def give(self, inputs) -> None:
        self.inputs = list(inputs)
        self.given.append([tuple(each.shape) for each in inputs if isinstance(each, torch.Tensor)])

    def run(self, name: str) -> Returned:
        copies = [each.clone() if isinstance(each, torch.Tensor) else each for each in self.inputs]
        try:
            with torch.no_grad():
                result = self.calls[name](copies)
        except Exception as error:
            fault = CandidateFault("runtime", f"{type(error).__name__}: {error}")
            fault.who = self.who
            raise fault from error
        many = isinstance(result, tuple | list)
        outputs = tuple(described(each) for each in (result if many else (result,)))
        return Returned(outputs, type(result).__name__ if many else "", 0.0, getattr(self.calls[name], "matches", None))


class Witness(Here):
    who = "witness"


def described(value) -> Produced:
    if not isinstance(value, torch.Tensor):
        return Produced(type(value).__name__, value if isinstance(value, int | float) else None)
    dtype = str(value.dtype).removeprefix("torch.")
    return Produced("torch.Tensor", value, dtype, tuple(value.shape), value.stride(), str(value.device))


def traced(pattern: Function, arguments: Function) -> TracedPass:
    return TracedPass("p", tracing.trace_pattern(pattern), tracing.trace_arguments(arguments), "replacement_0")


ADD_RELU_PASS = traced(lambda a, b: torch.nn.functional.relu(a + b), lambda a, b: (a, b))


def verified(
    replacement: Function,
    asked: Subgraph | None = None,
    *,
    a_pass: TracedPass = ADD_RELU_PASS,
    spec: EvalSpec | None = None,
    candidate: Here | None = None,
) -> Verification:
    """VERIFY of one replacement in this process."""
    job = Job(asked or subgraph(), bundle("# in this process"), spec or EvalSpec())
    graph = parse(job.subgraph.code)
    rewritten = rewrite(graph, (a_pass,), bind=signatures.bind)
    child = candidate or Here((a_pass,), {"replacement_0": replacement})
    child.traced, child.functions = (a_pass,), {"replacement_0": replacement}
    return verifying.verify(
        job,
        graph,
        preparations(job, emit(placed(graph, "cpu")), emit(placed(rewritten.graph, "cpu"))),
        child,
        Witness(),
        seed=11,
        report=lambda text: None,
    )


def preparations(job: Job, original: str, rewritten: str) -> dict[str, Preparation]:
    compiled = job.spec.capture is Capture.COMPILED
    eager = Preparation(Contender.EAGER, original, job.spec.capture, Device.CPU)
    return {
        "eager": eager,
        "float64": replace(eager, float64=True),
        "baseline": replace(eager, contender=Contender.BASELINE),
        "passes": replace(eager, contender=Contender.PASSES, source=original if compiled else rewritten),
    }


# --- VERIFY ---


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_a_right_replacement_is_right_on_all_six_drawings(dtype: str) -> None:
    found = verified(relu_of_sum, subgraph(dtype=dtype))
    assert found.verdict is Verdict.VALUES_ONLY, found.reason
    assert found.accuracy is not None
    assert len(found.accuracy.profiles) == 6
    assert found.accuracy.smallest_t == -10
    assert found.accuracy.reduced == ""
    assert found.warnings == ()


def test_the_recorded_profile_compares_the_recorded_drawing_alone() -> None:
    found = verified(relu_of_sum, spec=EvalSpec(profile=Profile.PASSNET))
    assert found.accuracy is not None
    assert found.accuracy.profiles == ("recorded",)


def test_both_captures_are_verified() -> None:
    found = verified(relu_of_sum, spec=EvalSpec(capture=Capture.COMPILED))
    assert found.verdict is Verdict.VALUES_ONLY, found.reason


def test_a_zero_recorded_spread_does_not_hide_a_wrong_kernel() -> None:
    """Where every recorded element is the same, the mean of each row equals the element itself."""
    constant = subgraph()
    constant = replace(constant, inputs=tuple(replace(each, std=0.0) for each in constant.inputs))
    found = verified(lambda a, b: torch.relu((a + b).mean(-1, keepdim=True).expand_as(a).contiguous()), constant)
    assert found.verdict is Verdict.WRONG_VALUES
    assert found.accuracy is not None
    assert found.accuracy.outputs[0].profile != "recorded"


@pytest.mark.parametrize(
    ("replacement", "verdict", "said"),
    [
        (lambda a, b: a + b, Verdict.WRONG_VALUES, "Output 0 is wrong on"),
        (lambda a, b: torch.relu(a.half() + b.half()).float(), Verdict.WRONG_VALUES, "less precise"),
        (lambda a, b: torch.relu(a + b).double(), Verdict.WRONG_TYPE, "dtype is float64"),
        (lambda a, b: torch.relu(a + b)[None], Verdict.WRONG_SHAPE, r"shape is \[1, 4, 33\]"),
        (lambda a, b: torch.relu(a + b) * float("nan"), Verdict.NON_FINITE, "nan"),
        (lambda a, b: (torch.relu(a + b), a)[0].tolist(), Verdict.WRONG_TYPE, "list"),
    ],
)
def test_a_wrong_replacement_is_told_how_and_where(replacement: Function, verdict: Verdict, said: str) -> None:
    found = verified(replacement)
    assert found.verdict is verdict, found.reason
    assert re.search(said, found.reason), found.reason
    assert found.accuracy is not None
    assert not found.accuracy.correct_at(-10)


def test_the_second_of_several_outputs_is_named() -> None:
    code = ADD_RELU.replace("return (tmp_1,)", "return (tmp_1, tmp_0)").replace(";  tmp_0 = None", "")

    def pattern(a, b):
        total = a + b
        return torch.nn.functional.relu(total), total

    both = traced(pattern, lambda a, b: (a, b))
    asked = subgraph(code=code)
    right = verified(lambda a, b: (torch.relu(a + b), a + b), asked, a_pass=both)
    assert right.verdict is Verdict.VALUES_ONLY, right.reason
    wrong = verified(lambda a, b: (torch.relu(a + b), a - b), asked, a_pass=both)
    assert wrong.verdict is Verdict.WRONG_VALUES
    assert "Output 1" in wrong.reason
    assert wrong.accuracy is not None
    assert [output.smallest_t for output in wrong.accuracy.outputs] == [-10, None]


def test_eagers_own_failure_is_not_the_candidates() -> None:
    broken = subgraph(code=ADD_RELU.replace("in_0 + in_1", "in_0 + in_1.view(7)"))
    a_pass = traced(lambda a: torch.nn.functional.relu(a), lambda a: (a,))
    found = verified(torch.relu, broken, a_pass=a_pass)
    assert found.verdict is Verdict.EAGER_FAILED
    assert "invalid for input" in found.reason


def test_a_subgraph_that_is_no_computation_is_not_run() -> None:
    a_pass = traced(lambda a: torch.nn.functional.relu(a), lambda a: (a,))
    found = verified(torch.relu, subgraph(code=ADD_RELU.replace("in_0 + in_1", "torch.load(in_0)")), a_pass=a_pass)
    assert found.verdict is Verdict.EAGER_FAILED
    assert "torch.load" in found.reason


def test_a_fault_of_the_candidate_passes_through() -> None:
    def broken(a, b):
        raise RuntimeError("no such kernel")

    with pytest.raises(CandidateFault, match="no such kernel"):
        verified(broken)


def test_a_capture_in_which_nothing_matches_is_a_failed_rewrite() -> None:
    child = Here()
    run = child.run

    def unmatched(name: str) -> Returned:
        return replace(run(name), matches=0)

    child.run = unmatched  # type: ignore[method-assign]
    with pytest.raises(CandidateFault, match=r"torch\.compile") as ended:
        verified(relu_of_sum, spec=EvalSpec(capture=Capture.COMPILED), candidate=child)
    assert ended.value.kind == "rewrite"


def test_integer_inputs_that_index_stay_in_range() -> None:
    code = """
import torch
class GraphModule(torch.nn.Module):
    def forward(self, ids, table):
        a = torch.nn.functional.embedding(ids, table, None, None, 2.0, False, False)
        b = a * 2.0
        return b
"""
    inputs = (TensorSpec("ids", (2, 5), "int64"), TensorSpec("table", (7, 4), "float32", mean=0.0, std=1.0))
    asked = replace(subgraph(code=code), inputs=inputs)
    doubled = traced(lambda a: a * 2.0, lambda a: (a,))
    found = verified(lambda a: a + a, asked, a_pass=doubled)
    assert found.verdict is Verdict.VALUES_ONLY, found.reason
    assert found.warnings == ()


# --- sizes for the interpreter ---


class Slow(Here):
    """A candidate for whom time passes with the elements it computes; the clock is the test's."""

    def __init__(self, clock: "Clockwork", seconds_per_element: float) -> None:
        super().__init__()
        self.clock, self.seconds_per_element = clock, seconds_per_element

    def run(self, name: str) -> Returned:
        returned = super().run(name)
        elements = sum(each.numel() for each in self.inputs if isinstance(each, torch.Tensor))
        self.clock.now += elements * self.seconds_per_element
        return returned


@dataclass
class Clockwork:
    now: float = 0.0

    def monotonic(self) -> float:
        return self.now


def slowly(monkeypatch: pytest.MonkeyPatch, seconds_per_element: float, asked: Subgraph) -> tuple[Verification, Slow]:
    clock = Clockwork()
    monkeypatch.setattr(verifying, "time", clock)
    child = Slow(clock, seconds_per_element)
    return verified(relu_of_sum, asked, candidate=child), child


def test_sizes_are_reduced_only_where_the_recorded_ones_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = subgraph((64, 48, 32))
    quick, child = slowly(monkeypatch, 1e-9, asked)
    assert quick.accuracy is not None
    assert quick.accuracy.reduced == ""
    assert child.given[-1] == [(64, 48, 32)] * 2
    slow, child = slowly(monkeypatch, 5e-5, asked)
    assert slow.verdict is Verdict.VALUES_ONLY, slow.reason
    assert slow.accuracy is not None
    assert "[64, 48, 32] → [16, 48, 32]" in slow.accuracy.reduced
    assert slow.accuracy.reduced in slow.warnings
    assert child.given[-1] == [(16, 48, 32)] * 2
    assert len(slow.accuracy.profiles) == 6


def test_what_cannot_be_reduced_is_compared_on_fewer_drawings(monkeypatch: pytest.MonkeyPatch) -> None:
    fixed = ADD_RELU.replace("in_0 + in_1", "in_0.view(98304) + in_1.view(98304)")
    a_pass = traced(lambda a: torch.nn.functional.relu(a), lambda a: (a,))
    clock = Clockwork()
    monkeypatch.setattr(verifying, "time", clock)
    found = verified(torch.relu, subgraph((64, 48, 32), code=fixed), a_pass=a_pass, candidate=Slow(clock, 1e-4))
    assert found.verdict is Verdict.VALUES_ONLY, found.reason
    assert found.accuracy is not None
    assert found.accuracy.profiles == ("recorded",)
    assert "left out: typical" in found.accuracy.reduced


def test_smaller_sizes_keep_the_computation_valid() -> None:
    code = """
import torch
class GraphModule(torch.nn.Module):
    def forward(self, x, weight, bias):
        a = torch.nn.functional.layer_norm(x, (768,), weight, bias, 1e-05)
        b = a.transpose(1, 2)
        return (b,)
"""
    specs = (
        TensorSpec("x", (32, 197, 768), "float32"),
        TensorSpec("weight", (768,), "float32"),
        TensorSpec("bias", (768,), "float32"),
    )
    steps = verifying.smaller(parse(code), specs, {})
    assert [step.shapes[0][-1] for step in steps] == [768] * len(steps)
    assert steps[-1].elements <= verifying.PROBE_ELEMENTS
    elements = [step.elements for step in steps]
    assert elements == sorted(elements, reverse=True)
    assert torch.is_grad_enabled()


# --- MEASURE ---


class Timed(Here):
    """A client whose calls take what the test says."""

    def __init__(self, times: dict[str, float], log: list[tuple[str, Clock]], fails: str = "") -> None:
        super().__init__()
        self.times, self.log, self.fails = times, log, fails
        self.jitter = itertools.cycle((0.99, 1.0, 1.01))

    def prepare(self, name: str, preparation: Preparation) -> None:
        if name == self.fails:
            raise CandidateFault("compile", "BackendCompilerFailed: no such lowering")

    def run(self, name: str) -> Returned:
        return Returned((), "tuple", 0.0)

    def warm_up(self, name: str, seconds: float) -> None:
        assert seconds > 0

    def block(self, name: str, clock: Clock, calls: int) -> list[float]:
        self.log.append((name, clock))
        return [self.times[name] * next(self.jitter) for _ in range(calls)]


def measured(eager: float, baseline: float, passes: float, **fields) -> tuple[Measurement, list[tuple[str, Clock]]]:
    log: list[tuple[str, Clock]] = []
    spec = EvalSpec(stage=Stage.MEASURE, device=fields.pop("device", Device.CUDA), trials=5)
    job = Job(subgraph(), fields.pop("bundle", bundle("# timed")), spec)
    witness = Timed({"eager": eager, "baseline": baseline}, log, **fields)
    candidate = Timed({"passes": passes}, log) if job.bundle else witness
    asked = preparations(job, ADD_RELU, ADD_RELU)
    graph = parse(ADD_RELU)
    return measuring.measure(job, graph, asked, candidate, witness, seed=1, report=lambda text: None), log


@pytest.mark.parametrize(
    ("passes", "verdict"), [(50.0, Verdict.FASTER), (200.0, Verdict.SLOWER), (100.0, Verdict.NO_DIFFERENCE)]
)
def test_the_verdict_is_that_of_the_end_to_end_interval(passes: float, verdict: Verdict) -> None:
    found, _ = measured(100.0, 80.0, passes)
    assert found.verdict is verdict, found.reason
    own = next(each for each in found.speedups if each.contender is Contender.PASSES and each.clock is Clock.END_TO_END)
    assert own.low <= own.value <= own.high
    assert own.value == pytest.approx(100 / passes, rel=0.03)


def test_three_contenders_on_three_clocks_in_alternating_order() -> None:
    found, log = measured(100.0, 80.0, 50.0)
    assert {(each.contender, each.clock) for each in found.timings} == set(itertools.product(Contender, Clock))
    assert {(each.contender, each.clock) for each in found.speedups} == set(
        itertools.product((Contender.BASELINE, Contender.PASSES), Clock)
    )
    for each in found.timings:
        assert each.blocks == 5
        assert len(each.samples) == 5 * measuring.CALLS
        assert each.median == pytest.approx(
            {"eager": 100, "inductor": 80, "passes": 50}[each.contender.value], rel=0.02
        )
    events = [name for name, clock in log if clock is Clock.EVENT]
    assert events[:6] == ["eager", "baseline", "passes", "passes", "baseline", "eager"]
    assert any(each.topic == "noise floor" for each in found.evidence)


def test_inductors_failure_is_a_warning_to_passes() -> None:
    found, _ = measured(100.0, 80.0, 50.0, fails="baseline")
    assert found.verdict is Verdict.FASTER
    assert any("no such lowering" in warning for warning in found.warnings)
    assert {each.contender for each in found.timings} == {Contender.EAGER, Contender.PASSES}


def test_inductor_as_the_solver_is_timed_against_eager() -> None:
    found, _ = measured(100.0, 50.0, math.nan, bundle=None)
    assert found.verdict is Verdict.FASTER
    assert {each.contender for each in found.speedups} == {Contender.BASELINE}


def test_slow_calls_make_smaller_blocks_and_are_told_so() -> None:
    found, _ = measured(100_000.0, 90_000.0, 95_000.0)
    assert len(found.timings[0].samples) == 5 * 20
    assert any("blocks of 19 calls" in warning or "blocks of 20 calls" in warning for warning in found.warnings)


def test_without_a_gpu_there_are_values_only() -> None:
    found, log = measured(100.0, 80.0, 50.0, device=Device.CPU)
    assert (found.verdict, found.speedups, log) == (Verdict.VALUES_ONLY, (), [])
    assert "values only: no GPU, no speedup" in found.warnings


def test_a_clock_that_saw_nothing_gives_no_speedup() -> None:
    blocks = {Contender.EAGER: [[0.0, 0.0]], Contender.PASSES: [[1.0, 1.0]]}
    assert measuring.speedup(Contender.PASSES, Clock.KERNEL, blocks) is None
    steady, wild = [[1.0, 1.01] * 20], [[1.0, 2.0] * 20]
    assert measuring.unstable({Contender.EAGER: steady, Contender.PASSES: wild}) == [Contender.PASSES]


# --- precedence ---

ENVIRONMENT = Environment("cpu", "", "3.12", "2.11", "3.6", Isolation.PROCESS, "0")
MATCH = MatchReport((PassMatches("p", (("tmp_0",),)),), "source")
MISS = MatchReport((PassMatches("p", (), NearestMiss(MissKind.LITERAL, "add", "tmp_0", "The literals differ.")),))
OUTPUT = OutputAccuracy(0, (2,), "float32", -5, (-5, 0, 1, 2, 3, 4), 0.0, 0.0)
RIGHT = Verification(Verdict.VALUES_ONLY, "Right.", Accuracy((OUTPUT,), ("recorded",)), ("warned",))
WRONG = Verification(Verdict.WRONG_VALUES, "Wrong.", Accuracy((OUTPUT,), ("recorded",)))
FAST = Measurement(
    Verdict.FASTER, "Fast.", speedups=(Speedup(Contender.PASSES, Clock.END_TO_END, 2.0, 1.9, 2.1),), warnings=("hot",)
)
FATAL = Finding("p.py", 3, 5, "torch-call", "torch.matmul is not allowed.", "Write a kernel.")
REMARK = replace(FATAL, fatal=False)


@dataclass(frozen=True)
class Case:
    verdict: Verdict
    facts: Facts
    stage: Stage = Stage.VERIFY
    said: str = ""
    solver_bundle: bool = True


def fault(kind: str, who: str = "candidate") -> CandidateFault:
    made = CandidateFault(kind, "what happened", "Traceback: …")
    made.who = who
    return made


CASES = {
    "judge": Case(Verdict.INFRASTRUCTURE, Facts((FATAL,), MATCH, RIGHT, problem="No disk space."), said="No disk"),
    "witness": Case(Verdict.INFRASTRUCTURE, Facts(match=MATCH, end=fault("runtime", "witness"), during="verify")),
    "eager": Case(
        Verdict.EAGER_FAILED, Facts(match=MATCH, verification=Verification(Verdict.EAGER_FAILED, "No.", None))
    ),
    "rule": Case(Verdict.REJECTED, Facts((REMARK, FATAL)), said="p.py line 3, rule torch-call"),
    "import": Case(Verdict.DOES_NOT_LOAD, Facts(end=fault("load"), during="load"), said="what happened"),
    "exception at import": Case(Verdict.DOES_NOT_LOAD, Facts(end=fault("runtime"), during="load")),
    "pattern": Case(Verdict.DOES_NOT_LOAD, Facts(end=fault("pattern"), during="load")),
    "segfault at import": Case(Verdict.CRASHED, Facts(end=CandidateGone(-11, "segmentation fault"), during="load")),
    "endless import": Case(Verdict.TIMED_OUT, Facts(end=CandidateTimeout(5, "load the bundle"), during="load")),
    "no match": Case(Verdict.NO_MATCH, Facts(match=MISS), said="p came nearest: The literals differ."),
    "rewrite": Case(Verdict.REWRITE_FAILED, Facts(rewrite_problem="Different parameters.", during="rewrite")),
    "capture": Case(Verdict.REWRITE_FAILED, Facts(match=MATCH, end=fault("rewrite"), during="verify")),
    "compile": Case(Verdict.COMPILE_FAILED, Facts(match=MATCH, end=fault("compile"), during="verify")),
    "raise": Case(Verdict.CRASHED, Facts(match=MATCH, end=fault("runtime"), during="verify"), said="exception"),
    "memory": Case(Verdict.CRASHED, Facts(match=MATCH, end=fault("memory"), during="verify")),
    "killed": Case(Verdict.CRASHED, Facts(match=MATCH, end=CandidateGone(-9, "killed"), during="verify")),
    "late": Case(Verdict.TIMED_OUT, Facts(match=MATCH, end=CandidateTimeout(5, "run passes"), during="verify")),
    "late measure": Case(
        Verdict.TIMED_OUT,
        Facts(match=MATCH, verification=RIGHT, end=CandidateTimeout(5, "time passes"), during="measure"),
        Stage.MEASURE,
    ),
    "wrong": Case(Verdict.WRONG_VALUES, Facts(match=MATCH, verification=WRONG), Stage.MEASURE, "Wrong."),
    "check": Case(Verdict.MATCHED, Facts((REMARK,), MATCH), Stage.CHECK, "matches in 1 place"),
    "right": Case(Verdict.VALUES_ONLY, Facts(match=MATCH, verification=RIGHT), said="Right."),
    "fast": Case(Verdict.FASTER, Facts(match=MATCH, verification=RIGHT, measurement=FAST), Stage.MEASURE, "Fast."),
    "inductor right": Case(Verdict.VALUES_ONLY, Facts(verification=RIGHT), solver_bundle=False),
    "inductor fails": Case(
        Verdict.COMPILE_FAILED, Facts(end=fault("compile", "witness"), during="verify"), solver_bundle=False
    ),
    "unfinished": Case(Verdict.INFRASTRUCTURE, Facts(match=MATCH)),
    "unmeasured": Case(Verdict.INFRASTRUCTURE, Facts(match=MATCH, verification=RIGHT), Stage.MEASURE),
}


@pytest.mark.parametrize("name", CASES)
def test_precedence(name: str) -> None:
    case = CASES[name]
    job = Job(subgraph(), bundle("#") if case.solver_bundle else None, EvalSpec(stage=case.stage))
    outcome = deciding.outcome(
        job, case.facts, environment=ENVIRONMENT, wall_s=1.0, finished_at="2026-01-01T00:00:00+00:00", log_tail="log"
    )
    assert outcome.verdict is case.verdict, outcome.reason
    assert case.said in outcome.reason
    assert outcome.job_digest == job.digest
    assert outcome.log_tail == "log"
    assert bool(outcome.speedups) == (outcome.verdict is Verdict.FASTER)
    if outcome.verdict is Verdict.FASTER:
        assert outcome.warnings == ("warned", "hot")
    if isinstance(case.facts.end, CandidateFault):
        assert any(each.topic == "traceback" for each in outcome.evidence)


def test_an_unknown_place_is_no_verdict_on_the_candidate() -> None:
    job = Job(subgraph(), bundle("#"), EvalSpec())
    facts = Facts(match=MATCH, verification=RIGHT)
    outcome = deciding.outcome(job, facts, environment=None, wall_s=0.0, finished_at="2026", log_tail="")
    assert outcome.verdict is Verdict.INFRASTRUCTURE
