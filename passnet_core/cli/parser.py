"""How commands and their flags are declared."""

import argparse
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from passnet_core.cli.console import WRONG_USE, Console


class Parser(argparse.ArgumentParser):
    """Says what is wrong, then where to look, without the whole usage."""

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG_USE, f"Error: {message}\nSee: {self.prog} --help\n")


def group(commands: Any, name: str, summary: str) -> Any:
    """Declares a group, and returns what its commands are added to."""
    return commands.add_parser(name, help=summary, description=summary.capitalize() + ".").add_subparsers(
        required=True, metavar="COMMAND"
    )


def command(
    commands: Any,
    name: str,
    run: Callable[[argparse.Namespace, Console], int],
    summary: str,
    *,
    as_json: bool = True,
) -> argparse.ArgumentParser:
    """Declares a command, and returns what its flags are added to."""
    made: argparse.ArgumentParser = commands.add_parser(
        name, help=summary, description=summary[0].upper() + summary[1:] + ".", allow_abbrev=False
    )
    made.set_defaults(command=run)
    if as_json:
        made.add_argument("--json", action="store_true", help="print JSON, as docs/command-line.md describes it")
    return made


def values(kind: Iterable[Any]) -> tuple[str, ...]:
    """Of an enum, as flags take them."""
    return tuple(each.value for each in kind)
