"""The components in assets/built, served as files: a browser fetches each once, and reruns send only data."""

import functools
from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

from passnet_core.settings import ROOT

FOLDER = "assets/built"
PACKAGE = "passnet"


def component(name: str) -> Callable[..., Any]:
    """Return the function that mounts a component. The digest in its file name keeps browsers from showing an old one.

    Streamlit serves files of installed packages only, so this registers the folder as if it were one.
    """
    return _mounting(get_bidi_component_manager(), name)


@functools.lru_cache(maxsize=64)
def _mounting(manager: BidiComponentManager, name: str) -> Callable[..., Any]:
    full = f"{PACKAGE}.{name}"
    if manager.get(full) is None:
        manager.register_from_manifest(ComponentManifest(PACKAGE, "1", [ComponentConfig(name, asset_dir=FOLDER)]), ROOT)
    return st.components.v2.component(full, js=f"{name}.*.js")
