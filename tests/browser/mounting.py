"""Mount a component on an empty page."""

from collections.abc import Mapping
from typing import Any

from playwright.sync_api import Page

START = """
(data) => {
  window.mounted = "";
  const mount = async () => { BODY };
  window.mounting = mount().then(() => "mounted", String).then((end) => { window.mounted = end; });
}
"""


def mount_component(page: Page, body: str, data: Mapping[str, Any]) -> None:
    """Run the body of an asynchronous function of data, and wait until it has ended.

    The page keeps the promise, and it is asked whether that has ended: Chromium may collect a promise that is waited
    for from outside."""
    page.evaluate(START.replace("BODY", body), dict(data))
    page.wait_for_function("window.mounted")
    assert page.evaluate("window.mounted") == "mounted"
