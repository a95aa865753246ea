"""Draw the cases of the fuzzer: all that happens in one follows from its kind, the seed and its number."""

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.fuzzing import addresses, cases, http_cases, mcp_cases, requests
from tests.fuzzing.cases import Case
from tests.fuzzing.ground import Ground

Kind = Callable[[Random, Ground, Path], Case]
KINDS: dict[str, Kind] = {
    each.__name__: each
    for each in (
        cases.tasks, cases.corpora, cases.bundles, cases.files, cases.homes, cases.lines, cases.replies,
        addresses.addresses, requests.requests, http_cases.http, mcp_cases.mcp,
    )
}  # fmt: skip


def drawn(kind: str, seed: int, number: int, ground: Ground) -> Case:
    """Draw a case and carry it out. Addresses need the playground, requests the judge's
    service, http and mcp the doors."""
    place = ground.place(f"{kind}-{number}")
    try:
        return KINDS[kind](Random(f"{seed} {kind} {number}"), ground, place)
    finally:
        shutil.rmtree(place, ignore_errors=True)
