"""How commands and their flags are declared.

Summaries are imperative and start in lower case; command() makes a sentence of them."""

import argparse
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from passnet_core.cli import console
from passnet_core.cli.console import WRONG_USE, Console
from passnet_core.errors import BadInput

TASK = "a task's name, or a folder in PassNet's layout"
BUNDLE = "the folder with the passes, or the name of a bundled reference"
CAPTURE = "call the rewritten graph directly, or compiled by torch.compile (default: %(default)s)"
DEVICE = "where to judge (default: the GPU, or the CPU of a machine without one)"
STAGE = "verify: compare values; measure: also take times, on a GPU (default: %(default)s)"
PROFILE = "whose rules to judge by: this judge's own (strict), or PassNet's (default: %(default)s)"
BASELINE = "how TorchInductor compiles: by default, or rounding as eager does (default: %(default)s)"
"""Help for arguments that several commands share."""


class Parser(argparse.ArgumentParser):
    """Prints an error in two lines, what is wrong and where to look, instead of the whole usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG_USE, f"Error: {console.message(message)}\nSee: {self.prog} --help\n")


def group(commands: Any, name: str, summary: str) -> Any:
    """Declare a group of commands, and return the object to which its commands are added."""
    made = commands.add_parser(name, help=summary, description=_sentence(summary))
    return made.add_subparsers(title="commands", required=True, metavar="COMMAND")


def command(
    commands: Any,
    name: str,
    run: Callable[[argparse.Namespace, Console], int],
    summary: str,
    *,
    as_json: bool = True,
) -> argparse.ArgumentParser:
    """Declare a command, and return the parser to which its flags are added."""
    made: argparse.ArgumentParser = commands.add_parser(
        name, help=summary, description=_sentence(summary), allow_abbrev=False
    )
    made.set_defaults(command=run)
    if as_json:
        made.add_argument("--json", action="store_true", help="print JSON; docs/command-line.md describes its fields")
    return made


def add_number(command: Any, flag: str, default: float, metavar: str, what: str) -> None:
    """Declare a flag that takes a number of the default's type. command: a parser, or a group of its flags. what: what
    the help says of it, before it names the default."""
    help = f"{what} (default: %(default)g)"
    command.add_argument(flag, type=type(default), default=default, metavar=metavar, help=help)


def add_tasks_flag(command: Any) -> None:
    """Declare the flag that names further folders of tasks."""
    help = "also the tasks in this folder, as data/training/tasks; may be given several times"
    command.add_argument("--tasks", action="append", default=[], metavar="DIR", help=help)


def require_positive(args: argparse.Namespace, *names: str) -> None:
    """Raises BadInput if one of these flags is less than 1."""
    for name in names:
        if getattr(args, name) < 1:
            raise BadInput(f"--{name.replace('_', '-')} must be at least 1, not {getattr(args, name)}.")


def values(kind: Iterable[Any]) -> tuple[str, ...]:
    """The values of an enum, as the choices of a flag."""
    return tuple(each.value for each in kind)


def _sentence(summary: str) -> str:
    return summary[0].upper() + summary[1:] + "."
