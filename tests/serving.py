"""Start the app in a process of its own."""

import contextlib
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.example_playground import environment_of
from tests.waiting import eventually, seconds

PROJECT = Path(__file__).resolve().parents[1]
STARTS = ("app.py", "pages", "passnet_core", "assets/built", ".streamlit")


@contextlib.contextmanager
def serving(environment: dict[str, str], log: Path, *, port: int | None = None) -> Iterator[str]:
    """Start the app, yield its address, and end it afterwards, by force if needed. log: the file it prints to. port:
    serve strangers, at this port."""
    with log.open("w") as printed:
        process, address = _started(environment, printed.fileno(), port)
        try:
            yield address
        finally:
            process.terminate()
            try:
                process.wait(timeout=seconds(60))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextlib.contextmanager
def serving_example(folder: Path) -> Iterator[str]:
    """Serve strangers the example playground, and yield the app's address. folder: of all files."""
    environment = environment_of(folder, PASSNET_ISOLATION="auto")
    with serving(environment, folder / "app.log", port=free_port()) as address:
        yield address


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _command(port: int, *, strangers: bool) -> list[str]:
    if strangers:
        return ["-m", "passnet_core", "app", "--serve", f"--port={port}"]
    return ["-m", "streamlit", "run", "app.py", f"--server.port={port}", "--server.address=127.0.0.1"]


def _started(environment: dict[str, str], log: int, given: int | None) -> tuple[subprocess.Popen[bytes], str]:
    """Start the app on a port that was free a moment ago, or on another one if a different process took it first."""
    for _ in range(5):
        port = given or free_port()
        address = f"http://127.0.0.1:{port}"
        process = subprocess.Popen(
            [sys.executable, *_command(port, strangers=given is not None)],
            cwd=PROJECT, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if eventually(partial(_answers_or_ended, process, address), "the app's answer", idle_s=60) == "answers":
            return process, address
    raise AssertionError("The app ended five times before it answered.")


def _answers_or_ended(process: subprocess.Popen[bytes], address: str) -> str:
    """Whether the app "answers" or has "ended"; empty as long as neither."""
    if process.poll() is not None:
        return "ended"
    try:
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=seconds(10)):
            return "answers"
    except (urllib.error.URLError, OSError):
        return ""
