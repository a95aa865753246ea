"""README.md keeps its word: each of its commands runs in a test, and its pass gets the verdict that it shows.

The tests run in the environment that runs them: nothing is installed.
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.documents import PROJECT, blocks, commands_in, document, spans
from tests.serving import free_port
from tests.waiting import eventually, seconds

README = document("README.md")
PYTHON = ".venv/bin/python"
PROGRAMS = ("make", "passnet", "python", PYTHON)
HERE = Path(sys.prefix)
VENV = str(HERE.relative_to(PROJECT) if HERE.is_relative_to(PROJECT) else HERE)
"""The environment of these tests, as make is to name it: make splits a path at blanks, and a relative one has none."""
STAMPS = re.findall(r"^(\$\(VENV\)/\.\w+):", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
"""What make takes for installed: files without which it would call pip."""


def commands() -> list[str]:
    """The commands in README's code blocks and code spans."""
    told = [*(line for block in blocks(README) for line in commands_in(block)), *spans(README)]
    return [each for each in told if each.split()[0] in PROGRAMS]


def test_every_command_has_a_test() -> None:
    assert sorted(set(commands())) == sorted(TESTED_BY)


def environment(home: Path) -> dict[str, str]:
    """The shell's environment without this project's variables, and with a store of its own."""
    passed_on = {name: value for name, value in os.environ.items() if not name.startswith(("PASSNET_", "STREAMLIT_"))}
    # these tests may run below make test, whose flags and names another make would take over
    passed_on = {name: value for name, value in passed_on.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return passed_on | {"PASSNET_HOME": str(home)}


def assert_shows(printed: str, lines: list[str]) -> None:
    """Fail unless these lines were printed, one after the other. … stands for any text, on its own for any lines."""
    shown = "\n".join(".*" if line == "…" else re.escape(line).replace("…", "[^\n]*") for line in lines)
    assert re.search(f"^{shown}$", printed, re.MULTILINE | re.DOTALL), printed


@pytest.mark.long
def test_the_pass_gets_the_verdict_that_is_shown(tmp_path: Path) -> None:
    (code,) = blocks(README, "python")
    (session,) = [block for block in blocks(README) if block.startswith("$ ")]
    write_order, evaluate, *shown = session.splitlines()
    file = tmp_path / code.splitlines()[0].removeprefix("# ")
    file.parent.mkdir()
    file.write_text(code, encoding="utf-8")
    subprocess.run(write_order.removeprefix("$ "), shell=True, cwd=tmp_path, timeout=seconds(10), check=True)
    program, *arguments = evaluate.removeprefix("$ ").split()
    assert program == PYTHON
    done = subprocess.run(
        [sys.executable, *arguments], cwd=tmp_path, env=environment(tmp_path / "home"),
        capture_output=True, text=True, timeout=seconds(120), check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert_shows(done.stdout, shown)


@pytest.mark.long
def test_make_run_serves_the_app(tmp_path: Path) -> None:
    port = free_port()
    log = tmp_path / "log"
    with log.open("w") as printed:
        process = subprocess.Popen(
            ["make", "run", f"VENV={VENV}", f"PORT={port}", *up_to_date(VENV)],
            cwd=PROJECT, env=environment(tmp_path / "home"), stdout=printed, stderr=printed,
            stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    try:
        eventually(lambda: process.poll() is not None or is_healthy(port), "the app", idle_s=60)
        assert process.poll() is None, log.read_text()
    finally:
        # make, its shell and the app are one group
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=seconds(20))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def is_healthy(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=10) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def up_to_date(venv: str) -> list[str]:
    """Flags with which make installs nothing into the environment, whatever has changed since it was made."""
    return [f"--old-file={stamp.replace('$(VENV)', venv)}" for stamp in STAMPS]


def test_make_run_gives_pip_the_torch_that_is_named(tmp_path: Path) -> None:
    """Says what would run, and runs nothing."""
    named = re.findall(r"`TORCH='([^']+)'`", README)
    assert named
    for torch in (*named, "torch-2.13.0-cp311-none-any.whl"):
        done = subprocess.run(
            ["make", "--dry-run", "run", f"VENV={tmp_path / 'new'}", f"TORCH={torch}"],
            cwd=PROJECT, env=environment(tmp_path), capture_output=True, text=True, timeout=seconds(20), check=True,
        )  # fmt: skip
        installs = [line for line in done.stdout.splitlines() if "pip install" in line]
        assert torch in installs[0]
        assert "requirements.txt" in installs[-1]


TESTED_BY: dict[str, Callable[..., None] | str] = {
    "make run": test_make_run_serves_the_app,
    "make run TORCH=...": test_make_run_gives_pip_the_torch_that_is_named,
    "make test": "itself: it runs the tests of this file, and all others",
    f"{PYTHON} -m passnet_core evaluate nemotron-squared-relu --bundle squared": (
        test_the_pass_gets_the_verdict_that_is_shown
    ),
}
"""The commands of README.md, and the test that runs each."""
