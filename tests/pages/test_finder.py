"""The search of every page: what it finds, and where that leads."""

from streamlit.testing.v1 import AppTest

from passnet_core.service import Service
from tests.example_playground import OTHER_ID, TASK_ID
from tests.pages.visiting import Visit, button, read


def found(visit: Visit, page: str, text: str) -> AppTest:
    """Open a page and its search with a text in it."""
    app = visit(page)
    app.session_state["anywhere"] = text
    app.button(key="find").click().run()
    assert not app.exception
    return app


def labels(app: AppTest) -> str:
    return "\n".join(each.label.replace("\\", "") for each in app.button)


def test_tasks_are_found_from_any_page_by_name_operators_and_shapes(visit: Visit) -> None:
    for page in ("scores", "learn", "workbench"):
        for text in (TASK_ID, "relu", "[4, 48]"):
            assert f"{TASK_ID} · 2 subgraphs · add" in labels(found(visit, page, text))


def test_lessons_and_runs_are_found(visit: Visit, service: Service) -> None:
    service.wait_until_imported()
    title = service.course.lessons[0].title
    assert f"Lesson: {title}" in labels(found(visit, "explore", title.upper()))
    assert "Run: " in labels(found(visit, "explore", "recorded-passes"))


def test_nothing_found_is_said_with_what_may_be_meant(visit: Visit) -> None:
    assert "Nothing found. Did you mean “sigmoid”?" in read(found(visit, "explore", "sigmod"))
    assert "Nothing found." in read(found(visit, "explore", "qqqqqqq"))


def test_a_result_opens_on_the_page_that_is_open(visit: Visit) -> None:
    app = found(visit, "workbench", OTHER_ID)
    button(app, next(each.label for each in app.button if "wide" in each.label)).click().run()
    assert app.title[0].value == "add\\-relu\\-wide"
    assert app.query_params["task"] == OTHER_ID
