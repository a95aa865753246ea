"""The commands for the persons of a server, and what serves programs, as somebody who runs a server types them."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from passnet_core.cli.main import main
from passnet_core.execution.backends.base import Backend
from passnet_core.settings import Settings
from tests.contract.made import outcome
from tests.fake_backend import FakeBackend

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    (tmp_path / "data").mkdir()
    settings = Settings(home=tmp_path / "home", data=tmp_path / "data", python=Path(sys.executable))

    def command(*argv: str, backend: Backend | None = None) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        return main(argv, out=out, err=err, settings=settings, backend=backend), out.getvalue(), err.getvalue()

    return command


def test_a_person_gets_a_role_and_a_token_and_all_of_it_is_in_the_log(run: Run) -> None:
    alice_id = json.loads(run("people", "add", "Alice", "--json")[1])["id"]
    assert "Alice" in run("people", "role", alice_id, "teacher")[1]
    code, token, told = run("people", "token", alice_id, "--label", "laptop", "--days", "7")
    assert (code, token.startswith("passnet_"), token.count("\n")) == (0, True, 1)
    assert "shown once" in told
    (listed,) = json.loads(run("people", "tokens", "Alice", "--json")[1])
    assert (listed["label"], listed["used_at"]) == ("laptop", "")
    assert token.strip() not in run("people", "tokens", "Alice")[1]
    assert "opens nothing any more" in run("people", "revoke", listed["id"])[1]
    assert "banned: spam." in run("people", "ban", "Alice", "--reason", "spam")[1]
    assert "banned" not in run("people", "unban", "Alice")[1]
    (alice,) = json.loads(run("people", "list", "--json")[1])
    assert (alice["name"], alice["role"], alice["banned"], alice["used_s"]) == ("Alice", "teacher", "", 0.0)
    deeds = [each["deed"] for each in json.loads(run("people", "log", "--json")[1])]
    assert deeds[::-1] == [
        "entered a person", "gave the role teacher", "made a token", "revoked a token", "banned", "lifted a ban",
    ]  # fmt: skip
    assert "a command" in run("people", "log", "--limit", "1")[1]


def test_who_takes_a_name_gets_neither_its_role_nor_its_token(run: Run) -> None:
    assert run("people", "add", "The Operator")[0] == 0
    for argv in (("role", "The Operator", "operator"), ("token", "The Operator")):
        code, out, err = run("people", *argv)
        assert (code, out) == (2, "")
        assert "given by id, as anybody can choose a name" in err
    (person,) = json.loads(run("people", "list", "--json")[1])
    assert person["role"] == "member"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (("people", "ban", "nobody", "--reason", "spam"), "There is no person 'nobody' here."),
        (("people", "role", "nobody", "member"), "There is no person with the id 'nobody' here."),
        (("people", "add", " "), "A name has 1 to 80 printable characters."),
        (("people", "revoke", "0123"), "There is no token '0123' here."),
        (("people", "log", "--limit", "0"), "--limit must be at least 1, not 0."),
        (("serve-api", "--address", "0.0.0.0"), "Make a token for each person first"),
        (("mcp", "--http", "--address", "0.0.0.0"), "Make a token for each person first"),
    ],
)
def test_a_wrong_command_says_what_is_wrong(run: Run, argv: tuple[str, ...], said: str) -> None:
    code, out, err = run(*argv)
    assert (code, out) == (2, "")
    assert said in err


def test_without_a_sandbox_nobody_else_is_served(run: Run) -> None:
    """The judge of this test says that it has limits only."""
    alice_id = json.loads(run("people", "add", "Alice", "--json")[1])["id"]
    assert run("people", "token", alice_id)[0] == 0
    code, out, err = run("serve-api", "--address", "0.0.0.0", backend=FakeBackend(outcome))
    assert (code, out) == (3, "")
    assert "only in a sandbox" in err


def test_the_app_does_not_serve_strangers_without_a_sandbox(run: Run) -> None:
    code, out, err = run("app", "--serve", backend=FakeBackend(outcome))
    assert (code, out) == (3, "")
    assert "Strangers' code is judged only in a sandbox" in err
