"""Runs as JSON lines in the format "passnet-run": a header with the run, its bundles, then its outcomes in order."""

import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from passnet_core import outside
from passnet_core.errors import BadInput
from passnet_core.records import Bundle, Outcome, Run, from_json, to_json
from passnet_core.store.rows import RunFile, RunSummary

FORMAT = "passnet-run"
VERSION = 1
IMPORTED = ", imported"
"""How the origin of a run that was imported from a file ends."""

T = TypeVar("T")


def written(file: RunFile) -> str:
    """Return the text of one run. A file may contain the texts of several runs, one after the other."""
    header = {
        "format": FORMAT,
        "version": VERSION,
        "run": to_json(file.run),
        "bundles": len(file.bundles),
        "outcomes": len(file.outcomes),
    }
    lines: list[dict[str, Any]] = [header]
    lines += [{"bundle": to_json(bundle)} for bundle in file.bundles]
    lines += [{"outcome": to_json(outcome)} for outcome in file.outcomes]
    return "".join(json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n" for line in lines)


def summary_to_json(each: RunSummary) -> dict[str, Any]:
    """A run in one line, in the documented JSON form."""
    return {
        "run": each.run.id,
        "label": each.run.label,
        "started_at": each.run.started_at,
        "solver": each.run.solver.value,
        "bundle_digest": each.run.bundle_digest,
        "tasks": list(each.run.task_ids),
        "stage": each.run.spec.stage.value,
        "capture": each.run.spec.capture.value,
        "profile": each.run.spec.profile.value,
        "baseline": each.run.spec.baseline.value,
        "recorded": each.run.recorded,
        "device": each.device,
        "accepted": each.accepted,
        "total": each.total,
        "verdicts": {verdict.value: count for verdict, count in each.counts},
        "median_speedup": each.median_speedup,
    }


def read(lines: Iterable[str]) -> Iterator[RunFile]:
    """Yield the runs of a file, each checked to be complete. Raises BadInput naming the line."""
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    empty = True
    for number, line in numbered:
        empty = False
        yield _run_file(number, line, numbered)
    if empty:
        raise BadInput("The run file is empty. Export the run again.")


def read_file(path: Path, known: Collection[str] = ()) -> tuple[str, tuple[RunFile, ...]]:
    """Read a compressed file. Return its digest and its runs; no runs if the digest is known. Raises BadInput."""
    try:
        content = outside.file_bytes(path)
        digest = hashlib.sha256(content).hexdigest()[:20]
        if digest in known:
            return digest, ()
        with gzip.open(io.BytesIO(content), "rt", encoding="utf-8") as lines:
            return digest, tuple(read(lines))
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise BadInput(f"it cannot be read ({error}). Restore it from the project's repository.") from error


def read_outcomes(path: Path) -> Iterator[Outcome]:
    """Yield the outcomes of a file to which each was appended as a line of JSON when it came; none if there is no such
    file. A line that is empty, or was cut short when its process ended, counts as none."""
    for line in outside.file_bytes(path).splitlines() if path.exists() else ():
        try:
            yield from_json(Outcome, outside.from_json_text(line))
        except (ValueError, BadInput):
            continue


def write_file(path: Path, files: Iterable[RunFile]) -> None:
    """Write runs into a compressed file. The same runs give the same bytes."""
    content = "".join(written(file) for file in files).encode()
    path.write_bytes(gzip.compress(content, compresslevel=9, mtime=0))


def origin(file: RunFile) -> str:
    """Return where and when a run was made, in words, for its field `recorded`."""
    devices = sorted({each.environment.device for each in file.outcomes if each.environment is not None})
    return f"{', '.join(devices) or 'unknown device'}, {file.run.started_at[:10]}{IMPORTED}"


def _run_file(number: int, line: str, rest: Iterator[tuple[int, str]]) -> RunFile:
    header = _parsed(number, line)
    if header.get("format") != FORMAT:
        raise BadInput(
            f'Line {number} is not the header of a run: it lacks "format": "{FORMAT}". Export the run again.'
        )
    if header.get("version") != VERSION:
        raise BadInput(
            f"Line {number}: the run has version {header.get('version')!r} of the format, but this playground reads "
            f"version {VERSION}. Export the run with a playground of this version, or install a newer one here."
        )
    run = _record(Run, header.get("run"), number)
    bundles = tuple(_record(Bundle, data, at) for at, data in _listed(rest, header, "bundle", number))
    outcomes: list[Outcome] = []
    for at, data in _listed(rest, header, "outcome", number):
        outcome = _record(Outcome, data, at)
        _check_place(run, len(outcomes), outcome, at)
        outcomes.append(outcome)
    if len(outcomes) != len(run.job_digests):
        raise BadInput(f"Line {number}: the run has {len(run.job_digests)} jobs, but {len(outcomes)} outcomes follow.")
    missing = {run.bundle_digest} - {bundle.digest for bundle in bundles} - {None}
    if missing:
        raise BadInput(f"Line {number}: the run's bundle {missing.pop()} does not follow, or its code was changed.")
    return RunFile(run, bundles, tuple(outcomes))


def _listed(
    rest: Iterator[tuple[int, str]], header: dict[str, Any], what: str, number: int
) -> Iterator[tuple[int, Any]]:
    """Yield (line number, data) of the next bundles or outcomes, as many as the header announces."""
    count = header.get(f"{what}s")
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise BadInput(f'Line {number}: "{what}s" must be the number of {what}s, not {count!r}.')
    for found in range(count):
        at, line = next(rest, (None, ""))
        if at is None:
            raise BadInput(f"The file ends after {found} of {count} {what}s: it was cut off. Export the run again.")
        data = _parsed(at, line)
        if set(data) != {what}:
            raise BadInput(f"Line {at} must contain one {what}. Export the run again.")
        yield at, data[what]


def _check_place(run: Run, position: int, outcome: Outcome, number: int) -> None:
    if position >= len(run.job_digests) or outcome.job_digest != run.job_digests[position]:
        raise BadInput(f"Line {number}: this outcome does not belong to job {position + 1} of the run.")
    if outcome.bundle_digest != run.bundle_digest or outcome.solver is not run.solver or outcome.spec != run.spec:
        raise BadInput(f"Line {number}: this outcome has a different bundle, solver or spec from its run.")


def _record(kind: type[T], data: Any, number: int) -> T:
    try:
        return from_json(kind, data)
    except BadInput as error:
        raise BadInput(f"Line {number}: {error}") from error


def _parsed(number: int, line: str) -> dict[str, Any]:
    try:
        data = outside.from_json_text(line)
    except ValueError as error:
        raise BadInput(f"Line {number} is not JSON: {error}.") from error
    if not isinstance(data, dict):
        raise BadInput(f"Line {number} must be a JSON object.")
    return data
