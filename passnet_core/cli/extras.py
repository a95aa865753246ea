"""Which extra of this package installs which package: the app, the judge and the model client need different ones."""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager

from passnet_core.errors import InfrastructureError

APP = ("altair", "duckdb", "graphviz", "huggingface_hub", "jinja2", "numpy", "pyarrow", "streamlit", "vl_convert")
SERVER = ("authlib", "fastapi", "uvicorn", "prometheus_client", "mcp")
EXTRA_OF = {
    **dict.fromkeys(APP, "app"),
    "torch": "judge",
    "triton": "judge",
    "openai": "llm",
    **dict.fromkeys(SERVER, "server"),
    "ray": "ray",
}
"""The extra that installs a package, by the name under which the package is imported."""


def require(*packages: str) -> None:
    """Raise ModuleNotFoundError, as importing them would, unless all these packages are installed."""
    for each in packages:
        if importlib.util.find_spec(each) is None:
            raise ModuleNotFoundError(f"No module named {each!r}", name=each)


@contextmanager
def extras_named() -> Iterator[None]:
    """Turn a failed import of an optional package into an InfrastructureError that names the extra to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in EXTRA_OF:
            raise
        raise InfrastructureError(
            f"This needs the package {error.name}. Run: pip install 'passnet-playground[{EXTRA_OF[error.name]}]'"
        ) from error
