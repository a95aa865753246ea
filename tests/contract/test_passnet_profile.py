"""The passnet profile before the real judge: whom it leaves out, what it refuses in a call, and how it compares."""

from dataclasses import replace

import pytest
import torch

from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import EvalSpec, Outcome, PassFile, Profile, Stage, Verdict
from tests.contract.judging import RIGHT, WRONG, bundle, hostile_in_call, job, judged, subgraph
from tests.contract.verifying import Function, verified

pytestmark = pytest.mark.settled

LEFT_OVER = PassFile("left_over.py", RIGHT.replace("torch.relu(a + b)", "(a + b).relu()") + "\nimport ctypes, os\n")
UNRULY = RIGHT.replace("count = a.numel()", "count = torch.numel(a)")
RENEWING = RIGHT.replace("return add_relu\n", "return lambda a, b: add_relu(a, b)\n")
PASSNET = EvalSpec(profile=Profile.PASSNET)


def by_passnet(backend: LocalBackend, *codes: str, stage: Stage = Stage.CHECK) -> Outcome:
    return judged(backend, job(bundle(*codes), stage, profile=Profile.PASSNET))


def ran(outcome: Outcome) -> list[str]:
    """The passes that were matched."""
    assert outcome.match is not None, outcome.reason
    return [each.name for each in outcome.match.passes]


@pytest.mark.parametrize("profile", Profile)
def test_a_file_left_over_in_the_folder_is_ignored_with_a_warning(backend: LocalBackend, profile: Profile) -> None:
    outcome = judged(backend, job(bundle(RIGHT, helpers=(LEFT_OVER,)), Stage.CHECK, profile=profile))
    assert outcome.verdict is Verdict.MATCHED, outcome.reason
    assert outcome.warnings == ("left_over.py is ignored: it is not a pass, and no loaded file imports it.",)


def test_a_pass_that_breaks_the_rule_is_left_out_and_the_next_one_is_judged(backend: LocalBackend) -> None:
    outcome = by_passnet(backend, UNRULY, RIGHT, stage=Stage.VERIFY)
    assert outcome.verdict is Verdict.VALUES_ONLY, outcome.reason
    assert ran(outcome) == ["pass_1"]
    (warning,) = outcome.warnings
    assert warning.startswith("pass_0.py is left out: line ")
    assert "rule torch-call: torch.numel is called outside" in warning
    assert [each.fatal for each in outcome.findings] == [False]


def test_a_pass_that_is_left_out_can_still_be_imported(backend: LocalBackend) -> None:
    head, _, _ = RIGHT.partition("@triton.jit")
    outcome = by_passnet(
        backend, UNRULY, f"{head}\nfrom pass_0 import add_relu\ndef replacement_func(): return add_relu"
    )
    assert outcome.verdict is Verdict.MATCHED, outcome.reason
    assert ran(outcome) == ["pass_1"]


def test_a_bundle_of_which_no_pass_is_left_is_rejected(backend: LocalBackend) -> None:
    assert by_passnet(backend, UNRULY).verdict is Verdict.REJECTED


def test_passes_with_another_replacement_function_than_the_first_are_left_out(backend: LocalBackend) -> None:
    outcome = by_passnet(backend, RIGHT, WRONG, stage=Stage.VERIFY)
    assert outcome.verdict is Verdict.VALUES_ONLY, outcome.reason
    assert ran(outcome) == ["pass_0"]
    (warning,) = outcome.warnings
    assert warning.startswith("pass_1.py is left out: at most 1 distinct replacement functions are allowed")


def test_a_new_replacement_function_at_each_call_fails_the_bundle(backend: LocalBackend) -> None:
    outcome = by_passnet(backend, RENEWING)
    assert outcome.verdict is Verdict.DOES_NOT_LOAD
    assert "replacement_func() of pass_0.py returns a new object on each call" in outcome.reason
    strict = judged(backend, job(RENEWING, Stage.CHECK))
    assert strict.verdict is Verdict.MATCHED
    assert "replacement_func() of pass_0.py returns a new object on each call. Return the same one." in strict.warnings


REFUSED = (
    ("a.view(-1)", "view"),
    ("a.reshape(-1)", "view"),
    ("a.transpose(0, 1)", "transpose"),
    ("a[0]", "select"),
    ("a + b", "add"),
    ("a.sum()", "sum"),
    ("a.clone()", "clone"),
    ("torch.empty_like(a).view(-1)", "view"),
    ("a.to(torch.float64).exp()", "exp"),
)
FINE = (
    "assert a.is_contiguous() and a.stride(0) == 33 and a.size(1) == 33 and a.dim() == 2 and a.data_ptr()",
    "torch.zeros_like(a).fill_(2); torch.full_like(b, 1.0); torch.as_tensor([1], device=a.device)",
    "a.contiguous().to(torch.float16); a.detach(); torch.empty((4, 33), device=a.device).view(-1).zero_()",
)
BY_WIDTH = hostile_in_call(
    "\n    ".join(
        f"if a.size(1) == {width}: {statement}"
        for width, statement in enumerate(("; ".join(FINE), *(statement for statement, _ in REFUSED)), 33)
    )
)
"""One bundle does all of this, so that its processes start once: what it does depends on the number of columns."""


def by_width(backend: LocalBackend, width: int) -> Outcome:
    return judged(backend, replace(job(BY_WIDTH, profile=Profile.PASSNET), subgraph=subgraph((4, width))))


@pytest.mark.parametrize(("statement", "operation"), REFUSED)
def test_an_operation_on_what_a_replacement_function_is_given_is_refused(
    backend: LocalBackend, statement: str, operation: str
) -> None:
    outcome = by_width(backend, 34 + REFUSED.index((statement, operation)))
    assert outcome.verdict is Verdict.CRASHED, outcome.reason
    assert f"RefusedOperation: torch's operation {operation} is called with a tensor" in outcome.reason


def test_allocations_conversions_and_questions_are_not_refused(backend: LocalBackend) -> None:
    outcome = by_width(backend, 33)
    assert outcome.verdict is Verdict.VALUES_ONLY, outcome.reason


@pytest.mark.parametrize(
    ("shape", "replacement", "passnet"),
    [
        ((1, 33), lambda a, b: torch.relu(a + b)[0], Verdict.VALUES_ONLY),
        ((4, 33), lambda a, b: torch.relu(a + b)[None], Verdict.VALUES_ONLY),
        ((4, 33), lambda a, b: torch.relu(a + b)[0], Verdict.WRONG_VALUES),
        ((4, 33), lambda a, b: torch.relu(a + b).t().contiguous(), Verdict.WRONG_SHAPE),
    ],
    ids=["an axis less", "an axis more", "one row for all", "no common shape"],
)
def test_an_output_may_have_another_shape_that_broadcasts(
    shape: tuple[int, ...], replacement: Function, passnet: Verdict
) -> None:
    found = verified(replacement, subgraph(shape), spec=PASSNET)
    assert found.verdict is passnet, found.reason
    assert verified(replacement, subgraph(shape)).verdict is Verdict.WRONG_SHAPE


def test_an_output_of_another_dtype_has_the_wrong_type() -> None:
    found = verified(lambda a, b: torch.relu(a + b).double(), spec=PASSNET)
    assert found.verdict is Verdict.WRONG_TYPE, found.reason
