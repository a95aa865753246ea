"""Download a dataset from the Hugging Face Hub: show first what it is and where it goes, resume after an interruption,
and verify the files against the Hub's checksums. Nothing here executes the files."""

import contextlib
import fcntl
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from passnet_core.errors import BadInput, InfrastructureError

FOLDER = "datasets"
"""The folder below PASSNET_HOME for downloaded datasets."""

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2", ".tar.zst", ".7z")

ATTEMPTS = 2
"""How often a file is downloaded before a wrong checksum is an error."""


@dataclass(frozen=True)
class Offer:
    """What a download would bring. commit: the full hash. left_files, left_bytes: not downloaded yet. free_bytes: on
    the disk with the folder."""

    dataset: str
    commit: str
    host: str
    folder: str
    files: int
    bytes: int
    left_files: int
    left_bytes: int
    free_bytes: int


@dataclass(frozen=True)
class Fetched:
    """The result of a download. files: how many were verified. archives: the paths of files to unpack by hand."""

    folder: str
    files: int
    archives: tuple[str, ...]


def offer(dataset: str, revision: str, home: Path) -> Offer:
    """Ask the Hub what a download would bring; download nothing. revision: a branch, a tag or a commit.
    Raises BadInput if there is no such dataset or revision, InfrastructureError if the Hub cannot be reached."""
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile

    api = HfApi()
    with _explained(dataset, revision, api.endpoint):
        commit = str(api.dataset_info(dataset, revision=revision).sha)
        tree = api.list_repo_tree(dataset, recursive=True, revision=commit, repo_type="dataset")
        files = [each for each in tree if isinstance(each, RepoFile)]
        folder = home / FOLDER / dataset.replace("/", "--")
        left = [each for each in files if not _has_size(folder / each.path, each.size)]
        return Offer(
            dataset,
            commit,
            api.endpoint,
            str(folder),
            len(files),
            sum(each.size for each in files),
            len(left),
            sum(each.size for each in left),
            shutil.disk_usage(_existing(folder)).free,
        )


def fetch(offered: Offer) -> Fetched:
    """Download the missing files, and verify all. After an interruption, a second call resumes at the incomplete file.
    Raises BadInput if the disk has no room or another process downloads the same dataset, InfrastructureError if the
    Hub cannot be reached or a checksum is still wrong after ATTEMPTS downloads."""
    from huggingface_hub import HfApi, snapshot_download

    if offered.left_bytes > offered.free_bytes:
        raise BadInput(
            f"The download needs {human(offered.left_bytes)}, but the disk with {offered.folder} has only"
            f" {human(offered.free_bytes)} free. Free some space, or set PASSNET_HOME to a folder on a larger disk."
        )
    api, folder, commit = HfApi(), Path(offered.folder), offered.commit
    with _explained(offered.dataset, commit, api.endpoint), _locked(folder):
        for _ in range(ATTEMPTS):
            snapshot_download(offered.dataset, repo_type="dataset", revision=commit, local_dir=folder)
            found = api.verify_repo_checksums(offered.dataset, repo_type="dataset", revision=commit, local_dir=folder)
            wrong = [each["path"] for each in found.mismatches]
            if not wrong and not found.missing_paths:
                archives = tuple(
                    sorted(str(path) for path in folder.rglob("*") if path.name.lower().endswith(ARCHIVES))
                )
                return Fetched(str(folder), found.checked_count, archives)
            for name in wrong:
                (folder / name).unlink(missing_ok=True)
    names = ", ".join([*wrong, *found.missing_paths][:3])
    raise InfrastructureError(
        f"Files missing or with wrong checksums after {ATTEMPTS} downloads from {offered.host}, in all"
        f" {len(wrong) + len(found.missing_paths)}: {names}. Wrong files were deleted. Try again later."
    )


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a download folder, and remove the incomplete files of a process that was killed.
    Raises BadInput if another process holds the lock."""
    folder.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f".{folder.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput(f"Another process is already downloading into {folder}. Wait until it ends.") from None
        for left in folder.joinpath(".cache").rglob("*.incomplete"):
            left.unlink(missing_ok=True)
        yield


def human(count: int) -> str:
    """Format a number of bytes for people."""
    size, units = float(count), ["bytes", "kB", "MB", "GB", "TB"]
    while size >= 1000 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{size:.3g} {units[0]}" if units[0] != "bytes" else f"{count} bytes"


def _has_size(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size
    except OSError:
        return False


def _existing(folder: Path) -> Path:
    """Return the folder, or its nearest parent that exists."""
    return folder if folder.exists() or folder == folder.parent else _existing(folder.parent)


@contextlib.contextmanager
def _explained(dataset: str, revision: str, host: str) -> Iterator[None]:
    """Turn the exceptions of the Hub's library into errors that say what to do."""
    from huggingface_hub import errors

    try:
        yield
    except errors.GatedRepoError as error:
        raise BadInput(
            f"Dataset {dataset} is restricted. Accept its terms on its page at {host}, and set HF_TOKEN to your token."
        ) from error
    except errors.RepositoryNotFoundError as error:
        raise BadInput(f"There is no dataset {dataset} at {host}. If it is private, set HF_TOKEN.") from error
    except errors.RevisionNotFoundError as error:
        raise BadInput(f"Dataset {dataset} has no revision {revision!r}. Omit --revision for the newest.") from error
    except errors.HFValidationError as error:
        raise BadInput(f"{dataset!r} is not the name of a dataset. Names have the form OWNER/NAME.") from error
    except (OSError, RuntimeError, errors.HTTPError) as error:
        words = str(error).strip().partition("\n")[0][:300] or type(error).__name__
        raise InfrastructureError(
            f"{host} does not answer as expected: {words}. Downloaded files are kept; run the same command to resume."
        ) from error
