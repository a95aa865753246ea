"""docs/architecture.md shows the imports that exist."""

from pathlib import Path

from tools.draw_architecture import DOCUMENT, PROJECT, drawn, edges, redrawn, reduced


def test_the_document_shows_the_imports_that_exist() -> None:
    text = (PROJECT / DOCUMENT).read_text()
    assert redrawn(text, PROJECT) == text, "docs/architecture.md is stale. Run: python -m tools.draw_architecture"


def written(folder: Path, **sources: str) -> Path:
    """Write a project whose files have these texts. In a file's name, __ stands for a slash."""
    for name, text in sources.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for path in (folder / "passnet_core").rglob("*"):
        if path.is_dir():
            (path / "__init__.py").touch()
    return folder


def test_parts_need_what_their_files_import_at_whatever_depth(tmp_path: Path) -> None:
    project = written(
        tmp_path,
        pages__views__start="import passnet_core.service",
        passnet_core__service="def late():\n    from passnet_core.graphs.ir import Graph",
        passnet_core__graphs__ir="from passnet_core.graphs.source import parse\nimport ast",
        passnet_core__graphs__source="",
        passnet_core__backends__local='COMMAND = ["-m", "passnet_core.judge"]',
        passnet_core__judge__referee="",
    )
    imported, started = edges(project, project / "passnet_core")
    assert {name: needed for name, needed in imported.items() if needed} == {
        "pages": {"service"},
        "service": {"graphs"},
    }
    assert started == {"backends": {"judge"}}
    assert 'part_pages["pages"]' in drawn(project)
    assert "part_backends -. starts .-> part_judge" in drawn(project)


def test_a_part_with_packages_of_its_own_has_a_picture_of_its_own(tmp_path: Path) -> None:
    project = written(
        tmp_path,
        passnet_core__judge__stages__check="from passnet_core.judge.protocol.wire import send",
        passnet_core__judge__protocol__wire="",
    )
    (_, picture) = drawn(project).split("### passnet_core/judge\n")
    assert "part_stages --> part_protocol" in picture


def test_edges_that_follow_from_others_are_left_out() -> None:
    assert reduced({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == {"a": {"b"}, "b": {"c"}, "c": set()}
    circle = {"a": {"b", "c"}, "b": {"a", "c"}, "c": set()}
    assert reduced(circle) == circle
