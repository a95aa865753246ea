"""The command score, which computes ES(t) and the aggregate score."""

import argparse
import io
from collections import Counter
from pathlib import Path
from typing import Any

from passnet_core import outside
from passnet_core.cli.console import ACCEPTED, Console
from passnet_core.cli.parser import command
from passnet_core.errors import BadInput
from passnet_core.records import BASELINE_NAMES


def score(args: argparse.Namespace, console: Console) -> int:
    # numpy, which a judging machine may lack, is imported only here, where scores are computed
    from passnet_core.scoring.report import entry_of, report_to_json, score_reports

    entries = _read_entries(Path(args.outcomes)) if args.outcomes else None
    if entries is None:
        with console.service() as service:
            entries = [entry_of(outcome) for outcome in service.outcomes(args.run)]
    reports = score_reports(
        entries, p=args.p, b=args.b, interpretation=args.interpretation, aborts_fail=args.aborts_fail
    )
    if not any(report.samples for report in reports):
        left_out = Counter(entry.left_out for entry in entries)
        why = ", ".join(f"{count} {reason}" for reason, count in left_out.items()) or "there is no outcome"
        raise BadInput(f"Nothing can be scored: {why}. Evaluate with --stage measure on a machine with a GPU.")
    if args.json:
        console.show({"reports": [report_to_json(report) for report in reports]})
        return ACCEPTED
    for report in reports:
        solver = BASELINE_NAMES[report.baseline] if report.baseline else f"passes {report.bundle_digest}"
        ground = f"{report.device}, capture {report.capture.value}, profile {report.profile.value}"
        if report.clock_version is not None:
            ground += f", clock version {report.clock_version}"
        console.say(f"{solver} on {ground}: {report.samples} samples")
        for reason, count in report.left_out:
            console.say(f"  {reason}: {count}, not scored")
        if report.aborts:
            console.say(f"  aborted by PassNet's protocol: {report.aborts}, scored as runtime failures")
        if report.aggregate is None:
            continue
        console.say(f"  aggregate score {report.aggregate:.4f}  (p = {report.p:g}, b = {report.b:g})")
        rows = [
            tuple(
                "" if figure is None else f"{figure:.4f}"
                for figure in (
                    each.alpha, each.beta, each.correct, each.slower, each.s, each.gamma, each.es, each.low, each.high,
                )
            )
            for each in report.levels
        ]  # fmt: skip
        names = ("t", "alpha", "beta", "lambda", "eta", "S", "gamma", "ES", "95% from", "to")
        console.table(names, [(str(each.t), *row) for each, row in zip(report.levels, rows)])
    return ACCEPTED


def _read_entries(path: Path) -> list[Any]:
    from passnet_core.scoring.report import read_entries

    try:
        with outside.opened(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig") as lines:
            return list(read_entries(lines))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(
            f"The outcomes file '{path}' cannot be read: {outside.cause(error)}. Name an existing one."
        ) from error
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error


def add_commands(commands: Any) -> None:
    """Declare score."""
    scoring = command(
        commands, "score", score, "compute ES(t) and the aggregate score of a run or of a file of outcomes"
    )
    source = scoring.add_mutually_exclusive_group(required=True)
    source.add_argument("--run", metavar="ID", help="a run in the store")
    source.add_argument("--outcomes", metavar="FILE", help="a file that evaluate --outcomes or runs export wrote")
    scoring.add_argument(
        "--p", type=float, default=0.0, metavar="X", help="penalty for slowdowns (default: %(default)g)"
    )
    scoring.add_argument(
        "--b", type=float, default=0.1, metavar="X", help="penalty for failures (default: %(default)g)"
    )
    scoring.add_argument(
        "--interpretation", choices=("default", "extended"), default="default",
        help="which failures are tolerated at t >= 1 (default: %(default)s)",
    )  # fmt: skip
    scoring.add_argument(
        "--aborts-fail", action="store_true",
        help="count what PassNet's protocol aborted, as too unsteady, as a runtime failure, as PassNet does"
        " (default: leave it out, to be run again)",
    )  # fmt: skip
