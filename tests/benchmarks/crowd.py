"""Many browsers at once on one server: how long pages and verdicts take, and whether everybody gets their turn.

python -m tests.benchmarks.crowd [--browsers 50] [--minutes 5] [--cores 2]

Once a minute each browser opens passes of its own, checks and runs them, and looks at another page; in Streamlit's
protocol, but without drawing. Server, judge and browsers share the cores. Visitors' limits for an hour hold: 30 minutes
of judging for all of them."""

import argparse
import asyncio
import itertools
import os
import random
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from passnet_core.bundles.packing import packed
from passnet_core.records import Bundle, PassFile
from tests.example_playground import PASS, TASK_ID, write_data
from tests.page_client import PageClient, Shown
from tests.serving import free_port, serving

MINUTE_S = 60.0
OTHERS = ("learn", "explore", "runs", "scores", "help")
DONE = "Permanent page of this run"


@dataclass
class Record:
    """Seconds by what took them, and what went wrong."""

    pages: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    verdicts: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    problems: list[str] = field(default_factory=list)


def passes_of(browser: int, minute: int) -> Bundle:
    """Passes that nobody else has, so that they must be judged."""
    return Bundle(
        (PassFile("fused.py", f"{PASS}\n# of browser {browser} in minute {minute}\nOWN = {browser, minute}\n"),)
    )


async def visit(browser: int, address: str, minutes: int, record: Record) -> None:
    rng = random.Random(browser)
    others = itertools.cycle(rng.sample(OTHERS, len(OTHERS)))
    async with PageClient(address) as client:
        until = time.monotonic() + minutes * MINUTE_S
        for minute in itertools.count():
            began = time.monotonic()
            if began >= until:
                return
            await asyncio.sleep(rng.uniform(0, MINUTE_S / 2))
            try:
                await _work(client, passes_of(browser, minute), others, record)
            except (OSError, TimeoutError, KeyError) as error:
                record.problems.append(f"browser {browser}, minute {minute}: {type(error).__name__}: {error}"[:600])
            record.problems += [f"browser {browser}: {each}" for each in client.shown.errors]
            await asyncio.sleep(max(0.0, MINUTE_S - (time.monotonic() - began)))


async def _work(client: PageClient, passes: Bundle, others: Iterator[str], record: Record) -> None:
    """Open passes, check them, run them, and look at another page."""
    query = f"task={TASK_ID}&code={packed(passes)}"
    record.pages["workbench"].append(await client.open("workbench", query))
    for button in ("Check", "Run"):
        began = time.monotonic()
        record.pages[button].append(await client.press(button))
        await client.until(_is_judged)
        record.verdicts[button].append(time.monotonic() - began)
    page = next(others)
    record.pages[page].append(await client.open(page))


def _is_judged(shown: Shown) -> bool:
    return DONE in shown.text and "Running…" not in shown.text


def table(title: str, found: dict[str, list[float]]) -> None:
    print(f"\n{title:<12} {'number':>7} {'mean':>7} {'p50':>7} {'p95':>7} {'longest':>8} {'longest / mean':>15}")
    for name, seconds in [*found.items(), ("all", [each for some in found.values() for each in some])]:
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
        await first.open("explore")
        await _work(first, passes_of(-1, 0), itertools.cycle(OTHERS), Record())
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
    print(f"\n{len(record.problems)} problems", *sorted(set(record.problems))[:10], sep="\n")


if __name__ == "__main__":
    main()
