"""The compose file and what it mounts fit together, and keep what they promise."""

import tomllib
from pathlib import Path
from typing import Any

import yaml

from passnet_core.cli.app import NEEDED_TO_SERVE

PROJECT = Path(__file__).resolve().parents[2]
COMPOSE = PROJECT / "deploy" / "compose"
WHOLE: dict[str, Any] = yaml.safe_load((COMPOSE / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = WHOLE["services"]


def test_only_the_proxy_has_ports() -> None:
    assert {name for name, each in SERVICES.items() if each.get("ports")} == {"proxy"}
    assert SERVICES["proxy"]["depends_on"]["app"]["condition"] == "service_healthy"


def test_the_app_is_served_to_strangers_from_the_image_with_what_that_needs() -> None:
    assert SERVICES["app"]["command"][:3] == [".venv/bin/passnet", "app", "--serve"]
    dockerfile = (PROJECT / "Dockerfile").read_text()
    (extras,) = [
        line.removeprefix("ARG EXTRAS=").split(",") for line in dockerfile.splitlines() if "ARG EXTRAS" in line
    ]
    known = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    wanted = " ".join(each for extra in extras for each in known[extra])
    assert all(each in wanted for each in NEEDED_TO_SERVE)
    assert "HEALTHCHECK" in dockerfile, "the proxy waits for it"


def test_the_proxy_asks_the_app_where_it_listens() -> None:
    command = SERVICES["app"]["command"]
    port = command[command.index("--port") + 1]
    assert f":app:{port}}}" in (COMPOSE / "Caddyfile").read_text()


def test_the_app_answers_to_the_name_for_which_the_proxy_has_a_certificate() -> None:
    command = SERVICES["app"]["command"]
    assert "DOMAIN" in command[command.index("--host") + 1]
    assert (COMPOSE / "Caddyfile").read_text().splitlines()[1].startswith("{$DOMAIN}")


def test_every_volume_and_network_is_declared_and_every_mounted_file_is_there() -> None:
    for each in SERVICES.values():
        assert set(each["networks"]) <= set(WHOLE["networks"])
        for mounted in each["volumes"]:
            source = mounted.rpartition("}:")[0].rpartition(":-")[2] or mounted.split(":")[0]
            if source.startswith("./"):
                name = source.replace("secrets.toml", "secrets.example.toml")
                assert (COMPOSE / name).is_file(), name
            else:
                assert source in WHOLE["volumes"]


def test_the_example_of_secrets_has_what_signing_in_needs() -> None:
    auth = tomllib.loads((COMPOSE / "secrets.example.toml").read_text())["auth"]
    assert {"redirect_uri", "cookie_secret"} <= set(auth)
    assert {"client_id", "client_secret", "server_metadata_url"} == set(auth["google"])


def test_the_gpu_file_changes_the_app_only() -> None:
    more = yaml.safe_load((COMPOSE / "gpu.yaml").read_text())
    assert set(more["services"]) == {"app"}
