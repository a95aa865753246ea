"""Harbor reads the tasks that are exported for it. Harbor needs Python 3.12; elsewhere nothing is tested."""

import sys
from pathlib import Path

import pytest

from passnet_core.cli.main import main
from passnet_core.settings import BUNDLED_DATA, Settings

configs = pytest.importorskip("harbor.models.task.config")
modes = pytest.importorskip("harbor.models.task.verifier_mode")
paths = pytest.importorskip("harbor.models.task.paths")


@pytest.mark.parametrize("task", ["clip-quick-gelu", "cohere-layernorm"])
def test_harbor_reads_a_task_and_judges_it_apart_from_the_agent(task: str, tmp_path: Path) -> None:
    settings = Settings(tmp_path / "home", BUNDLED_DATA, Path(sys.executable))
    assert main(["corpus", "export", task, str(tmp_path), "--harbor"], settings=settings) == 0
    found = paths.TaskPaths(tmp_path / task)
    config = configs.TaskConfig.model_validate_toml(found.config_path.read_text())
    assert config.task.name == f"passnet/{task}"
    verifier = modes.resolve_verifier_environment_definition(config, found)
    assert verifier.directory == found.environment_dir
    assert verifier.config.network_mode == "no-network"
    assert found.discovered_test_path is not None
    assert (found.discovered_solve_path is not None) == (task == "clip-quick-gelu")
