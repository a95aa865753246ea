"""Copy the files that bundles carry with them into the reference bundles that have them.

python -m tools.carrying
"""

import sys
from pathlib import Path

from passnet_core.bundles import carried
from passnet_core.settings import BUNDLED_DATA


def copies(bundles: Path = BUNDLED_DATA / "bundles") -> list[Path]:
    """The copies of the launcher in these bundles."""
    return sorted(bundles.glob(f"*/{carried.launching().name}"))


def refresh(bundles: Path = BUNDLED_DATA / "bundles") -> int:
    """Bring the copies up to date, and return how many there are."""
    for path in copies(bundles):
        path.write_text(carried.launching().code, encoding="utf-8")
    return len(copies(bundles))


def main() -> int:
    print(f"{carried.launching().name} is up to date in {refresh()} bundles.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
