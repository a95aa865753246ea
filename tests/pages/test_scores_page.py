"""The views below the ranking on the Scores page, opened by link and by choice."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas
import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import resources
from pages.ui.filters import INDUCTOR_SLOWER
from pages.ui.filters import SIZES as EXPLORE_SIZES
from pages.ui.inductor import explore_filters
from passnet_core.access.hosting import Host
from passnet_core.leaderboard.inductor_effects import LARGEST, SIZES, Effect, Grouping
from passnet_core.records import Baseline, Profile, Verdict
from passnet_core.service import Service, open_service
from passnet_core.settings import read_settings
from passnet_core.store import exchange
from passnet_core.store.rows import RunFile
from tests.contract.made import of_clock
from tests.example_playground import REFERENCE, answer, hostile, measured, write_data
from tests.fake_backend import FakeBackend
from tests.pages.visiting import Visit, page_links, read

VIEWS = ("Behind a point", "Speedups", "Against TorchInductor", "Two solvers", "Leaderboard")


def table(app: AppTest, column: str) -> pandas.DataFrame:
    """Return the only table that has this column."""
    (found,) = [each.value for each in app.dataframe if column in each.value]
    return found


@pytest.fixture
def without_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: Service) -> Iterator[Service]:
    """Replace the service by one without recorded results."""
    data = write_data(tmp_path / "bare", recorded=False)
    settings = read_settings({"PASSNET_DATA": str(data), "PASSNET_HOME": str(tmp_path / "bare-home")})
    opened = open_service(settings, backend=FakeBackend(answer))
    monkeypatch.setattr(resources, "open_host", lambda *args, **kwargs: Host(opened, None))
    resources.host.clear()
    yield opened
    opened.close()


def another(service: Service, name: str, speedup: float, *, verdict: Verdict = Verdict.FASTER) -> None:
    """Import the results of one more solver on the same subgraphs."""
    bundle = replace(REFERENCE, passes=(replace(REFERENCE.passes[0], name=f"{name}.py"),), author=name)
    file = measured(bundle, speedup=speedup, verdict=verdict)
    service.import_run(exchange.written(RunFile(replace(file.run, id=name), file.bundles, file.outcomes)))


def test_a_link_opens_the_view_with_its_t_its_solver_and_its_subgraph(visit: Visit) -> None:
    app = visit("scores", t="-7", who="TorchInductor", task="add-relu", subgraph="float16/96/toy")
    headings = [each.value for each in (*app.header, *app.subheader)]
    assert headings[0] == "TorchInductor slows down 2 of 2 subgraphs in direct capture\\.", "the finding comes first"
    assert "The best solver on the same subgraphs, Add and rectify, is slower than eager on 0 of 2" in read(app)
    assert "ES(t): Add and rectify against TorchInductor, add-relu, H200, direct" in read(app)
    assert app.select_slider(key="t").value == -7
    assert "in the ES(-7) of TorchInductor" in read(app)
    lines = table(app, "counts")
    assert list(lines["verdict"]) == ["right, faster, but not within this t"] * 2
    assert list(lines["counts"]) == pytest.approx([0.1, 0.1])
    # one of the two would count 1 instead of 0.1
    assert list(lines["ES(-7) if within t"]) == pytest.approx([0.1**0.5] * 2)
    assert any("TorchInductor: the run of" in each.label.replace("\\", "") for each in page_links(app))


def test_moving_the_slider_changes_the_link_the_ranking_and_what_is_behind(visit: Visit, service: Service) -> None:
    another(service, "crashing", 1.0, verdict=Verdict.CRASHED)
    app = visit("scores", t="0")
    ranking = table(app, "place")
    assert list(ranking["place"]) == [1, 2, 3]
    assert ranking["solver"].iloc[0] == "Add and rectify"
    assert list(ranking["within t = 0"]) == ["2 of 2", "2 of 2", "0 of 2"]
    app.select_slider(key="t").set_value(4).run()
    # a crash is tolerated from 3 on and counts 1, which is more than TorchInductor's 0.7
    assert list(table(app, "place")["ES(4)"]) == pytest.approx([1.5, 1.0, 0.7])
    assert table(app, "place")["solver"].iloc[2] == "TorchInductor"


def test_times_of_an_older_clock_version_are_left_out_and_can_be_chosen(visit: Visit, service: Service) -> None:
    for bundle in (REFERENCE, None):
        file = measured(bundle, speedup=9.0)
        older = tuple(of_clock(1, each) for each in file.outcomes)
        service.import_run(exchange.written(RunFile(replace(file.run, id=f"older-{file.run.id}"), file.bundles, older)))
    app = visit("scores", t="0")
    assert list(table(app, "place")["ES(0)"]) == pytest.approx([1.5, 0.7])
    assert read(app).count("Results of clock version 1 are left out here") == 2, "also of what Inductor slows down"
    boards = app.selectbox(key="board")
    (place,) = [place for place, each in enumerate(boards.options) if each.endswith(", clock version 1")]
    boards.select_index(place).run()
    assert "There is no board" not in read(app)
    assert list(table(app, "place")["ES(0)"]) == pytest.approx([9.0, 9.0])


def test_the_two_baselines_are_told_apart_and_never_counted_together(visit: Visit, service: Service) -> None:
    file = measured(None, speedup=1.2, baseline=Baseline.EAGER_ROUNDING)
    run = replace(file.run, id="rounding")
    service.import_run(exchange.written(RunFile(run, file.bundles, file.outcomes)))
    app = visit("scores", t="0", view="Against TorchInductor")
    ranking = table(app, "place")
    assert list(ranking["solver"]) == ["Add and rectify", "TorchInductor with eager's rounding", "TorchInductor"]
    assert list(ranking["ES(0)"]) == pytest.approx([1.5, 1.2, 0.7])
    assert list(table(app, "ratio")["ratio"]) == pytest.approx([1.5 / 0.7] * 2)
    app.selectbox(key="baseline").set_value("TorchInductor with eager's rounding").run()
    assert list(table(app, "ratio")["ratio"]) == pytest.approx([1.5 / 1.2] * 2)
    assert len(app.selectbox(key="ground").options) == 2
    assert "100%** of 2 subgraphs are slower" in read(app)
    app.selectbox(key="ground").set_value("NVIDIA H200 · direct capture · TorchInductor with eager's rounding").run()
    assert "0%** of 2 subgraphs are slower with TorchInductor with eager's rounding" in read(app)
    assert "TorchInductor with eager's rounding on add-relu" in read(visit("runs", run="rounding"))


def test_what_passnets_protocol_aborted_counts_as_a_failure_if_the_visitor_asks(visit: Visit, service: Service) -> None:
    file = measured(REFERENCE, speedup=2.0, profile=Profile.PASSNET)
    unsteady = replace(file.outcomes[1], verdict=Verdict.INCONCLUSIVE, speedups=())
    outcomes = (file.outcomes[0], unsteady)
    service.import_run(exchange.written(RunFile(file.run, file.bundles, outcomes)))
    assert not visit("scores", t="0").toggle, "only PassNet's rules have aborts"
    app = visit("scores", t="0", profile="PassNet's rules")
    assert list(table(app, "place")["ES(0)"]) == pytest.approx([2.0])
    assert "1 of 2 subgraphs of 1 task" in read(app)
    app.toggle(key="aborts").set_value(True).run()
    assert list(table(app, "place")["ES(0)"]) == pytest.approx([(2.0 * 0.1) ** 0.5])
    assert "2 of 2 subgraphs of 1 task" in read(app)
    assert "aborts count as failures" in read(app)
    assert table(app, "counts")["verdict"].iloc[0] == "right, inconclusive"
    app = visit("scores", t="3", profile="PassNet's rules", aborts="true")
    assert list(table(app, "place")["ES(3)"]) == pytest.approx([2.0**0.5]), "a runtime failure is tolerated from 3 on"


def test_the_solver_behind_a_point_can_be_chosen(visit: Visit) -> None:
    app = visit("scores")
    assert list(table(app, "counts")["counts"]) == pytest.approx([1.5, 1.5])
    app.selectbox(key="who").set_value("TorchInductor").run()
    assert list(table(app, "counts")["multiplies"]) == pytest.approx([0.7**0.5] * 2)
    # if one counted 1, only the other would lower the score
    assert list(table(app, "counts")["ES(0) if within t"]) == pytest.approx([0.7**0.5] * 2)


def test_speedups_are_told_as_quartiles_as_well(visit: Visit) -> None:
    app = visit("scores", view="Speedups", t="-7")
    lines = table(app, "lower quartile")
    assert list(lines["solver"]) == ["Add and rectify", "TorchInductor"]
    assert list(lines["median"]) == pytest.approx([1.5, 0.7])
    assert list(lines["within t = -7"]) == [0, 0]
    assert "counts" not in {name for each in app.dataframe for name in each.value}, "only the open view is drawn"


def test_against_inductor_every_subgraph_has_its_ratio_interval_and_words(visit: Visit) -> None:
    app = visit("scores", view="Against TorchInductor")
    lines = table(app, "comparison")
    assert list(lines["ratio"]) == pytest.approx([1.5 / 0.7] * 2)
    assert list(lines["comparison"]) == ["Add and rectify faster"] * 2
    assert list(lines["from"]) == pytest.approx([1.5 * 0.97] * 2)
    assert list(lines["to "]) == pytest.approx([0.7 * 1.03] * 2)
    assert "Both ran all of these subgraphs." in read(app)


def test_what_inductor_did_not_run_is_said(visit: Visit, service: Service) -> None:
    file = measured(REFERENCE, speedup=2.0)
    extra = tuple(replace(each, task_id="add-relu-wide") for each in file.outcomes)
    run = replace(file.run, id="wider", task_ids=("add-relu-wide",))
    service.import_run(exchange.written(RunFile(run, file.bundles, extra)))
    board = next(each for each in service.boards() if len(each.places) == 4)
    app = visit("scores", view="Against TorchInductor", board=board.id)
    assert "2 subgraphs not measured with TorchInductor" in read(app)
    assert list(table(app, "comparison")["comparison"])[-2:] == ["not measured with TorchInductor"] * 2


def test_two_solvers_of_the_link_stand_side_by_side(visit: Visit, service: Service) -> None:
    another(service, "close", 1.51)
    names = {each.name for each in service.boards()[0].contestants}
    close = next(name for name in names if name not in ("Add and rectify", "TorchInductor"))
    app = visit("scores", view="Two solvers", first="TorchInductor", second=close)
    assert "TorchInductor: **0** won, **2** lost and **0** tied of 2 subgraphs" in read(app)
    assert re.search(r"TorchInductor is \*\*0\.\d+ times\*\* that .* the difference is beyond chance", read(app))
    assert list(table(app, "speedup where within t")["ES(0)"]) == pytest.approx([0.7, 1.51])
    assert list(table(app, "multiplies")["multiplies"]) == pytest.approx([(0.7 / 1.51) ** 0.5] * 2)
    app.selectbox(key="first").set_value("Add and rectify").run()
    assert "**0** won, **0** lost and **2** tied" in read(app), "1.2% of noise, and intervals that overlap"
    # a solver is not compared with itself
    app.selectbox(key="first").set_value(close).run()
    assert app.selectbox(key="second").value != close


@pytest.mark.parametrize("view", VIEWS)
def test_invalid_parameters_in_the_link_are_ignored(visit: Visit, view: str) -> None:
    rubbish = dict.fromkeys(("t", "who", "mine", "first", "second", "board", "task", "subgraph"), "<b>rubbish</b>")
    app = visit("scores", view=view, **rubbish)
    assert not app.exception
    assert not app.error
    (warning,) = app.warning
    assert "There is no board '<b>rubbish</b>' here" in warning.value.replace("\\", "")
    (ranking,) = [each.value for each in app.dataframe if {"place", "accepted"} <= set(each.value)]
    assert len(ranking) == 2, "the default board is shown"
    assert visit("scores", view="rubbish").tabs[0].label == VIEWS[0]


@pytest.mark.parametrize("view", VIEWS)
def test_hostile_names_stay_text(visit: Visit, service: Service, view: str) -> None:
    text = "<img src=x onerror=alert(1)> [x](javascript:alert(1)) $y$ :red[z] `"
    service.import_run(exchange.written(hostile(text)))
    for each in visit("scores").selectbox(key="board").options:
        app = visit("scores", view=view, board=each)
        assert not app.exception
        assert not app.error
        for written in (*app.markdown, *app.caption):
            assert not re.search(r"(?<!\\)(<img|\[x|:red|\$y)", str(written.value))


def test_a_board_with_one_solver_says_what_is_missing(visit: Visit, without_figures: Service) -> None:
    without_figures.import_run(exchange.written(measured(REFERENCE, speedup=1.5)))
    assert list(table(visit("scores"), "place")["solver"]) == ["Add and rectify"]
    assert "Only one solver ran all of these subgraphs" in read(visit("scores", view="Two solvers"))
    assert "TorchInductor was not measured here" in read(visit("scores", view="Against TorchInductor"))
    assert list(table(visit("scores", view="Speedups"), "median")["timed"]) == [2]


def test_a_board_of_one_baseline_alone_names_it(visit: Visit, without_figures: Service) -> None:
    without_figures.import_run(exchange.written(measured(None, speedup=1.2, baseline=Baseline.EAGER_ROUNDING)))
    app = visit("scores", view="Against TorchInductor")
    assert "Only TorchInductor with eager's rounding was measured here" in read(app)


@pytest.mark.parametrize(
    ("grouping", "group", "part", "filters"),
    [
        (Grouping.DTYPE, "float16", Effect.SLOWER, {"state": INDUCTOR_SLOWER, "dtype": "float16"}),
        (Grouping.OPERATIONS, "4 to 10", Effect.FASTER, {"size": "4 to 10"}),
        (Grouping.FAMILY, "fusible", Effect.SAME, {"family": "fusible"}),
        (Grouping.TIME, "below 25 µs", Effect.SLOWER, {"state": INDUCTOR_SLOWER}),
    ],
)
def test_a_bar_leads_to_the_tasks_behind_it(
    grouping: Grouping, group: str, part: Effect, filters: dict[str, str]
) -> None:
    assert explore_filters(grouping, group, part) == filters


def test_groups_by_operations_are_those_that_explore_can_select() -> None:
    assert [*(name for _, name in SIZES), LARGEST] == list(EXPLORE_SIZES)
    assert [bound for bound, _ in SIZES] == [each.stop for each in EXPLORE_SIZES.values()][:-1]


def test_nothing_measured_is_said(visit: Visit, without_figures: Service) -> None:
    app = visit("scores")
    assert "Nothing has been measured yet" in read(app)
    assert not app.get("tab")


def test_new_measurements_appear_on_the_next_rerun(visit: Visit, service: Service) -> None:
    app = visit("scores")
    assert len(table(app, "place")) == 2
    another(service, "late", 9.0)
    app.run()
    assert len(table(app, "place")) == 3


def test_the_leaderboard_says_who_cannot_be_told_apart_and_keeps_others_figures_apart(
    visit: Visit, service: Service
) -> None:
    another(service, "a second", 1.9)
    app = visit("scores", view="Leaderboard")
    places = table(app, "faster than Inductor")
    assert set(places["place"]) <= set(range(1, len(places) + 1))
    assert "Claude Opus 4.6" not in set(places["solver"])
    named = [each.value for each in app.dataframe if "solver" in each.value]
    (published,) = [each for each in named if "Claude Opus 4.6" in set(each["solver"])]
    assert list(published["aggregate score"])[:2] == [1.0, 0.706]
    assert "Not judged here" in read(app)


def test_filters_hold_for_every_figure(visit: Visit, service: Service) -> None:
    app = visit("scores", dtypes="float16")
    assert "1 of 2 subgraphs of 1 task" in read(app)
    assert "of 1 subgraph are slower" in read(app)
    assert set(table(app, "counts")["subgraph"]) == {"float16/96/toy"}
    assert not visit("scores", operators="add", capture="direct").info
    assert "No measured subgraph has all of this" in read(visit("scores", dtypes="float16", times="1 ms and more"))


def test_what_the_headline_says_is_not_said_again(visit: Visit) -> None:
    assert read(visit("scores")).count("2 of 4 subgraphs of 1 task") <= 1
