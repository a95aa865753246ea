"""Messages of the pages' components in tests: the editor with the data that it is given, and events of the others."""

import json
from typing import Any

from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, Element, Widget


class _Message(Widget):
    """A message of a component, sent with the next run."""

    def __init__(self, state: WidgetState, of: Element) -> None:
        self.id = state.id
        self.type = "component_message"
        self.proto, self.root, self.key, self._value = of.proto, of.root, None, None
        self.state = state

    @property
    def value(self) -> None:
        return None

    @property
    def _widget_state(self) -> WidgetState:
        return self.state


class Triggered(Widget):
    """An event that a component of a page tells, sent with the next run."""

    def __init__(self, app: AppTest, component: str, event: str, value: object) -> None:
        (of,) = (each for each in app.get("bidi_component") if each.proto.component_name == component)
        self.id = _make_trigger_id(of.proto.id, "events")
        self.type, self.key, self._value = "triggered", None, None
        self.proto, self.root = of.proto, of.root
        self.told = json.dumps([{"event": event, "value": value}])
        app.main.children[len(app.main.children)] = self

    @property
    def value(self) -> str:
        return self.told

    @property
    def _widget_state(self) -> WidgetState:
        return WidgetState(id=self.id, json_trigger_value=self.told)


class Editor:
    """The editor of the page as last drawn. Raises LookupError if it has none."""

    def __init__(self, app: AppTest) -> None:
        self.app = app
        for self.block, self.place, self.element in _elements(app._tree):
            if getattr(self.element.proto, "component_name", "") == "passnet.editor":
                return
        raise LookupError("This page has no editor.")

    @property
    def given(self) -> dict[str, Any]:
        return json.loads(self.element.proto.json)

    @property
    def texts(self) -> dict[str, str]:
        return {file["name"]: file["code"] for file in self.given["files"]}

    @property
    def text(self) -> str:
        """The text of the first file."""
        return next(iter(self.texts.values()))

    def hold(self, text: str) -> "Editor":
        """Put this text into the first file; it is sent with the next run."""
        self._send(self._held(text))
        return self

    def ask(self, what: str, text: str) -> AppTest:
        """Send a command with its text, and run the page."""
        told = [{"event": "asked", "value": {**self._message(text), "what": what}}]
        trigger = _make_trigger_id(self.element.proto.id, "events")
        self._send(self._held(text), WidgetState(id=trigger, json_trigger_value=json.dumps(told)))
        return self.run()

    def run(self) -> AppTest:
        return self.app.run()

    def _message(self, text: str) -> dict[str, Any]:
        first = self.given["files"][0]["name"]
        return {key: self.given[key] for key in ("slot", "revision")} | {"files": {**self.texts, first: text}}

    def _held(self, text: str) -> WidgetState:
        return WidgetState(id=self.element.proto.id, json_value=json.dumps({"held": self._message(text)}))

    def _send(self, *states: WidgetState) -> None:
        for number, state in enumerate(states):
            self.block.children[self.place if not number else -number] = _Message(state, self.element)


def _elements(block: Block) -> Any:
    for place, child in list(block.children.items()):
        if isinstance(child, Block):
            yield from _elements(child)
        else:
            yield block, place, child
