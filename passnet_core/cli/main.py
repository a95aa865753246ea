"""The entry point of the command line, which docs/command-line.md describes.

Exit codes: 0 done or accepted, 1 not accepted, 2 wrong use, 3 infrastructure, 130 interrupted."""

import argparse
import contextlib
import errno
import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from typing import IO

from passnet_core import __version__
from passnet_core.cli import app, corpus, judging, lessons, models, people, runs, scores, serving, solving, training
from passnet_core.cli.console import INFRASTRUCTURE, INTERRUPTED, PROGRAM, WRONG_USE, Console, message
from passnet_core.cli.extras import extras_named
from passnet_core.cli.parser import Parser
from passnet_core.errors import BadInput, InfrastructureError, PlaygroundError, StoreError, StoreRefusal
from passnet_core.execution.backends.base import Backend
from passnet_core.outside import quoted
from passnet_core.records.text import is_valid, valid
from passnet_core.settings import Settings, read_settings

NO_PATH = (errno.ENAMETOOLONG, errno.EINVAL, errno.ENOTDIR, errno.EISDIR, errno.ELOOP)
"""What an operating system says of a path that can lead to nothing of the kind, however much room there is."""


def main(
    argv: Sequence[str] | None = None,
    *,
    out: IO[str] | None = None,
    err: IO[str] | None = None,
    backend: Backend | None = None,
    settings: Settings | None = None,
) -> int:
    """Run one command and return its exit code. Wrong flags raise SystemExit(2), as argparse does."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # a terminal may have another encoding than UTF-8
            stream.reconfigure(errors="backslashreplace")
    out, err = out or sys.stdout, err or sys.stderr
    given = sys.argv[1:] if argv is None else argv
    args = parser().parse_args(given)
    as_json = getattr(args, "json", False)
    try:
        for number, each in enumerate(given, 1):
            if not is_valid(each) or "\0" in each:
                raise BadInput(f"Argument {number} is not UTF-8 text: {message(each)}. Rename what it names.")
        console = Console(settings or read_settings(), out, err, backend)
        with extras_named(), _usable_paths():
            return int(args.command(args, console))
    except PlaygroundError as error:
        print(f"Error: {message(str(error))}", file=err)
        if as_json:
            print(json.dumps({"error": {"kind": type(error).__name__, "message": valid(str(error))}}), file=out)
        return INFRASTRUCTURE if _is_infrastructure(error) else WRONG_USE
    except KeyboardInterrupt:
        print("Interrupted.", file=err)
        return INTERRUPTED
    except BrokenPipeError:
        # the reader of our output has gone: what is still buffered must not fail again at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return INTERRUPTED


@contextlib.contextmanager
def _usable_paths() -> Iterator[None]:
    """Around a command. Raises BadInput for a path that can be none, wherever the command first uses it."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_PATH or error.filename is None:
            raise
        raise BadInput(
            f"{quoted(os.fsdecode(error.filename))} cannot be used: {error.strerror}. Name another."
        ) from error


def _is_infrastructure(error: PlaygroundError) -> bool:
    return isinstance(error, InfrastructureError | StoreError) and not isinstance(error, StoreRefusal)


def parser() -> argparse.ArgumentParser:
    """The parser of all commands and flags."""
    top = Parser(prog=PROGRAM, description="Judge compiler passes on real PyTorch subgraphs.", allow_abbrev=False)
    top.add_argument("--version", action="version", version=__version__, help="print the version and exit")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for each in (lessons, corpus, judging, scores, solving, training, models, app, serving, people, runs):
        each.add_commands(commands)
    return top
