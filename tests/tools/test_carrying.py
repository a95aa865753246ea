"""The copies of carried files in the reference bundles equal the package's own."""

from pathlib import Path

from passnet_core.bundles import carried
from passnet_core.bundles.static_rules.findings import findings
from passnet_core.records import Bundle, PassFile
from tools.carrying import copies, refresh

PASS = PassFile(
    "a.py",
    "import torch\nfrom launching import facts\n\n\ndef pattern(x):\n    return torch.relu(x)\n\n\n"
    "def replacement_args(x):\n    return (x,)\n\n\n@torch.fx.wrap\ndef own(x):\n    return facts(x)\n\n\n"
    "def replacement_func():\n    return own\n",
)


def test_every_copy_of_the_launcher_equals_the_packages() -> None:
    """Otherwise run "make bundles"."""
    assert [path for path in copies() if path.read_text(encoding="utf-8") != carried.launching().code] == []


def test_the_judge_is_tried_with_the_launcher_of_today() -> None:
    honest = Path(__file__).resolve().parents[1] / "adversarial" / "honest" / "lean_launcher" / "launching.py"
    assert honest.read_text(encoding="utf-8") == carried.launching().code


def test_copies_are_brought_up_to_date_where_there_is_one(tmp_path: Path) -> None:
    for name in ("a/launching.py", "b/gate.py"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("old\n")
    assert refresh([tmp_path]) == 1
    assert (tmp_path / "a" / "launching.py").read_text() == carried.launching().code
    assert (tmp_path / "b" / "gate.py").read_text() == "old\n"


def test_the_launcher_breaks_no_rule() -> None:
    assert findings(Bundle((PASS,), (carried.launching(),))) == ()
