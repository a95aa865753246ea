"""What the judge says of an honest pass beside torch's own operations."""

import json
import os
import subprocess
import sys

import pytest

from tests.waiting import seconds
from tests.which import TESTS

pytestmark = [pytest.mark.long, pytest.mark.settled]

STARTS = ("tests/contract/judging_operations.py",)

RIGHT = {"right, not timed", "right, inconclusive"}
EAGER_FAILED = "eager failed"
"""Some operations refuse what is drawn for them, such as a negative variance."""


@pytest.mark.parametrize("part", ["0/24", *(pytest.param(f"{part}/6", marks=pytest.mark.slow) for part in range(6))])
def test_each_operation_gets_a_verdict(part: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.contract.judging_operations", "--json", "--part", part],
        capture_output=True,
        text=True,
        timeout=seconds(1_500),
        check=False,
        cwd=TESTS.parent,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    made = json.loads(done.stdout.splitlines()[-1])
    assert sum(made["verdicts"].values()) > 20
    assert set(made["verdicts"]) <= {*RIGHT, EAGER_FAILED}, made["wrong"]
