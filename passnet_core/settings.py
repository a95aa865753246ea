"""The settings of the playground, read once from environment variables."""

import math
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from passnet_core.errors import BadInput

PACKAGE = Path(__file__).resolve().parent


def _root() -> Path:
    """The folder of app.py, pages, assets and data. When it builds a wheel, setup.py puts them inside the package."""
    installed = PACKAGE / "_app"
    return installed if installed.is_dir() else PACKAGE.parent


ROOT = _root()
ASSETS = ROOT / "assets"
BUNDLED_DATA = ROOT / "data"


def rules_file(data: Path = BUNDLED_DATA) -> Path:
    """The file in a data folder with the bundles that the rules wrote."""
    return data / "solved" / "rules.jsonl.xz"


SHORTEST_TOKEN = 16
YES_OR_NO = {"yes": True, "no": False}


class IsolationChoice(StrEnum):
    """The values of PASSNET_ISOLATION."""

    AUTO = "auto"
    """Sandboxed if the machine supports it, otherwise process."""
    SANDBOXED = "sandboxed"
    PROCESS = "process"


@dataclass(frozen=True)
class ModelSettings:
    """The server of the language models. base_url: up to and with /v1; empty for OpenAI's own. key: never shown.

    prices: per million tokens read and per million tokens written, by model."""

    base_url: str = ""
    key: str = field(default="", repr=False)
    model: str = ""
    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def price(self, model: str) -> tuple[float, float]:
        return self.prices.get(model, (0.0, 0.0))


@dataclass(frozen=True)
class Settings:
    """home: folder of the store, drafts and scratch files. data: bundled data. python: the judge's interpreter.

    spares: warm spares of each judge, None: by the machine. own_models: whether visitors may have code of their own
    run to make a model; None: if only this machine can reach the app. judge_tokens: of those who may call the judge's
    service, by their names; never shown."""

    home: Path
    data: Path
    python: Path
    isolation: IsolationChoice = IsolationChoice.AUTO
    spares: int | None = None
    models: ModelSettings = ModelSettings()
    own_models: bool | None = None
    judge_tokens: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def rules_file(self) -> Path:
        """The bundles that the rules wrote for the bundled tasks."""
        return rules_file(self.data)


def read_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Read the settings. Creates nothing. Raises BadInput, which names the variable that is wrong."""
    values = os.environ if environ is None else environ
    home = _folder(values, "PASSNET_HOME", Path.home() / ".local" / "share" / "passnet")
    if home.exists() and not home.is_dir():
        raise BadInput(f"PASSNET_HOME is {home}, which is not a folder. Name a folder; it need not exist yet.")
    return Settings(
        home=home,
        data=_existing_folder(values, "PASSNET_DATA", BUNDLED_DATA),
        python=_interpreter(values),
        isolation=_isolation(values),
        spares=_spares(values),
        models=ModelSettings(
            values.get("OPENAI_BASE_URL", ""),
            values.get("OPENAI_API_KEY", ""),
            values.get("PASSNET_MODEL", ""),
            _prices(values.get("PASSNET_PRICES", "")),
        ),
        own_models=_yes_or_no(values, "PASSNET_OWN_MODELS"),
        judge_tokens=_tokens(values.get("PASSNET_JUDGE_TOKENS", "")),
    )


def _tokens(text: str) -> dict[str, str]:
    """Parse "alice=TOKEN, bob=TOKEN". The messages repeat no token."""
    found: dict[str, str] = {}
    for number, each in enumerate(filter(None, map(str.strip, text.split(","))), 1):
        name, _, token = map(str.strip, each.partition("="))
        if not name or len(token) < SHORTEST_TOKEN or not token.isascii() or name in found or token in found.values():
            raise BadInput(
                f"Entry {number} of PASSNET_JUDGE_TOKENS is not usable. Write NAME=TOKEN, with a name and a token that"
                f" no other entry has, at least {SHORTEST_TOKEN} ASCII characters long, and commas between entries."
            )
        found[name] = token
    return found


def _prices(text: str) -> dict[str, tuple[float, float]]:
    """Parse "a-model=1.25/10, another=0.3/1.2"."""
    found = {}
    for each in filter(None, map(str.strip, text.split(","))):
        name, _, figures = each.rpartition("=")
        try:
            prompt, reply = map(float, figures.split("/"))
        except ValueError:
            prompt = reply = -1.0
        if not name or not (0 <= prompt < math.inf and 0 <= reply < math.inf):
            raise BadInput(
                f"PASSNET_PRICES contains {each!r}. Write NAME=READ/WRITTEN, the prices per million tokens, and commas"
                " between models."
            )
        found[name.strip()] = (prompt, reply)
    return found


def _folder(values: Mapping[str, str], name: str, default: Path) -> Path:
    return Path(values[name]).expanduser().absolute() if values.get(name) else default


def _existing_folder(values: Mapping[str, str], name: str, default: Path) -> Path:
    folder = _folder(values, name, default)
    if values.get(name) and not folder.is_dir():
        raise BadInput(f"{name} is {folder}, which is not a folder. Name an existing one, or unset it.")
    return folder


def _interpreter(values: Mapping[str, str]) -> Path:
    # do not resolve links: the interpreter of a virtual environment is one, and its target lacks the packages
    python = Path(values.get("PASSNET_PYTHON") or sys.executable).expanduser().absolute()
    if not os.access(python, os.X_OK) or python.is_dir():
        raise BadInput(f"PASSNET_PYTHON is {python}, which is not a program. Name a Python with torch and triton.")
    return python


def _spares(values: Mapping[str, str]) -> int | None:
    text = values.get("PASSNET_SPARES")
    if text and not (text.isascii() and text.isdigit() and int(text)):
        raise BadInput(f"PASSNET_SPARES is {text!r}. Set it to a number from 1, or unset it.")
    return int(text) if text else None


def _yes_or_no(values: Mapping[str, str], name: str) -> bool | None:
    text = values.get(name)
    if text and text not in YES_OR_NO:
        raise BadInput(f"{name} is {text!r}. Set it to yes or no, or unset it.")
    return YES_OR_NO[text] if text else None


def _isolation(values: Mapping[str, str]) -> IsolationChoice:
    text = values.get("PASSNET_ISOLATION") or IsolationChoice.AUTO.value
    try:
        return IsolationChoice(text)
    except ValueError:
        known = ", ".join(each.value for each in IsolationChoice)
        raise BadInput(f"PASSNET_ISOLATION is {text!r}. Set it to one of {known}.") from None
