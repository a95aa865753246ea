"""Write the report as one HTML file. It has no script and fetches nothing, and every text from a run stays text."""

import base64
import functools
import hashlib
import json
from datetime import UTC, datetime
from typing import Any

import jinja2
from markupsafe import Markup

from passnet_core import outside
from passnet_core.charts.breakdown import MEDIANS_SAID
from passnet_core.errors import InfrastructureError
from passnet_core.records import LEVELS_SAID, Profile, level_of
from passnet_core.reports.content import SCALE, SPAN, Content
from passnet_core.settings import ASSETS

FOLDER = ASSETS / "report"
LONGEST = 20_000
"""The most characters that are shown of one text; code is always shown in full."""
PROFILES = {Profile.STRICT: "strict", Profile.PASSNET: "PassNet's rules"}


def written(content: Content) -> str:
    """Return the HTML, the same for the same content. Raises InfrastructureError if the template cannot be read."""
    return page(
        "report.html.jinja",
        content=content,
        run=content.material.run,
        SCALE=SCALE,
        SPAN=SPAN,
        LEVELS_SAID=LEVELS_SAID,
        MEDIANS_SAID=MEDIANS_SAID,
    )


def page(template: str, **content: Any) -> str:
    """A page in the style of reports, which may load nothing. Raises InfrastructureError if the template cannot be
    read."""
    style = asset("report.css")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    # allow only this file's own style: no script, image, font, connection, form or frame
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return _template(template).render(style=Markup(style), policy=policy, **content)


@functools.cache
def asset(name: str) -> str:
    """A file of the folder that reports are made of. Raises InfrastructureError if it cannot be read."""
    try:
        return (FOLDER / name).read_text(encoding="utf-8")
    except OSError as error:
        raise InfrastructureError(
            f"The report's file {name} cannot be read ({error.strerror}). Use a complete checkout of the project."
        ) from error


@functools.cache
def _template(name: str) -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, finalize=_shown, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "when": _when, "shape": _shape, "figure": _figure, "level": level_of, "listed": _listed,
        "brief": _brief, "named": PROFILES.get,
    }  # fmt: skip
    return environment.from_string(asset(name))


def _shown(value: Any) -> Any:
    """Return a text with its invisible characters, such as control and direction marks, as escape sequences."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return outside.printable(value.replace("\r\n", "\n"))


def _brief(text: str) -> str:
    """Return the text, or only its beginning and end if it is longer than LONGEST."""
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]}\n… {len(text) - LONGEST:,} characters are left out here …\n{text[-half:]}"


def _when(moment: str) -> str:
    """Format an ISO 8601 time in UTC. Other text is returned unchanged."""
    try:
        parsed = datetime.fromisoformat(moment)
    except ValueError:
        return moment
    return (parsed.astimezone(UTC) if parsed.tzinfo else parsed).strftime("%Y-%m-%d %H:%M UTC")


def _shape(sizes: tuple[int, ...]) -> str:
    return "×".join(map(str, sizes)) or "scalar"


def _figure(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _listed(names: tuple[str, ...]) -> str:
    return json.dumps(names)
