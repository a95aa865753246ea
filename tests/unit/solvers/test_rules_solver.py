"""The rules as a solver: what an attempt says, with a bench that answers at once."""

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace

from passnet_core.execution.jobs import jobs_of
from passnet_core.records import Bundle, EvalSpec, Inspection, Outcome, Subgraph, Task, TensorSpec, Verdict
from passnet_core.records.trajectories import End, Score
from passnet_core.solvers.base import Attempt, Bench, Surroundings, Watch
from passnet_core.solvers.rules.contender import Rules
from passnet_core.solvers.rules.explained import explained
from passnet_core.solvers.rules.solver import written
from tests.contract.made import outcome, task

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


class Answering(Bench):
    """A bench whose n-th subgraph gets the n-th verdict. It only evaluates. then: called once it has judged."""

    def __init__(self, task: Task, *verdicts: Verdict, then: Callable[[], None] = lambda: None) -> None:
        self.task, self.verdicts, self.then, self.judged = task, verdicts, then, list[Bundle]()

    def evaluate(self, bundle: Bundle | None, cancelled: threading.Event) -> tuple[Outcome, ...]:
        assert bundle is not None
        self.judged.append(bundle)
        jobs = jobs_of(self.task, bundle, EvalSpec())
        self.then()
        return tuple(outcome(job, verdict) for job, verdict in zip(jobs, self.verdicts))

    def check(self, bundle: Bundle, cancelled: threading.Event) -> tuple[Outcome, ...]:
        raise NotImplementedError

    def inspect(self, subgraph_id: str, cancelled: threading.Event) -> Inspection:
        raise NotImplementedError

    def surroundings(self, subgraphs: Sequence[Subgraph], within_s: float, cancelled: threading.Event) -> Surroundings:
        raise NotImplementedError


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
    reason = "The rules write no pass for relu: they do not know histc."
    assert Rules().solve(of(UNKNOWN), bench, Watch()) == Attempt(End.FAILED, reason=reason)
    assert bench.judged == []


def test_a_task_of_library_calls_is_left_to_them() -> None:
    code = UNKNOWN.replace("torch.histc(in_0, 10)", "torch.cumsum(in_0, 0)").replace("torch.relu(tmp_0)", "tmp_0")
    reason = "The rules write no pass for relu: they leave all of its operations to PyTorch."
    assert Rules().solve(of(code), Answering(of(code)), Watch()).reason == reason


def test_each_reason_is_given_once_and_none_that_follows_from_another() -> None:
    found = explained(of(HALF_KNOWN))
    assert found.left == ["histc"]
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


def test_a_cancelled_attempt_is_stopped() -> None:
    watch = Watch()
    bench = Answering(task(), Verdict.VALUES_ONLY, Verdict.CANCELLED, then=watch.cancelled.set)
    assert Rules().solve(task(), bench, watch) == Attempt(End.STOPPED)


def test_an_attempt_without_a_judge_has_failed() -> None:
    attempt = Rules().solve(task(), Answering(task(), Verdict.INFRASTRUCTURE), Watch())
    assert attempt == Attempt(End.FAILED, reason="because")


def test_writing_by_rules_loads_neither_torch_nor_triton() -> None:
    code = (
        "import sys; from passnet_core.solvers.rules.contender import Rules;"
        " print([name for name in ('torch', 'triton') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
