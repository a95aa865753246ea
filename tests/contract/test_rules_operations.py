"""What the rules write for torch's own samples of its operations."""

import json
from typing import Any

import pytest

from tests.contract.modules_run import run

pytestmark = [pytest.mark.long, pytest.mark.settled]

STARTS = ("tests/contract/trying_operations.py",)


def made_of(*given: str) -> Any:
    """What comes of samples, tried in a process of their own: Triton's interpreter is chosen when it is loaded."""
    done = run("tests.contract.trying_operations", "--json", *given, within_s=1_500)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    "given",
    [
        ["--each", "1", "--part", "0/8"],
        pytest.param([], marks=pytest.mark.slow),
        pytest.param(["--each", "20", "--dtype", "int64", "--dtype", "uint8"], marks=pytest.mark.slow),
        pytest.param(["--each", "20", "--dtype", "bool", "--dtype", "float64"], marks=pytest.mark.slow),
    ],
    ids=lambda given: " ".join(given) or "all",
)
def test_a_sample_is_written_right_or_left_with_a_reason(given: list[str]) -> None:
    made = made_of(*given)
    assert made["operations"] > 50
    assert len(made["written"]) > made["operations"] // 3
    assert made["wrong"] == []
