"""Reading what is submitted: a folder, a run file, or a link. Nothing is executed, and nothing is fetched."""

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from passnet_core import outside
from passnet_core.bundles.packing import MOST_BYTES, unpacked
from passnet_core.bundles.reading import ORDER_FILE, naming_problems, read_bundle
from passnet_core.errors import BadInput
from passnet_core.outside import quoted
from passnet_core.records import Bundle
from passnet_core.store import exchange

MOST_TASKS = 400
"""For how many tasks one submission may have bundles."""
MOST_FILES = 100
"""How many files a bundle may have."""
LARGEST_RUN_FILE = 128 << 20
"""Most bytes of a run file."""
LONGEST_LINK = 4_000_000
MOST_PARAMETERS = 50


def read_submission(source: str, task_id: str, stored: Callable[[str], Bundle]) -> dict[str, Bundle]:
    """Read what somebody names on the command line: a folder, a run file, or a link. task_id: the task, where the
    source does not say it; else "". stored: as in read_link. Returns bundles by task. Raises BadInput."""
    path = Path(source)
    if outside.is_folder(path):
        return read_folders(path, task_id)
    if len(source) <= 4096 and path.suffix == ".jsonl":
        try:
            return read_run_file(outside.file_text(path, LARGEST_RUN_FILE))
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(
                f"The run file '{path}' cannot be read: {outside.cause(error)}. Name another one."
            ) from error
    return read_link(source, task_id, stored)


def read_folders(folder: Path, task_id: str = "") -> dict[str, Bundle]:
    """Read the bundle in a folder, for the named task, or the bundles in its subfolders, each named after its task.

    Raises BadInput, which names the folder."""
    if task_id:
        return _checked({task_id: read_bundle(folder)})
    if (folder / ORDER_FILE).exists() or (folder / "pass_dir").is_dir():
        raise BadInput(f"'{folder}' is the bundle of one task. Name the task with --task.")
    try:
        places = sorted(each for each in folder.iterdir() if each.is_dir() and not each.name.startswith("."))
    except OSError as error:
        raise BadInput(f"The folder '{folder}' cannot be read: {error.strerror}.") from error
    if not places:
        raise BadInput(f"'{folder}' has no bundle. Make a folder in it for each task, named after the task.")
    _check_count(len(places))
    return _checked({place.name: read_bundle(place) for place in places})


def read_run_file(text: str) -> dict[str, Bundle]:
    """Read the bundles, and the tasks that they are for, from the text of a file of exported runs. What the file says
    of verdicts, times and seeds is read by nobody. Raises BadInput, which names the line or the run."""
    if len(text) > LARGEST_RUN_FILE:
        raise BadInput(f"A run file of a submission has at most {LARGEST_RUN_FILE >> 20} MiB. Submit fewer runs.")
    found: dict[str, Bundle] = {}
    for file in exchange.read(io.StringIO(text)):
        bundle = next((each for each in file.bundles if each.digest == file.run.bundle_digest), None)
        if bundle is None:
            raise BadInput(
                f"Run {quoted(file.run.id)} is of TorchInductor and has no passes. Submit a run of a bundle."
            )
        for task_id in file.run.task_ids:
            if task_id in found and found[task_id].digest != bundle.digest:
                raise BadInput(f"The file has two bundles for task {quoted(task_id)}. Submit the runs of one of them.")
            found[task_id] = bundle
    return _checked(found)


def read_link(text: str, task_id: str, stored: Callable[[str], Bundle]) -> dict[str, Bundle]:
    """Read the bundle of a link to the Workbench, or of the text that such a link has as `code`.

    task_id: the task, where the text is no whole link; else "". stored: returns the bundle with a digest or name that
    the link has instead of the passes, as far as it is on this server; raises UnknownItem. Raises BadInput."""
    text = text.strip()
    if not text or len(text) > LONGEST_LINK:
        raise BadInput(f"A link has 1 to {LONGEST_LINK:,} characters. Copy it again in the Workbench.")
    if "?" not in text:
        if not task_id:
            raise BadInput(f"{quoted(text)} is neither a folder, a run file nor a link with a task. Name the task too.")
        return _checked({task_id: unpacked(text)})
    try:
        chosen = {
            name: values[-1] for name, values in parse_qs(urlsplit(text).query, max_num_fields=MOST_PARAMETERS).items()
        }
    except ValueError as error:
        raise BadInput(f"The link cannot be read: {error}. Copy it again in the Workbench.") from error
    told = task_id or chosen.get("task", "")
    if not told:
        raise BadInput("The link names no task. Copy a link in the Workbench, or name the task too.")
    if "code" in chosen:
        return _checked({told: unpacked(chosen["code"])})
    if "bundle" in chosen:
        return _checked({told: stored(chosen["bundle"])})
    raise BadInput("The link has no passes. Copy a link in the Workbench, where the passes are open.")


def _checked(found: Mapping[str, Bundle]) -> dict[str, Bundle]:
    """The bundles, if they may be submitted. Raises BadInput."""
    _check_count(len(found))
    for task_id, bundle in found.items():
        problems = naming_problems(bundle)
        if not bundle.passes:
            problems.append("It has no pass.")
        if len(bundle.files) > MOST_FILES:
            problems.append(f"It has {len(bundle.files)} files, but at most {MOST_FILES} are taken.")
        if sum(len(each.code) for each in bundle.files) > MOST_BYTES:
            problems.append(f"Its files have more than {MOST_BYTES:,} characters together.")
        if problems:
            raise BadInput(f"The bundle for task {quoted(task_id)} cannot be submitted. {problems[0]}")
    return dict(found)


def _check_count(number: int) -> None:
    if number > MOST_TASKS:
        raise BadInput(f"A submission has bundles for at most {MOST_TASKS} tasks, not {number}. Submit fewer.")
