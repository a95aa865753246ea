"""The settings of the playground, read once from environment variables."""

import math
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from passnet_core.errors import BadInput
from passnet_core.outside import is_folder, quoted
from passnet_core.records.text import is_valid

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
LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")
"""The names by which a machine calls itself."""
Choice = TypeVar("Choice", bound=StrEnum)
YES_OR_NO = {"yes": True, "no": False}


class IsolationChoice(StrEnum):
    """The values of PASSNET_ISOLATION."""

    AUTO = "auto"
    """Sandboxed if the machine supports it, otherwise process."""
    SANDBOXED = "sandboxed"
    PROCESS = "process"


class BackendChoice(StrEnum):
    """The values of PASSNET_BACKEND: where jobs are judged."""

    LOCAL = "local"
    """On this machine."""
    RAY = "ray"
    """On the nodes of a Ray cluster."""


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
    service, by their names; never shown. backend: where jobs are judged. ray_accelerator: the name of the GPUs of the
    cluster that judge; empty: those with most judges. serve: whether the app serves strangers, who sign in or visit.
    model_servers: the addresses of the model servers that those may ask."""

    home: Path
    data: Path
    python: Path
    isolation: IsolationChoice = IsolationChoice.AUTO
    spares: int | None = None
    models: ModelSettings = ModelSettings()
    own_models: bool | None = None
    judge_tokens: Mapping[str, str] = field(default_factory=dict, repr=False)
    backend: BackendChoice = BackendChoice.LOCAL
    ray_accelerator: str = ""
    serve: bool = False
    model_servers: tuple[str, ...] = ()

    @property
    def rules_file(self) -> Path:
        """The bundles that the rules wrote for the bundled tasks."""
        return rules_file(self.data)


def read_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Read the settings. Creates nothing. Raises BadInput, which names the variable that is wrong."""
    values = os.environ if environ is None else environ
    for name, value in values.items():
        if name.startswith(("PASSNET_", "OPENAI_")) and not (is_valid(value) and "\0" not in value):
            raise BadInput(f"{name} is not UTF-8 text. Set it to another value, or unset it.")
    home = _path(values, "PASSNET_HOME") or _usual_home()
    try:
        is_other = home.exists() and not home.is_dir()
    except OSError as error:
        raise BadInput(f"PASSNET_HOME is {quoted(str(home))}, which cannot be used: {error.strerror}.") from None
    if is_other:
        raise BadInput(f"PASSNET_HOME is {home}, which is not a folder. Name a folder; it need not exist yet.")
    return Settings(
        home=home,
        data=_existing_folder(values, "PASSNET_DATA", BUNDLED_DATA),
        python=_interpreter(values),
        isolation=_choice(values, "PASSNET_ISOLATION", IsolationChoice.AUTO),
        spares=_spares(values),
        models=ModelSettings(
            values.get("OPENAI_BASE_URL", ""),
            values.get("OPENAI_API_KEY", ""),
            values.get("PASSNET_MODEL", ""),
            _prices(values.get("PASSNET_PRICES", "")),
        ),
        own_models=_yes_or_no(values, "PASSNET_OWN_MODELS"),
        judge_tokens=_tokens(values.get("PASSNET_JUDGE_TOKENS", "")),
        backend=_choice(values, "PASSNET_BACKEND", BackendChoice.LOCAL),
        ray_accelerator=values.get("PASSNET_RAY_ACCELERATOR", "").strip(),
        serve=_yes_or_no(values, "PASSNET_SERVE") or False,
        model_servers=tuple(filter(None, map(str.strip, values.get("PASSNET_MODEL_SERVERS", "").split(",")))),
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
                f"PASSNET_PRICES contains {quoted(each)}. Write NAME=READ/WRITTEN, the prices per million tokens, and"
                " commas between models."
            )
        found[name.strip()] = (prompt, reply)
    return found


def _path(values: Mapping[str, str], name: str) -> Path | None:
    """The path that a variable names, or None if it is not set."""
    if not values.get(name):
        return None
    try:
        return Path(values[name]).expanduser().absolute()
    except RuntimeError:
        raise BadInput(f"{name} is {quoted(values[name])}, but there is no such home folder.") from None


def _usual_home() -> Path:
    try:
        return Path.home() / ".local" / "share" / "passnet"
    except RuntimeError:
        raise BadInput(
            "There is no home folder for results, since HOME is not set. Name a folder for them with PASSNET_HOME."
        ) from None


def _existing_folder(values: Mapping[str, str], name: str, default: Path) -> Path:
    folder = _path(values, name)
    if folder is not None and not is_folder(folder):
        raise BadInput(f"{name} is {quoted(str(folder))}, which is not a folder. Name an existing one, or unset it.")
    return folder or default


def _interpreter(values: Mapping[str, str]) -> Path:
    # do not resolve links: the interpreter of a virtual environment is one, and its target lacks the packages
    python = _path(values, "PASSNET_PYTHON") or Path(sys.executable).absolute()
    if not os.access(python, os.X_OK) or python.is_dir():
        raise BadInput(
            f"PASSNET_PYTHON is {quoted(str(python))}, which is not a program. Name a Python with torch and triton."
        )
    return python


def _spares(values: Mapping[str, str]) -> int | None:
    text = values.get("PASSNET_SPARES")
    if text and not re.fullmatch("[1-9][0-9]{0,3}", text):
        raise BadInput(f"PASSNET_SPARES is {quoted(text)}. Set it to a number from 1 to 9999, or unset it.")
    return int(text) if text else None


def _yes_or_no(values: Mapping[str, str], name: str) -> bool | None:
    text = values.get(name)
    if text and text not in YES_OR_NO:
        raise BadInput(f"{name} is {quoted(text)}. Set it to yes or no, or unset it.")
    return YES_OR_NO[text] if text else None


def _choice(values: Mapping[str, str], name: str, default: Choice) -> Choice:
    """The value of a variable that names a member of an enum, which is the default's."""
    text = values.get(name) or default.value
    try:
        return type(default)(text)
    except ValueError:
        known = ", ".join(each.value for each in type(default))
        raise BadInput(f"{name} is {quoted(text)}. Set it to one of {known}.") from None
