"""A server that is killed again and again while programs have runs judged: nothing that it reported is lost."""

import contextlib
import http.client
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from passnet_core.records import Verdict
from tests.contract.programs_served import Program
from tests.waiting import eventually, seconds
from tests.which import TESTS

CLIENTS = 4
Reported = dict[str, list[Any]]
"""What clients were told: the outcomes of each run that was accepted, none for one of which nobody asked."""


@contextlib.contextmanager
def server(folder: Path) -> Iterator[tuple[Program, "subprocess.Popen[str]"]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.contract.program_server", str(folder)],
        cwd=TESTS.parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        url, token = process.stdout.readline().split()
        yield Program(url, token), process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            assert stream is not None
            stream.close()


def work(program: Program, number: int, reported: Reported) -> None:
    """Have runs judged until the server is gone."""
    with contextlib.suppress(OSError, http.client.HTTPException):
        for step in range(1_000):
            code = f"def pattern(x):\n    return x\n# {number} {step} {random.random()}\n"
            asked = {"task": "relu", "bundle": {"passes": [{"name": "a.py", "code": code}]}}
            started = program.ask("POST", "/api/runs", asked)
            assert started.status == 202, started
            run = started.data["run"]
            reported[run] = []
            if step % 2:
                program.get(f"/runs/{run}?wait_s=2")
            reported[run] = program.get(f"/runs/{run}/outcomes")


def test_what_a_server_reported_is_there_when_it_was_killed(tmp_path: Path) -> None:
    kill(tmp_path, 2)


@pytest.mark.slow
def test_what_a_server_reported_is_there_when_it_was_killed_fifty_times(tmp_path: Path) -> None:
    kill(tmp_path, 50)


def kill(folder: Path, times: int) -> None:
    drawn, reported = random.Random(9), Reported()
    for _ in range(times):
        with server(folder) as (program, process):
            clients = [threading.Thread(target=work, args=(program, number, reported)) for number in range(CLIENTS)]
            for each in clients:
                each.start()
            before = len(reported)
            eventually(lambda: len(reported) >= before + CLIENTS)  # noqa: B023
            # at whatever it is
            time.sleep(drawn.uniform(0.0, 1.0))
            process.kill()
            for each in clients:
                each.join(seconds(60))
    assert len(reported) > times
    lost = 0
    with server(folder) as (program, _):
        for run, outcomes in reported.items():
            found = program.get(f"/runs/{run}?wait_s=30")
            now = program.get(f"/runs/{run}/outcomes")
            assert found["finished"] is True
            assert [each["subgraph"] for each in now] == ["float32/0", "float32/1", "float32/2"]
            for before in outcomes:
                assert before in now
            unjudged = [each for each in now if each["verdict"] != Verdict.VALUES_ONLY.value]
            for each in unjudged:
                assert (each["verdict"], each["reason"]) == (
                    Verdict.INFRASTRUCTURE.value, "The playground ended before this job was judged. Run it again.",
                )  # fmt: skip
            lost += len(unjudged)
    assert lost > 0, "it was killed while nothing was judged"
