"""Real servers of models, each started with a tiny model as its documentation says, and ended with the test."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.others.environments import python_of
from tests.waiting import eventually, seconds

TRANSFORMERS, LLAMA_CPP, LITELLM = "transformers-serve", "llama-cpp", "litellm"
"""The servers, by the names of their environments."""


@dataclass
class RealServer:
    """A server of another project, on a port of its own that it keeps when it starts again.

    command: what starts it. alive: a path that it answers once it is ready. model: the name by which it serves the
    model. log: where its output goes. settings: environment variables besides the test's."""

    command: Sequence[str]
    port: int
    alive: str
    model: str
    log: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        """Start it, and return when it answers. Fails the test if it does not."""
        offline = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "HOME": str(self.log.parent)}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                cwd=self.log.parent,
                env={**os.environ, **offline, **self.settings},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        eventually(lambda: self._answers() or self._ended(), f"the answer of {self.command[0]}", idle_s=90)
        assert not self._ended(), f"{self.command[0]} ended:\n{self.said()}"

    def kill(self) -> None:
        """End it at once, as a machine that fails does."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(seconds(20))
            self.process = None

    def said(self) -> str:
        """The end of its log."""
        return self.log.read_text(encoding="utf-8", errors="replace")[-4000:]

    def _ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{self.alive}", timeout=seconds(5)) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False


@contextlib.contextmanager
def running(server: RealServer) -> Iterator[RealServer]:
    """The server, started, for as long as the block runs."""
    try:
        server.start()
        yield server
    finally:
        server.kill()


def transformers_serve(model: Path, folder: Path) -> RealServer:
    """`transformers serve`, which serves a model under its path."""
    port = free_port()
    program = python_of(TRANSFORMERS).with_name("transformers")
    command = [str(program), "serve", str(model), "--host", "127.0.0.1", "--port", str(port)]
    return RealServer(command, port, "/health", str(model), folder / "transformers.log")


def llama_cpp_server(model: Path, folder: Path, *, context: int | None = None) -> RealServer:
    """llama-cpp-python's server. context: tokens; None: as many as the model reads."""
    port = free_port()
    options = {"model": model / "model.gguf", "model_alias": "tiny", "host": "127.0.0.1", "port": port}
    options["n_ctx"] = 0 if context is None else context
    command = [str(python_of(LLAMA_CPP)), "-m", "llama_cpp.server"]
    for name, value in options.items():
        command += [f"--{name}", str(value)]
    return RealServer(command, port, "/v1/models", "tiny", folder / "llama.log")


def litellm_proxy(behind: RealServer, folder: Path) -> RealServer:
    """LiteLLM's proxy, which hands requests on to another server."""
    port = free_port()
    parameters = {"model": f"openai/{behind.model}", "api_base": behind.base_url, "api_key": "none"}
    config = folder / "litellm.yaml"
    # JSON is YAML too
    config.write_text(json.dumps({"model_list": [{"model_name": "tiny", "litellm_params": parameters}]}))
    program = python_of(LITELLM).with_name("litellm")
    command = [str(program), "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
    local = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    return RealServer(command, port, "/health/liveliness", "tiny", folder / "litellm.log", local)


SERVERS: Mapping[str, Callable[[Path, Path], RealServer]] = {
    TRANSFORMERS: transformers_serve,
    LLAMA_CPP: llama_cpp_server,
}
"""What starts each server that runs models itself, given the model's folder and one for its log."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
