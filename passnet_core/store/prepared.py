"""A store with everything that comes with the playground, made when it is installed. The first start opens a copy."""

import contextlib
import hashlib
import os
import shutil
from pathlib import Path

from passnet_core.store.base import FILE, MIGRATIONS


def recorded_runs(data: Path) -> list[Path]:
    """Return the files with the recorded runs, in the order of their names."""
    return sorted((data / "baselines").glob("*.jsonl.gz"))


def recorded_conversations(data: Path) -> list[Path]:
    """Return the files with the recorded conversations, in the order of their names."""
    return sorted((data / "conversations").glob("*.jsonl"))


def prepared_store(data: Path) -> Path:
    """Return where the store prepared from this data is, if there is one. Other data or another schema has another
    place, so a store that is out of date is never opened."""
    digest = hashlib.sha256()
    for path in (*sorted(MIGRATIONS.glob("*.sql")), *recorded_conversations(data), *recorded_runs(data)):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return data / f"recorded-{digest.hexdigest()[:12]}.duckdb"


def keep_prepared(store: Path, data: Path) -> Path:
    """Keep a closed store's file as the one prepared from this data, in place of older ones. Raises OSError."""
    kept = prepared_store(data)
    arriving = kept.with_suffix(f".{os.getpid()}")
    shutil.copyfile(store, arriving)
    os.replace(arriving, kept)
    for old in data.glob("recorded-*.duckdb"):
        if old != kept:
            old.unlink()
    return kept


def place_prepared(home: Path, data: Path) -> None:
    """Copy the prepared store into a home that has no store. Without one, or if that fails, it is made anew, which
    takes some seconds longer."""
    store = home / FILE
    if store.exists():
        return
    arriving = home / f"{FILE}.{os.getpid()}"
    # another process may make the store at the same time: a link, unlike a rename, never replaces it
    with contextlib.suppress(OSError):
        prepared = prepared_store(data)
        if prepared.exists():
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                shutil.copyfile(prepared, arriving)
                os.link(arriving, store)
            finally:
                arriving.unlink(missing_ok=True)
