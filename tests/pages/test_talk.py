"""The drawer in which a language model writes passes: consent, progress, stopping, taking over, continuing."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import talk as talk_page
from passnet_core.records import Baseline, Device, EvalSpec, Stage
from passnet_core.records.trajectories import FREE, Budget, End
from passnet_core.service import Service
from passnet_core.settings import BUNDLED_DATA, ModelSettings
from passnet_core.solvers.conversations import ConversationOrder
from passnet_core.solvers.llm.chat import ChatServer
from passnet_core.solvers.llm.client import ChatModel
from passnet_core.solvers.trajectories import read_trajectory
from passnet_core.store.opening import open_store
from tests.contract.model_server import ModelServer, Said, saying, serving
from tests.example_playground import OTHER_ID, PASS, REFERENCE, TASK_ID
from tests.fake_backend import FakeBackend
from tests.pages.editing import Editor
from tests.pages.visiting import VISITOR, Visit, button, read, texts, until

KEY = "sk-typed-0123456789"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving({}) as made:
        yield made


def wrote(code: str) -> Said:
    return Said("Let me <b>see</b>.", [("write_file", json.dumps({"name": "a.py", "code": code})), ("evaluate", "{}")])


FINISH = Said("That is all.", [("finish", "{}")])


def agree(app: AppTest) -> None:
    """Tick the consent, after a rerun: consent is for one server, and the page must know which."""
    app.run()
    consent = next(each for each in app.checkbox if each.label.startswith("Send this to"))
    assert not consent.value
    consent.set_value(True)
    app.run()


def begun(visit: Visit, server: ModelServer, **typed: Any) -> AppTest:
    app = visit("workbench", task=TASK_ID, talk="new")
    app.text_input(key="model-url").set_value(server.base_url)
    app.text_input(key="model-key").set_value(KEY)
    app.text_input(key="model-name").set_value("scripted")
    for key, value in typed.items():
        next(each for each in [*app.number_input, *app.checkbox] if each.key == f"model-{key}").set_value(value)
    agree(app)
    app.button(key="begin-talk").click()
    app.run()
    assert not app.exception, app.exception[0].message
    return app


def form(app: AppTest) -> Any:
    return next(each for each in app.expander if each.label == "Use your own model")


def test_without_a_model_the_drawer_explains_and_shows_exactly_what_would_be_sent(visit: Visit) -> None:
    app = visit("workbench", task=TASK_ID)
    button(app, "Model").click()
    app.run()
    assert app.query_params["talk"] == "new"
    assert "No model is set up here" in texts(app)
    assert not form(app).proto.expanded
    assert any("in_0 + in_1" in each.value for each in app.code), "the sources are shown before they are sent"
    assert app.button(key="begin-talk").disabled, "nothing is sent before somebody agrees"
    button(app, "Close").click()
    app.run()
    assert "talk" not in app.query_params


def test_a_conversation_is_watched_taken_over_and_found_again(
    visit: Visit, service: Service, server: ModelServer
) -> None:
    server.models["scripted"] = saying(wrote(PASS + "# WRONG\n"), wrote(PASS + "# better\n"), FINISH)
    app = until(begun(visit, server), "The model has finished")
    assert "The best bundle is accepted on 2 of 2 subgraphs" in texts(app)
    titles = [each.label for each in app.expander]
    assert "Turn 1 · write\\_file, evaluate · 0 of 2 accepted" in titles
    assert "Turn 2 · write\\_file, evaluate · 2 of 2 accepted" in titles
    changes = [each.value for each in app.code if each.language == "diff"]
    assert any("-# WRONG\n+# better" in each for each in changes), "a turn shows what it changed"
    assert "Let me <b>see</b>." in [each.value for each in app.code], "what a model says is text"
    mine = service.draft(VISITOR, TASK_ID, "mine")
    button(app, "Open it in the editor").click()
    app.run()
    assert list(Editor(app).texts.values()) == [PASS + "# better\n"]
    assert service.draft(VISITOR, TASK_ID, "mine") == mine, "nothing was overwritten"
    # the link alone opens the conversation
    talk = app.query_params["talk"]
    again = visit("workbench", task=TASK_ID, talk=talk)
    assert "The model has finished" in texts(again)
    listed = visit("workbench", task=TASK_ID, talk="new")
    assert any("scripted" in each.label and "2 of 2 accepted" in each.label for each in listed.button)
    stranger = visit("workbench", browser="1" * 32, task=TASK_ID, talk="new")
    assert not any("scripted" in each.label for each in stranger.button), "others do not see it in their list"


def test_recorded_conversations_come_first_and_open_with_one_click(visit: Visit, service: Service) -> None:
    for name, task_id in (("out-of-turns", OTHER_ID), ("repaired-twice", TASK_ID)):
        found = read_trajectory(BUNDLED_DATA / "conversations" / f"{name}.jsonl")
        moved = replace(found, opening=replace(found.opening, task_id=task_id))
        with contextlib.closing(open_store(service.settings.home)) as store:
            store.import_trajectory("", moved)
    app = visit("workbench", task=TASK_ID, talk="new")
    labels = [each.label.replace("\\", "") for each in app.button]
    examples = [f"Repaired twice · {TASK_ID} · 4 turns · 6 of 6", f"Out of turns · {OTHER_ID} · 2 turns · 10 of 12"]
    at = [next(place for place, label in enumerate(labels) if label.startswith(start)) for start in examples]
    assert at == sorted(at), "those on this task come first"
    assert at[-1] < labels.index("Start")
    assert "a script plays the model" in texts(app)
    app.button[at[1]].click().run()
    assert (app.query_params["task"], app.query_params["talk"]) == (OTHER_ID, "example-out-of-turns")
    assert "The limit of turns is reached" in texts(app)


def test_a_typed_key_goes_to_its_server_alone(visit: Visit, service: Service, server: ModelServer) -> None:
    server.models["scripted"] = saying(FINISH)
    app = until(begun(visit, server), "The model has finished")
    assert {authorization for authorization, _ in server.asked} == {f"Bearer {KEY}"}
    assert KEY not in texts(app)
    service.close()
    kept = b"".join(path.read_bytes() for path in service.settings.home.rglob("*") if path.is_file())
    assert b"scripted" in kept
    assert KEY.encode() not in kept


def test_a_key_of_the_environment_goes_to_no_server_that_a_visitor_names(
    visit: Visit, service: Service, server: ModelServer
) -> None:
    server.models["scripted"] = saying(FINISH)
    service.settings = replace(service.settings, models=ModelSettings("http://127.0.0.1:9/v1", "sk-of-the-house", "m"))
    app = visit("workbench", task=TASK_ID, talk="new")
    assert form(app).proto.expanded
    app.text_input(key="model-url").set_value(server.base_url)
    app.text_input(key="model-name").set_value("scripted")
    agree(app)
    app.button(key="begin-talk").click()
    app.run()
    until(app, "The model has finished")
    assert server.asked
    assert not any("house" in authorization for authorization, _ in server.asked)


def test_stop_ends_it_and_what_was_said_stays(visit: Visit, server: ModelServer) -> None:
    server.models["scripted"] = saying(wrote(PASS), Said("word " * 1000, pause_s=0.2))
    app = until(begun(visit, server), "word word")
    button(app, "Stop").click()
    app.run()
    until(app, "The conversation was stopped")
    assert "Turn 1 · write\\_file, evaluate · 2 of 2 accepted" in [each.label for each in app.expander]


def test_a_conversation_continues_from_a_turn_with_a_message_of_the_visitor(
    visit: Visit, service: Service, server: ModelServer
) -> None:
    server.models["scripted"] = saying(wrote(PASS + "# WRONG\n"), FINISH)
    app = until(begun(visit, server), "The model has finished")
    first = app.query_params["talk"]
    server.models["scripted"] = saying(FINISH)
    app.text_area(key=f"note-{first}-1").set_value("Look again.")
    app.button(key=f"go-on-{first}-1").click()
    app.run()
    app = until(app, "Branched at turn 1")
    second = service.conversations.wait(app.query_params["talk"])
    assert second.opening.branched_from == first
    assert second.turns[-1].said[-1].text == "A person says:\n\nLook again."


def test_the_passes_in_the_editor_are_repaired_in_several_attempts(
    visit: Visit, service: Service, server: ModelServer
) -> None:
    server.models["scripted"] = saying(FINISH)
    until(begun(visit, server, repair=True, attempts=3), "The model has finished")
    found = service.conversations.latest(task_id=TASK_ID)
    assert sorted(each.opening.attempt for each in found) == [1, 2, 3]
    for each in found:
        assert service.conversations.wait(each.opening.id).ending
    assert all("There is a bundle already" in body["messages"][-1]["content"] for _, body in server.asked[:3])


@pytest.mark.parametrize(
    ("typed", "said"),
    [({"url": "localhost:8000"}, "is not an address"), ({"name": " "}, "No model is named")],
)
def test_wrong_input_is_reported_and_nothing_starts(
    visit: Visit, service: Service, typed: dict[str, str], said: str
) -> None:
    app = visit("workbench", task=TASK_ID, talk="new")
    app.text_input(key="model-url").set_value("http://127.0.0.1:9/v1")
    app.text_input(key="model-name").set_value("m")
    for key, value in typed.items():
        app.text_input(key=f"model-{key}").set_value(value)
    agree(app)
    app.button(key="begin-talk").click()
    app.run()
    assert any(said in str(each.value) for each in app.error)
    assert not service.conversations.latest()


def test_a_wrong_address_is_said_beside_its_field(visit: Visit) -> None:
    app = visit("workbench", task=TASK_ID, talk="new")
    app.text_input(key="model-url").set_value("http://localhost:abc/v1")
    app.run()
    assert any("is not an address" in each.value for each in form(app).error)


def test_a_conversation_that_is_not_there_says_so(visit: Visit) -> None:
    app = visit("workbench", task=TASK_ID, talk="none")
    assert any("There is no conversation" in str(each.value) for each in app.error)


def test_a_server_that_is_down_is_a_sentence(visit: Visit, service: Service, server: ModelServer) -> None:
    server.models["scripted"] = saying(Said("Incorrect API key provided", status=401, code="invalid_api_key"))
    app = until(begun(visit, server), "The server of the model did not answer")
    assert "key" in texts(app)


def test_the_cost_of_a_conversation_is_shown(visit: Visit, service: Service, server: ModelServer) -> None:
    server.models["scripted"] = saying(wrote(REFERENCE.passes[0].code), FINISH)
    model = ChatModel(ChatServer(server.base_url, KEY), "scripted")
    price = replace(FREE, prompt=1000.0)
    order = ConversationOrder(EvalSpec(Stage.VERIFY, Device.CPU), Budget(), price)
    found = service.conversations.wait(service.conversations.start(model, service.corpus.task(TASK_ID), order))
    assert found.ending is not None
    assert found.ending.end is End.FINISHED
    assert f"cost {found.cost:.3g}" in texts(visit("workbench", task=TASK_ID, talk=found.opening.id))


def test_the_scores_page_has_a_report_card_by_model(visit: Visit, service: Service, server: ModelServer) -> None:
    assert "Language models" not in [each.value for each in visit("scores").subheader]
    server.models["scripted"] = saying(wrote(PASS), FINISH)
    model = ChatModel(ChatServer(server.base_url, KEY), "scripted")
    order = ConversationOrder(EvalSpec(Stage.VERIFY, Device.CPU), Budget(), FREE)
    service.conversations.wait(service.conversations.start(model, service.corpus.task(TASK_ID), order))
    app = visit("scores")
    assert "Language models" in [each.value for each in app.subheader]
    table = next(each.value for each in app.dataframe if "cost per accepted" in each.value)
    row = table.iloc[0]
    assert (row["model"], row["accepted"], row["right"], row["faster"]) == ("scripted", "1 of 1", "1 of 1", "0 of 1")
    assert "fake device · direct capture · judged by: strict · baseline: TorchInductor" in read(app)


def test_report_cards_of_the_two_baselines_and_of_clock_versions_stand_apart(
    visit: Visit, service: Service, server: ModelServer, judge: FakeBackend
) -> None:
    model = ChatModel(ChatServer(server.base_url, KEY), "scripted")
    spec = EvalSpec(Stage.VERIFY, Device.CPU)
    (here,) = judge.told.devices
    assert here.environment is not None
    older = replace(here, environment=replace(here.environment, clock_version=1))
    for device, baseline in ((here, Baseline.INDUCTOR), (here, Baseline.EAGER_ROUNDING), (older, Baseline.INDUCTOR)):
        judge.told = replace(judge.told, devices=(device,))
        server.models["scripted"] = saying(wrote(PASS), FINISH)
        order = ConversationOrder(replace(spec, baseline=baseline), Budget(), FREE)
        service.conversations.wait(service.conversations.start(model, service.corpus.task(TASK_ID), order))
    app = visit("scores")
    tables = [each.value for each in app.dataframe if "cost per accepted" in each.value]
    assert [list(each["attempts"]) for each in tables] == [[1], [1], [1]]
    captions = [each.value.replace("\\", "") for each in app.caption if each.value.startswith("fake device")]
    assert captions == [
        "fake device · direct capture · judged by: strict · baseline: TorchInductor",
        "fake device · direct capture · judged by: strict · baseline: TorchInductor with eager's rounding",
        "fake device · direct capture · judged by: strict · baseline: TorchInductor · clock version 1",
    ]


def test_a_conversation_is_played_back_without_a_model(
    visit: Visit, service: Service, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(talk_page, "TURN_S", 1000.0)
    server.models["scripted"] = saying(wrote(PASS + "# WRONG\n"), wrote(PASS + "# better\n"), FINISH)
    model = ChatModel(ChatServer(server.base_url, KEY), "scripted")
    order = ConversationOrder(EvalSpec(Stage.VERIFY, Device.CPU), Budget(), FREE)
    talk = service.conversations.start(model, service.corpus.task(TASK_ID), order)
    service.conversations.wait(talk)
    app = visit("workbench", task=TASK_ID, talk=talk)

    def later(turns: float) -> str:
        began = app.session_state[talk_page.PLAYED][1]
        app.session_state[talk_page.PLAYED] = (talk, began - turns * 1000.0)
        app.run()
        return texts(app)

    button(app, "Play it back").click().run()
    assert "turn 1 of 3, played back" in texts(app)
    assert "# WRONG" in later(0.8), "it has been written"
    assert "# better" not in texts(app)
    assert "turn 2 of 3, played back" in later(0.3)
    button(app, "Stop playing").click().run()
    assert "The model has finished" in texts(app)
    button(app, "Play it back").click().run()
    assert "The model has finished" in later(4.0)


def test_a_conversation_can_be_downloaded(visit: Visit, service: Service, server: ModelServer) -> None:
    server.models["scripted"] = saying(FINISH)
    model = ChatModel(ChatServer(server.base_url, KEY), "scripted")
    order = ConversationOrder(EvalSpec(Stage.VERIFY, Device.CPU), Budget(), FREE)
    talk = service.conversations.start(model, service.corpus.task(TASK_ID), order)
    service.conversations.wait(talk)
    app = visit("workbench", task=TASK_ID, talk=talk)
    assert [each.proto.label for each in app.get("download_button")].count("Download") == 1
