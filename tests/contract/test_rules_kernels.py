"""Kernels that the rules write, through Triton's interpreter, beside eager."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.rules_cases import CASES

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def problems() -> dict[str, str]:
    """What differs from eager, by case. One process runs all: loading torch and Triton takes most of the time."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.contract.rules_cases"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        cwd=PROJECT,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("name", CASES)
def test_values_dtypes_strides_and_changed_inputs_are_eagers(name: str, problems: dict[str, str]) -> None:
    assert problems[name] == ""
