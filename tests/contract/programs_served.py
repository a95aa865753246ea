"""The interface for programs over a port of this machine, with a judge whose verdicts the tests choose."""

import contextlib
import http.client
import json
import sys
import urllib.parse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passnet_core.corpus.layout import write_task
from passnet_core.execution.backends.base import Backend
from passnet_core.people.person import Person, PersonRole
from passnet_core.people.quotas import Quotas
from passnet_core.people.register import Register
from passnet_core.records import Task
from passnet_core.server.program_service import Door, program_service
from passnet_core.service import Service, open_service
from passnet_core.settings import Settings
from tests.contract.listening import listening
from tests.waiting import eventually, seconds


@dataclass(frozen=True)
class Answered:
    """status: of HTTP. data: the JSON of the answer, or its text if it is none."""

    status: int
    data: Any
    headers: dict[str, str]


@dataclass(frozen=True)
class Program:
    """Somebody's program that calls the interface."""

    url: str
    token: str = ""

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answered:
        """Send a request. body: bytes as they are, anything else as JSON."""
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.url).netloc, timeout=seconds(90))
        told = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            told.setdefault("Authorization", f"Bearer {self.token}")
        if body is not None:
            told.setdefault("Content-Type", "application/json")
        try:
            sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
            connection.request(method, path, sent, told)
            response = connection.getresponse()
            text = response.read().decode(errors="replace")
        finally:
            connection.close()
        with contextlib.suppress(ValueError):
            return Answered(response.status, json.loads(text), dict(response.headers))
        return Answered(response.status, text, dict(response.headers))

    def get(self, path: str) -> Any:
        """The answer to a request that succeeds."""
        answered = self.ask("GET", f"/api{path}")
        assert answered.status == 200, answered
        return answered.data

    def judged(self, **asked: Any) -> Any:
        """Start a run, and wait until it has finished."""
        started = self.ask("POST", "/api/runs", asked)
        assert started.status == 202, started

        def finished() -> Any:
            told = self.get(f"/runs/{started.data['run']}?wait_s=60")
            return told if told["finished"] else None

        return eventually(finished, "the end of the run")


@dataclass
class Playground:
    """The interface, and what lies behind it."""

    url: str
    service: Service
    register: Register | None

    def program(self, name: str = "", role: PersonRole = PersonRole.MEMBER) -> Program:
        """A program of a person who is entered for it; without a name, of somebody without a token."""
        if not name:
            return Program(self.url)
        assert self.register is not None
        person = self.register.add(name, role)
        return Program(self.url, self.register.issue(person, "", 30))

    def person(self, name: str) -> Person:
        assert self.register is not None
        return self.register.person(name)


@contextlib.contextmanager
def playground(folder: Path, backend: Backend, tasks: Sequence[Task], *, many: bool = False) -> Iterator[Playground]:
    """Serve these tasks. folder: of all files. many: to persons with tokens; else to everybody on this machine."""
    for task in tasks:
        if not (place := folder / "data" / "tasks" / task.id).exists():  # a server that is started again finds them
            write_task(task, place)
    settings = Settings(home=folder / "home", data=folder / "data", python=Path(sys.executable))
    register = Register(settings.home)
    service = open_service(settings, backend=backend, meter=Quotas(register) if many else None)
    holders = register if many else None
    app = program_service(service, Door(holders, page="http://page.example"))
    try:
        with listening(app, before_end=app.state.close) as url:
            yield Playground(url, service, holders)
    finally:
        service.close()
        register.close()
