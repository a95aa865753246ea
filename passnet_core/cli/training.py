"""The group trajectories (list, compare, export), which works with the attempts that solvers made."""

import argparse
import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from passnet_core import __version__
from passnet_core.bundles.reading import write_bundle
from passnet_core.cli import making
from passnet_core.cli.console import ACCEPTED, MOST_LISTED, NOT_ACCEPTED, Console
from passnet_core.cli.parser import add_number, add_tasks_flag, command, group, values
from passnet_core.corpus.shapes import read_shapes
from passnet_core.errors import BadInput, UnknownItem
from passnet_core.records import Device, EvalSpec, Stage, Task, Verdict, to_json
from passnet_core.records.trajectories import Trajectory
from passnet_core.service import corpus_of
from passnet_core.training.card import HINTS, UNKNOWN, card, write_card
from passnet_core.training.choosing import ExportChoice, Relations, chosen, divided, fingerprints
from passnet_core.training.exporting import CHAT_FORMS, Exported, ExportLayout, Format, Rows, exported, unit, write_rows
from passnet_core.training.prompts import CallProtocol
from passnet_core.training.tokens import TokenCounter

FOLDER = "a folder that solve --out wrote (default: the attempts in the store)"


def trajectories_list(args: argparse.Namespace, console: Console) -> int:
    rows, told = [], []
    for path, each in _trajectories(args.folder, console):
        named = (each.opening.id, each.opening.task_id, str(each.opening.attempt))
        for turn in each.turns:
            tools = ", ".join(call.name for call in turn.answer.calls) or f"{len(turn.results)} in text"
            score = "" if turn.score is None else f"{turn.score.accepted}/{turn.score.total}"
            rows.append((*named, str(turn.number), tools, score, f"{turn.tokens:,}"))
        if not each.turns and each.ending is not None:
            rows.append((*named, "-", each.ending.end.value, f"{each.ending.accepted}/{each.ending.total}", "0"))
        told.append({"path": str(path or ""), **to_json(each)})
    if not told and args.folder:
        raise UnknownItem(f"There is no attempt in {args.folder[0]}. Name a folder that solve --out wrote.")
    console.listing(args.json, told, ("id", "task", "attempt", "turn", "tools", "accepted", "tokens"), rows)
    return ACCEPTED


def _trajectories(folders: Sequence[str], console: Console) -> Iterator[tuple[Path | None, Trajectory]]:
    """The attempts in these folders, each with its file; without a folder those in the store, except recorded ones."""
    from passnet_core.solvers.trajectories import trajectories
    from passnet_core.store.opening import open_store

    for folder in folders:
        yield from trajectories(Path(folder), lambda problem: console.tell(f"Warning: left out: {problem}"))
    if folders:
        return
    with contextlib.closing(open_store(console.settings.home)) as store:
        for each in store.trajectories(MOST_LISTED, None):
            kept = store.trajectory(each.opening.id)
            if kept is not None and not each.opening.recorded:
                yield None, kept.trajectory


def trajectories_compare(args: argparse.Namespace, console: Console) -> int:
    from passnet_core.leaderboard.pass_at_k import attempt_tallies, gain_at, pass_at

    if any(k < 1 for k in args.k):
        raise BadInput("--k takes numbers from 1 on.")
    found = attempt_tallies(each for _, each in _trajectories(args.folder, console))
    if not found:
        raise UnknownItem("There is no attempt that has ended. Make some with solve.")
    told: list[dict[str, Any]] = []
    for each in found:
        device, _, profile, _ = each.ground
        kinds = {"device": device, "profile": profile.value, "stage": each.stage.value}
        for k in args.k:
            known = pass_at(k, each.attempts) if k <= each.fewest else None
            told.append({"solver": each.solver, **kinds, "tasks": len(each.attempts), "k": k, "pass": to_json(known)})
    gains: list[dict[str, Any]] = []
    if len(found) == 2 and found[0].ground == found[1].ground and found[0].stage is found[1].stage:
        before, after = found
        for k in args.k:
            if k <= min(before.fewest, after.fewest) and set(before.attempts) & set(after.attempts):
                gain = gain_at(k, before.attempts, after.attempts)
                gains.append({"k": k, "before": before.solver, "after": after.solver, "gain": to_json(gain)})
    if args.json:
        console.show({"solvers": told, "gains": gains})
        return ACCEPTED
    rows = [
        (row["solver"], row["stage"], row["device"], str(row["tasks"]), f"pass@{row['k']}", _share(row["pass"]))
        for row in told
    ]
    console.table(("solver", "stage", "device", "tasks", "", "chance"), rows)
    for measured in gains:
        gain = measured["gain"]
        word = "better" if gain["low"] > 0 else "worse" if gain["high"] < 0 else "not distinguishable"
        console.say(
            f"pass@{measured['k']} of {measured['after']} less that of {measured['before']}, on the tasks of both:"
            f" {_share(gain)}: {word}."
        )
    return ACCEPTED


def _share(found: Mapping[str, float] | None) -> str:
    if found is None:
        return "too few attempts"
    return f"{found['value']:.3f} ({found['low']:.3f} to {found['high']:.3f})"


def trajectories_export(args: argparse.Namespace, console: Console) -> int:
    _refuse_wrong_flags(args)
    format, rows, out = Format(args.format), Rows(args.rows) if args.rows else None, Path(args.out)
    corpus = corpus_of(console.settings, list(map(Path, args.tasks)))
    summaries = {each.id: each for each in corpus.tasks()}

    def task(name: str) -> Task | None:
        try:
            return corpus.task(name)
        except UnknownItem:
            return None

    held_back: set[str] = set()
    if args.split != "eval":
        for name, summary in summaries.items():
            if summary.split == "eval":
                held_back |= fingerprints(corpus.task(name))
    related = Relations(task)
    choice = ExportChoice(
        split=args.split,
        at_least=args.at_least,
        failed=args.failed,
        verdicts=frozenset(map(Verdict, args.verdicts)) if args.verdicts else None,
        faster_than=args.faster_than,
        stage=Stage(args.stage) if args.stage else None,
        clock_version=args.clock_version,
    )
    read: Counter[str] = Counter()

    def counted() -> Iterator[Trajectory]:
        for each in _sources(args, console):
            read[each.opening.split] += 1
            yield each

    found = tuple(chosen(counted(), choice, related, frozenset(held_back)))
    counter = TokenCounter(Path(args.tokenizer)) if args.tokenizer else None
    layout = ExportLayout(
        format,
        rows,
        one_call_per_turn=args.one_call_per_turn,
        masks=args.masks,
        at_least=args.at_least,
        count=None if counter is None else counter.count,
        most_tokens=args.most_tokens,
        spec=_spec(args),
        protocol=CallProtocol(args.protocol or CallProtocol.TEXT),
        shapes=read_shapes(corpus.folders) if args.every_task else {},
    )
    more = []
    if args.every_task:
        of_split = (corpus.task(name) for name, each in summaries.items() if each.split == args.split)
        more = [each for each in of_split if not fingerprints(each) & held_back]
    if not found and not more:
        console.tell(_why_none(args, read))
    for each in found if args.bundles else ():
        if each.best is not None and each.best.bundle is not None:
            write_bundle(each.best.bundle, Path(args.bundles) / each.opening.task_id / each.opening.id)
    parts = {out: found}
    if args.validation is not None:
        first, second = divided(found, args.validation, related)
        parts = {out: first, out.with_stem(f"{out.stem}.validation"): second}
    made = {file: exported(part, layout, more if file == out else ()) for file, part in parts.items()}
    for file, each_made in made.items():
        write_rows(file, each_made.rows, format)
    if args.card:
        _write_card(args, layout, {file.name: (parts[file], made[file]) for file in parts})
    return _told(args, layout, made, console)


def _refuse_wrong_flags(args: argparse.Namespace) -> None:
    if not 0 < args.at_least <= 1:
        raise BadInput(f"--at-least must be above 0 and at most 1, not {args.at_least:g}.")
    if args.validation is not None and not 0 < args.validation < 1:
        raise BadInput(f"--validation must be between 0 and 1, not {args.validation:g}.")
    if (args.tokenizer is None) != (args.most_tokens is None):
        raise BadInput("--tokenizer and --most-tokens belong together. Give both, or neither.")
    if args.every_task and args.format != Format.PROMPTS:
        raise BadInput(f"--every-task is for --format prompts only, not for --format {args.format}.")
    if args.protocol and args.format != Format.PROMPTS:
        raise BadInput(f"--protocol is for --format prompts only, not for --format {args.format}.")
    if args.every_task and args.validation is not None:
        raise BadInput(
            "--validation divides conversations, so it does not go with --every-task. Leave out one of them."
        )
    if args.license and not args.card:
        raise BadInput("--license goes into the card. Add --card, or leave it out.")
    if (args.rows or args.one_call_per_turn or not args.masks) and Format(args.format) not in CHAT_FORMS:
        raise BadInput(
            f"--rows, --one-call-per-turn and --no-masks are for whole conversations, not for --format {args.format}."
        )


def _sources(args: argparse.Namespace, console: Console) -> Iterator[Trajectory]:
    """The attempts in the named folders, or else those in the store; with --bundled also those of the playground."""
    if args.folder or not args.bundled:
        yield from (each for _, each in _trajectories(args.folder, console))
    if args.bundled:
        from passnet_core.solvers.trajectories import read_trajectory
        from passnet_core.store.prepared import recorded_conversations

        yield from map(read_trajectory, recorded_conversations(console.settings.data))


def _why_none(args: argparse.Namespace, read: Mapping[str, int]) -> str:
    """Why no conversation was chosen. read: how many were read, by the split of their tasks."""
    if not read:
        return "No conversation was read: there is none in the folders or the store, or with the playground."
    listed = ", ".join(f"{count} on {split} tasks" for split, count in sorted(read.items()))
    return f"None was chosen of these conversations: {listed}. What is chosen: {' '.join(_filters(args))}"


def _spec(args: argparse.Namespace) -> EvalSpec | None:
    """How the bundles for prompts without a conversation are judged."""
    if not args.every_task:
        return None
    device = Device(args.every_task)
    default = Stage.MEASURE if device is Device.CUDA else Stage.VERIFY
    return EvalSpec(Stage(args.stage) if args.stage else default, device)


def _write_card(
    args: argparse.Namespace, layout: ExportLayout, parts: Mapping[str, tuple[Sequence[Trajectory], Exported]]
) -> None:
    form = CHAT_FORMS.get(layout.format)
    usual = form is None or layout.rows in (None, form.rows)
    text = card(
        parts,
        format=layout.format,
        hint=HINTS.get(layout.format, "") if usual else "",
        filters=list(_filters(args)),
        version=__version__,
        date=datetime.now(UTC).date().isoformat(),
        license=args.license or UNKNOWN,
    )
    write_card(Path(args.out).parent, text)


def _filters(args: argparse.Namespace) -> Iterator[str]:
    """What was chosen and left out, in sentences."""
    yield f"Tasks of the split `{args.split}`."
    if args.split != "eval":
        yield "No task with a subgraph that computes the same operations as a subgraph of an eval task."
    if args.failed:
        yield "Attempts with any result."
    else:
        yield f"Attempts whose best bundle was accepted on at least {args.at_least:.0%} of the subgraphs."
    yield "Of attempts at a task that began and ended with the same code up to layout, comments and docstrings, one."
    if args.verdicts:
        yield f"Only these verdicts: {', '.join(args.verdicts)}."
    if args.faster_than is not None:
        yield f"Only bundles faster than {args.faster_than:g} times eager's speed."
    if args.stage:
        yield f"Only attempts judged up to the stage {args.stage}."
    if args.clock_version is not None:
        yield f"Only times of clock version {args.clock_version}."
    if args.most_tokens is not None:
        yield f"Only rows of at most {args.most_tokens:,} tokens, by {Path(args.tokenizer).name}."
    if args.validation is not None:
        yield f"About {args.validation:.0%} for validation; no task there computes what a task for training does."
    if not args.masks:
        yield "No answer is masked: those that the judge rejected are to be learnt too."


def _told(args: argparse.Namespace, layout: ExportLayout, made: Mapping[Path, Exported], console: Console) -> int:
    count = sum(len(each.rows) for each in made.values())
    if args.json:
        files = [
            {
                "file": str(file),
                "examples": len(each.rows),
                "conversations": each.conversations,
                "learnt": each.learnt,
                "masked": each.masked,
                "left_out": dict(each.left_out),
            }
            for file, each in made.items()
        ]
        console.show({"file": args.out, "examples": count, "files": files})
        return ACCEPTED if count else NOT_ACCEPTED
    for file, each in made.items():
        console.say(f"Wrote {len(each.rows)} {unit(layout)} on {args.split} tasks to {file}.")
        for reason, number in sorted(each.left_out.items()):
            console.say(f"Left out {number}: {reason}.")
    return ACCEPTED if count else NOT_ACCEPTED


def add_commands(commands: Any) -> None:
    """Declare the group trajectories."""
    kept = group(commands, "trajectories", "list the attempts that solve made, and export them for training")
    listing = command(kept, "list", trajectories_list, "list every turn of every attempt")
    listing.add_argument("folder", nargs="*", metavar="DIR", help=FOLDER)
    comparing = command(
        kept, "compare", trajectories_compare, "tell how often one of k attempts solves a task, and compare two solvers"
    )
    comparing.add_argument("folder", nargs="*", metavar="DIR", help=FOLDER)
    comparing.add_argument(
        "--k", type=int, nargs="+", default=[1], metavar="K", help="attempts that may be made at a task (default: 1)"
    )
    exporting = command(kept, "export", trajectories_export, "write attempts as a file from which models are trained")
    exporting.add_argument("folder", nargs="*", metavar="DIR", help=FOLDER)
    exporting.add_argument("--bundled", action="store_true", help="the conversations that come with the playground too")
    exporting.add_argument(
        "--out", required=True, metavar="FILE", help="the file to write: .jsonl, or .parquet for verl"
    )
    exporting.add_argument(
        "--bundles", metavar="DIR", help="also write the best bundle of each conversation here, in PassNet's layout"
    )
    exporting.add_argument(
        "--card", action="store_true", help="also write a README.md beside the file that says what is in it"
    )
    exporting.add_argument(
        "--license", default="", metavar="NAME", help=f"the licence that the card states (default: {UNKNOWN})"
    )
    _add_layout(exporting.add_argument_group("layout"))
    _add_choice(exporting.add_argument_group("choice"))
    making.add_commands(kept)


def _add_layout(layout: Any) -> None:
    layout.add_argument(
        "--format", choices=values(Format), default=Format.OPENAI.value,
        help="who reads the file; preferences: pairs of answers, for DPO; prompts: without answers, for GRPO"
        " (default: %(default)s)",
    )  # fmt: skip
    layout.add_argument(
        "--rows", choices=values(Rows),
        help="what a row is: a conversation, or one up to an answer, the only one to be learnt (default: turns for trl"
        " and llamafactory, which cannot mask an answer in a conversation)",
    )  # fmt: skip
    layout.add_argument(
        "--one-call-per-turn", action="store_true", help="split answers with several calls, which some templates drop"
    )
    layout.add_argument(
        "--no-masks", dest="masks", action="store_false", help="learn answers that the judge or the tools rejected too"
    )
    layout.add_argument(
        "--every-task", choices=values(Device),
        help="only for --format prompts: also tasks of the split without an attempt, to be judged on this device",
    )  # fmt: skip

    layout.add_argument(
        "--protocol", choices=values(CallProtocol),
        help="only for --format prompts: how a model is to call tools: in text, for answers that are complete in"
        " themselves, or by tool calls, for conversations (default: text)",
    )  # fmt: skip


def _add_choice(choice: Any) -> None:
    add_tasks_flag(choice)
    choice.add_argument("--split", default="train", metavar="NAME", help="tasks of this split (default: %(default)s)")
    add_number(
        choice, "--at-least", 1.0, "SHARE", "least share of a task's subgraphs on which the best bundle was accepted"
    )
    choice.add_argument("--failed", action="store_true", help="attempts that fall short of --at-least too")
    choice.add_argument(
        "--verdicts", nargs="+", choices=values(Verdict), metavar="VERDICT",
        help="only attempts whose best bundle had no other verdict on any subgraph",
    )  # fmt: skip
    choice.add_argument(
        "--faster-than", type=float, metavar="X", help="only best bundles faster than X times eager's speed"
    )
    choice.add_argument(
        "--stage", choices=("verify", "measure"), help="only attempts whose bundles were judged up to this stage"
    )
    choice.add_argument("--clock-version", type=int, metavar="N", help="only attempts with times of clock version N")
    choice.add_argument("--tokenizer", metavar="PATH", help="a tokenizer.json, or a folder that contains one")
    choice.add_argument("--most-tokens", type=int, metavar="N", help="only rows of at most N tokens, by --tokenizer")
    choice.add_argument(
        "--validation", type=float, metavar="SHARE",
        help="write about this share to FILE.validation.jsonl; no task of one file computes what one of the other does",
    )  # fmt: skip
