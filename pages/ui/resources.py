"""Opens the service, and caches what the pages share."""

import functools
import os
from typing import TYPE_CHECKING

import streamlit as st

from pages.ui import visitors
from pages.ui.filters import Listing
from passnet_core.access.hosting import Host, open_host
from passnet_core.access.personal import PersonalService, SharedService
from passnet_core.corpus.catalogue import Corpus
from passnet_core.errors import BadInput, PlaygroundError, UnknownItem
from passnet_core.graphs import source
from passnet_core.graphs.ir import Graph
from passnet_core.people.person import PersonRole
from passnet_core.records import Bundle, Task
from passnet_core.settings import Settings, read_settings

if TYPE_CHECKING:
    from passnet_core.solvers.rules.candidates import Candidate

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@st.cache_resource(show_spinner="Opening the playground…")
def host() -> Host:
    """Return the host of this process, with a warm judge. Raises StoreError if the store cannot be opened."""
    return open_host(read_settings(os.environ), keep_warm=True)


def service() -> PersonalService:
    """Return the service as the person sees it whose page this is. Raises NotAllowed for somebody who is banned."""
    return host().access(visitors.visitor(), visitors.identity())


def shared() -> SharedService:
    """Return the part of the service that is everybody's."""
    return host().service


@functools.cache
def settings() -> Settings | None:
    """Return the settings, read once; None if they are wrong, of which the page tells when it opens the service."""
    try:
        return read_settings(os.environ)
    except BadInput:
        return None


def own_models() -> bool:
    """Return whether visitors may have their own code run to make a model: as set, else if only this machine can reach
    the app."""
    found = settings()
    if found is None:
        return False
    if found.serve:
        return bool(found.own_models) and role() not in (None, PersonRole.VISITOR)
    return st.get_option("server.address") in LOOPBACK if found.own_models is None else found.own_models


def serves_others() -> bool:
    """Return whether the app serves others than the person at this machine."""
    found = settings()
    return found is not None and found.serve


def role() -> PersonRole | None:
    """Return what somebody is here; None if nothing can be done for them, of which the page tells."""
    try:
        return service().role
    except PlaygroundError:
        return None


def listing() -> Listing:
    """Return the tasks of the corpus, ready to search."""
    corpus = shared().corpus
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
        return _bundle(service().viewer, digest)
    except UnknownItem:
        return None


@functools.lru_cache(maxsize=512)
def _bundle(viewer: str | None, digest: str) -> Bundle:
    """viewer: whose question it is, the cache's key."""
    return service().bundle(digest)
