"""Whatever is built into the components is named with its licence."""

import json
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]


def test_every_bundled_package_is_named() -> None:
    """Of the version that is locked, under the licence that it says itself."""
    told = (PROJECT / "THIRD_PARTY.md").read_text()
    locked = json.loads((PROJECT / "assets" / "components" / "package-lock.json").read_text())["packages"]
    for path, package in locked.items():
        if path and not package.get("dev") and not package.get("optional"):
            name = path.removeprefix("node_modules/")
            assert f"| {name} | {package['version']} | {package['license']} |" in told
            _, _, licences = told.partition("## The MIT licence")
            assert name in licences, "whose copyright it is"


def test_what_viz_holds_is_named() -> None:
    (layout,) = (PROJECT / "assets" / "built").glob("layout.*.js")
    _, _, held = layout.read_text().partition("This distribution contains other software in object code form:")
    names = {line.split()[0] for line in held.partition("*)")[0].splitlines() if line.strip()}
    assert names == {"Graphviz", "Expat"}
    assert all(f"| {name} | " in (PROJECT / "THIRD_PARTY.md").read_text() for name in names)
