"""Fetches a dataset from the Hugging Face Hub: says first what that is and where it goes, goes on where it was when it
was interrupted, and verifies what came against the Hub's checksums. What comes is files, which nothing here executes.
"""

import contextlib
import fcntl
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from passnet_core.errors import BadInput, InfrastructureError

FOLDER = "datasets"

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2", ".tar.zst", ".7z")

ATTEMPTS = 2
"""How often what is not what the Hub says is fetched."""


@dataclass(frozen=True)
class Offer:
    """What would be fetched. commit: of the dataset, in full. left: what is not there yet. free: on that disk."""

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
    """What lies in the folder now, all of it verified. archives: files that have to be unpacked by hand."""

    folder: str
    files: int
    archives: tuple[str, ...]


def offer(dataset: str, revision: str, home: Path) -> Offer:
    """Asks the Hub what there is; fetches nothing. revision: a branch, a tag or a commit.

    Raises BadInput where there is no such dataset or revision, InfrastructureError where the Hub cannot be reached.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile

    api = HfApi()
    with _explained(dataset, revision, api.endpoint):
        commit = str(api.dataset_info(dataset, revision=revision).sha)
        tree = api.list_repo_tree(dataset, recursive=True, revision=commit, repo_type="dataset")
        files = [each for each in tree if isinstance(each, RepoFile)]
        folder = home / FOLDER / dataset.replace("/", "--")
        left = [each for each in files if not _is_there(folder / each.path, each.size)]
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
    """Fetches what is not there yet, file by file, and verifies everything. Interrupted, it goes on when called again,
    with the file that was not whole.

    Raises BadInput where the disk has no room or another fetches it too, InfrastructureError where the Hub cannot be
    reached, or where what it sends is not what it says, also when fetched anew.
    """
    from huggingface_hub import HfApi, snapshot_download

    if offered.left_bytes > offered.free_bytes:
        raise BadInput(
            f"{human(offered.left_bytes)} are to be fetched, and {human(offered.free_bytes)} are free at"
            f" {offered.folder}. Make room, or set PASSNET_HOME to a larger disk."
        )
    api, folder, commit = HfApi(), Path(offered.folder), offered.commit
    with _explained(offered.dataset, commit, api.endpoint), _alone(folder):
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
        f"{len(wrong) + len(found.missing_paths)} files are not what {offered.host} says they are, also when fetched"
        f" again: {names}. They were deleted; what is right is kept. Try again later."
    )


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """While nobody else fetches into it. What one that was killed left half-way is of no use, and removed."""
    folder.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f".{folder.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadInput(f"{folder} is being fetched already. Wait for that to end.") from None
        for left in folder.joinpath(".cache").rglob("*.incomplete"):
            left.unlink(missing_ok=True)
        yield


def human(count: int) -> str:
    """A number of bytes for people."""
    size, units = float(count), ["bytes", "kB", "MB", "GB", "TB"]
    while size >= 1000 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{size:.3g} {units[0]}" if units[0] != "bytes" else f"{count} bytes"


def _is_there(path: Path, size: int) -> bool:
    try:
        return path.stat().st_size == size
    except OSError:
        return False


def _existing(folder: Path) -> Path:
    """The folder, or the nearest around it that exists."""
    return folder if folder.exists() or folder == folder.parent else _existing(folder.parent)


@contextlib.contextmanager
def _explained(dataset: str, revision: str, host: str) -> Iterator[None]:
    """What the Hub's library raises, as a sentence."""
    from huggingface_hub import errors

    try:
        yield
    except errors.GatedRepoError as error:
        raise BadInput(
            f"{dataset} is open only to those who accept its terms, on its page at {host}. Do that, and set HF_TOKEN."
        ) from error
    except errors.RepositoryNotFoundError as error:
        raise BadInput(f"There is no dataset {dataset} at {host}, or it is private: then set HF_TOKEN.") from error
    except errors.RevisionNotFoundError as error:
        raise BadInput(f"{dataset} has no revision {revision!r}. Leave --revision out for the newest.") from error
    except errors.HFValidationError as error:
        raise BadInput(f"{dataset!r} is no name of a dataset: it is OWNER/NAME.") from error
    except (OSError, RuntimeError, errors.HTTPError) as error:
        words = str(error).strip().partition("\n")[0][:300] or type(error).__name__
        raise InfrastructureError(
            f"{host} cannot be used: {words}. What was fetched so far is kept; the same command goes on from there."
        ) from error
