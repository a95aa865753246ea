"""Passes for twelve whole models, with values on any machine and times on a GPU.

python -m tests.benchmarks.whole_models --out FOLDER [--only bert ...] [--dtype bfloat16] [--jobs 4] [--small]
    [--untimed]

With --small the models are narrow and have two layers, so that a CPU can judge their values in an hour.
Every model gets what `passnet model` gives, with the reference bundles as the gallery. FOLDER gets a report and a file
of figures per model as each ends, so an interrupted run goes on where it was; the table is printed at the end. With
--untimed no model is run as a whole; a later run without it does only that."""

import argparse
import json
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from passnet_core.bundles.reading import read_bundle, write_bundle
from passnet_core.errors import PlaygroundError
from passnet_core.execution.backends.local import LocalBackend
from passnet_core.execution.jobs import jobs_of
from passnet_core.execution.scheduler import Scheduler
from passnet_core.records import Bundle, EvalSpec, Outcome, Task
from passnet_core.settings import BUNDLED_DATA
from passnet_core.whole_models.adapting import JudgeTask, SearchStep, Workshop, search, spec_for, timing_of
from passnet_core.whole_models.captured import ModelFile
from passnet_core.whole_models.report import as_data, ways_data
from passnet_core.whole_models.timing import Way

HERE = Path(__file__).parent
MODELS = ("bert", "modernbert", "gpt2", "llama", "qwen3", "vit", "convnext", "swin", "wav2vec2", "whisper", "mixtral",
          "qwen3_moe")  # fmt: skip
"""The names in transformer_models.py, which is not imported here: it loads torch and transformers."""


def searched(key: str, out: Path, home: Path) -> str:
    """Find passes for a model, and write what came of it. Returns a line."""
    if (out / f"{key}.json").exists():
        return f"{key}: passes were found before"
    backend = _backend(home)
    scheduler = Scheduler(backend)

    def judge(task: Task, bundle: Bundle, spec: EvalSpec) -> Sequence[Outcome]:
        return [scheduler.judge(job, lambda event: None, threading.Event()) for job in jobs_of(task, bundle, spec)]

    began = time.monotonic()
    try:
        report = search(_file(key), _shop(key, backend, judge))
    except PlaygroundError as error:
        return f"{key}: {error}"
    finally:
        scheduler.close()
    (out / f"{key}.md").write_text("\n".join(report.lines()) + "\n", encoding="utf-8")
    if report.bundle:
        # an interrupted run may have left one
        shutil.rmtree(out / "bundles" / key, ignore_errors=True)
        write_bundle(report.bundle, out / "bundles" / key)
    (out / f"{key}.json").write_text(json.dumps(as_data(report), indent=1), encoding="utf-8")
    return f"{key}: {time.monotonic() - began:.0f} s"


def run_whole(key: str, out: Path, home: Path) -> str:
    """Run a model whose passes were found, and add the times to what was written. Returns a line."""
    path = out / f"{key}.json"
    if not path.exists() or not (out / "bundles" / key).is_dir():
        return f"{key}: there are no passes for it"
    found = json.loads(path.read_text(encoding="utf-8"))
    backend = _backend(home)
    shop = _shop(key, backend, lambda task, bundle, spec: ())
    if found["ways"] or not shop.timed:
        return f"{key}: {'was timed before' if found['ways'] else 'times need a GPU'}"
    try:
        timing = timing_of(_file(key), read_bundle(out / "bundles" / key), shop)
    except PlaygroundError as error:
        return f"{key}: {error}"
    finally:
        backend.close()
    path.write_text(json.dumps({**found, "ways": ways_data(timing)}, indent=1), encoding="utf-8")
    return f"{key}: timed"


def _backend(home: Path) -> LocalBackend:
    return LocalBackend(sys.executable, "auto", home, checkers=0, keep_warm=True, spares=1)


def _file(key: str) -> ModelFile:
    return ModelFile((HERE / "transformer_models.py").read_text(encoding="utf-8"), "transformer_models.py", key)


def _shop(key: str, backend: LocalBackend, judge: JudgeTask) -> Workshop:
    began = time.monotonic()

    def tell(step: SearchStep) -> None:
        print(f"{time.monotonic() - began:6.0f} s {key}: {step.text}", flush=True)

    folders = [each.parent for each in sorted((BUNDLED_DATA / "bundles").glob("*/about.json"))]
    here = backend.info()
    return Workshop(
        program=backend.program,
        judge=judge,
        judge_whole=judge,
        here=here,
        gallery={each.name: read_bundle(each) for each in folders},
        tell=tell,
        spec=spec_for(here),
    )


def table(out: Path) -> None:
    """Print the figures of all models in a folder, without columns that nothing was measured for."""
    reports = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(out.glob("*.json"))}
    rows = [{"model": name, **_cells(found)} for name, found in reports.items()]
    names = [name for name in rows[0] if any(row[name] for row in rows)] if rows else []
    print(f"| {' | '.join(names)} |\n{'| --- ' * len(names)}|")
    for row in rows:
        print(f"| {' | '.join(row[name] for name in names)} |")
    print(*sorted({f"{found['device']}, {found['date']}" for found in reports.values()}), sep="\n")


def _cells(found: dict[str, Any]) -> dict[str, str]:
    ways = {each["way"]: each for each in found["ways"]}
    share, eager = found["share_of_kernel_time"], ways.get("eager", {}).get("seconds")
    kept = [each for each in found["passes"] if not each["left_out"]]

    def over(way: Way, other: str) -> str:
        return _ratio(ways.get(way.value, {}).get(other))

    return {
        "passes": str(len(kept)),
        "matches": str(sum(each["matches"] for each in kept)),
        "operations replaced": f"{found['covered']} of {found['operations']}",
        "right as a whole": "yes" if found["right"] else "no: " + "; ".join(each["verdict"] for each in found["whole"]),
        "smallest t": ", ".join(dict.fromkeys(str(level) for each in found["whole"] for level in each["levels"])),
        "of eager's kernel time": "" if share is None else f"{share:.0%}",
        "eager, ms": "" if eager is None else f"{eager * 1e3:.2f}",
        "captured": over(Way.CAPTURED, "over_eager"),
        "with passes": over(Way.PASSES, "over_eager"),
        "that over captured": over(Way.PASSES, "over_captured"),
        "Inductor": over(Way.INDUCTOR, "over_eager"),
        "with passes, over Inductor": over(Way.PASSES_INDUCTOR, "over_inductor"),
        "Inductor in a CUDA graph": over(Way.GRAPHS, "over_eager"),
        "with passes, over that": over(Way.PASSES_GRAPHS, "over_graphs"),
    }


def _ratio(found: dict[str, float] | None) -> str:
    return "" if found is None else f"{found['value']:.2f} [{found['low']:.2f}, {found['high']:.2f}]"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.whole_models", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--only", nargs="+", choices=MODELS, default=MODELS, metavar="MODEL")
    parser.add_argument("--dtype", nargs="+", choices=("bfloat16", "float32"), default=("bfloat16", "float32"))
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="for how many models to search at once")
    parser.add_argument("--small", action="store_true", help="narrow models with two layers")
    parser.add_argument("--untimed", action="store_true", help="find passes only")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    kind = "_small" if options.small else ""
    wanted = [f"{name}_{dtype}{kind}" for dtype in options.dtype for name in options.only]
    with tempfile.TemporaryDirectory(prefix="whole-models-") as home, ThreadPoolExecutor(options.jobs) as pool:
        for line in pool.map(lambda key: searched(key, options.out, Path(home)), wanted):
            print(line, flush=True)
        # alone, one after the other: what else runs would show in the times
        for key in [] if options.untimed else wanted:
            print(run_whole(key, options.out, Path(home)), flush=True)
    table(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
