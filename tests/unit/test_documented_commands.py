"""docs/command-line.md names every command, flag and exit code of the command line, and no other."""

import argparse
import re
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

from passnet_core.cli import console
from passnet_core.cli.main import parser
from passnet_core.corpus.catalogue import ImportReport
from passnet_core.corpus.cutting_models import CutReport
from passnet_core.corpus.downloading import Fetched, Offer
from passnet_core.corpus.surveying import TaskMatches
from passnet_core.records.trajectories import Alternative, Ending, Trajectory
from passnet_core.settings import read_settings
from passnet_core.solvers.batch import Solved

PROJECT = Path(__file__).resolve().parents[2]
DOCUMENT = (PROJECT / "docs" / "command-line.md").read_text()
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
EVERYWHERE = {"--help", "--version"}


@cache
def commands() -> dict[str, frozenset[str]]:
    """The flags of each command, without those that its help leaves out."""
    return {name: frozenset(flags(each)) for name, each in below("", parser())}


def below(name: str, here: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    groups = [action for action in here._actions if isinstance(action, argparse._SubParsersAction)]
    if not any(group.required for group in groups):  # it may be called without a command below it
        yield name, here
    for group in groups:
        for word, each in group.choices.items():
            yield from below(f"{name} {word}".strip(), each)


def flags(here: argparse.ArgumentParser) -> Iterator[str]:
    for action in here._actions:
        if action.help != argparse.SUPPRESS:
            yield from (flag for flag in action.option_strings if flag.startswith("--") and flag not in EVERYWHERE)


@cache
def documented_commands() -> dict[str, frozenset[str]]:
    """The usage lines of the document."""
    block = DOCUMENT.split("## Commands\n\n```\n", 1)[1].split("```", 1)[0]
    usages = [" ".join(each.split()) for each in block.split("python -m passnet_core ")[1:]]
    named = {re.match(r"[a-z-]+( [a-z]+(-[a-z]+)*)?(?= |$)", usage)[0]: usage for usage in usages}  # type: ignore[index]
    return {name: frozenset(FLAG.findall(usage)) for name, usage in named.items()}


def table(heading: str) -> list[str]:
    """The words that the first column of a section's tables names."""
    section = re.split(r"\n##+ ", DOCUMENT.split(f"\n### {heading}\n", 1)[1])[0]
    return [word for cell in re.findall(r"^\| (`.*?) \|", section, flags=re.M) for word in re.findall(r"`(\w+)`", cell)]


def test_every_command_is_documented_and_no_other() -> None:
    assert sorted(documented_commands()) == sorted(commands())


@pytest.mark.parametrize("command", sorted(commands()))
def test_every_flag_of_a_command_is_documented_and_no_other(command: str) -> None:
    assert sorted(documented_commands()[command]) == sorted(commands()[command])


def test_every_flag_that_the_text_names_exists() -> None:
    known = set().union(*commands().values()) | EVERYWHERE
    assert sorted(set(FLAG.findall(DOCUMENT)) - known) == []


def test_every_argument_and_command_has_help() -> None:
    for name, each in below("", parser()):
        assert each.description, name
        for action in each._actions:
            assert action.help, f"{name} {action.metavar or action.option_strings}"


def test_the_exit_codes_are_the_real_ones() -> None:
    codes = [int(code) for code in re.findall(r"^\| (\d+) \|", DOCUMENT, flags=re.M)]
    assert codes == [
        console.ACCEPTED,
        console.NOT_ACCEPTED,
        console.WRONG_USE,
        console.INFRASTRUCTURE,
        console.INTERRUPTED,
    ]


def test_the_variables_are_those_that_settings_read() -> None:
    asked: set[str] = set()

    class Environment(dict[str, str]):
        def get(self, name: str, default: str | None = None) -> str | None:  # type: ignore[override]
            asked.add(name)
            return default

    read_settings(Environment())
    rows = re.findall(r"^\| (`[A-Z].*?) \|", DOCUMENT, flags=re.M)
    named = {word for row in rows for word in re.findall(r"`([A-Z_]+)`", row)}
    assert named - {"OMP_NUM_THREADS"} == asked


@pytest.mark.parametrize(
    ("heading", "kinds"),
    [
        ("corpus matches", (TaskMatches,)),
        ("corpus import", (ImportReport,)),
        ("corpus download", (Offer, Fetched)),
        ("corpus cut", (CutReport,)),
        ("solve", (Solved, Ending, Alternative)),
        ("trajectories list", (Trajectory,)),
    ],
)
def test_the_fields_of_a_record_that_is_printed_are_documented(heading: str, kinds: tuple[type, ...]) -> None:
    """Other commands build their JSON field by field: tests/contract/test_command_line.py compares what they print."""
    printed = {field.name for kind in kinds for field in fields(kind)}
    assert set(table(heading)) == printed | ({"path"} if heading == "trajectories list" else set())
