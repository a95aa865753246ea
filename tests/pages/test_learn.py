"""Learning: lessons beside the desk, their grades, progress that belongs to a person, and certificates."""

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from pages.ui import resources
from passnet_core.records import Verdict, digest_of
from passnet_core.service import Service
from tests.example_playground import BEGINNING, LESSONS, PASS
from tests.pages.editing import Editor
from tests.pages.visiting import VISITOR, Visit, button, page_links, read, texts, until

FIRST, SECOND = LESSONS
STRANGER = "1" * 32


def passed(visit: Visit, lesson: str) -> None:
    app = visit("learn", lesson=lesson)
    Editor(app).hold(PASS).run()
    button(app, "Run").click().run()
    until(app, "You have all stars of this lesson")


def leading(app: AppTest, label: str) -> Button:
    """The button with this label, which Markdown escapes."""
    return next(each for each in app.button if each.label.replace("\\", "") == label)


def labels(app: AppTest) -> list[str]:
    return [each.proto.label.replace("\\", "") for each in page_links(app)]


def test_a_lesson_begins_with_what_is_missing_and_says_what_the_mistake_is(visit: Visit) -> None:
    app = visit("learn")
    leading(app, "Begin with 1. A title").click().run()
    app = visit("learn", lesson=FIRST)
    assert Editor(app).text == BEGINNING
    until(app, "The pattern has to add.")
    assert "★ rules" in read(app)
    assert "☆ match" in read(app)
    assert "Hint 1" not in texts(app)
    assert "Give me a hint (1 of 3)" in [each.label for each in app.button]


def test_hints_come_one_by_one_and_the_solution_leaves_ones_own_passes_alone(visit: Visit) -> None:
    app = visit("learn", lesson=FIRST)
    Editor(app).hold(PASS + "# mine\n").run()
    button(app, "Give me a hint (1 of 3)").click().run()
    assert "Look at the graph." in read(app)
    assert "What is added?" not in read(app)
    button(app, "Show the solution").click().run()
    assert Editor(app).text == PASS
    button(app, "Back to my passes").click().run()
    assert Editor(app).text == PASS + "# mine\n"


def test_all_stars_need_the_variant_that_is_kept_back_and_lead_on(visit: Visit, service: Service) -> None:
    app = visit("learn", lesson=FIRST)
    Editor(app).hold(PASS + "WRONG = 1\n").run()
    button(app, "Run").click().run()
    until(app, "The kernel computes something else.")
    assert service.attempts(VISITOR)[FIRST].grade.passed is False
    passed(visit, FIRST)
    run = service.attempts(VISITOR)[FIRST].run
    assert [each.subgraph_id for each in service.outcomes(run.id)] == ["small", "half"]
    listed = visit("learn")
    assert leading(listed, "Go on with 2. A title")
    assert leading(visit("learn", browser=STRANGER), "Begin with 1. A title")


def test_a_lesson_that_does_not_exist_is_reported_beside_the_list(visit: Visit) -> None:
    app = visit("learn", lesson="nowhere*")
    assert "There is no lesson 'nowhere*'" in read(app)
    assert leading(app, "Begin with 1. A title")
    assert "no certificate 'x'" in read(visit("learn", certificate="x"))


def test_a_link_to_a_lessons_task_opens_the_lesson(visit: Visit) -> None:
    app = visit("workbench", task=f"lesson-{FIRST}", bundle="solution")
    assert app.title[0].value.replace("\\", "") == "1. A title"
    assert Editor(app).text == PASS
    Editor(app).hold(PASS + "# mine\n").run()
    assert any(
        each.startswith("Lesson: A title · solution.1 · ") for each in labels(visit("workbench", task="add-relu"))
    )


def test_a_verdict_leads_to_the_lesson_that_explains_it(visit: Visit) -> None:
    app = visit("workbench", task="add-relu")
    Editor(app).hold(BEGINNING).run()
    until(app, "No match")
    assert "Learn why: A title" in labels(app)
    assert resources.shared().course.explaining_word(Verdict.NO_MATCH) is not None


def test_whoever_has_passed_everything_gets_a_certificate_that_can_be_judged_again(
    visit: Visit, service: Service
) -> None:
    for lesson in LESSONS:
        passed(visit, lesson)
    app = visit("learn")
    app.text_input(key="holder").set_value("Ada *Lovelace*")
    button(app, "Make the certificate").click().run()
    shown = app.query_params["certificate"]
    stranger = visit("learn", browser=STRANGER, certificate=shown)
    assert "Ada *Lovelace*" in read(stranger)
    button(stranger, "Have it judged again").click().run()
    for run in service.runs(visitor=digest_of(f"browser {STRANGER}")[:32]):
        service.wait(run.run.id)
    stranger.run()
    assert list(stranger.dataframe[0].value["judged again"]) == ["all stars again"] * len(LESSONS)
