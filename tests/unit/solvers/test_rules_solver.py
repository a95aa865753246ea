"""The rules as a solver: what an attempt says, with a bench that answers at once."""

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from passnet_core.errors import BadInput
from passnet_core.execution.jobs import jobs_of
from passnet_core.records import Bundle, Device, EvalSpec, Inspection, Outcome, Subgraph, Task, TensorSpec, Verdict
from passnet_core.records.trajectories import End, Score
from passnet_core.solvers.base import Attempt, Bench, Surroundings, Watch
from passnet_core.solvers.rules.candidates import by_model, candidates
from passnet_core.solvers.rules.contender import Choice, Rules
from passnet_core.solvers.rules.lowering import OPERATIONS
from passnet_core.solvers.rules.solver import explained, written
from tests.contract.made import around_a_product, outcome, task

UNKNOWN = """
import torch

class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        tmp_0 = torch.histc(in_0, 10)
        tmp_1 = torch.relu(tmp_0)
        return (tmp_1,)
"""
HALF_KNOWN = UNKNOWN.replace("return (tmp_1,)", "tmp_2 = torch.sigmoid(in_0)\n        return (tmp_1, tmp_2)")


def of(code: str) -> Task:
    return replace(task(), subgraphs=tuple(replace(each, code=code) for each in task().subgraphs))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("torch.round(in_0, decimals=2, names=None)", "round (arguments that fit no signature of it)"),
        ("in_0.to(torch.float8_e4m3fn).to(torch.float32)", "the dtype float8_e4m3fn"),
        ("in_0.type('torch.HalfTensor')", "a conversion to 'torch.HalfTensor'"),
        ("in_0 / in_0.shape[-1]", "a division by a size"),
        ("torch.clamp(in_0, 0, out=in_0)", "clamp (arguments that fit no signature of it)"),
        ("torch.gt(in_0, in_0, axis=3)", "gt (arguments that fit no signature of it)"),
    ],
)
def test_what_a_rule_does_not_know_of_a_call_is_never_dropped(line: str, reason: str) -> None:
    code = UNKNOWN.replace("torch.histc(in_0, 10)", line).replace("tmp_1 = torch.relu(tmp_0)", "tmp_1 = tmp_0")
    with pytest.raises(BadInput) as told:
        candidates(of(code))
    assert reason in str(told.value)
    assert "argument '" not in str(told.value)


def test_an_error_of_the_rules_ends_the_attempt_at_one_task_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(x: object) -> None:
        raise RuntimeError("a bug,\non two lines")

    monkeypatch.setitem(OPERATIONS, "sigmoid", broken)  # type: ignore[arg-type]
    failed = Rules(choose=Choice.MODEL).solve(of(HALF_KNOWN), Answering(task()), Watch())
    assert failed.end is End.FAILED
    assert failed.reason.count("\n") == 0
    assert "an error of their own (RuntimeError: a bug, on two lines)" in failed.reason


class Answering(Bench):
    """A bench whose n-th subgraph gets the n-th verdict. It only evaluates. then: called each time it has judged.

    timed: whether it says that it takes times. speedups: of the bundles, in the order in which it judges them."""

    def __init__(
        self,
        task: Task,
        *verdicts: Verdict,
        then: Callable[[], None] = lambda: None,
        timed: bool = False,
        speedups: Sequence[float] = (),
    ) -> None:
        self.task, self.verdicts, self.then, self.judged = task, verdicts, then, list[Bundle]()
        self.timed, self.speedups = timed, speedups

    def evaluate(self, bundle: Bundle | None, cancelled: threading.Event) -> tuple[Outcome, ...]:
        assert bundle is not None
        self.judged.append(bundle)
        jobs = jobs_of(self.task, bundle, EvalSpec())
        self.then()
        speedup = self.speedups[len(self.judged) - 1] if self.speedups else 1.5
        return tuple(outcome(job, verdict, speedup=speedup) for job, verdict in zip(jobs, self.verdicts))

    def check(self, bundle: Bundle, cancelled: threading.Event) -> tuple[Outcome, ...]:
        raise NotImplementedError

    def inspect(self, subgraph_id: str, cancelled: threading.Event) -> Inspection:
        raise NotImplementedError

    def surroundings(self, subgraphs: Sequence[Subgraph], within_s: float, cancelled: threading.Event) -> Surroundings:
        return Surroundings(Device.CUDA if self.timed else Device.CPU, timed=self.timed)


def test_the_bundle_counts_also_where_some_subgraphs_are_not_accepted() -> None:
    bench = Answering(task(), Verdict.VALUES_ONLY, Verdict.WRONG_VALUES, Verdict.VALUES_ONLY)
    attempt = Rules().solve(task(), bench, Watch())
    assert (attempt.end, attempt.score) == (End.FINISHED, Score(2, 3))
    assert attempt.best is not None
    assert attempt.best.author == "rules"
    assert [attempt.best] == bench.judged
    assert [each.verdict for each in attempt.outcomes] == list(bench.verdicts)
    assert Rules().solve(task(), bench, Watch()).best == attempt.best


def test_a_task_that_the_rules_do_not_cover_says_which_operations_they_do_not_know() -> None:
    bench = Answering(of(UNKNOWN))
    reason = "The rules write no pass for relu: they do not write histc (it counts how often values occur)."
    assert Rules().solve(of(UNKNOWN), bench, Watch()) == Attempt(End.FAILED, reason=reason)
    assert bench.judged == []


def test_a_task_of_library_calls_is_left_to_them() -> None:
    code = UNKNOWN.replace("torch.histc(in_0, 10)", "torch.cumsum(in_0, 0)").replace("torch.relu(tmp_0)", "tmp_0")
    reason = "The rules write no pass for relu: they leave all of its operations to PyTorch."
    assert Rules().solve(of(code), Answering(of(code)), Watch()).reason == reason


def test_each_reason_is_given_once_and_none_that_follows_from_another() -> None:
    found = explained(of(HALF_KNOWN))
    assert found.left == ["histc (it counts how often values occur)"]
    assert [file.name for file in found.bundle.passes] == ["sigmoid.py"]


def test_a_pass_has_variants_for_what_is_spelled_otherwise() -> None:
    code = (
        "import torch\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, in_0):\n        return (in_0.{},)\n"
    )
    spellings = ("mean(dim=-1, keepdim=True)", "mean(-1, True)", "mean([-1], keepdim=True, dtype=None)")
    subgraphs = [
        replace(task().subgraphs[0], code=code.format(each), inputs=(TensorSpec("in_0", (3,) * (rank + 1), "float32"),))
        for rank, each in enumerate(spellings)
    ]
    passes = written(replace(task(), subgraphs=tuple(subgraphs))).bundle.passes
    assert len(passes) == len(spellings)
    for file in passes:
        assert all(f"if in_0.dim() == {rank + 1}:" in file.code for rank in range(len(spellings)))


def test_a_pattern_names_its_numbers_where_another_subgraph_has_a_tensor_even_if_it_is_spelled_otherwise() -> None:
    number = """
import torch

class GraphModule(torch.nn.Module):
    def forward(self, in_0):
        tmp_0 = in_0 * 0.125
        tmp_1 = torch.nn.functional.softmax(tmp_0, dim=-1)
        tmp_2 = torch.nn.functional.dropout(tmp_1, p=0.0, training=False)
        return (tmp_2,)
"""
    tensor = (
        number.replace("in_0)", "in_0, in_1)", 1)
        .replace("0.125", "in_1")
        .replace("p=0.0, training=False", "0.0, False")
    )
    first = task().subgraphs[0]
    (given,) = first.inputs[:1]
    subgraphs = (
        replace(first, id="a", code=number, inputs=(given,)),
        replace(first, id="b", code=number.replace("0.125", "0.25"), inputs=(given,)),
        replace(first, id="c", code=tensor, inputs=(given, replace(given, name="in_1"))),
    )
    bundle = written(replace(task(), subgraphs=subgraphs)).bundle
    heads = [each.code.partition("softmax(")[0].partition("def pattern")[2] for each in bundle.files[:3]]
    assert [number for number in ("* 0.125", "* 0.25") if any(number in head for head in heads)] == [
        "* 0.125",
        "* 0.25",
    ]
    assert "* in_1" in heads[2], "the pattern that takes anything comes last"


def test_a_cancelled_attempt_is_stopped() -> None:
    watch = Watch()
    bench = Answering(task(), Verdict.VALUES_ONLY, Verdict.CANCELLED, then=watch.cancelled.set)
    assert Rules().solve(task(), bench, watch) == Attempt(End.STOPPED)


def test_the_cost_model_chooses_where_nothing_is_timed() -> None:
    found, bench = candidates(around_a_product()), Answering(around_a_product(), Verdict.VALUES_ONLY)
    attempt = Rules().solve(around_a_product(), bench, Watch())
    assert attempt.best == by_model(found).bundle
    assert bench.judged == [attempt.best], "the others are not judged"
    told = [(each.name, each.bundle, each.speedup, each.kept) for each in attempt.alternatives]
    assert told == [(each.name, each.bundle.digest, each.speedup, each == by_model(found)) for each in found]
    assert not any(each.measured or each.accepted is not None for each in attempt.alternatives)


def test_measuring_keeps_the_fastest_of_all_candidates() -> None:
    found = candidates(around_a_product())
    for fastest in range(len(found)):
        speedups = [1.2 + (place == fastest) for place in range(len(found))]
        bench = Answering(around_a_product(), Verdict.FASTER, timed=True, speedups=speedups)
        attempt = Rules().solve(around_a_product(), bench, Watch())
        assert bench.judged == [each.bundle for each in found]
        assert attempt.best == found[fastest].bundle
        assert attempt.score is not None
        assert attempt.score.speedup == pytest.approx(2.2)
        assert {each.bundle_digest for each in attempt.outcomes} == {found[fastest].bundle.digest}
        told = [(each.name, each.speedup, each.measured, each.accepted, each.kept) for each in attempt.alternatives]
        assert told == [
            (each.name, speedup, True, 1, place == fastest)
            for place, (each, speedup) in enumerate(zip(found, map(pytest.approx, speedups)))
        ]


def test_a_candidate_that_is_faster_and_less_precise_is_not_kept() -> None:
    """As products in half precision may be, whose terms are added up in another order."""
    found = candidates(around_a_product())

    class Coarse(Answering):
        def evaluate(self, bundle: Bundle | None, cancelled: threading.Event) -> tuple[Outcome, ...]:
            jobs = jobs_of(self.task, bundle, EvalSpec())
            speedup, t = (1.4, -5) if bundle == found[0].bundle else (1.6, -2)
            return tuple(outcome(job, Verdict.FASTER, speedup=speedup, t=t) for job in jobs)

    attempt = Rules().solve(around_a_product(), Coarse(around_a_product(), timed=True), Watch())
    assert attempt.best == found[0].bundle
    speedups, scores = zip(*((each.speedup, each.aggregate or 0) for each in attempt.alternatives))
    assert speedups[0] < speedups[1]
    assert scores[0] > scores[1]


def test_a_candidate_that_is_accepted_on_fewer_subgraphs_is_not_kept() -> None:
    found = candidates(around_a_product())
    wanted = found[1].bundle

    class Picky(Answering):
        def evaluate(self, bundle: Bundle | None, cancelled: threading.Event) -> tuple[Outcome, ...]:
            self.verdicts = (Verdict.SLOWER if bundle == wanted else Verdict.WRONG_VALUES,)
            return super().evaluate(bundle, cancelled)

    bench = Picky(around_a_product(), timed=True, speedups=(9.0, 0.8, 9.0))
    attempt = Rules().solve(around_a_product(), bench, Watch())
    assert attempt.best == wanted
    assert [each.accepted for each in attempt.alternatives] == [0, 1, 0]


def test_measuring_is_refused_before_anything_is_judged_where_nothing_is_timed() -> None:
    bench = Answering(task(), *[Verdict.VALUES_ONLY] * 3)
    with pytest.raises(BadInput, match="on a GPU, with --stage measure"):
        Rules(choose=Choice.MEASURE).solve(task(), bench, Watch())
    assert bench.judged == []


def test_the_cost_model_chooses_on_a_gpu_too_if_it_is_asked_to() -> None:
    bench = Answering(around_a_product(), Verdict.FASTER, timed=True)
    attempt = Rules(choose=Choice.MODEL).solve(around_a_product(), bench, Watch())
    assert len(bench.judged) == 1
    assert [each.measured for each in attempt.alternatives] == [False] * len(candidates(around_a_product()))


def test_an_attempt_that_is_cancelled_between_candidates_is_stopped() -> None:
    watch = Watch()
    bench = Answering(around_a_product(), Verdict.FASTER, then=watch.cancelled.set, timed=True)
    assert Rules().solve(around_a_product(), bench, watch) == Attempt(End.STOPPED)
    assert len(bench.judged) == 1


def test_an_attempt_without_a_judge_has_failed() -> None:
    attempt = Rules().solve(task(), Answering(task(), Verdict.INFRASTRUCTURE), Watch())
    assert attempt == Attempt(End.FAILED, reason="because")


def test_writing_by_rules_loads_neither_torch_nor_triton() -> None:
    code = (
        "import sys; from passnet_core.solvers.rules.contender import Rules;"
        " print([name for name in ('torch', 'triton') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
