"""Passes in a link come back as they were, and a damaged link says so."""

import base64
import zlib

import pytest

from passnet_core.bundles.packing import MOST_BYTES, packed, unpacked
from passnet_core.errors import BadInput
from passnet_core.records import Bundle, PassFile

BUNDLE = Bundle((PassFile("one.py", "x = 'ä€😀'\n" * 50), PassFile("two.py", "")), (PassFile("help.py", "\r\n"),))


def encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(zlib.compress(raw)).decode().rstrip("=")


def test_a_bundle_comes_back_as_it_was() -> None:
    text = packed(BUNDLE)
    assert unpacked(text) == BUNDLE
    assert text.isascii()
    assert set("+/=&?#%").isdisjoint(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "passes",
        "ä",
        packed(BUNDLE)[:-6],
        packed(BUNDLE)[:20],
        packed(BUNDLE) + "!",
        encoded(b"[]"),
        encoded(b"{" * 100_000),
        encoded(b'{"passes": [{"name": "../out.py", "code": ""}]}'),
        encoded(b" " * (MOST_BYTES + 1)),
    ],
)
def test_a_damaged_link_says_so(text: str) -> None:
    with pytest.raises(BadInput):
        unpacked(text)
