"""python -m tests.adversarial judges the whole corpus, and says whether every file gets the verdict in its header.

The exit status is 1 if a file does not. --table FILE writes the results as Markdown between the markers of that device.
Several GPUs share the work: each judges its --share and --saves the outcomes, and --read joins the files.
"""

import argparse
import fnmatch
import json
import math
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from passnet_core.errors import BadInput
from passnet_core.records import Device, Outcome, Stage, from_json, to_json
from tests.adversarial.corpus import Entry, entries
from tests.adversarial.judging_files import judged
from tests.real_judge import running_backend
from tests.shares import share_of
from tools.recording import thinned

KEPT_SAMPLES = 5

COLUMNS = ("family", "files", "caught", "accepted honest", "not as stated", "verdict changes")


@dataclass
class Result:
    """The outcomes of one file, one per repeat."""

    entry: Entry
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def deviations(self) -> list[str]:
        return [problem for each in self.outcomes if (problem := self.entry.deviation(each))]

    @property
    def verdicts(self) -> list[str]:
        return list(dict.fromkeys(each.verdict.value for each in self.outcomes))

    @property
    def changed(self) -> bool:
        """Whether repeats disagree. The speed of an accepted pass may vary, but not that it is accepted."""
        return len({"accepted" if each.verdict.accepted else each.verdict.value for each in self.outcomes}) > 1


def main(arguments: Sequence[str]) -> int:
    asked = _arguments(arguments)
    device = Device(asked.device)
    chosen = [
        each
        for each in entries()
        if fnmatch.fnmatch(f"{each.family}/{each.name}", asked.only)
        and (device is Device.CUDA or not each.needs_gpu)
        and each.job(device).spec.stage.value in asked.stage
    ]
    if asked.table is not None and asked.only != "*":
        print("--table writes the results of the whole corpus. Leave out --only, or --table.", file=sys.stderr)
        return 2
    if not chosen:
        print(f"No file of the corpus matches {asked.only!r} on {device.value}.", file=sys.stderr)
        return 2
    start = time.monotonic()
    if asked.read:
        results = _read(asked.read, chosen)
    else:
        results = _judged(chosen[asked.share], device, asked.repeats, asked.save, asked.within)
    print(f"\n{_plain(_rows(results))}\n{len(results)} files in {time.monotonic() - start:.0f} s on {device.value}.")
    if asked.table is not None:
        _write_table(asked.table, device, results)
    return 1 if any(each.deviations or each.changed for each in results) else 0


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.adversarial", description=__doc__)
    parser.add_argument("--device", choices=[each.value for each in Device], default="cpu")
    parser.add_argument("--repeats", type=int, default=1, metavar="N", help="judge each file N times, on new inputs")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="such as 'values/*' or '*/zeros'")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write the tables into this Markdown file")
    stages = [Stage.VERIFY.value, Stage.MEASURE.value]
    parser.add_argument("--stage", nargs="+", choices=stages, default=stages, help="judge files that end there")
    parser.add_argument("--share", default="1/1", metavar="N/OF", help="judge every OF-th file, from the N-th on")
    parser.add_argument("--within", type=float, default=math.inf, metavar="SECONDS", help="begin no file after this")
    parser.add_argument("--save", type=Path, metavar="FILE", help="append each outcome to this file, as JSON lines")
    parser.add_argument("--read", type=Path, nargs="+", metavar="FILE", help="judge nothing; read saved outcomes")
    asked = parser.parse_args(arguments)
    if asked.repeats < 1:
        parser.error("--repeats is at least 1")
    try:
        asked.share = share_of(asked.share)
    except BadInput as error:
        parser.error(str(error))
    return asked


def _judged(chosen: Sequence[Entry], device: Device, repeats: int, save: Path | None, within: float) -> list[Result]:
    """Judge every file in order, repeat after repeat, so that leftovers of one file would affect the others."""
    results = [Result(each) for each in chosen]
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="adversarial-") as home, running_backend(Path(home)) as backend:
        for repeat in range(repeats):
            for result in results:
                start = time.monotonic()
                if start - begun > within:
                    break
                outcome = judged(backend, result.entry, device)
                result.outcomes.append(outcome)
                _print_line(result.entry, outcome, time.monotonic() - start, repeat)
                if save is not None:
                    _append(save, result.entry, outcome)
    return [each for each in results if each.outcomes]


def _append(file: Path, entry: Entry, outcome: Outcome) -> None:
    saved = {"file": f"{entry.family}/{entry.name}", "outcome": to_json(thinned(outcome, KEPT_SAMPLES))}
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(saved) + "\n")


def _read(files: Sequence[Path], chosen: Sequence[Entry]) -> list[Result]:
    """Read the saved outcomes of the chosen files, in their order."""
    results = {f"{each.family}/{each.name}": Result(each) for each in chosen}
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            saved = json.loads(line)
            if saved["file"] in results:
                results[saved["file"]].outcomes.append(from_json(Outcome, saved["outcome"]))
    return [each for each in results.values() if each.outcomes]


def _print_line(entry: Entry, outcome: Outcome, seconds: float, repeat: int) -> None:
    deviation = entry.deviation(outcome)
    sign = "ok  " if not deviation else "FAIL"
    again = f" (repeat {repeat + 1})" if repeat else ""
    print(
        f"{sign} {seconds:5.1f} s  {entry.family}/{entry.name}: {deviation or outcome.verdict.value}{again}", flush=True
    )


def _rows(results: Sequence[Result]) -> list[tuple[str, ...]]:
    families = list(dict.fromkeys(each.entry.family for each in results))
    rows = [_row(family, [each for each in results if each.entry.family == family]) for family in families]
    return [*rows, _row("all", results)]


def _row(family: str, results: Sequence[Result]) -> tuple[str, ...]:
    fine = [each for each in results if not each.deviations]
    counts = (
        len(results),
        sum(not each.entry.honest for each in fine),
        sum(each.entry.honest for each in fine),
        len(results) - len(fine),
        sum(each.changed for each in results),
    )
    return (family, *map(str, counts))


def _plain(rows: Sequence[tuple[str, ...]]) -> str:
    table = [COLUMNS, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(COLUMNS))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if not at else cell.rjust(width) for at, (cell, width) in enumerate(zip(row, widths))
        )
        for row in table
    )


def _write_table(file: Path, device: Device, results: Sequence[Result]) -> None:
    """Replace the text between the device's markers. Raises BadInput if they are missing."""
    begin, end = f"<!-- corpus {device.value} -->", f"<!-- end of corpus {device.value} -->"
    text = file.read_text(encoding="utf-8")
    if text.count(begin) != 1 or text.count(end) != 1:
        raise BadInput(f"{file} needs the lines {begin!r} and {end!r} once each. The table goes between them.")
    before, _, rest = text.partition(begin)
    after = rest.partition(end)[2]
    file.write_text(f"{before}{begin}\n{_markdown(device, results)}\n{end}{after}", encoding="utf-8")


def _markdown(device: Device, results: Sequence[Result]) -> str:
    environment = next((each.environment for result in results for each in result.outcomes if each.environment), None)
    where = (
        f"{environment.device}, torch {environment.torch}, Triton {environment.triton}" if environment else "unknown"
    )
    today = datetime.now(UTC).date().isoformat()
    repeats = min((len(each.outcomes) for each in results), default=0)
    times = f"at least {repeats} runs of each file" if repeats > 1 else "one run of each file"
    lines = [f"{today}, {device.value} ({where}), {times}.", "", _line(COLUMNS), _line(["---", *["---:"] * 5])]
    lines += [_line(row) for row in _rows(results)]
    lines += ["", _line(["file", "what it tries", "verdict"]), _line(["---"] * 3)]
    lines += [_line([f"{each.entry.family}/{each.entry.name}", each.entry.tries, _got(each)]) for each in results]
    return "\n".join(lines)


def _got(result: Result) -> str:
    found = ", ".join(result.verdicts)
    return found if not result.deviations else f"**{found}**, expected {result.entry.expected}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', 'or') for cell in cells)} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
