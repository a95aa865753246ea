"""Help: the contract of a pass, verdicts, the judge, glossary, command line, limits and diagnostics."""

import json
import platform

import streamlit as st

from pages.ui import resources
from pages.ui.help_chapters import CHAPTERS, JUDGE
from pages.ui.text import plain
from passnet_core import __version__
from passnet_core.records import to_json
from passnet_core.settings import ASSETS

DIAGNOSTICS = "Diagnostics"


def diagnostics() -> dict[str, object]:
    """Return facts for a problem report: versions, the device, files that could not be read. No code, no task names."""
    service = resources.shared()
    info = service.device()
    return {
        "playground": __version__,
        "streamlit": st.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "device": info.label,
        "isolation": info.isolation.value,
        "warm spares": service.capacity().spares,
        "problem": info.problem,
        "judge": to_json(info.environment),
        "tasks": len(service.corpus.tasks()),
        "left out": list(service.problems),
    }


st.title("Help")
tabs = st.tabs([*CHAPTERS, DIAGNOSTICS], key="chapter", bind="query-params")
for tab, name in zip(tabs, [*CHAPTERS.values(), None]):
    with tab:
        if name == CHAPTERS[JUDGE]:
            st.image(ASSETS / "judge.svg", width=760)
        if name:
            st.markdown((ASSETS / "help" / f"{name}.md").read_text(encoding="utf-8"))
        else:
            st.markdown("Copy this into a problem report. It contains no passes and no drafts.")
            for problem in resources.shared().problems:
                st.warning(plain(problem))
            st.code(json.dumps(diagnostics(), indent=2), language="json")
