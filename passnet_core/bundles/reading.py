"""Read and write a bundle as a folder: Python files, and a JSON list that orders its passes. Nothing is imported."""

import errno
import io
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from passnet_core import outside
from passnet_core.errors import BadInput, InfrastructureError
from passnet_core.records import RIGHT, Bundle, JudgedSubgraph, Outcome, PassFile, Task, from_json, to_json

ORDER_FILE = "sorted_output_pass_rule_names.json"
JUDGED_FILE = "judged.json"
"""Beside a bundle: the subgraphs on which the judge has accepted it."""
LARGEST_FILE_BYTES = 1_000_000
"""Most bytes of one file of a bundle."""


def read_bundle(folder: Path, author: str = "") -> Bundle:
    """Read the bundle in a folder, or in its pass_dir/: passes in the order of the JSON list, other *.py as helpers.

    Raises BadInput, which names the file, the problem and the remedy."""
    folder = Path(folder)
    if not folder.is_dir():
        what = "is a file, not a folder" if folder.exists() else "does not exist"
        raise BadInput(f"The bundle folder '{folder}' {what}. Name the folder that holds {ORDER_FILE}.")
    if not (folder / ORDER_FILE).exists() and (folder / "pass_dir").is_dir():
        folder = folder / "pass_dir"
    try:
        files = {path.name: path for path in sorted(folder.glob("*.py")) if path.is_file()}
    except OSError as error:
        raise BadInput(f"The bundle folder '{folder}' cannot be read: {error.strerror}.") from error
    names = _order(folder, files)
    return Bundle(
        passes=tuple(PassFile(name, _text(files[name], folder)) for name in names),
        helpers=tuple(PassFile(name, _text(path, folder)) for name, path in files.items() if name not in names),
        author=author,
    )


def folder_files(bundle: Bundle, judged: Sequence[JudgedSubgraph] = ()) -> dict[str, str]:
    """The texts of a bundle's folder by file name. judged: on what it was accepted, as far as that is known."""
    files = {file.name: file.code for file in bundle.files}
    files[ORDER_FILE] = json.dumps([file.name.removesuffix(".py") for file in bundle.passes], indent=2) + "\n"
    if judged:
        files[JUDGED_FILE] = json.dumps({"bundle": bundle.digest, "judged": to_json(tuple(judged))}) + "\n"
    return files


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    """Files, by name, as a ZIP archive."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def judged_of(task: Task, outcomes: Iterable[Outcome]) -> tuple[JudgedSubgraph, ...]:
    """Those of a task's subgraphs on which these outcomes accept a bundle by its values."""
    return tuple(
        JudgedSubgraph(task.subgraph(each.subgraph_id), (each.spec.device,))
        for each in outcomes
        if each.task_id == task.id and each.verdict in RIGHT
    )


def write_bundle(bundle: Bundle, folder: Path, judged: Sequence[JudgedSubgraph] = ()) -> None:
    """Write the bundle so that read_bundle gives it back, and read_judged on what it was accepted.

    Raises BadInput if a file name leaves the folder or the folder holds other Python files, InfrastructureError if
    writing fails."""
    folder = Path(folder)
    for problem in naming_problems(bundle):
        raise BadInput(problem)
    names = {file.name for file in bundle.files}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        others = sorted(path.name for path in folder.glob("*.py") if path.name not in names)
        if others:
            raise BadInput(
                f"The folder '{folder}' already holds {', '.join(others[:5])}, which would become part of the "
                "bundle. Choose an empty folder."
            )
        for name, text in folder_files(bundle, judged).items():
            (folder / name).write_text(text, encoding="utf-8", newline="")
    except (OSError, UnicodeEncodeError) as error:
        raise InfrastructureError(f"The bundle could not be written to '{folder}': {error}.") from error


def read_judged(bundle: Bundle, folder: Path) -> tuple[JudgedSubgraph, ...]:
    """The subgraphs on which the bundle that was read from a folder was accepted; none if nothing there says so of it,
    as it is. Raises BadInput."""
    path = next((each for each in (folder / JUDGED_FILE, folder / "pass_dir" / JUDGED_FILE) if each.is_file()), None)
    if path is None:
        return ()
    try:
        said = outside.from_json_text(outside.file_text(path))
        judged = tuple(from_json(JudgedSubgraph, each) for each in said["judged"])
        return judged if said["bundle"] == bundle.digest else ()
    except (OSError, ValueError, LookupError, TypeError, BadInput) as error:
        raise BadInput(f"'{path}' cannot be read: {error}. Remove it, or export the bundle again.") from error


def naming_problems(bundle: Bundle) -> list[str]:
    """Return one sentence for each file of the bundle whose name is not plain, unique and ending in .py."""
    problems = []
    seen: set[str] = set()
    for file in bundle.files:
        if not is_plain_name(file.name):
            problems.append(f"{file.name!r} is not a file name for a bundle. Use a plain name that ends in .py.")
        elif file.name in seen:
            problems.append(f"Two files of the bundle are named {file.name!r}. Give each its own name.")
        seen.add(file.name)
    return problems


def is_plain_name(name: str) -> bool:
    """Whether a name is that of a Python file directly in a folder, on every operating system."""
    stem = name.removesuffix(".py")
    return stem != name and bool(stem) and not stem.startswith(".") and all(c.isalnum() or c in "_-." for c in stem)


def _order(folder: Path, files: dict[str, Path]) -> list[str]:
    """Return the file names of the passes, in the order of the JSON list."""
    path = folder / ORDER_FILE
    example = json.dumps([name.removesuffix(".py") for name in files][:3] or ["MyPass"])
    if not path.is_file():
        found = f"It holds {', '.join(list(files)[:5])}. " if files else "It holds no Python file either. "
        raise BadInput(
            f"The bundle folder '{folder}' lacks {ORDER_FILE}. {found}"
            f"Add that file with the names of the passes in order, such as {example}."
        )
    try:
        listed = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"'{path}' cannot be read as JSON: {error}. It must be a list of names: {example}.") from error
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
        raise BadInput(f"'{path}' must be a JSON list of pass names, such as {example}.")
    if not listed:
        raise BadInput(f"'{path}' names no pass. Write the names of the passes in order, such as {example}.")
    names = [f"{name.removesuffix('.py')}.py" for name in listed]
    for name, as_listed in zip(names, listed):
        if not is_plain_name(name):
            raise BadInput(
                f"'{path}' names {as_listed!r}, which is not a plain file name. A pass is a file beside that list."
            )
        if name not in files:
            here = ", ".join(list(files)[:5]) or "no Python file"
            raise BadInput(f"'{path}' names {as_listed!r}, but there is no {name} beside it (found: {here}).")
        if names.count(name) > 1:
            raise BadInput(f"'{path}' names {as_listed!r} twice. Each pass runs once: remove one of them.")
    return names


def _text(path: Path, folder: Path) -> str:
    root = folder.resolve()
    if not path.resolve().is_relative_to(root):
        raise BadInput(f"'{path}' is a link that leaves the bundle folder. Put a copy of the file there.")
    try:
        # the ends of lines stay as they are: they are part of the digest
        return outside.file_bytes(path, LARGEST_FILE_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(
            f"'{path}' is not UTF-8 text: {error.reason} at byte {error.start}. Save it as UTF-8."
        ) from error
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise BadInput(
                f"'{path}' is larger than {LARGEST_FILE_BYTES:,} bytes, the limit for one file of a bundle."
            ) from error
        raise BadInput(f"'{path}' cannot be read: {error.strerror}.") from error
