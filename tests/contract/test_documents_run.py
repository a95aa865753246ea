"""The commands of the documents for programs, models, training and clusters run as they stand.

They run in a folder of their own, with a corpus of a few small tasks and a scripted model. Only addresses and ids are
replaced, and a server also gets a port that is free.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from passnet_core.cli.console import INTERRUPTED
from passnet_core.corpus.layout import read_task, write_task
from passnet_core.records import Family, Task
from tests.contract.judging import ADD_RELU, RIGHT, WRONG, subgraph
from tests.contract.model_server import Said, serving
from tests.contract.scripted import FINISH, wrote
from tests.documents import PROJECT, blocks, commands_in, document, shell_blocks, spans
from tests.serving import free_port
from tests.waiting import seconds

DOCUMENTS = ("docs/programs.md", "docs/models.md", "docs/training.md", "docs/cluster.md")
PROGRAMS = ("passnet", "python", "pip", "make", "vllm", "ollama", "llama-server", "transformers", "litellm")
PRODUCT = "in_0 * in_1"
OTHER = ADD_RELU.replace("in_0 + in_1", PRODUCT)
RIGHT_FOR_OTHER = RIGHT.replace("relu(a + b)", "relu(a * b)").replace("mask=mask) + tl.load", "mask=mask) * tl.load")


def commands(name: str) -> set[str]:
    """The commands of a document: of its blocks, and of code spans that name a program with flags."""
    text = document(name)
    told = {command for block in shell_blocks(text) for command in commands_in(block) if command.split()[1] != "="}
    return told | {each for each in spans(text) if each.split()[0] in PROGRAMS and " -" in each}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_command_is_run_by_a_test_or_has_a_reason(name: str) -> None:
    assert sorted(commands(name)) == sorted(TESTED_BY[name])


# --- the folder ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shell:
    """A shell in a folder like a checkout. address: of the scripted model's server."""

    folder: Path
    address: str

    @property
    def environment(self) -> dict[str, str]:
        passed_on = {name: value for name, value in os.environ.items() if not name.startswith(("PASSNET_", "OPENAI_"))}
        own = {"PASSNET_HOME": str(self.folder / "home"), "PASSNET_DATA": str(self.folder / "corpus")}
        return passed_on | own | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}

    def run(self, *lines: str) -> str:
        """Run these lines in one shell, up to the first that fails, and return what they print."""
        script = "\n".join(lines).replace("http://localhost:8000/v1", self.address)
        done = subprocess.run(
            ["bash", "-e", "-c", script], cwd=self.folder, env=self.environment,
            capture_output=True, text=True, timeout=seconds(300), check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{done.stdout[-1000:]}\n{done.stderr[-3000:]}"
        return done.stdout

    @contextlib.contextmanager
    def serves(self, command: str) -> Iterator[int]:
        """Run a server until the end of the block, and yield its port."""
        port = free_port()
        process = subprocess.Popen(
            [*command.split(), "--port", str(port)], cwd=self.folder, env=self.environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip
        assert process.stdout is not None
        try:
            said = ""
            while "Stop with Ctrl-C" not in said:
                line = process.stdout.readline()
                assert line, said
                said += line
            yield port
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.communicate(timeout=seconds(30))
            finally:
                process.kill()
        assert process.returncode == INTERRUPTED


def scripted(request: dict[str, Any], before: int) -> Said:
    """A model that solves the other task at once; for the first task it writes a wrong pass and mends it."""
    answers = sum(each["role"] == "assistant" for each in request["messages"])
    if PRODUCT in json.dumps(request["messages"][:2]):
        return (wrote(RIGHT_FOR_OTHER), FINISH)[min(answers, 1)]
    return (wrote(WRONG), wrote(RIGHT), FINISH)[min(answers, 2)]


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    folder = tmp_path_factory.mktemp("checkout")
    capped = read_task(PROJECT / "data" / "tasks" / "gemma2-softcap-softmax")
    smallest = min(capped.subgraphs, key=lambda each: sum(len(json.dumps(spec.shape)) for spec in each.inputs))
    for task in (
        Task("swiglu-gate", Family.FUSIBLE, "train", (subgraph(),)),
        Task("relu-of-product", Family.FUSIBLE, "eval", (subgraph(code=OTHER),)),
        replace(capped, subgraphs=(smallest,)),
    ):
        named = replace(task, subgraphs=tuple(replace(each, task_id=task.id) for each in task.subgraphs))
        write_task(named, folder / "corpus" / "tasks" / task.id)
    (folder / "corpus" / "bundles").symlink_to(PROJECT / "data" / "bundles")
    (folder / "data").mkdir()
    (folder / "data" / "training").symlink_to(PROJECT / "data" / "training")
    with serving({"the-name-the-server-knows": scripted}) as models:
        yield Shell(folder, models.base_url)


@pytest.fixture(scope="module")
def solved(shell: Shell) -> Shell:
    """The shell after the first block of docs/models.md."""
    shell.run(*commands_in(shell_blocks(document("docs/models.md"))[0]))
    return shell


def block_with(name: str, word: str) -> list[str]:
    """The commands of the block of a document that has this word."""
    (block,) = [block for block in shell_blocks(document(name)) if word in block]
    return commands_in(block)


# --- the tests -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_model_writes_passes_that_are_listed_and_exported(solved: Shell) -> None:
    solved.run(*block_with("docs/models.md", "trajectories list"))
    (row,) = (solved.folder / "training.jsonl").read_text().splitlines()
    assert json.loads(row)["messages"]


@pytest.mark.slow
def test_attempts_before_and_after_are_compared(solved: Shell) -> None:
    model = commands_in(shell_blocks(document("docs/models.md"))[0])[:2]
    assert "pass@4" in solved.run(*model, *block_with("docs/models.md", "trajectories compare"))
    recipe = [each for each in block_with("docs/training.md", "sft.py") if "solve --split eval --attempts" in each]
    assert len(recipe) == 2
    solved.run(*model, *recipe)


@pytest.mark.slow
def test_attempts_are_exported_for_training(solved: Shell) -> None:
    for word in ("--format trl --out data", "--format preferences", "--format prompts --every"):
        solved.run(*block_with("docs/training.md", word))
    data = solved.folder / "data"
    assert (data / "passes.jsonl").read_text()
    assert (data / "pairs.jsonl").read_text()
    assert (data / "prompts.parquet").stat().st_size


@pytest.mark.slow
def test_a_judge_is_served_to_its_client(shell: Shell) -> None:
    (served,) = block_with("docs/training.md", "passnet serve-judge --judges")
    (client,) = [block for block in blocks(document("docs/training.md"), "python") if "judge.evaluate" in block]
    program = f"completion = {RIGHT!r}\n{client}\nprint(answer['reward'])"
    with shell.serves(served) as port:
        told = shell.run(f"export PASSNET_JUDGE_URL=http://127.0.0.1:{port}", f"python - <<'END'\n{program}\nEND")
    assert told == "1.0\n"


@pytest.mark.slow
def test_a_task_is_written_for_harbor(shell: Shell) -> None:
    exported, *_ = block_with("docs/training.md", "--harbor")
    shell.run(exported)
    assert (shell.folder / "runs" / "harbor" / "swiglu-gate" / "task.toml").is_file()


@pytest.mark.slow
def test_programs_are_served(shell: Shell) -> None:
    (served,) = [block for block in shell_blocks(document("docs/programs.md")) if block.strip() == "passnet serve-api"]
    (program,) = blocks(document("docs/programs.md"), "python")
    with shell.serves(served.strip()) as port:
        told = shell.run(f"python - <<'END'\n{program.replace('8610', str(port))}\nEND")
    assert re.fullmatch(r"1 of 1\n", told)


@pytest.mark.sandbox
@pytest.mark.slow
def test_other_people_are_served(shell: Shell, tmp_path: Path) -> None:
    add, token, served = block_with("docs/programs.md", "people add")
    # with tokens in its home, a server serves nobody without one
    own = replace(shell, folder=tmp_path)
    (tmp_path / "corpus").symlink_to(shell.folder / "corpus")
    (person,) = re.findall(r"\b[0-9a-f]{32}\b", own.run(add))
    assert own.run(token.replace("ID", person)).startswith("passnet_")
    with own.serves(served):
        pass


VERIFIERS = "tests/others/test_training_environments.py runs it in an environment with verifiers"
OPENENV = "needs openenv; tests/others/programs/steps_with_openenv.py serves the same application"
SERVERS = "needs another project's server; tests/others/test_model_servers.py starts it with a tiny model"
NO_SERVER = "needs a GPU or a large download"
RAY = "Ray has fixed ports, and ends all its servers at once; tests/contract/test_ray_backend.py starts its own"
HARBOR = "needs Docker and Harbor; tests/contract/test_harbor.py runs the scripts of a task"
CLUSTER = "needs Docker or a Kubernetes cluster; tests/unit/test_manifests.py reads the manifests"
PUBLISHED = "this package is in no index; tests/contract/test_wheel.py installs the wheel"
CONVERSATIONS = "4,100 conversations take minutes; tests/contract/test_training_data.py reads the same file"
TRAINS = "needs a GPU, and hours"
DERIVED = "tests/contract/test_training_data.py loads these tasks as the command does"
SHAPES = "names a folder; tests/contract/test_prompts.py checks what the command wrote"
REWARDED = "needs a model; tests/others/test_finetune.py runs it with a tiny one"
TESTED_BY: dict[str, dict[str, Callable[..., None] | str]] = {
    "docs/programs.md": {
        "passnet serve-api": test_programs_are_served,
        "passnet people add Alice": test_other_people_are_served,
        "passnet people token ID --label laptop": test_other_people_are_served,
        "passnet serve-api --address 0.0.0.0 --host passnet.example.org": test_other_people_are_served,
    },
    "docs/models.md": {
        "export OPENAI_BASE_URL=http://localhost:8000/v1": test_a_model_writes_passes_that_are_listed_and_exported,
        "export PASSNET_MODEL=the-name-the-server-knows": test_a_model_writes_passes_that_are_listed_and_exported,
        "python -m passnet_core solve swiglu-gate --out runs/first": (
            test_a_model_writes_passes_that_are_listed_and_exported
        ),
        "python -m passnet_core score --outcomes runs/first/outcomes.jsonl": "needs times, which a GPU takes",
        "python -m passnet_core trajectories list runs/first": (
            test_a_model_writes_passes_that_are_listed_and_exported
        ),
        "python -m passnet_core trajectories export runs/first --out training.jsonl": (
            test_a_model_writes_passes_that_are_listed_and_exported
        ),
        "python -m passnet_core solve --split eval --attempts 4 --label before --out runs/before": (
            test_attempts_before_and_after_are_compared
        ),
        "python -m passnet_core solve --split eval --attempts 4 --label after --out runs/after": (
            test_attempts_before_and_after_are_compared
        ),
        "python -m passnet_core trajectories compare runs/before runs/after --k 1 4": (
            test_attempts_before_and_after_are_compared
        ),
        "vllm serve MODEL --enable-auto-tool-choice --tool-call-parser hermes": NO_SERVER,
        "llama-server --jinja -m MODEL.gguf -c 32768": NO_SERVER,
        "transformers serve MODEL --port 8000": SERVERS,
        "python -m llama_cpp.server --model MODEL.gguf --model_alias NAME --n_ctx 0 --port 8000": SERVERS,
        "litellm --config FILE --port 4000": SERVERS,
        "python -m tests.recorded_conversations": "rewrites data/conversations",
    },
    "docs/training.md": {
        "python -m passnet_core trajectories export runs/first --format trl --out data/passes.jsonl --validation 0.1"
        " --card": test_attempts_are_exported_for_training,
        "python -m passnet_core trajectories export runs/first --format preferences --failed --out data/pairs.jsonl": (
            test_attempts_are_exported_for_training
        ),
        "python -m passnet_core trajectories export --format prompts --every-task cuda --out data/prompts.parquet": (
            test_attempts_are_exported_for_training
        ),
        "passnet trajectories export --format prompts": "names a format; the command is run with --out",
        "passnet serve-judge --judges 4": test_a_judge_is_served_to_its_client,
        "passnet serve-judge --tasks data/training/tasks": DERIVED,
        "passnet serve-judge --tasks data/training/tasks --judges 4": DERIVED,
        "python -m tools.shaping FOLDER": SHAPES,
        "python examples/finetune/grpo.py --model NAME_OR_FOLDER --data data/training/prompts.jsonl.xz --out"
        " runs/rewarded": REWARDED,
        "export PASSNET_JUDGE_URL=http://127.0.0.1:8600 PASSNET_JUDGE_TOKEN=...": test_a_judge_is_served_to_its_client,
        "pip install passnet-playground": PUBLISHED,
        "python -m verl.trainer.main_ppo ... reward.custom_reward_function.path=pkg://passnet_client.verl"
        " reward.custom_reward_function.name=compute_score": TRAINS,
        "vf-eval passnet-verifiers -m MODEL --client.base-url http://127.0.0.1:8000/v1 --client.api-key-var KEY"
        " --env.taskset.split train --no-push": VERIFIERS,
        "uvicorn --factory passnet_client.openenv:app --port 8700": OPENENV,
        "passnet corpus export swiglu-gate runs/harbor --harbor": test_a_task_is_written_for_harbor,
        "docker build --tag passnet-playground .": HARBOR,
        "harbor run --path runs/harbor/swiglu-gate --agent oracle": HARBOR,
        "mkdir -p runs/made": CONVERSATIONS,
        "tar -xf data/training/repairs.tar.xz -C runs/made": CONVERSATIONS,
        "passnet trajectories export runs/made --out runs/training.jsonl": (CONVERSATIONS),
        "passnet trajectories make --conversations 4100 --tasks 330 --out DIR": "takes hours",
        "pip install -r examples/finetune/requirements.txt": TRAINS,
        "passnet solve --split eval --attempts 4 --label before --out runs/before": (
            test_attempts_before_and_after_are_compared
        ),
        "mkdir -p runs/made && tar -xf data/training/repairs.tar.xz -C runs/made": (CONVERSATIONS),
        "passnet trajectories export runs/made --format trl --validation 0.05 --out runs/passes.jsonl": (CONVERSATIONS),
        "python examples/finetune/sft.py --model NAME_OR_FOLDER --data runs/passes.jsonl --validation"
        " runs/passes.validation.jsonl --merge --out runs/tuned": TRAINS,
        "vllm serve runs/tuned/merged --enable-auto-tool-choice --tool-call-parser hermes": NO_SERVER,
        "passnet solve --split eval --attempts 4 --label after --out runs/after": (
            test_attempts_before_and_after_are_compared
        ),
        "passnet solve --split eval --solver inductor --stage measure --out runs/inductor": TRAINS,
        "python examples/finetune/report.py runs/before runs/after runs/inductor --k 1 4 --out runs/report": TRAINS,
        "passnet trajectories export runs/made --format openai --validation 0.05 --out runs/all.jsonl": (CONVERSATIONS),
        "python -m examples.finetune.small.rounds --data runs/all.jsonl --validation runs/all.validation.jsonl --out"
        " runs/small --judges 12": TRAINS,
    },
    "docs/cluster.md": {
        "pip install 'passnet-playground[app,judge,ray]'": PUBLISHED,
        "PASSNET_BACKEND=ray passnet app": RAY,
        "ray start --head --include-dashboard=false": RAY,
        "PASSNET_BACKEND=ray RAY_ADDRESS=127.0.0.1:6379 passnet serve-judge": RAY,
        "docker build --build-arg EXTRAS=app,judge,llm,ray --tag registry.example/passnet-playground:ray .": CLUSTER,
        "kubectl create namespace passnet": CLUSTER,
        'kubectl --namespace passnet create secret generic ray-token --from-literal=token="$(openssl rand -hex 32)"': (
            CLUSTER
        ),
        "kubectl --namespace passnet apply --filename deploy/kubernetes/ray.yaml": CLUSTER,
    },
}
"""The commands of each document, and the test that runs each, or why none here does."""
