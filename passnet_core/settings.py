"""What the environment decides, read once."""

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
    """Where app.py, pages, assets and data lie: beside the package in a checkout, below it where a wheel was installed
    (setup.py puts them there)."""
    installed = PACKAGE / "_app"
    return installed if installed.is_dir() else PACKAGE.parent


ROOT = _root()
ASSETS = ROOT / "assets"
BUNDLED_DATA = ROOT / "data"


class IsolationChoice(StrEnum):
    """What PASSNET_ISOLATION may say."""

    AUTO = "auto"
    """Sandboxed where the machine can, else process."""
    SANDBOXED = "sandboxed"
    PROCESS = "process"


@dataclass(frozen=True)
class ModelSettings:
    """Where language models answer: up to and with /v1, empty for OpenAI's own; the key, shown nowhere; and which.
    prices: by model, of a million tokens put to it and of a million that it answers."""

    base_url: str = ""
    key: str = field(default="", repr=False)
    model: str = ""
    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def price(self, model: str) -> tuple[float, float]:
        return self.prices.get(model, (0.0, 0.0))


@dataclass(frozen=True)
class Settings:
    """home: the store, drafts and scratch folders. data: bundled tasks. python: the interpreter that judges."""

    home: Path
    data: Path
    python: Path
    isolation: IsolationChoice = IsolationChoice.AUTO
    models: ModelSettings = ModelSettings()


def read_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """The settings of this environment. Raises BadInput naming the variable; creates nothing."""
    values = os.environ if environ is None else environ
    home = _folder(values, "PASSNET_HOME", Path.home() / ".local" / "share" / "passnet")
    if home.exists() and not home.is_dir():
        raise BadInput(f"PASSNET_HOME is {home}, which is not a folder. Name a folder, or one that may be created.")
    return Settings(
        home=home,
        data=_existing_folder(values, "PASSNET_DATA", BUNDLED_DATA),
        python=_interpreter(values),
        isolation=_isolation(values),
        models=ModelSettings(
            values.get("OPENAI_BASE_URL", ""),
            values.get("OPENAI_API_KEY", ""),
            values.get("PASSNET_MODEL", ""),
            _prices(values.get("PASSNET_PRICES", "")),
        ),
    )


def _prices(text: str) -> dict[str, tuple[float, float]]:
    """From "a-model=1.25/10, another=0.3/1.2"."""
    found = {}
    for each in filter(None, map(str.strip, text.split(","))):
        name, _, figures = each.rpartition("=")
        try:
            prompt, reply = map(float, figures.split("/"))
        except ValueError:
            prompt = reply = -1.0
        if not name or not (0 <= prompt < math.inf and 0 <= reply < math.inf):
            raise BadInput(
                f"PASSNET_PRICES has {each!r}. Write NAME=PROMPT/REPLY, what a million tokens cost, and a comma between"
                " models."
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
    # the path stays as it is: an environment's interpreter is a link, and followed it would lose its packages
    python = Path(values.get("PASSNET_PYTHON") or sys.executable).expanduser().absolute()
    if not os.access(python, os.X_OK) or python.is_dir():
        raise BadInput(f"PASSNET_PYTHON is {python}, which is not a program. Name a Python with torch and triton.")
    return python


def _isolation(values: Mapping[str, str]) -> IsolationChoice:
    text = values.get("PASSNET_ISOLATION") or IsolationChoice.AUTO.value
    try:
        return IsolationChoice(text)
    except ValueError:
        known = ", ".join(each.value for each in IsolationChoice)
        raise BadInput(f"PASSNET_ISOLATION is {text!r}. Set it to one of {known}.") from None
