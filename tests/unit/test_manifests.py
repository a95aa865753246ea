"""The manifests for Kubernetes fit its schemas, and say what the document says."""

from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

PROJECT = Path(__file__).resolve().parents[2]
MANIFEST = PROJECT / "deploy" / "kubernetes" / "ray.yaml"
OBJECTS: list[dict[str, Any]] = list(yaml.safe_load_all(MANIFEST.read_text()))
VERSIONS = ("1.30", "1.33")
"""The oldest version with all fields that are used, and a later one."""


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("each", OBJECTS, ids=lambda each: f"{each['kind']} {each['metadata']['name']}")
def test_an_object_fits_its_schema(each: dict[str, Any], version: str) -> None:
    kubernetes_validate.validate(each, version, strict=True)


def test_the_schema_refuses_what_is_wrong() -> None:
    wrong = {**OBJECTS[0], "spec": {"podSelectors": {}}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[0], strict=True)


def test_every_selector_finds_its_pods_and_every_volume_is_there() -> None:
    pods = {each["metadata"]["name"]: each["spec"]["template"] for each in OBJECTS if each["kind"] == "Deployment"}
    labels = {name: pod["metadata"]["labels"] for name, pod in pods.items()}
    assert set(pods) == {"ray-head", "ray-judge", "passnet-page"}
    for each in OBJECTS:
        if each["kind"] == "Service":
            assert [name for name, has in labels.items() if each["spec"]["selector"].items() <= has.items()] == [
                each["metadata"]["name"]
            ]
    for name, pod in pods.items():
        assert labels[name]["app.kubernetes.io/part-of"] == "passnet", "the network policy is about these"
        volumes = {each["name"] for each in pod["spec"]["volumes"]}
        (container,) = pod["spec"]["containers"]
        assert {each["name"] for each in container["volumeMounts"]} == volumes
        asks = {each["name"] for each in container["env"]}
        assert {"RAY_AUTH_MODE", "RAY_AUTH_TOKEN"} <= asks
    assert pods["ray-judge"]["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == 1
