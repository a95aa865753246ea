"""The wheel works without a checkout: it is built, installed into its own environment, and started in another folder.

Its dependencies are those of the environment that runs this test: installing torch again would take minutes.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from tests.waiting import eventually, seconds

pytestmark = pytest.mark.long

PROJECT = Path(__file__).resolve().parents[2]
PACKAGES = ("passnet_core", "passnet_client", "passnet_verifiers.py")
PARTS = (*PACKAGES, "pages", "assets", "data", ".streamlit", "app.py")
FILES = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "THIRD_PARTY.md")
TASK = "gemma2-geglu-gate"


@dataclass(frozen=True)
class Installed:
    """An installed wheel. scripts: where the environment has its programs. elsewhere: the folder to run them in."""

    wheel: Path
    scripts: Path
    elsewhere: Path

    @property
    def environment(self) -> dict[str, str]:
        # without Streamlit's and this project's variables from the test run or the shell
        passed_on = {name: value for name, value in os.environ.items() if name in ("LANG", "TMPDIR", "OMP_NUM_THREADS")}
        path = f"{self.scripts}:{os.environ['PATH']}"
        return passed_on | {"PATH": path, "HOME": str(self.elsewhere), "PASSNET_HOME": str(self.elsewhere / "home")}

    def command(self, *arguments: str) -> str:
        """Run a program of the environment, and return what it prints."""
        program, *rest = arguments
        done = subprocess.run(
            [str(self.scripts / program), *rest],
            capture_output=True, text=True, cwd=self.elsewhere, env=self.environment, timeout=seconds(120), check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("wheel")
    wheel = built(folder)
    make = [sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")]
    subprocess.run(make, check=True, timeout=seconds(120))
    scripts = folder / "venv" / "bin"
    packages = folder / "venv" / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"
    # the .pth file adds the dependencies of this environment after the wheel
    there = [sys.executable, "-m", "pip", "--python", str(scripts / "python")]
    subprocess.run(
        [*there, "install", "--quiet", "--no-deps", "--ignore-installed", str(wheel)], check=True, timeout=seconds(120)
    )
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (folder / "elsewhere").mkdir()
    return Installed(wheel, scripts, folder / "elsewhere")


def built(folder: Path) -> Path:
    """Build the wheel in a copy of the checkout: a build leaves folders behind, and packs what earlier builds left."""
    source = folder / "source"
    source.mkdir()
    for name in (*PARTS, *FILES):
        if (PROJECT / name).is_dir():
            shutil.copytree(PROJECT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
        else:
            shutil.copy2(PROJECT / name, source / name)
    asked = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir"]
    subprocess.run([*asked, str(folder / "dist"), str(source)], check=True, timeout=seconds(120))
    (wheel,) = (folder / "dist").iterdir()
    return wheel


def test_the_wheel_has_all_files_of_a_checkout(installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as wheel:
        names = set(wheel.namelist())
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == set(PACKAGES)
    for part in PARTS:
        path = PROJECT / part
        for file in path.rglob("*") if path.is_dir() else [path]:
            inside = file.relative_to(PROJECT).as_posix()
            if file.is_dir() or "__pycache__" in inside or inside.startswith("assets/components/"):
                continue
            assert (inside if part in PACKAGES else f"passnet_core/_app/{inside}") in names
    assert not any("components/" in name or "node_modules" in name for name in names)


def test_the_installed_command_line_works(installed: Installed) -> None:
    where = "import passnet_core, passnet_core.settings as told; print(passnet_core.__file__, told.ROOT)"
    for path in installed.command("python", "-c", where).split():
        assert Path(path).is_relative_to(installed.scripts.parent)
    tasks = json.loads(installed.command("passnet", "corpus", "list", "--json"))
    assert len(tasks) > 400
    assert "usage: passnet app " in installed.command("passnet", "app", "--help")


def test_the_installed_client_needs_no_other_package(installed: Installed) -> None:
    """Without site's .pth files, Python finds nothing of the environment that runs this test."""
    (packages,) = (installed.scripts.parent / "lib").glob("python*/site-packages")
    for name in ("passnet_client", "passnet_client.trl", "passnet_client.verl"):
        code = f"import sys; sys.path.append({str(packages)!r}); import {name} as it; print(it.JudgeClient().url)"
        assert installed.command("python", "-S", "-c", code) == "http://127.0.0.1:8600\n"


def test_the_installed_judge_checks_a_reference_bundle(installed: Installed) -> None:
    told = installed.command("passnet", "check", TASK, "--bundle", "gating-geglu", "--outcomes", "o.jsonl")
    assert re.search(r"^(\d+) of \1 accepted", told, re.MULTILINE), told


@pytest.mark.sandbox
def test_the_sandbox_shows_the_installed_package_without_the_app(installed: Installed) -> None:
    seen = """
import os, subprocess, sys
from passnet_core.judge.supervisor import sandbox
from passnet_core.records import Device, Isolation
look = "import os, passnet_core as p; print(os.listdir(os.path.dirname(p.__file__) + '/_app'), p.__file__)"
line = sandbox.command([sys.executable, "-c", look], isolation=Isolation.SANDBOXED, device=Device.CPU)
print(subprocess.run(line, capture_output=True, text=True, check=True).stdout)
"""
    told = installed.command("python", "-c", seen)
    assert told.startswith(f"[] {installed.scripts.parent}")


def test_the_installed_app_is_served_with_its_components(installed: Installed) -> None:
    (component,) = (PROJECT / "assets" / "built").glob("editor.*.js")
    with serving(installed) as address:
        assert b"<title>" in fetched(f"{address}/")
        assert b"Workbench" in visited(address, "workbench", f"task={TASK}", b"passnet.editor")
        assert fetched(f"{address}/_stcore/bidi-components/passnet.editor/{component.name}") == component.read_bytes()


def visited(address: str, page: str, query: str, until: bytes) -> bytes:
    """What the app sends to the browser for a page, up to these words. Fails if the page has an error or lacks them."""
    asked = BackMsg(rerun_script=ClientState(page_name=page, query_string=query))
    told = b""
    with connect(f"ws{address.removeprefix('http')}/_stcore/stream", subprotocols=[Subprotocol("streamlit")]) as line:
        line.send(asked.SerializeToString())
        while until not in told:
            message = line.recv(timeout=seconds(60))
            assert isinstance(message, bytes)
            assert ForwardMsg.FromString(message).WhichOneof("type") != "script_finished", told
            assert b"Traceback" not in message
            told += message
    return told


def fetched(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=seconds(60)) as answer:
        return bytes(answer.read())


@contextlib.contextmanager
def serving(installed: Installed) -> Iterator[str]:
    """Run `passnet app`, yield its address, and end it with an interrupt as Ctrl-C does."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    said = installed.elsewhere / "app.log"
    with said.open("w") as log:
        process = subprocess.Popen(
            [str(installed.scripts / "passnet"), "app", "--port", str(port)],
            cwd=installed.elsewhere, env=installed.environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            health = f"{address}/_stcore/health"
            eventually(lambda: process.poll() is not None or _answers(health), "the app's answer", idle_s=60)
            assert process.poll() is None, said.read_text()
            yield address
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(timeout=seconds(60))
            finally:
                process.kill()


def _answers(url: str) -> bool:
    try:
        return fetched(url) != b""
    except (urllib.error.URLError, OSError):
        return False
