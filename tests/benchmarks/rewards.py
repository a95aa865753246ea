"""How many rewards a second the judge's service gives, by the number of judges.

    python -m tests.benchmarks.rewards --judges 1 2 4 8 --seconds 30

Bundles that the rules wrote are asked for by 16 clients at once, each on one subgraph of its task and judged afresh, so
that no outcome is known."""

import argparse
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from passnet_client import JudgeClient, JudgeError
from passnet_core.corpus.solved import read_solved
from passnet_core.records import Subgraph
from passnet_core.service import corpus_of
from passnet_core.settings import read_settings
from tests.which import TESTS

CLIENTS = 16


def requests() -> list[dict[str, Any]]:
    """One request for each train task that the rules solved, on its smallest subgraph."""
    settings = read_settings()
    corpus, solved = corpus_of(settings), read_solved(settings.rules_file)
    found = []
    for each in corpus.tasks():
        if each.split == "train" and each.id in solved:
            bundle = solved[each.id]
            files = {
                kind: [{"name": file.name, "code": file.code} for file in part]
                for kind, part in (("passes", bundle.passes), ("helpers", bundle.helpers))
            }
            subgraph = min(corpus.task(each.id).subgraphs, key=_elements)
            found.append({"task": each.id, "bundle": files, "subgraphs": [subgraph.id], "fresh": True})
    return found


def _elements(subgraph: Subgraph) -> int:
    """How many elements its inputs have."""
    return sum(math.prod(spec.shape) for spec in subgraph.inputs)


def measured(judges: int, stage: str, seconds: float, clients: int, asked: list[dict[str, Any]]) -> dict[str, Any]:
    """Rewards in so many seconds, after each judge has warmed up."""
    with tempfile.TemporaryDirectory() as home:
        command = [sys.executable, "-m", "passnet_core", "serve-judge", "--port", "0", "--judges", str(judges)]
        served = subprocess.Popen(
            command, cwd=TESTS.parent, env={**os.environ, "PASSNET_HOME": home}, stdout=subprocess.PIPE, text=True
        )
        try:
            assert served.stdout is not None
            said = served.stdout.readline()
            client = JudgeClient(said.partition(" at ")[2].partition(",")[0])
            rows: Iterator[dict[str, Any]] = itertools.cycle(asked)
            lock, counts = threading.Lock(), Counter[str]()
            began = [time.monotonic() + 3600.0]

            def ask() -> None:
                while time.monotonic() < began[0] + seconds:
                    with lock:
                        row = next(rows)
                    try:
                        answer = client.evaluate(**row, stage=stage)
                    except JudgeError as error:
                        counts[f"error: {error.kind}"] += 1
                        continue
                    if began[0] <= time.monotonic() < began[0] + seconds:
                        counts["no reward" if answer["reward"] is None else "reward"] += 1
                        counts["right"] += bool(answer["reward"])

            threads = [threading.Thread(target=ask) for _ in range(clients)]
            for each in threads:
                each.start()
            while client.ask("GET", "/health")["evaluations"] < min(clients, judges):
                time.sleep(0.1)
            time.sleep(10.0)
            began[0] = time.monotonic()
            for each in threads:
                each.join()
            return {"judges": judges, "stage": stage, "device": said.partition(" at ")[0].removeprefix("Judging on "),
                    "per_second": round(counts["reward"] / seconds, 3), **counts}  # fmt: skip
        finally:
            served.terminate()
            served.wait(60)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0], allow_abbrev=False)
    parser.add_argument("--judges", type=int, nargs="+", default=[1, 2], metavar="N")
    parser.add_argument("--stage", choices=("verify", "measure"), default="verify")
    parser.add_argument("--seconds", type=float, default=30.0, metavar="S", help="of each measurement")
    parser.add_argument("--clients", type=int, default=CLIENTS, metavar="N")
    parser.add_argument("--out", metavar="FILE", help="also append each row to this JSONL file")
    args = parser.parse_args()
    asked = requests()
    print("judges  rewards/s  right  no reward  device", flush=True)
    for judges in args.judges:
        row = measured(judges, args.stage, args.seconds, max(args.clients, 2 * judges), asked)
        figures = f"{row['per_second']:9}  {row.get('right', 0):5}  {row.get('no reward', 0):9}"
        print(f"{judges:6}  {figures}  {row['device']}", flush=True)
        if args.out:
            with Path(args.out).open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
