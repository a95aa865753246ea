"""The environment is read once, and what is wrong in it is named."""

import sys
from pathlib import Path

import pytest

from passnet_core.cli.app import ensure_home
from passnet_core.errors import BadInput
from passnet_core.settings import IsolationChoice, read_settings


def test_an_empty_environment_gives_the_defaults() -> None:
    settings = read_settings({})
    assert settings.home == Path.home() / ".local" / "share" / "passnet"
    assert settings.data.name == "data"
    assert settings.python == Path(sys.executable)
    assert settings.isolation is IsolationChoice.AUTO
    assert settings.spares is None


def test_every_variable_is_read(tmp_path: Path) -> None:
    settings = read_settings(
        {
            "PASSNET_HOME": str(tmp_path / "new"),
            "PASSNET_DATA": str(tmp_path),
            "PASSNET_PYTHON": sys.executable,
            "PASSNET_ISOLATION": "process",
            "PASSNET_SPARES": "3",
        }
    )
    assert settings.home == tmp_path / "new"
    assert not settings.home.exists()
    assert settings.data == tmp_path
    assert settings.isolation is IsolationChoice.PROCESS
    assert settings.spares == 3


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PASSNET_HOME", sys.executable),
        ("PASSNET_DATA", "/absent"),
        ("PASSNET_PYTHON", "/absent"),
        ("PASSNET_ISOLATION", "none"),
        ("PASSNET_SPARES", "0"),
        ("PASSNET_SPARES", "-1"),
        ("PASSNET_SPARES", "two"),
        ("PASSNET_PRICES", "a-model"),
        ("PASSNET_PRICES", "a-model=1"),
        ("PASSNET_PRICES", "a-model=-1/2"),
        ("PASSNET_PRICES", "=1/2"),
        ("PASSNET_HOME", "x" * 300),
        ("PASSNET_HOME", "~nobody-of-this-name/home"),
        ("PASSNET_HOME", "caf\udce9"),
        ("PASSNET_DATA", "x" * 300),
        ("PASSNET_SPARES", "9" * 5000),
        ("OPENAI_BASE_URL", "http://caf\udce9"),
    ],
)
def test_what_is_wrong_is_named(name: str, value: str) -> None:
    with pytest.raises(BadInput, match=name):
        read_settings({name: value})


def test_without_a_home_folder_the_variable_that_names_one_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # as for an account that the system does not know, which has no HOME either
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)
    with pytest.raises(BadInput, match="PASSNET_HOME"):
        read_settings({})
    assert read_settings({"PASSNET_HOME": str(tmp_path)}).home == tmp_path
    ensure_home(tmp_path)
    assert Path.home() == tmp_path
    ensure_home(tmp_path / "other")
    assert Path.home() == tmp_path, "a home that there is stays"


def test_where_models_answer_is_read_and_the_key_is_shown_nowhere() -> None:
    settings = read_settings({"OPENAI_BASE_URL": "http://here/v1", "OPENAI_API_KEY": "sk-secret", "PASSNET_MODEL": "m"})
    assert (settings.models.base_url, settings.models.key, settings.models.model) == (
        "http://here/v1",
        "sk-secret",
        "m",
    )
    assert "sk-secret" not in repr(settings) + str(settings)


def test_prices_are_read_by_model() -> None:
    models = read_settings({"PASSNET_PRICES": "org/a=b=1.25/10, other=0/0.5"}).models
    assert models.price("org/a=b") == (1.25, 10.0)
    assert models.price("other") == (0.0, 0.5)
    assert models.price("unknown") == (0.0, 0.0)
