"""The launcher that bundles may carry."""

from pathlib import Path

from passnet_core.bundles import carried
from passnet_core.bundles.static_rules.findings import findings
from passnet_core.records import Bundle, PassFile

PASS = PassFile(
    "a.py",
    "import torch\nfrom launching import facts\n\n\ndef pattern(x):\n    return torch.relu(x)\n\n\n"
    "def replacement_args(x):\n    return (x,)\n\n\n@torch.fx.wrap\ndef own(x):\n    return facts(x)\n\n\n"
    "def replacement_func():\n    return own\n",
)


def test_the_judge_is_tried_with_the_launcher_of_today() -> None:
    honest = Path(__file__).resolve().parents[1] / "adversarial" / "honest" / "lean_launcher" / "launching.py"
    assert honest.read_text(encoding="utf-8") == carried.launching().code


def test_the_launcher_breaks_no_rule() -> None:
    assert findings(Bundle((PASS,), (carried.launching(),))) == ()
