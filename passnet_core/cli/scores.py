"""The commands score, which computes ES(t) and the aggregate score, and leaderboard, which ranks solvers."""

import argparse
import io
from collections import Counter
from pathlib import Path
from typing import Any

from passnet_core import outside
from passnet_core.cli import submissions
from passnet_core.cli.console import ACCEPTED, Console
from passnet_core.cli.parser import add_number, command, values
from passnet_core.cli.runs import write
from passnet_core.errors import BadInput, UnknownItem
from passnet_core.records import BASELINE_NAMES, Capture


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


def leaderboard(args: argparse.Namespace, console: Console) -> int:
    from passnet_core.leaderboard.boards import Board  # numpy again
    from passnet_core.reports.ranks import RankedBoard, as_csv, as_json, as_page, ranks_of

    with submissions.opened(console) as (service, submitted):
        submitted.settle()
        every = service.boards()

    def fits(board: Board) -> bool:
        return (
            args.task in (None, *board.task_ids)
            and board.profile.value == args.profile
            and args.capture in (None, board.capture.value)
            and (args.device or "").lower() in board.device.lower()
            and (args.board is None or board.id.startswith(args.board))
        )

    found = [each for each in every if fits(each)]
    if not found:
        raise UnknownItem("There is no board like this here. List the boards with: passnet leaderboard --list")
    if args.list:
        console.table(
            ("board", "subgraphs", "tasks", "solvers", "device", "capture", "clock"),
            [
                (each.id, str(len(each.places)), each.title, str(len(each.contestants)), each.device,
                 each.capture.value, str(each.clock_version))
                for each in found
            ],
        )  # fmt: skip
        return ACCEPTED
    ranks = ranks_of(found[0], every)
    if args.html:
        write(as_page(ranks), Path(args.html))
        console.tell(f"Wrote {args.html}.")
    if args.csv:
        write(as_csv(ranks.ours), Path(args.csv))
        console.tell(f"Wrote {args.csv}.")
    if args.json:
        console.show(as_json(ranks))
        return ACCEPTED

    def told(ranked: RankedBoard) -> None:
        names = ("place", "solver", "aggregate score", "geometric mean", "right", "faster than eager", "than Inductor")
        rows = []
        for row in ranked.rows:
            mean = "" if row.geometric_mean is None else f"{row.geometric_mean.value:.3f}"
            score = f"{row.score.value:.3f} [{row.score.low:.3f}, {row.score.high:.3f}]"
            right, faster = (f"{number}/{row.subgraphs}" for number in (row.right, row.faster))
            beaten = f"{row.faster_than_inductor}/{row.compared}" if row.compared else ""
            rows.append((str(row.place), row.contestant.name, score, mean, right, faster, beaten))
        console.say(f"{ranked.conditions}.")
        console.table(names, rows)
        for row in ranked.rows:
            if row.alike:
                console.say(f"{row.contestant.name} cannot be told apart from {', '.join(row.alike)}.")

    told(ranks.ours)
    if ranks.by_passnet is not None:
        console.say("\nThe same by PassNet's rules:")
        told(ranks.by_passnet)
    console.say(f"\nPublished by others, not judged here: {ranks.source}.")
    console.table(("solver", "aggregate score"), [(each.name, f"{each.score:.3f}") for each in ranks.published])
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
    """Declare score and leaderboard."""
    scoring = command(
        commands, "score", score, "compute ES(t) and the aggregate score of a run or of a file of outcomes"
    )
    source = scoring.add_mutually_exclusive_group(required=True)
    source.add_argument("--run", metavar="ID", help="a run in the store")
    source.add_argument("--outcomes", metavar="FILE", help="a file that evaluate --outcomes or runs export wrote")
    add_number(scoring, "--p", 0.0, "X", "penalty for slowdowns")
    add_number(scoring, "--b", 0.1, "X", "penalty for failures")
    scoring.add_argument(
        "--interpretation", choices=("default", "extended"), default="default",
        help="which failures are tolerated at t >= 1 (default: %(default)s)",
    )  # fmt: skip
    scoring.add_argument(
        "--aborts-fail", action="store_true",
        help="count what PassNet's protocol aborted, as too unsteady, as a runtime failure, as PassNet does"
        " (default: leave it out, to be run again)",
    )  # fmt: skip

    ranking = command(commands, "leaderboard", leaderboard, "rank solvers that ran the same subgraphs")
    ranking.add_argument("--board", metavar="ID", help="a board's id (default: the one that says most)")
    ranking.add_argument("--task", metavar="TASK", help="only boards with this task")
    ranking.add_argument("--device", metavar="TEXT", help="only devices with this in their name")
    ranking.add_argument("--capture", choices=values(Capture), help="only this way of calling the rewritten graph")
    ranking.add_argument(
        "--profile", choices=("strict", "passnet"), default="strict", help="by whose rules (default: %(default)s)"
    )
    ranking.add_argument("--list", action="store_true", help="list the boards instead, the most telling one first")
    ranking.add_argument("--csv", metavar="FILE", help="also write the rows of the board as CSV")
    ranking.add_argument("--html", metavar="FILE", help="also write one static page that loads nothing")
    submissions.add_commands(
        ranking.add_subparsers(
            title="submissions", metavar="COMMAND", help="what is handed in to be ranked; without one, rank solvers"
        )
    )
