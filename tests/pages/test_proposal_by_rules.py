"""Write it for me: rules propose passes beside those of the visitor, or say what they leave."""

from dataclasses import replace

from passnet_core.corpus.layout import write_task
from passnet_core.service import Service
from passnet_core.solvers.rules.candidates import by_model, candidates
from tests.contract.made import around_a_product
from tests.example_playground import CODE, PASS, TASK_ID, task
from tests.pages.editing import Editor
from tests.pages.visiting import VISITOR, Visit, button, read, texts


def test_the_proposal_opens_beside_what_was_typed(visit: Visit, service: Service) -> None:
    app = visit("workbench", task=TASK_ID)
    Editor(app).hold(PASS + "# mine\n")
    button(app, "Write it for me").click()
    app.run()
    assert app.query_params["talk"] == "rules"
    change = next(each.value for each in app.code if each.language == "diff")
    assert "-# mine" in change
    assert "+++ add_relu_sigmoid.py" in change
    button(app, "Open it in the editor").click()
    app.run()
    written = by_model(candidates(service.corpus.task(TASK_ID))).bundle
    assert Editor(app).texts == {file.name: file.code for file in written.files}
    assert app.query_params["bundle"] == written.digest
    assert "talk" not in app.query_params, "the drawer closes"
    app.selectbox(key="bundle").set_value("mine").run()
    assert Editor(app).text == PASS + "# mine\n"
    app.selectbox(key="bundle").set_value(written.digest).run()
    button(app, "Write it for me").click()
    app.run()
    assert "The editor already shows this bundle." in texts(app)


def test_a_message_from_before_a_click_does_not_undo_it(visit: Visit) -> None:
    app = visit("workbench", task=TASK_ID)
    button(app, "Write it for me").click()
    app.run()
    # polled while the click was under way: the browser had not heard of the new URL
    del app.query_params["talk"]
    app.run()
    assert "Passes written by rules" in read(app)
    assert app.query_params["talk"] == "rules"
    button(app, "Close").click()
    app.run()
    app.query_params["talk"] = "rules"
    app.run()
    assert "Passes written by rules" not in read(app)
    app.run()
    app.query_params["talk"] = "rules"
    app.run()
    assert "Passes written by rules" in read(app), "the visitor went there, after the browser knew of the change"


def test_closing_the_drawer_changes_nothing(visit: Visit, service: Service) -> None:
    app = visit("workbench", task=TASK_ID, talk="rules")
    before = Editor(app).texts
    button(app, "Close").click()
    app.run()
    assert "talk" not in app.query_params
    assert Editor(app).texts == before
    assert service.draft(VISITOR, TASK_ID, "mine") is None


def test_what_is_left_to_pytorch_is_said_with_its_reason(visit: Visit, service: Service) -> None:
    add_task(service, "half-known", CODE.replace("torch.sigmoid(tmp_1)", "torch.cdist(tmp_1, tmp_1)"))
    app = visit("workbench", task="half-known", talk="rules")
    assert (
        "Left to PyTorch, because the rules do not cover it: cdist (a call that a library does best as a whole)."
        in read(app)
    )


def test_what_is_left_to_libraries_is_named(visit: Visit, service: Service) -> None:
    add_task(service, "half-library", CODE.replace("torch.sigmoid(tmp_1)", "torch.cumsum(tmp_1, -1)"))
    assert "Left to libraries: cumsum." in read(visit("workbench", task="half-library", talk="rules"))


def test_the_fastest_by_the_cost_model_is_proposed_and_the_others_are_named(visit: Visit, service: Service) -> None:
    write_task(around_a_product("around"), service.settings.data / "tasks" / "around")
    service.corpus.refresh()
    shown = read(visit("workbench", task="around", talk="rules"))
    assert "Of 3 ways to write it, a cost model for an H100 expects this one to be the fastest: products" in shown
    assert "exp_add_mul_linear.py" in shown


def test_a_task_that_the_rules_do_not_cover_names_the_unknown_operations(visit: Visit, service: Service) -> None:
    add_task(service, "unknown", CODE.replace("in_0 + in_1", "torch.cdist(in_0, in_1)"))
    app = visit("workbench", task="unknown", talk="rules")
    assert (
        "The rules write no pass for unknown: they do not write cdist (a call that a library does best as a whole)."
        in read(app)
    )
    assert all(each.label != "Open it in the editor" for each in app.button)
    assert Editor(app).text, "the page goes on below"


def add_task(service: Service, name: str, code: str) -> None:
    """Add the task of the example with other code."""
    subgraphs = tuple(replace(each, task_id=name, code=code) for each in task().subgraphs)
    write_task(replace(task(), id=name, subgraphs=subgraphs), service.settings.data / "tasks" / name)
    service.corpus.refresh()
