"""How long the judge's service takes to tell the prompts of a split, and whether they are the same every time.

    python -m tests.benchmarks.prompts --split train

The service is one that nobody has asked anything before."""

import argparse
import os
import subprocess
import sys
import tempfile
import time

from passnet_client import JudgeClient
from tests.which import TESTS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0], allow_abbrev=False)
    parser.add_argument("--split", default="train", metavar="NAME")
    parser.add_argument("--times", type=int, default=3, metavar="N")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        command = [sys.executable, "-m", "passnet_core", "serve-judge", "--port", "0"]
        served = subprocess.Popen(
            command, cwd=TESTS.parent, env={**os.environ, "PASSNET_HOME": home}, stdout=subprocess.PIPE, text=True
        )
        try:
            assert served.stdout is not None
            judge = JudgeClient(served.stdout.readline().partition(" at ")[2].partition(",")[0])
            told = []
            for _ in range(args.times):
                began = time.monotonic()
                told.append(judge.prompts(args.split))
                print(f"{len(told[-1])} prompts in {time.monotonic() - began:.1f} s", flush=True)
            print("The same every time." if all(each == told[0] for each in told) else "They differ.")
        finally:
            served.terminate()
            served.wait(60)


if __name__ == "__main__":
    main()
