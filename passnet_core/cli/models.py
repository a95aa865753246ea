"""The command model, which finds passes for somebody's own model."""

import argparse
from pathlib import Path
from typing import Any

from passnet_core import outside
from passnet_core.cli.console import ACCEPTED, NOT_ACCEPTED, Console
from passnet_core.cli.parser import add_number, command
from passnet_core.errors import BadInput
from passnet_core.whole_models.adapting import SearchStep
from passnet_core.whole_models.captured import ModelFile
from passnet_core.whole_models.report import as_data
from passnet_core.whole_models.searches import BUNDLE, LIMIT_S, REPORT, write_report


def model(args: argparse.Namespace, console: Console) -> int:
    if args.limit <= 0:
        raise BadInput(f"--limit must be above 0, not {args.limit:g}.")
    file, folders = _file_named(args.file, args.inputs), [Path(each) for each in args.read]
    for each in folders:
        if not each.is_dir():
            raise BadInput(f"--read names '{each}', which is not a folder.")
    out = Path(args.out or f"{file.factory}-passes")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput(f"'{out}' is there already. Name another folder with --out, or remove it.")
    with console.service() as service:
        report = service.models.find_passes(
            file, folders=folders, limit_s=args.limit, tell=lambda step: console.tell(_said(step))
        )
    write_report(report, out)
    if args.json:
        console.show({**as_data(report), "folder": str(out)})
    else:
        for line in report.lines():
            console.say(line)
        console.say(f"\nWrote {out / REPORT}" + (f" and the bundle {out / BUNDLE}." if report.bundle else "."))
        if report.bundle:
            console.say(
                "Use it with:\n    from passnet_core.integrate import backend\n"
                f'    model = torch.compile(model, backend=backend("{out / BUNDLE}"))'
            )
    return ACCEPTED if report.bundle and report.right else NOT_ACCEPTED


def _file_named(named: str, inputs: str) -> ModelFile:
    """Read FILE.py:FUNCTION. Raises BadInput."""
    path, _, factory = named.rpartition(":")
    if not path or not factory.isidentifier():
        raise BadInput(f"{named!r} names no function. Write the file and its function, as in FILE.py:make_model.")
    try:
        code = outside.file_text(Path(path))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"The file '{path}' cannot be read: {outside.cause(error)}.") from error
    return ModelFile(code, Path(path).name, factory, inputs)


def _said(step: SearchStep) -> str:
    return f"[{step.done}/{step.total}] {step.text}" if step.total else step.text


def add_commands(commands: Any) -> None:
    """Declare model."""
    finding = command(
        commands, "model", model, "find passes for a model of your own, judge them, and measure them in it"
    )
    finding.add_argument(
        "file", metavar="FILE.py:FUNCTION",
        help="a Python file, and its function that returns the model and example inputs; it runs in the sandbox",
    )  # fmt: skip
    finding.add_argument(
        "--inputs", default="", metavar="FUNCTION",
        help="the file's function that returns the example inputs, if the other one returns the model alone",
    )  # fmt: skip
    finding.add_argument("--out", metavar="DIR", help="the folder to write (default: FUNCTION-passes)")
    finding.add_argument(
        "--read", action="append", default=[], metavar="DIR",
        help="a folder that the file may read and import from; may be repeated",
    )  # fmt: skip
    add_number(finding, "--limit", LIMIT_S, "SECONDS", "time limit of each program that runs the model")
