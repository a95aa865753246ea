"""What the judge says of an honest pass beside torch's own operations."""

import json

import pytest

from tests.contract.modules_run import run

pytestmark = [pytest.mark.long, pytest.mark.settled]

STARTS = ("tests/contract/judging_operations.py",)

RIGHT = {"right, not timed", "right, inconclusive"}
EAGER_FAILED = "eager failed"
"""Some operations refuse what is drawn for them, such as a negative variance."""


@pytest.mark.parametrize("part", ["0/24", *(pytest.param(f"{part}/6", marks=pytest.mark.slow) for part in range(6))])
def test_each_operation_gets_a_verdict(part: str) -> None:
    done = run("tests.contract.judging_operations", "--json", "--part", part, within_s=1_500)
    assert done.returncode == 0, done.stderr[-3000:]
    made = json.loads(done.stdout.splitlines()[-1])
    assert sum(made["verdicts"].values()) > 20
    assert set(made["verdicts"]) <= {*RIGHT, EAGER_FAILED}, made["wrong"]
