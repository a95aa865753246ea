"""Whatever path a command is given, it says in a sentence that it cannot be used."""

import argparse
import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from passnet_core.cli.main import main, parser
from tests.contract.made import outcome
from tests.example_playground import TASK_ID, write_data
from tests.fake_backend import FakeBackend

PATHS = ("FILE", "DIR", "PATH", "TASK_OR_DIR", "FILE.html")
STANDS_IN = {"TASK": TASK_ID, "ID": "any", "RUN": "any", "N": "1", "TASK_OR_DIR": TASK_ID}
NAMES = {
    "a name of 300 characters": "x" * 300,
    "5,000 characters": "/tmp/" + "y/" * 2500,
    "below a file": "{file}/x",
    "a circle of links": "{circle}/x",
    "a zero byte": "a\0b",
    "a folder that is not there": "{file}-gone/a/b",
}


def commands(
    top: argparse.ArgumentParser, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """The commands of the command line, each with its words."""
    groups = [action for action in top._actions if isinstance(action, argparse._SubParsersAction)]
    for group in groups:
        for word, below in group.choices.items():
            yield from commands(below, (*words, word))
    if not groups:
        yield words, top


def takes_paths() -> Iterator[tuple[tuple[str, ...], str]]:
    """Every command with each of its arguments that is a path."""
    for words, command in commands(parser()):
        for action in command._actions:
            if action.metavar in PATHS:
                yield words, action.dest


def arguments(command: argparse.ArgumentParser, dest: str, path: str) -> list[str]:
    """What to type: the path for one argument, and for all others that are needed something that stands in."""
    exclusive = {
        action.dest: group.required
        and (dest if any(one.dest == dest for one in group._group_actions) else group._group_actions[0].dest)
        for group in command._mutually_exclusive_groups
        for action in group._group_actions
    }
    typed: list[str] = []
    for action in command._actions:
        needed = action.required or exclusive.get(action.dest) == action.dest
        if not (needed or action.dest == dest) or isinstance(action, argparse._HelpAction):
            continue
        value = (
            path
            if action.dest == dest
            else str((action.choices and next(iter(action.choices))) or STANDS_IN.get(str(action.metavar), "any"))
        )
        typed += [f"{action.option_strings[0]}={value}"] if action.option_strings else [value]
    return typed


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
@pytest.mark.parametrize(
    ("words", "dest"), [pytest.param(*each, id=f"{' '.join(each[0])} {each[1]}") for each in takes_paths()]
)
def test_no_path_of_a_command_ends_in_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...], dest: str, name: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    file, circle = tmp_path / "file", tmp_path / "circle"
    file.write_text("")
    circle.symlink_to(circle)
    monkeypatch.setenv("PASSNET_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PASSNET_DATA", str(write_data(tmp_path / "data")))
    (command,) = (command for found, command in commands(parser()) if found == words)
    typed = arguments(command, dest, name.format(file=file, circle=circle))
    out, err = io.StringIO(), io.StringIO()
    try:
        code = main([*words, *typed], out=out, err=err, backend=FakeBackend(outcome))
    except SystemExit as end:
        raise AssertionError(f"The test types what the command does not take: {capsys.readouterr().err}") from end
    assert code in (0, 1, 2, 3)
    assert code in (0, 1) or "Error: " in err.getvalue()
    assert len(err.getvalue()) < 2000


@pytest.mark.parametrize("variable", ["PASSNET_HOME", "PASSNET_DATA", "PASSNET_PYTHON"])
@pytest.mark.parametrize("name", [name for name in NAMES.values() if "\0" not in name and "gone" not in name])
def test_no_path_of_a_variable_ends_in_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, name: str
) -> None:
    file, circle = tmp_path / "file", tmp_path / "circle"
    file.write_text("")
    circle.symlink_to(circle)
    monkeypatch.setenv("PASSNET_HOME", str(tmp_path / "home"))
    monkeypatch.setenv(variable, name.format(file=file, circle=circle))
    err = io.StringIO()
    assert main(["runs", "list"], out=io.StringIO(), err=err) in (2, 3)
    assert err.getvalue().startswith("Error: ")
    assert variable in err.getvalue()
