"""The group runs (list, export, bundle, reproduce, import) and the command report, on the runs in the store."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from passnet_core import outside
from passnet_core.bundles.launcher import with_launcher
from passnet_core.bundles.reading import judged_of, write_bundle
from passnet_core.cli.console import ACCEPTED, MOST_LISTED, Console
from passnet_core.cli.parser import add_number, command, group, require_positive
from passnet_core.errors import BadInput, UnknownItem
from passnet_core.store.exchange import summary_to_json


def runs_list(args: argparse.Namespace, console: Console) -> int:
    require_positive(args, "limit")
    with console.service() as service:
        summaries = service.runs(min(args.limit, MOST_LISTED), args.task)
    rows = [
        (each.run.id, each.run.started_at[:19], each.run.solver.value, each.run.spec.stage.value,
         f"{each.accepted}/{each.total}", "" if each.median_speedup is None else f"{each.median_speedup:.3f}",
         each.device + (" (recorded)" if each.run.recorded else ""), ", ".join(each.run.task_ids[:3]))
        for each in summaries
    ]  # fmt: skip
    names = ("run", "started", "solver", "stage", "accepted", "median speedup", "device", "tasks")
    console.listing(args.json, [summary_to_json(each) for each in summaries], names, rows)
    return ACCEPTED


def runs_export(args: argparse.Namespace, console: Console) -> int:
    with console.service() as service:
        text = service.export_run(args.run)
    return _written(text, args.file, console)


def runs_reproduce(args: argparse.Namespace, console: Console) -> int:
    from passnet_core.reports.reproducing import reproducer_of

    with console.service() as service:
        outcomes = [each for each in service.outcomes(args.run) if args.subgraph in ("", each.subgraph_id)]
        if not outcomes:
            raise UnknownItem(f"Run {args.run} has no outcome on a subgraph {args.subgraph!r}.")
        text = reproducer_of(service, outcomes[0])
    return _written(text, args.file, console)


def runs_bundle(args: argparse.Namespace, console: Console) -> int:
    with console.service() as service:
        outcomes = service.outcomes(args.run)
        digests = {each.bundle_digest for each in outcomes if each.bundle_digest}
        if len(digests) != 1:
            raise BadInput(f"Run {args.run} judged {len(digests)} bundles. Name a run of one.")
        bundle = service.bundle(digests.pop())
        tasks = [service.corpus.task(task_id) for task_id in dict.fromkeys(each.task_id for each in outcomes)]
        judged = [each for task in tasks for each in judged_of(task, outcomes)]
    write_bundle(with_launcher(bundle) if args.launcher else bundle, Path(args.folder), judged)
    console.tell(f"Wrote {args.folder}: {len(bundle.passes)} passes, accepted on {len(judged)} subgraphs.")
    return ACCEPTED


def _written(text: str, file: str | None, console: Console) -> int:
    """Write the text to the file, or to standard output if there is none."""
    if file is None:
        console.out.write(text)
        return ACCEPTED
    write(text, Path(file))
    console.tell(f"Wrote {file}.")
    return ACCEPTED


def read(named: str | Path, wanted: str) -> str:
    """Read a file. wanted: which one to name instead. Raises BadInput if that is not possible."""
    try:
        return outside.file_text(Path(named))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"'{named}' cannot be read: {outside.cause(error)}. Name {wanted}.") from error


def write(text: str, path: Path) -> None:
    """Write a file. Raises BadInput if that is not possible."""
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise BadInput(f"'{path}' cannot be written: {error.strerror}. Name another file.") from error


def runs_import(args: argparse.Namespace, console: Console) -> int:
    text = read(args.file, "a file that runs export wrote")
    with console.service() as service:
        run_id = service.import_run(text)
    console.answer(args.json, {"run": run_id}, f"Imported run {run_id}.")
    return ACCEPTED


def report(args: argparse.Namespace, console: Console) -> int:
    from passnet_core.reports.gathering import run_report

    with console.service() as service:
        text = run_report(service, args.run)
    path = Path(args.out)
    write(text, path)
    data = {"run": args.run, "file": args.out, "bytes": path.stat().st_size}
    console.answer(args.json, data, f"Wrote {path}. Open it in any browser; it needs neither the app nor a network.")
    return ACCEPTED


def add_commands(commands: Any) -> None:
    """Declare the group runs, and report."""
    runs = group(commands, "runs", "list, export, reproduce and import runs, and get their bundles")
    listing = command(runs, "list", runs_list, "list runs, newest first")
    listing.add_argument("--task", metavar="TASK", help="only runs on this task")
    add_number(listing, "--limit", 200, "N", "list at most N runs")

    def of_a_run(name: str, run: Callable[[argparse.Namespace, Console], int], summary: str) -> argparse.ArgumentParser:
        made = command(runs, name, run, summary, as_json=False)
        made.add_argument("run", metavar="ID", help="the run's id, as runs list prints it")
        return made

    exporting = of_a_run("export", runs_export, "write a run as one JSONL file")
    exporting.add_argument("file", metavar="FILE", nargs="?", help="the file to write (default: standard output)")
    bundling = of_a_run(
        "bundle", runs_bundle, "write a run's bundle as a folder, with the subgraphs on which it was accepted"
    )
    bundling.add_argument("folder", metavar="FOLDER", help="the folder to write")
    bundling.add_argument(
        "--launcher",
        action="store_true",
        help="add a helper that keeps compiled kernels, for use where replacement functions themselves are called",
    )
    reproducing = of_a_run(
        "reproduce", runs_reproduce, "write an outcome as one Python file that needs torch and Triton only"
    )
    reproducing.add_argument("file", metavar="FILE", nargs="?", help="the file to write (default: standard output)")
    reproducing.add_argument(
        "--subgraph", default="", metavar="SUBGRAPH", help="the outcome on this subgraph (default: the run's first)"
    )
    importing = command(runs, "import", runs_import, "import a run that runs export wrote")
    importing.add_argument("file", metavar="FILE", help="the exported file")

    reporting = command(commands, "report", report, "write a run as one HTML file that opens without the app")
    reporting.add_argument("run", metavar="RUN", help="the run's id, as runs list prints it")
    reporting.add_argument("--out", required=True, metavar="FILE.html", help="the file to write")
