"""Which extra of this package installs what: app, judge and model client each need packages of their own."""

from collections.abc import Iterator
from contextlib import contextmanager

from passnet_core.errors import InfrastructureError

APP = ("altair", "duckdb", "graphviz", "huggingface_hub", "jinja2", "numpy", "pyarrow", "streamlit", "vl_convert")
EXTRA_OF = {**dict.fromkeys(APP, "app"), "torch": "judge", "triton": "judge", "openai": "llm"}
"""By the name that is imported."""


@contextmanager
def extras_named() -> Iterator[None]:
    """Raises InfrastructureError, which names the extra to install, where one of its packages cannot be imported."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in EXTRA_OF:
            raise
        raise InfrastructureError(
            f"This needs the package {error.name}. Run: pip install 'passnet-playground[{EXTRA_OF[error.name]}]'"
        ) from error
