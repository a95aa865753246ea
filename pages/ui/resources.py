"""Opens the service, and caches what the pages share."""

import functools
import os
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui.filters import Listing
from passnet_core.corpus.catalogue import Corpus
from passnet_core.errors import BadInput, UnknownItem
from passnet_core.graphs import source
from passnet_core.graphs.ir import Graph
from passnet_core.records import Bundle, Task
from passnet_core.service import Service, open_service
from passnet_core.settings import read_settings

if TYPE_CHECKING:
    from passnet_core.solvers.rules.candidates import Candidate

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@st.cache_resource(show_spinner="Opening the playground…")
def service() -> Service:
    """Return the service of this process, with a warm judge. Raises StoreError if the store cannot be opened."""
    return open_service(read_settings(os.environ), keep_warm=True)


def own_models() -> bool:
    """Return whether visitors may have their own code run to make a model: as set, else if only this machine can reach
    the app."""
    try:
        allowed = read_settings(os.environ).own_models
    except BadInput:
        return False  # the page says what is wrong with the settings
    return st.get_option("server.address") in LOOPBACK if allowed is None else allowed


def listing() -> Listing:
    """Return the tasks of the corpus, ready to search."""
    corpus = service().corpus
    return _listing(corpus, corpus.revision)


@functools.lru_cache(maxsize=1)
def _listing(corpus: Corpus, revision: int) -> Listing:
    return Listing(corpus.tasks())


@functools.lru_cache(maxsize=512)
def graph(code: str) -> Graph:
    """Return a subgraph's source as a graph. Raises BadInput that names the line it cannot read."""
    return source.parse(code)


@functools.lru_cache(maxsize=64)
def by_rules(task: Task) -> "tuple[Candidate, ...]":
    """Return the bundles that the rules write for a task. Raises BadInput if they cover nothing of it."""
    from passnet_core.solvers.rules.candidates import candidates  # takes a third of a second, and most pages need none

    return candidates(task)


def bundle(digest: str) -> Bundle | None:
    """Return a stored bundle; None if it is not here."""
    try:
        return _bundle(digest)
    except UnknownItem:
        return None


@functools.lru_cache(maxsize=512)
def _bundle(digest: str) -> Bundle:
    return service().bundle(digest)
