"""The built components are those of their sources."""

import hashlib
import json
from pathlib import Path

ASSETS = Path(__file__).resolve().parents[2] / "assets"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_built_components_are_those_of_their_sources() -> None:
    """A stale one is built anew by `make assets`."""
    told = json.loads((ASSETS / "built" / "built.json").read_text())
    folder = ASSETS / "components"
    files = [path for path in folder.rglob("*") if path.is_file() and "node_modules" not in path.parts]
    assert told["of"] == {path.relative_to(folder).as_posix(): digest(path) for path in files}
    names = {path.name for path in (ASSETS / "built").iterdir()} - {"built.json"}
    assert set(told["files"]) == names
    for name in names:
        assert digest(ASSETS / "built" / name)[:12] == name.split(".")[1]
