"""What the judge concludes: VERIFY with real callables in this process, MEASURE with given times, and the precedence.

The seam is CandidateClient; the processes behind it have tests of their own.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace

import pytest

torch = pytest.importorskip("torch")

from judging import ADD_RELU, bundle, subgraph  # noqa: E402

from passnet_core.graphs.placement import placed  # noqa: E402
from passnet_core.graphs.rewriting import TracedPass, rewrite  # noqa: E402
from passnet_core.graphs.source import emit, parse  # noqa: E402
from passnet_core.judge import building, deciding, signatures, tracing, verifying  # noqa: E402
from passnet_core.judge.candidacy import (  # noqa: E402
    CandidateFault,
    CandidateGone,
    CandidateTimeout,
    Census,
    Facts,
    Measurement,
    Preparation,
    Produced,
    Returned,
    Verification,
)
from passnet_core.judge.staging import Staging  # noqa: E402
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
    Outcome,
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
        self.staging = Staging(Device.CPU)
        self.inputs: list[object] = []
        self.given: list[list[tuple[int, ...]]] = []
        self.ran: list[bool] = []

    def prepare(self, name: str, preparation: Preparation) -> None:
        self.calls[name] = building.prepared(preparation, self.traced, self.functions)

    def give(self, inputs) -> None:
        self.inputs = list(inputs)
        self.given.append([tuple(each.shape) for each in inputs if isinstance(each, torch.Tensor)])
        self.staging.give(self.inputs)

    def run(self, name: str, *, fresh: bool = True) -> Returned:
        self.ran.append(fresh)
        try:
            seen = self.staging.call(name, self.calls[name], fresh=fresh)
        except Exception as error:  # the call is candidate code
            fault = CandidateFault("runtime", f"{type(error).__name__}: {error}")
            fault.who = self.who
            raise fault from error
        many = isinstance(seen.returned, tuple | list)
        values = seen.returned if many else (seen.returned,)
        return Returned(
            tuple(replace(described(each), shares=shares) for each, shares in zip(values, seen.shares, strict=True)),
            type(seen.returned).__name__ if many else "",
            0.0,
            getattr(self.calls[name], "matches", None),
            changed={index: each.clone() for index, each in seen.changed.items()},
            overwrote=seen.overwrote,
        )


class Witness(Here):
    who = "witness"


def described(value) -> Produced:
    if not isinstance(value, torch.Tensor):
        return Produced(type(value).__name__, value if isinstance(value, int | float) else None)
    dtype = str(value.dtype).removeprefix("torch.")
    return Produced("torch.Tensor", value.clone(), dtype, tuple(value.shape), value.stride(), str(value.device))


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
    compiling: Callable[[], AbstractContextManager[None]] = nullcontext,
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
        compiling=compiling,
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


def test_the_first_call_alone_is_one_that_compiles() -> None:
    compiling: list[bool] = []
    calls: list[bool] = []

    @contextmanager
    def noted() -> Iterator[None]:
        compiling.append(True)
        yield
        compiling.pop()

    def replacement(a, b):
        calls.append(bool(compiling))
        return torch.relu(a + b)

    found = verified(replacement, compiling=noted)
    assert found.verdict is Verdict.VALUES_ONLY
    assert calls[0]
    assert len(calls) > 6
    assert not any(calls[1:])


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
        (lambda a, b: torch.relu(a.half() + b.half()).float(), Verdict.LOWER_PRECISION, "less precise"),
        (lambda a, b: torch.relu(a.bfloat16() + b).float(), Verdict.LOWER_PRECISION, "less precise"),
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

    def unmatched(name: str, *, fresh: bool = True) -> Returned:
        return replace(run(name, fresh=fresh), matches=0)

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


# --- what only looks right ---


def remembering(key: Function) -> Function:
    """A replacement that computes once for each key."""
    known: dict[object, torch.Tensor] = {}

    def replacement(a, b):
        place = key(a, b)
        if place not in known:
            known[place] = torch.relu(a + b)
        return known[place].clone()

    return replacement


def first_inputs_only() -> Function:
    """As a recorded CUDA graph does: it reads where the inputs of the first call lay."""
    first: list[torch.Tensor] = []

    def replacement(a, b):
        if not first:
            first.extend((a, b))
        return torch.relu(first[0] + first[1])

    return replacement


def writing_into_one_buffer() -> Function:
    kept: list[torch.Tensor] = []

    def replacement(a, b):
        if not kept:
            kept.append(torch.empty_like(a))
        return torch.clamp_min(a + b, 0, out=kept[0])

    return replacement


def only_rows(count: int) -> Function:
    def replacement(a, b):
        out = torch.empty_like(a)
        out[:count] = torch.relu(a[:count] + b[:count])
        return out

    return replacement


def unwritten_tail(a, b):
    out = torch.empty_like(a)
    whole = out.numel() // 64 * 64
    out.view(-1)[:whole] = torch.relu(a + b).view(-1)[:whole]
    return out


def clearing_its_input(a, b):
    out = torch.relu(a + b)
    a.zero_()
    return out


CHEATS: dict[str, tuple[Function, Verdict]] = {
    "remembered by id": (remembering(lambda a, b: (id(a), id(b))), Verdict.WRONG_VALUES),
    "remembered by address": (remembering(lambda a, b: (a.data_ptr(), b.data_ptr())), Verdict.WRONG_VALUES),
    "remembered by shape": (remembering(lambda a, b: (a.shape, a.stride())), Verdict.WRONG_VALUES),
    "remembered by version": (remembering(lambda a, b: (id(a), a._version, b._version)), Verdict.WRONG_VALUES),
    "remembered by a few elements": (
        remembering(lambda a, b: (*a.view(-1)[::29].tolist(), *b.view(-1)[::29].tolist())),
        Verdict.WRONG_VALUES,
    ),
    "remembered by sums": (
        remembering(lambda a, b: (round(float(a.double().sum()), 6), round(float(b.double().sum()), 6))),
        Verdict.WRONG_VALUES,
    ),
    "addresses of the first call": (first_inputs_only(), Verdict.NON_FINITE),
    "one buffer for all results": (writing_into_one_buffer(), Verdict.WRONG_VALUES),
    "uninitialised": (lambda a, b: torch.empty_like(a), Verdict.WRONG_VALUES),
    "first rows only": (only_rows(2), Verdict.WRONG_VALUES),
    "no tail block": (unwritten_tail, Verdict.WRONG_VALUES),
    "input cleared": (clearing_its_input, Verdict.WRONG_VALUES),
    "input returned": (lambda a, b: a, Verdict.WRONG_VALUES),
    "zeros": (lambda a, b: torch.zeros_like(a), Verdict.WRONG_VALUES),
    "NaN as a wildcard": (lambda a, b: torch.full_like(a, math.nan), Verdict.NON_FINITE),
    "infinity": (lambda a, b: torch.relu(a + b) + torch.inf, Verdict.NON_FINITE),
    "huge constant": (lambda a, b: torch.full_like(a, 1e30), Verdict.WRONG_VALUES),
    "a shape that broadcasts": (lambda a, b: torch.relu(a + b)[:1], Verdict.WRONG_SHAPE),
    "upcast": (lambda a, b: torch.relu(a.double() + b.double()), Verdict.WRONG_TYPE),
    "complex": (lambda a, b: torch.relu(a + b).to(torch.complex64), Verdict.WRONG_TYPE),
    "bfloat16 inside": (lambda a, b: torch.relu(a.bfloat16() + b.bfloat16()).float(), Verdict.LOWER_PRECISION),
    "half precision inside": (lambda a, b: torch.relu(a.half() + b).half().float(), Verdict.LOWER_PRECISION),
}


@pytest.mark.parametrize("name", CHEATS)
def test_what_only_looks_right_is_told_apart(name: str) -> None:
    replacement, verdict = CHEATS[name]
    found = verified(replacement)
    assert found.verdict is verdict, found.reason
    assert found.accuracy is not None
    assert not found.accuracy.correct_at(-10)


HONEST: dict[str, Function] = {
    "caches by content": remembering(lambda a, b: (a.numpy().tobytes(), b.numpy().tobytes())),
    "scratch that it keeps": (lambda scratch: lambda a, b: torch.relu(torch.add(a, b, out=scratch)).clone())(
        torch.empty(4, 33)
    ),
    "empty, then filled": lambda a, b: torch.empty_like(a).copy_(torch.relu(a + b)),
    "in place on its own": lambda a, b: torch.add(a, b).relu_(),
    "half of a larger buffer": lambda a, b: torch.empty(4, 66)[:, :33].copy_(torch.relu(a + b)),
}


@pytest.mark.parametrize("name", HONEST)
def test_honest_habits_are_right(name: str) -> None:
    found = verified(HONEST[name])
    assert found.verdict is Verdict.VALUES_ONLY, found.reason


def test_what_an_input_becomes_is_held_against_float64_too() -> None:
    code = ADD_RELU.replace("in_0, in_1)", "in_0, in_1, in_2)").replace(
        "tmp_0 = in_0 + in_1;  in_0 = in_1 = None", "tmp_2 = in_1 * in_2;  in_0 += tmp_2;  tmp_0 = in_0"
    )
    asked = replace(
        subgraph(code=code), inputs=tuple(TensorSpec(f"in_{index}", (64, 512), "bfloat16") for index in range(3))
    )

    def pattern(a, b, c):
        product = b * c
        a += product
        return torch.nn.functional.relu(a)

    def rounding_once(a, b, c):
        return torch.relu(a.copy_(a.double() + b.double() * c.double()))

    def cutting_off(a, b, c):
        total = (a.double() + b.double() * c.double()).bfloat16()
        a.copy_(torch.where(total.abs() < 0.05, 0.0, total))
        return torch.relu(total)

    a_pass = traced(pattern, lambda a, b, c: (a, b, c))
    right = verified(rounding_once, asked, a_pass=a_pass)
    assert right.verdict is Verdict.VALUES_ONLY, right.reason
    wrong = verified(cutting_off, asked, a_pass=a_pass)
    assert wrong.verdict is Verdict.WRONG_VALUES
    assert "Input in_0 after the call" in wrong.reason


@pytest.mark.parametrize("rows", [-1, 4])
def test_who_reads_beside_an_input_always_gets_what_is_no_data(rows: int) -> None:
    def reading_on(a, b):
        beside = torch.empty(0).set_(a.untyped_storage(), a.storage_offset() + rows * 33, (33,))
        return torch.relu(torch.cat((a[:3], beside[None] * 0)) + b)

    for _ in range(5):
        found = verified(reading_on)
        assert found.verdict is Verdict.NON_FINITE, found.reason


def test_a_remembered_result_is_named_with_the_call_that_showed_it() -> None:
    found = verified(remembering(lambda a, b: (a[0, 0].item(), b[0, 0].item())))
    assert found.verdict is Verdict.WRONG_VALUES
    assert "typical inputs, two elements exchanged in place" in found.reason


def test_weights_kept_from_call_to_call_are_stale() -> None:
    code = ADD_RELU.replace("in_0 + in_1", "in_0 * in_1")
    asked = subgraph(code=code)
    weights = TensorSpec("in_1", (33,), "float32", mean=1.0, std=0.0, original_name="L_self_parameters_weight_")
    asked = replace(asked, inputs=(asked.inputs[0], weights))
    a_pass = traced(lambda a, w: torch.nn.functional.relu(a * w), lambda a, w: (a, w))
    packed: dict[int, torch.Tensor] = {}

    def replacement(a, w):
        return torch.relu(a * packed.setdefault(id(w), w.clone()))

    assert verified(lambda a, w: torch.relu(a * w), asked, a_pass=a_pass).verdict is Verdict.VALUES_ONLY
    assert verified(replacement, asked, a_pass=a_pass).verdict is Verdict.WRONG_VALUES


def test_each_seed_runs_drawings_both_in_place_and_elsewhere() -> None:
    names = ("recorded", "typical", "wide", "signed", "sparse", "edges")
    chosen = [tuple(verifying.placements(names, seed).values()) for seed in range(20)]
    assert all(each[0] and 3 <= each.count(False) < 6 and each.count(True) >= 2 for each in chosen)
    assert len(set(chosen)) > 3
    child = Here()
    verified(relu_of_sum, candidate=child)
    # six drawings, elements exchanged twice, and the same at another address
    assert len(child.ran) == 9
    assert child.ran.count(False) == 5


def test_an_input_that_eager_leaves_alone_is_named_where_it_was_changed() -> None:
    found = verified(clearing_its_input)
    assert "Input in_0 after the call is wrong on recorded inputs" in found.reason
    assert "eager does not" in found.reason
    assert found.accuracy is not None
    assert found.accuracy.smallest_t is None


def test_even_a_slight_change_of_an_input_counts() -> None:
    found = verified(lambda a, b: (torch.relu(a + b), a.mul_(1 + 1e-6))[0])
    assert found.verdict is Verdict.WRONG_VALUES
    assert "Input in_0 after the call" in found.reason


def test_an_input_that_eager_changes_must_change_alike() -> None:
    code = ADD_RELU.replace("tmp_0 = in_0 + in_1;  in_0 = in_1 = None", "in_0 += in_1;  tmp_0 = in_0")

    def pattern(a, b):
        a += b
        return torch.nn.functional.relu(a)

    a_pass = traced(pattern, lambda a, b: (a, b))
    asked = subgraph(code=code)
    right = verified(lambda a, b: torch.relu(a.add_(b)), asked, a_pass=a_pass)
    assert right.verdict is Verdict.VALUES_ONLY, right.reason
    left = verified(relu_of_sum, asked, a_pass=a_pass)
    assert left.verdict is Verdict.WRONG_VALUES
    assert "left as it was" in left.reason
    other = verified(lambda a, b: (torch.relu(a + b), a.mul_(3))[0], asked, a_pass=a_pass)
    assert other.verdict is Verdict.WRONG_VALUES
    assert "Input in_0 after the call" in other.reason


ROW_MAXIMA = """
import torch
class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        a = in_0.amax(-1, keepdim=True)
        b = a + torch.zeros_like(in_0)
        return (b,)
"""


def test_elements_that_overlap_in_memory_are_a_wrong_shape_where_eagers_do_not() -> None:
    asked = replace(subgraph(code=ROW_MAXIMA), inputs=subgraph().inputs[:1])
    a_pass = traced(lambda x: x.amax(-1, keepdim=True) + torch.zeros_like(x), lambda x: (x,))
    dense = verified(lambda x: x.amax(-1, keepdim=True).repeat(1, 33), asked, a_pass=a_pass)
    assert dense.verdict is Verdict.VALUES_ONLY, dense.reason
    spread = verified(lambda x: x.amax(-1, keepdim=True).expand(4, 33), asked, a_pass=a_pass)
    assert spread.verdict is Verdict.WRONG_SHAPE
    assert "overlap" in spread.reason


def two_results(second: str) -> tuple[Subgraph, TracedPass]:
    code = f"""
import torch
class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        a = torch.relu(in_0)
        b = {second}
        return (a, b)
"""
    a_pass = traced(lambda x: torch.relu(x), lambda x: (x,))
    return replace(subgraph(code=code), inputs=subgraph().inputs[:1]), a_pass


def test_results_must_not_share_memory_where_eagers_do_not() -> None:
    code = """
import torch
class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        a = torch.relu(in_0)
        b = a * 1.0
        c = in_0 * 1.0
        return (a, b, c)
"""

    def pattern(x):
        a = torch.relu(x)
        return a, a * 1.0, x * 1.0

    a_pass = traced(pattern, lambda x: (x,))
    asked = replace(subgraph(code=code), inputs=subgraph().inputs[:1])
    own = verified(lambda x: (torch.relu(x), torch.relu(x), x.clone()), asked, a_pass=a_pass)
    assert own.verdict is Verdict.VALUES_ONLY, own.reason

    def twice(x):
        a = torch.relu(x)
        return a, a, x.clone()

    def halves(x):
        both = torch.cat((torch.relu(x), torch.relu(x)), -1)
        return both[:, :33], both[:, 33:], x.clone()

    shared = verified(twice, asked, a_pass=a_pass)
    assert shared.verdict is Verdict.WRONG_VALUES
    assert "in the memory of output 0" in shared.reason
    passed = verified(lambda x: (torch.relu(x), torch.relu(x), x), asked, a_pass=a_pass)
    assert passed.verdict is Verdict.WRONG_VALUES
    assert "in the memory of input 0" in passed.reason
    # beside each other in one buffer is not one in the other
    apart = verified(halves, asked, a_pass=a_pass)
    assert apart.verdict is Verdict.VALUES_ONLY, apart.reason
    assert any("laid out otherwise" in warning for warning in apart.warnings)


def test_other_strides_are_right_and_are_told() -> None:
    columns_first = verified(lambda a, b: torch.relu(a + b).t().contiguous().t())
    assert columns_first.verdict is Verdict.VALUES_ONLY, columns_first.reason
    assert any(each.topic == "strides" and "[1, 4]" in each.text for each in columns_first.evidence)


# --- negative controls ---


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("torch.nn.functional.dropout(in_0, 0.1, False, False)", "return in_0"),
        ("in_0.reshape(33, 4)", "return in_0"),
        ("torch.relu(in_0) * 0.0", "return zeros"),
        ("torch.ones_like(in_0)", "return its mean everywhere"),
    ],
)
def test_a_subgraph_that_needs_no_computation_ranks_nobody(body: str, named: str) -> None:
    code = f"""
import torch
class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        a = {body}
        b = a.contiguous()
        return (b,)
"""
    asked = replace(subgraph(code=code), inputs=subgraph().inputs[:1])
    a_pass = traced(lambda a: a.contiguous(), lambda a: (a,))
    found = verified(lambda a: a.contiguous(), asked, a_pass=a_pass)
    assert found.verdict is Verdict.INCONCLUSIVE, found.reason
    assert "cannot rank" in found.reason
    assert any(each.topic == "negative control" and named in each.text for each in found.evidence)
    outcome = concluded(Facts(match=MATCH, verification=found), Stage.MEASURE)
    assert outcome.verdict is Verdict.INCONCLUSIVE
    replayed = verified(lambda a: a.contiguous(), asked, a_pass=a_pass, spec=EvalSpec(profile=Profile.PASSNET))
    assert replayed.verdict is Verdict.VALUES_ONLY


@pytest.mark.parametrize("second", ["in_0.view(33, 4)", "torch.zeros_like(in_0)", "in_0.size()"])
def test_one_output_that_needs_a_computation_is_enough(second: str) -> None:
    asked, a_pass = two_results(second)
    found = verified(lambda x: torch.clamp_min(x, 0), asked, a_pass=a_pass)
    assert found.verdict is Verdict.VALUES_ONLY, found.reason


def test_recorded_statistics_that_make_a_computation_an_identity_do_not_excuse_its_absence() -> None:
    code = ADD_RELU.replace("in_0 + in_1", "in_0 * in_1").replace(
        "torch.nn.functional.relu(tmp_0, inplace = False)", "tmp_0 * 1"
    )
    weights = TensorSpec("in_1", (33,), "float32", mean=1.0, std=0.0, original_name="L_self_parameters_weight_")
    asked = replace(subgraph(code=code), inputs=(subgraph().inputs[0], weights))
    a_pass = traced(lambda a, w: a * w, lambda a, w: (a, w))
    assert verified(lambda a, w: a * w, asked, a_pass=a_pass).verdict is Verdict.VALUES_ONLY
    dropped = verified(lambda a, w: a.clone(), asked, a_pass=a_pass)
    assert dropped.verdict is Verdict.WRONG_VALUES
    assert "typical" in dropped.reason


# --- PassNet's profile ---


def test_passnets_profile_asks_for_closeness_alone() -> None:
    spec = EvalSpec(profile=Profile.PASSNET)
    child = Here()
    assert verified(lambda a, b: torch.relu(a.half() + b.half()).float(), spec=spec, candidate=child).verdict in (
        Verdict.VALUES_ONLY,
        Verdict.WRONG_VALUES,
    )
    assert len(child.ran) == 1
    close = verified(lambda a, b: torch.relu(a + b) * (1 + 1e-5), spec=spec)
    assert close.verdict is Verdict.VALUES_ONLY, close.reason
    assert close.warnings == ()
    assert verified(lambda a, b: torch.relu(a + b) + 0.01, spec=spec).verdict is Verdict.WRONG_VALUES
    assert verified(clearing_its_input, spec=spec).verdict is Verdict.VALUES_ONLY


# --- sizes for the interpreter ---


class Slow(Here):
    """A candidate for whom time passes with the elements it computes; the clock is the test's."""

    def __init__(self, clock: "Clockwork", seconds_per_element: float) -> None:
        super().__init__()
        self.clock, self.seconds_per_element = clock, seconds_per_element

    def run(self, name: str, *, fresh: bool = True) -> Returned:
        returned = super().run(name, fresh=fresh)
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
    slow, child = slowly(monkeypatch, 4e-5, asked)
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


def test_slow_subgraphs_are_rather_compared_on_all_drawings_than_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    fixed = ADD_RELU.replace("in_0 + in_1", "in_0.view(98304) + in_1.view(98304)")
    a_pass = traced(lambda a: torch.nn.functional.relu(a), lambda a: (a,))
    clock = Clockwork()
    monkeypatch.setattr(verifying, "time", clock)
    found = verified(torch.relu, subgraph((64, 48, 32), code=fixed), a_pass=a_pass, candidate=Slow(clock, 3e-5))
    assert found.accuracy is not None
    assert len(found.accuracy.profiles) == 6
    assert any("changed in place were left out" in warning for warning in found.warnings)


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
IDLE = replace(RIGHT, verdict=Verdict.INCONCLUSIVE, reason="Idle.")
FOREIGN = Census(Verdict.LIBRARY, "Foreign.")
SHAKY = Measurement(Verdict.INCONCLUSIVE, "Shaky.")
CAUGHT = Measurement(Verdict.CHEAT, "Caught.")
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
    "doubtful subgraph": Case(Verdict.INCONCLUSIVE, Facts(match=MATCH, verification=IDLE), Stage.MEASURE, "Idle."),
    "library": Case(Verdict.LIBRARY, Facts(match=MATCH, verification=RIGHT, census=FOREIGN), said="Foreign."),
    "library before inconclusive": Case(
        Verdict.LIBRARY, Facts(match=MATCH, verification=IDLE, census=FOREIGN, measurement=SHAKY), Stage.MEASURE
    ),
    "cheat before library": Case(
        Verdict.CHEAT, Facts(match=MATCH, verification=RIGHT, census=FOREIGN, measurement=CAUGHT), Stage.MEASURE
    ),
    "wrong before cheat": Case(
        Verdict.WRONG_VALUES, Facts(match=MATCH, verification=WRONG, measurement=CAUGHT), Stage.MEASURE
    ),
    "inconclusive": Case(
        Verdict.INCONCLUSIVE, Facts(match=MATCH, verification=RIGHT, measurement=SHAKY), Stage.MEASURE, "Shaky."
    ),
    "inductor right": Case(Verdict.VALUES_ONLY, Facts(verification=RIGHT), solver_bundle=False),
    "inductor fails": Case(
        Verdict.COMPILE_FAILED, Facts(end=fault("compile", "witness"), during="verify"), solver_bundle=False
    ),
    "unfinished": Case(Verdict.INFRASTRUCTURE, Facts(match=MATCH)),
    "unmeasured": Case(Verdict.INFRASTRUCTURE, Facts(match=MATCH, verification=RIGHT), Stage.MEASURE),
}


def concluded(facts: Facts, stage: Stage = Stage.VERIFY, job: Job | None = None) -> Outcome:
    asked = job or Job(subgraph(), bundle("#"), EvalSpec(stage=stage))
    return deciding.outcome(
        asked, facts, environment=ENVIRONMENT, wall_s=1.0, finished_at="2026-01-01T00:00:00+00:00", log_tail="log"
    )


@pytest.mark.parametrize("name", CASES)
def test_precedence(name: str) -> None:
    case = CASES[name]
    job = Job(subgraph(), bundle("#") if case.solver_bundle else None, EvalSpec(stage=case.stage))
    outcome = concluded(case.facts, case.stage, job)
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
