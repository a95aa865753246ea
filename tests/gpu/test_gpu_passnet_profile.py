"""The passnet profile's VERIFY on a GPU: what the tensors of PassNet's warm-up refuse, and what a launch may do."""

import pytest

from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import Capture, Outcome, Profile, Stage, Verdict
from tests.gpu.test_measure import RIGHT, outcome

pytestmark = pytest.mark.gpu

AUTOTUNED = RIGHT.replace(
    "@triton.jit",
    "@triton.autotune([triton.Config({'BLOCK': each}) for each in (512, 1024)], key=['count'])\n@triton.jit",
).replace(", BLOCK=1024)", ")")
QUESTIONS = "assert a.contiguous().is_contiguous() and a.stride(0) == a.size(1); b.to(torch.float32)"


def verified(backend: LocalBackend, code: str, line: str, capture: Capture) -> Outcome:
    """The outcome of this pass with a line at the start of its replacement function."""
    allocation = "    out = torch.empty_like(a)\n"
    assert allocation in code
    changed = code.replace(allocation, f"    {line}\n{allocation}")
    return outcome(backend, changed, stage=Stage.VERIFY, profile=Profile.PASSNET, capture=capture)


@pytest.mark.parametrize("capture", list(Capture))
@pytest.mark.parametrize(
    ("line", "operation"),
    [("a.reshape(-1)", "view"), ("a.transpose(0, 1)", "transpose"), ("a + b", "add"), ("b.sum()", "sum")],
)
def test_an_operation_on_what_a_replacement_function_is_given_is_refused(
    backend: LocalBackend, line: str, operation: str, capture: Capture
) -> None:
    found = verified(backend, RIGHT, line, capture)
    assert found.verdict is Verdict.CRASHED, found.reason
    assert f"torch's operation {operation} is called with a tensor" in found.reason


@pytest.mark.parametrize("code", [RIGHT, AUTOTUNED], ids=["plain", "autotuned"])
@pytest.mark.parametrize("capture", list(Capture))
def test_allocations_questions_and_launches_are_not_refused(backend: LocalBackend, code: str, capture: Capture) -> None:
    found = verified(backend, code, QUESTIONS, capture)
    assert found.verdict is Verdict.VALUES_ONLY, f"{found.reason} {found.log_tail}"
