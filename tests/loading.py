"""Load a bundle's passes in this process, without a judge."""

import contextlib
import importlib
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from passnet_core.fx import tracing
from passnet_core.graphs.placement import placed
from passnet_core.graphs.rewriting import TracedPass
from passnet_core.records import Bundle


@dataclass
class Loaded:
    """A bundle's passes, ready to rewrite graphs."""

    traced: list[TracedPass]
    functions: dict[str, Any]


@contextlib.contextmanager
def loaded(bundle: Bundle, device: str = "cpu") -> Iterator[Loaded]:
    """Load a bundle's modules from a temporary folder, and forget them afterwards. device: of the graphs to rewrite."""
    names = [file.name.removesuffix(".py") for file in bundle.files]
    with tempfile.TemporaryDirectory() as folder:
        for file in bundle.files:
            (Path(folder) / file.name).write_text(file.code, encoding="utf-8")
        sys.path.insert(0, folder)
        importlib.invalidate_caches()
        try:
            traced, functions = [], {}
            for place, file in enumerate(bundle.passes):
                module = importlib.import_module(file.name.removesuffix(".py"))
                key = f"replacement_{place}"
                pattern = placed(tracing.trace_pattern(module.pattern), device)
                arguments = placed(tracing.trace_arguments(module.replacement_args), device)
                traced.append(TracedPass(file.name, pattern, arguments, key))
                functions[key] = module.replacement_func()
            yield Loaded(traced, functions)
        finally:
            sys.path.remove(folder)
            for name in names:
                sys.modules.pop(name, None)
