"""A bundle as text for a link: compressed JSON in the alphabet of URLs."""

import base64
import json
import zlib

from passnet_core.bundles.reading import naming_problems
from passnet_core.errors import BadInput
from passnet_core.records import Bundle, from_json, to_json

MOST_BYTES = 4_000_000
"""Most bytes of a bundle's JSON. A short text could unpack to far more."""


def packed(bundle: Bundle) -> str:
    """Return a bundle as text, which unpacked reads."""
    raw = json.dumps(to_json(bundle), separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(zlib.compress(raw, 9)).decode().rstrip("=")


def unpacked(text: str) -> Bundle:
    """Return the bundle that was packed. Raises BadInput if the text is cut off, or is something else."""
    try:
        reading = zlib.decompressobj()
        raw = reading.decompress(
            base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True), MOST_BYTES
        )
        bundle = from_json(Bundle, json.loads(raw)) if reading.eof else None
    except (ValueError, RecursionError, zlib.error) as error:
        raise BadInput("The passes in this link cannot be read. Ask for the link again.") from error
    if bundle is None:
        raise BadInput("The passes in this link are not complete. Ask for the whole link.")
    for problem in naming_problems(bundle):
        raise BadInput(problem)
    return bundle
