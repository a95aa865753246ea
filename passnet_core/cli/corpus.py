"""The group corpus: list, show, import, download, cut, matches and export."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from passnet_core.cli.console import ACCEPTED, NOT_ACCEPTED, PROGRAM, WRONG_USE, Console
from passnet_core.cli.judging import bundle_named
from passnet_core.cli.parser import BUNDLE, TASK, add_number, command, group
from passnet_core.corpus.catalogue import read_list
from passnet_core.corpus.searching import found
from passnet_core.corpus.shapes import read_shapes
from passnet_core.corpus.surveying import TaskMatches, surveyed
from passnet_core.errors import BadInput
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.records import Task, to_json
from passnet_core.service import corpus_of, read_references


def corpus_list(args: argparse.Namespace, console: Console) -> int:
    corpus = corpus_of(console.settings)
    tasks = [
        task
        for task in found(args.search, corpus.tasks())
        if args.family in (None, task.family.value) and args.split in (None, task.split)
    ]
    for problem in corpus.problems:
        console.tell(f"Warning: {problem}")
    if args.json:
        console.show([{"task": task.id, **{k: v for k, v in to_json(task).items() if k != "id"}} for task in tasks])
        return ACCEPTED
    rows = [
        (task.id, task.family.value, task.split, str(task.subgraphs), " ".join(task.dtypes), str(task.operations),
         ", ".join(task.source_models))
        for task in tasks
    ]  # fmt: skip
    console.table(("task", "family", "split", "subgraphs", "dtypes", "operations", "source models"), rows)
    console.say(f"{len(tasks)} tasks, {sum(task.subgraphs for task in tasks)} subgraphs.")
    return ACCEPTED


def corpus_show(args: argparse.Namespace, console: Console) -> int:
    task = corpus_of(console.settings).resolve(args.task)
    if args.json:
        console.show(_task_json(task))
        return ACCEPTED
    console.say(f"{task.id}: {task.family.value}, split {task.split or '-'}, {len(task.subgraphs)} subgraphs")
    for subgraph in task.subgraphs:
        console.say(f"\n{subgraph.id}  ({subgraph.source_model}, {subgraph.dtype}, digest {subgraph.digest})")
        for spec in subgraph.inputs:
            console.say(f"  {spec.name}: {spec.dtype} {list(spec.shape)}")
    if task.subgraphs:
        console.say(f"\n{task.subgraphs[0].id}/model.py:\n\n{task.subgraphs[0].code.strip()}")
    return ACCEPTED


def _task_json(task: Task) -> dict[str, Any]:
    return {
        "task": task.id,
        "family": task.family.value,
        "split": task.split,
        "subgraphs": len(task.subgraphs),
        "source_models": sorted({each.source_model for each in task.subgraphs}),
        "dtypes": sorted({each.dtype for each in task.subgraphs}),
        "members": [
            {
                "subgraph": each.id,
                "source_model": each.source_model,
                "dtype": each.dtype,
                "digest": each.digest,
                "inputs": to_json(each.inputs),
                "code": each.code,
            }
            for each in task.subgraphs
        ],
    }


def corpus_import(args: argparse.Namespace, console: Console) -> int:
    corpus = corpus_of(console.settings)
    with console.resumable("The tasks imported so far are kept. Run the same command again to import the rest."):
        report = corpus.import_folder(
            Path(args.folder),
            console.settings.home / "tasks",
            listed=read_list(Path(args.list)) if args.list else None,
            progress=console.progress,
        )
    for problem in report.problems:
        console.tell(f"Warning: left out: {problem}")
    console.answer(args.json, to_json(report), f"Imported {len(report.tasks)} tasks with {report.subgraphs} subgraphs.")
    return ACCEPTED if report.tasks else WRONG_USE


def corpus_download(args: argparse.Namespace, console: Console) -> int:
    from passnet_core.corpus import downloading

    offered = downloading.offer(args.dataset, args.revision, console.settings.home)
    there = offered.files - offered.left_files
    console.tell(
        f"{offered.dataset} at {offered.host}, commit {offered.commit[:12]}: {offered.files:,} files,"
        f" {downloading.human(offered.bytes)}.\nFolder: {offered.folder}. {there:,} are there already, so"
        f" {downloading.human(offered.left_bytes)} are left to download;"
        f" {downloading.human(offered.free_bytes)} are free on that disk."
    )
    if not args.yes:
        console.answer(args.json, to_json(offered), "Nothing was downloaded. Add --yes to download the files.")
        return ACCEPTED
    with console.resumable("The files downloaded so far are kept. Run the same command again to download the rest."):
        fetched = downloading.fetch(offered)
    for archive in fetched.archives[:10]:
        console.tell(f"Warning: {archive} is an archive. Unpack it before importing the folder.")
    console.answer(
        args.json,
        to_json(fetched),
        f"Downloaded and verified {fetched.files:,} files in {fetched.folder}.",
        f"Import its tasks with: {PROGRAM} corpus import {fetched.folder}",
    )
    return ACCEPTED


def corpus_cut(args: argparse.Namespace, console: Console) -> int:
    from passnet_core.corpus.cutting_models import cut_models

    if args.limit <= 0:
        raise BadInput(f"--limit must be above 0, not {args.limit:g}.")
    settings = console.settings
    unread: list[str] = []
    models = corpus_of(settings).models(args.model, unread)
    backend = LocalBackend(settings.python, settings.isolation, settings.home, judges=0, checkers=0)
    with console.resumable("The models cut so far are kept. Run the same command again to cut the rest."):
        report = cut_models(backend, models, settings.home, limit_s=args.limit, progress=console.progress)
    report = replace(report, problems=(*unread, *report.problems))
    for problem in report.problems:
        console.tell(f"Warning: left out: {problem}")
    console.answer(
        args.json,
        to_json(report),
        f"Cut {report.models} models. The corpus now has {len(report.tasks)} tasks that were cut from models,",
        f"with {report.subgraphs} subgraphs. List them with: {PROGRAM} corpus list --search cut-",
    )
    return ACCEPTED if report.models else WRONG_USE


def corpus_matches(args: argparse.Namespace, console: Console) -> int:
    corpus, bundle = corpus_of(console.settings), bundle_named(args.bundle, console.settings)
    wanted = [task.id for task in found(args.search, corpus.tasks())]
    looked: list[TaskMatches] = []
    with console.scheduler() as scheduler:
        for done, each in enumerate(surveyed(scheduler, corpus, bundle, wanted, scheduler.here.device), 1):
            console.progress(done, len(wanted))
            looked.append(each)
    matched = [each for each in looked if each.matched]
    if args.json:
        console.show([to_json(each) for each in looked])
        return ACCEPTED if matched else NOT_ACCEPTED
    rows = [(each.task_id, f"{each.matched} of {each.subgraphs}") for each in matched]
    if rows:
        console.table(("task", "subgraphs matched"), rows)
    count, unread = sum(each.matched for each in looked), sum(each.unread for each in looked)
    console.say(
        f"The bundle matches in {count} subgraphs, which belong to {len(matched)} of the {len(looked)} tasks searched."
    )
    if unread:
        console.tell(f"Warning: {unread} subgraphs could not be read or rewritten.")
    return ACCEPTED if matched else NOT_ACCEPTED


def corpus_export(args: argparse.Namespace, console: Console) -> int:
    corpus = corpus_of(console.settings)
    if args.harbor:
        from passnet_core.training.harbor import write_harbor_task

        references, problems = read_references(console.settings.data / "bundles")
        for problem in problems:
            console.tell(f"Warning: {problem}")
        task = corpus.task(args.task)
        solution = next((each.bundle for each in references if task.id in each.task_ids), None)
        folder = write_harbor_task(task, Path(args.folder), solution, read_shapes(corpus.folders))
    else:
        folder = corpus.export(args.task, Path(args.folder))
    console.answer(args.json, {"task": args.task, "folder": str(folder)}, f"Wrote {folder}.")
    return ACCEPTED


def add_commands(commands: Any) -> None:
    """Declare the group corpus."""
    corpus = group(commands, "corpus", "browse, import, cut and export tasks")
    listing = command(corpus, "list", corpus_list, "list the tasks of the corpus")
    listing.add_argument(
        "--family", choices=("single-operator", "fusible", "typical"), help="only tasks of this family"
    )
    listing.add_argument("--split", metavar="NAME", help="only tasks of this split, such as learn")
    listing.add_argument(
        "--search", default="", metavar="TEXT",
        help='only tasks that match this search, such as "bert 128x768 layer_norm -> linear"',
    )  # fmt: skip
    showing = command(
        corpus, "show", corpus_show, "show one task: its subgraphs, their inputs, and the source of the first"
    )
    showing.add_argument("task", metavar="TASK_OR_DIR", help=TASK)
    importing = command(corpus, "import", corpus_import, "import every task below a folder in PassNet's layout")
    importing.add_argument("folder", metavar="DIR", help="the folder; nothing in it is executed")
    importing.add_argument(
        "--list", metavar="FILE", help="only the folders that this file names, one per line, relative to DIR"
    )
    loading = command(corpus, "download", corpus_download, "download a dataset from the Hugging Face Hub")
    loading.add_argument("dataset", metavar="OWNER/NAME", help="the dataset's name on the Hub")
    loading.add_argument(
        "--revision", default="main", metavar="REV", help="branch, tag or commit (default: %(default)s)"
    )
    loading.add_argument(
        "--yes", action="store_true", help="download; without this flag, only print the size and the destination"
    )
    cutting = command(corpus, "cut", corpus_cut, "cut whole models into tasks, by what TorchInductor fuses")
    cutting.add_argument(
        "model",
        nargs="+",
        metavar="TASK_OR_DIR",
        help="a task whose subgraphs are whole models, or a folder of such tasks",
    )
    add_number(cutting, "--limit", 1800.0, "SECONDS", "time limit per model")
    matching = command(corpus, "matches", corpus_matches, "list the tasks in which a bundle matches")
    matching.add_argument("--bundle", required=True, metavar="DIR", help=BUNDLE)
    matching.add_argument("--search", default="", metavar="TEXT", help="only tasks that match this search")
    exporting = command(corpus, "export", corpus_export, "write a task to DIR/TASK in PassNet's layout")
    exporting.add_argument("task", metavar="TASK", help="the task's name")
    exporting.add_argument("folder", metavar="DIR", help="the folder in which to create the folder TASK")
    exporting.add_argument(
        "--harbor", action="store_true", help="write a task for Harbor instead, in which an agent writes the passes"
    )
