"""Accepted passes inside somebody's own model: a backend of torch.compile.

Nothing but torch, triton and this package is imported here."""

from passnet_core.integrate.backend import PassBackend, PassFailed, PassWarning, backend
from passnet_core.integrate.explanation import Explanation, GraphExplanation

__all__ = ["Explanation", "GraphExplanation", "PassBackend", "PassFailed", "PassWarning", "backend"]
