"""Start the app in a process of its own."""

import contextlib
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]


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
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


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
        deadline = time.monotonic() + 180
        while process.poll() is None:
            try:
                with urllib.request.urlopen(f"{address}/_stcore/health", timeout=10):
                    return process, address
            except (urllib.error.URLError, OSError):
                assert time.monotonic() < deadline, "The app does not answer within three minutes."
                time.sleep(0.2)
    raise AssertionError("The app ended five times before it answered.")
