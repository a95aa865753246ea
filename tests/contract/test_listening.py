"""What the commands that serve say of an address or a port on which they cannot listen."""

import http.client
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from passnet_core.cli.main import main
from tests.example_playground import environment_of
from tests.serving import free_port
from tests.waiting import eventually, seconds

Told = Callable[..., tuple[int, str]]

SERVING = (("app",), ("serve-api",), ("serve-judge",), ("mcp", "--http"))


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Told:
    """Run a command to its end: its exit code, and what it says of errors."""
    monkeypatch.setenv("PASSNET_HOME", str(tmp_path / "home"))

    def run(*arguments: str) -> tuple[int, str]:
        try:
            code = main(arguments)
        except SystemExit as end:
            code = int(end.code or 0)
        return code, capsys.readouterr().err

    return run


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


@pytest.mark.parametrize("command", SERVING, ids=" ".join)
@pytest.mark.parametrize("port", ["99999", "-1", "65536", "1.5", "x", "", "٣", "1" * 5000])
def test_what_is_no_port_is_wrong_use(told: Told, command: tuple[str, ...], port: str) -> None:
    code, err = told(*command, f"--port={port}")
    assert code == 2
    assert "is not a port: name a number from 0 to 65535" in err
    assert "Traceback" not in err
    assert len(err) < 1200


@pytest.mark.parametrize("command", SERVING, ids=" ".join)
def test_a_port_in_use_is_said_in_a_sentence(told: Told, command: tuple[str, ...], taken: int) -> None:
    code, err = told(*command, f"--port={taken}")
    assert code == 2
    assert err == f"Error: Nothing can listen on '127.0.0.1', port {taken}: Address already in use. Choose another.\n"


@pytest.mark.parametrize("command", SERVING, ids=" ".join)
@pytest.mark.parametrize("address", ["nonsense", "300.1.1.1", "203.0.113.9", "a" * 5000, "", "1.2.3.4.5", "::1::"])
def test_an_address_that_is_not_this_machines_is_said_in_a_sentence(
    told: Told, command: tuple[str, ...], address: str
) -> None:
    code, err = told(*command, f"--address={address}")
    assert code == 2
    assert err.startswith("Error: Nothing can listen on ")
    assert err.count("\n") == 1
    assert len(err) < 400


def test_a_server_for_strangers_on_all_addresses_needs_its_name(told: Told) -> None:
    for address in ("0.0.0.0", "::"):
        code, err = told("app", "--serve", "--port=0", f"--address={address}")
        assert code == 2
        assert "say by which names people call this server: --host" in err


def test_the_app_answers_to_the_names_that_it_is_given(tmp_path: Path) -> None:
    port = free_port()
    environment = environment_of(tmp_path)
    run = [sys.executable, "-m", "passnet_core", "app", f"--port={port}", "--host=passnet.example.org"]
    with (tmp_path / "log").open("w") as log, subprocess.Popen(run, env=environment, stdout=log, stderr=log) as process:
        try:
            eventually(lambda: process.poll() is not None or status(port, "localhost") == 200, "the app", idle_s=60)
            assert status(port, "passnet.example.org") == status(port, f"PassNet.example.org:{port}") == 200
            assert status(port, "evil.example") == status(port, "www.passnet.example.org") == 400
        finally:
            process.terminate()


def status(port: int, host: str) -> int:
    """The status of an answer to a request under this name; 0 while nobody listens."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds(30))
    try:
        connection.request("GET", "/_stcore/health", headers={"Host": host})
        return connection.getresponse().status
    except ConnectionError:
        return 0
    finally:
        connection.close()
