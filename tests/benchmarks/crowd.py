"""Many browsers at once on one server: how long pages and verdicts take, and whether everybody gets their turn.

python -m tests.benchmarks.crowd [--browsers 50] [--minutes 5] [--cores 2]

Once a minute each browser types passes that nobody else has, checks them and runs them; every two minutes it opens the
Workbench anew, and another page. It speaks Streamlit's protocol, but draws nothing. Server, judge and browsers share
the cores. Visitors' limits for an hour hold: 30 minutes of judging for all of them."""

import argparse
import asyncio
import itertools
import os
import random
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.example_playground import PASS, TASK_ID, write_data
from tests.page_client import PageClient, Shown
from tests.serving import free_port, serving

MINUTE_S = 60.0
OTHERS = ("learn", "explore", "runs", "scores", "help")
DONE = "Permanent page of this run"
MOST_PAUSE_S = 10.0
"""Between typing, Check and Run."""


@dataclass
class Record:
    """Seconds by what took them, and what went wrong."""

    pages: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    verdicts: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    waits: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    """How long each browser has waited for its verdicts together."""
    problems: list[str] = field(default_factory=list)


def code_of(browser: int, minute: int) -> str:
    """A pass that nobody else has, so that it must be judged."""
    return f"{PASS}\nOWN = {browser, minute}\n"


async def visit(browser: int, address: str, minutes: int, record: Record) -> None:
    rng = random.Random(browser)
    others = itertools.cycle(rng.sample(OTHERS, len(OTHERS)))
    began = time.monotonic() + rng.uniform(0, MINUTE_S)
    async with PageClient(address) as client:
        for minute in range(minutes):
            await asyncio.sleep(max(0.0, began + minute * MINUTE_S - time.monotonic()))
            try:
                if minute % 2 == 0:
                    record.pages["workbench"].append(await client.open("workbench", f"task={TASK_ID}"))
                record.waits[browser] += await _work(client, code_of(browser, minute), record, rng)
                if minute % 2:
                    page = next(others)
                    record.pages[page].append(await client.open(page))
            except (OSError, TimeoutError, KeyError) as error:
                record.problems.append(f"browser {browser}, minute {minute}: {type(error).__name__}: {error}"[:600])
            record.problems += [f"browser {browser}: {each}" for each in client.shown.errors]


async def _work(client: PageClient, code: str, record: Record, rng: random.Random) -> float:
    """Type passes, check them and run them, with a pause after each. Returns the seconds until the verdicts came."""
    waited = 0.0
    record.pages["typing"].append(await client.type(code))
    for button in ("Check", "Run"):
        await asyncio.sleep(rng.uniform(0, MOST_PAUSE_S))
        began = time.monotonic()
        record.pages[button].append(await client.press(button))
        await client.until(_is_judged)
        record.verdicts[button].append(time.monotonic() - began)
        waited += record.verdicts[button][-1]
    return waited


def _is_judged(shown: Shown) -> bool:
    return DONE in shown.text and "Running…" not in shown.text


def table(title: str, found: dict[str, list[float]]) -> None:
    print(f"\n{title:<12} {'number':>7} {'mean':>7} {'p50':>7} {'p95':>7} {'longest':>8} {'longest / mean':>15}")
    together = {"all": [each for some in found.values() for each in some]} if len(found) > 1 else {}
    for name, seconds in (found | together).items():
        mean, ordered = statistics.fmean(seconds), sorted(seconds)
        p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
        print(
            f"{name:<12} {len(seconds):>7} {mean:>7.2f} {statistics.median(seconds):>7.2f} {p95:>7.2f}"
            f" {ordered[-1]:>8.2f} {ordered[-1] / mean:>15.2f}"
        )


async def crowd(address: str, browsers: int, minutes: int) -> Record:
    record = Record()
    async with PageClient(address) as first:
        # the judge is warm and the recorded results are loaded before anybody counts
        for page in OTHERS:
            await first.open(page)
        await first.open("workbench", f"task={TASK_ID}")
        await _work(first, code_of(-1, 0), Record(), random.Random(0))
    await asyncio.gather(*(visit(number, address, minutes, record) for number in range(browsers)))
    return record


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--browsers", type=int, default=50)
    parser.add_argument("--minutes", type=int, default=5)
    parser.add_argument("--cores", type=int, default=2)
    args = parser.parse_args(given)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: args.cores])
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ, "PASSNET_HOME": f"{folder}/home", "PASSNET_DATA": str(write_data(Path(folder) / "data")),
            "PASSNET_ISOLATION": "sandboxed",
        }  # fmt: skip
        with serving(environment, Path(folder) / "app.log", port=free_port()) as address:
            record = asyncio.run(crowd(address, args.browsers, args.minutes))
    print(f"{args.browsers} browsers, {args.minutes} minutes, {args.cores} cores")
    table("page, s", record.pages)
    table("verdict, s", record.verdicts)
    table("waited, s", {"browser": list(record.waits.values())})
    print(f"\n{len(record.problems)} problems", *sorted(set(record.problems))[:10], sep="\n")


if __name__ == "__main__":
    main()
