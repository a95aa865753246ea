"""Copy the files that bundles carry with them into the reference bundles and the lessons that have them.

python -m tools.carrying
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from passnet_core.bundles import carried
from passnet_core.settings import BUNDLED_DATA

BUNDLES = (BUNDLED_DATA / "bundles", BUNDLED_DATA / "lessons")
"""The folders below which bundles are."""


def copies(places: Sequence[Path] = BUNDLES) -> list[Path]:
    """The copies of the launcher below these folders."""
    return sorted(path for place in places for path in place.rglob(carried.launching().name))


def refresh(places: Sequence[Path] = BUNDLES) -> int:
    """Bring the copies up to date, and return how many there are."""
    found = copies(places)
    for path in found:
        path.write_text(carried.launching().code, encoding="utf-8")
    return len(found)


def main() -> int:
    print(f"{carried.launching().name} is up to date in {refresh()} bundles.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
