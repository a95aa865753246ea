"""The commands below leaderboard that hand in submissions, judge them again, name them and take them back."""

import argparse
import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from passnet_core import outside
from passnet_core.access.personal import PersonalService
from passnet_core.access.submissions import Submissions
from passnet_core.cli.console import ACCEPTED, INFRASTRUCTURE, NOT_ACCEPTED, Console
from passnet_core.cli.parser import command
from passnet_core.errors import BadInput
from passnet_core.leaderboard.submissions import BoardEntry, SubmissionState, entry_to_json
from passnet_core.people.register import FILE as PEOPLE
from passnet_core.people.register import Register
from passnet_core.service import Service

SUBMISSION = "the submission's id, as leaderboard submissions prints it"
CODES = {
    SubmissionState.JUDGING: INFRASTRUCTURE,
    SubmissionState.NOT_JUDGED: INFRASTRUCTURE,
    SubmissionState.NOT_ACCEPTED: NOT_ACCEPTED,
    SubmissionState.TAKEN_BACK: NOT_ACCEPTED,
    SubmissionState.ON_BOARD: ACCEPTED,
}


def submit(args: argparse.Namespace, console: Console) -> int:
    with opened(console) as (service, submissions):
        bundles = submissions.from_source(args.source, args.task or "")
        title = args.title or _title(args.source, bundles)
        entry = submissions.submit(bundles, title, name=args.name, note=args.note)
        console.tell(f"Submission {entry.submission.id} is being judged.")
        return _told(args, console, [_waited(service, submissions, entry)])


def submissions_list(args: argparse.Namespace, console: Console) -> int:
    with opened(console) as (_, submissions):
        found = submissions.all()
    rows = []
    for each in found:
        judgement = each.judgement
        score = judgement.score if judgement else None
        rows.append(
            (
                each.submission.id,
                each.submission.title,
                str(each.submission.version),
                each.submission.shown,
                each.state.value,
                f"{judgement.accepted}/{judgement.total}" if judgement else "",
                f"{score[0]:.3f} [{score[1]:.3f}, {score[2]:.3f}]" if score else "",
                each.submission.submitted_at[:10],
                each.reason,
            )
        )
    names = ("submission", "title", "version", "by", "state", "accepted", "aggregate score", "submitted", "reason")
    console.listing(args.json, list(map(entry_to_json, found)), names, rows)
    return ACCEPTED


def rejudge(args: argparse.Namespace, console: Console) -> int:
    if bool(args.submission) == args.all:
        raise BadInput("Name one submission, or give --all.")
    with opened(console) as (service, submissions):
        again = (SubmissionState.ON_BOARD, SubmissionState.NOT_JUDGED)
        ids = [args.submission] if args.submission else [
            each.submission.id for each in submissions.all() if each.state in again and not each.being_judged
        ]  # fmt: skip
        # one after the other: all at once would fill the queue for everybody else
        found = [_waited(service, submissions, submissions.judge_again(each)) for each in ids]
        return _told(args, console, found)


def name(args: argparse.Namespace, console: Console) -> int:
    with opened(console) as (_, submissions):
        submissions.rename(args.submission, args.name)
        return _shown(args, console, submissions.entry(args.submission))


def take_back(args: argparse.Namespace, console: Console) -> int:
    with opened(console) as (_, submissions):
        submissions.take_back(args.submission, args.reason)
        return _shown(args, console, submissions.entry(args.submission))


@contextlib.contextmanager
def opened(console: Console) -> Iterator[tuple[Service, Submissions]]:
    """The submissions for who may do everything. On a server for many, deeds go into its log."""
    with console.service() as service, contextlib.ExitStack() as closing:
        register = None
        if (console.settings.home / PEOPLE).exists():
            register = closing.enter_context(contextlib.closing(Register(console.settings.home)))
        yield service, PersonalService(service, register, None).submissions


def _title(source: str, bundles: dict[str, Any]) -> str:
    """What a submission without a title is called."""
    path = Path(source)
    return path.resolve().stem if outside.is_folder(path) or path.suffix == ".jsonl" else next(iter(bundles))


def _waited(service: Service, submissions: Submissions, entry: BoardEntry) -> BoardEntry:
    for _, run_id in entry.rounds[-1].runs:
        service.wait(run_id)
    return submissions.entry(entry.submission.id)


def _told(args: argparse.Namespace, console: Console, found: Sequence[BoardEntry]) -> int:
    """Show what the judge said of submissions. Returns the exit code of the worst."""
    console.answer(args.json, list(map(entry_to_json, found)), *map(_words, found))
    return max((CODES[each.state] for each in found), default=ACCEPTED)


def _shown(args: argparse.Namespace, console: Console, entry: BoardEntry) -> int:
    _told(args, console, [entry])
    return ACCEPTED


def _words(entry: BoardEntry) -> str:
    judgement = entry.judgement
    accepted = f", accepted on {judgement.accepted} of {judgement.total} subgraphs" if judgement else ""
    lines = [f"{entry.submission.label} ({entry.submission.id}): {entry.state.value}{accepted}."]
    if entry.retraction is not None:
        lines.append(f"  Taken back by {entry.retraction.by} at {entry.retraction.at}.")
    if judgement is not None and judgement.score is not None:
        value, low, high = judgement.score
        lines.append(f"  Aggregate score {value:.3f} [{low:.3f}, {high:.3f}] on {judgement.device}.")
    return "\n".join([*lines, *([f"  {entry.reason}"] if entry.reason else [])])


def add_commands(commands: Any) -> None:
    """Declare the commands below leaderboard."""
    handing_in = command(commands, "submit", submit, "have bundles judged afresh, and put them on the board")
    handing_in.add_argument(
        "source", metavar="SOURCE",
        help="a folder with a bundle, or with a bundle for each task in a subfolder of its name; a run file"
        " (.jsonl); or a link to the Workbench",
    )  # fmt: skip
    handing_in.add_argument("--task", metavar="TASK", help="the task, for a folder with one bundle")
    handing_in.add_argument(
        "--title",
        metavar="TEXT",
        help="what it is called; the same title again makes a new version (default: the name of SOURCE)",
    )
    handing_in.add_argument("--name", default="", metavar="TEXT", help="who it is by (default: anonymous)")
    handing_in.add_argument("--note", default="", metavar="TEXT", help="a sentence that is shown with it")
    command(commands, "submissions", submissions_list, "list all submissions, the newest first")
    again = command(commands, "rejudge", rejudge, "judge submissions again with the judge that is installed now")
    again.add_argument("submission", nargs="?", metavar="ID", help=SUBMISSION)
    again.add_argument("--all", action="store_true", help="all that are on the board, or could not be judged")
    naming = command(commands, "name", name, "show a submission under another name")
    naming.add_argument("submission", metavar="ID", help=SUBMISSION)
    naming.add_argument("name", metavar="NAME", help='who it is by; "" for anonymous')
    taking = command(commands, "take-back", take_back, "take a submission back, for good")
    taking.add_argument("submission", metavar="ID", help=SUBMISSION)
    taking.add_argument("--reason", required=True, metavar="TEXT", help="why, which everybody reads")
