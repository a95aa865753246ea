"""The reference bundles in data/bundles."""

import json
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "data"
REFERENCES = tuple(sorted(path.parent for path in (DATA / "bundles").glob("*/about.json")))


def tasks_of(folder: Path) -> list[str]:
    """The ids of the tasks that a reference bundle is for."""
    named: list[str] = json.loads((folder / "about.json").read_text(encoding="utf-8"))["tasks"]
    return named
