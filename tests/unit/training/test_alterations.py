"""Mistakes in a bundle and their mends, without a judge."""

import ast
import json
import random
import threading
from pathlib import Path

import pytest

from passnet_core.corpus.catalogue import Corpus
from passnet_core.records import Bundle, Task
from passnet_core.records.trajectories import Message, Role, ToolCall
from passnet_core.solvers.llm.tools import calls_in
from passnet_core.solvers.rules.candidates import candidates
from passnet_core.training.repairing.alterations import (
    ALTERATIONS,
    MISNAMED_HELPER,
    MISSING_HELPER,
    Flaw,
    Shows,
    chosen,
    files_of,
    mistakes,
    with_mistakes,
)
from passnet_core.training.repairing.making import GIVEN, KINDS, plan_of
from passnet_core.training.repairing.plain import HELPER, STYLES, Style, plain
from passnet_core.training.repairing.scripted_model import (
    Call,
    Harmless,
    Plan,
    ScriptedModel,
    in_text,
    mends,
)

TASKS = Path(__file__).resolve().parents[3] / "data" / "tasks"
NAMES = ("layernorm-residual", "swiglu-gate", "clip-quick-gelu", "t5-bias-softmax", "gemma2-geglu-gate")
BROKEN_SYNTAX = ("unfinished parenthesis", "missing colon")


def task_named(name: str) -> Task:
    task = Corpus([TASKS]).task(name)
    return Task(task.id, task.family, task.split, task.subgraphs[:1])


@pytest.fixture(scope="module")
def rules_bundles() -> list[Bundle]:
    return [candidates(task_named(name))[0].bundle for name in NAMES]


@pytest.fixture(scope="module")
def bundles(rules_bundles: list[Bundle]) -> list[Bundle]:
    """The same in the form of the contract, with a helper module."""
    found = [plain(each, Style(helper=True)) for each in rules_bundles]
    return [each for each in found if each is not None]


def carried_out(files: dict[str, str], calls: list[Call]) -> dict[str, str]:
    """The files after these calls, as the tools would leave them."""
    for name, arguments in calls:
        if name == "write_file":
            files = {**files, arguments["name"]: arguments["code"]}
        elif name == "delete_file":
            files = {key: code for key, code in files.items() if key != arguments["name"]}
        else:
            code = files[arguments["name"]]
            assert code.count(arguments["old"]) == 1
            files = {**files, arguments["name"]: code.replace(arguments["old"], arguments["new"])}
    return files


def test_a_plain_pass_launches_its_kernels_itself_and_carries_only_what_it_needs(rules_bundles: list[Bundle]) -> None:
    for bundle in rules_bundles:
        made = plain(bundle, Style())
        assert made is not None
        assert not made.helpers
        for file in made.passes:
            assert "[grid](" in file.code
            tree = ast.parse(file.code)
            assert not any(
                isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) for each in ast.walk(tree)
            )
            named = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
            defined = [each.name for each in tree.body if isinstance(each, ast.FunctionDef)]
            contract = {"pattern", "replacement_args", "replacement_func"}
            assert set(defined) - named <= contract


@pytest.mark.slow
def test_styles_give_different_bundles_with_the_same_kernels(rules_bundles: list[Bundle]) -> None:
    made = [plain(rules_bundles[0], style) for style in STYLES]
    assert len({each.digest for each in made if each is not None}) == len(STYLES)
    assert {bool(each.helpers) for each in made if each is not None} == {False, True}


def test_a_helper_module_holds_only_what_the_passes_import(bundles: list[Bundle]) -> None:
    for bundle in bundles:
        (helper,) = bundle.helpers
        assert helper.name == HELPER
        defined = {each.name for each in ast.parse(helper.code).body if isinstance(each, ast.FunctionDef)}
        imported = {
            alias.name
            for file in bundle.passes
            for each in ast.walk(ast.parse(file.code))
            if isinstance(each, ast.ImportFrom) and f"{each.module}.py" == HELPER
            for alias in each.names
        }
        assert imported <= defined
        assert all(name in imported or helper.code.count(f"{name}(") > 1 for name in defined)


def test_every_alteration_occurs_and_changes_the_bundle(bundles: list[Bundle]) -> None:
    met: set[str] = set()
    for bundle in bundles:
        right = files_of(bundle)
        for name, found in mistakes(bundle).items():
            met.add(name)
            for each in found:
                wrong = with_mistakes(right, [each])
                assert wrong != right
                if name not in BROKEN_SYNTAX:
                    for code in wrong.values():
                        ast.parse(code)
    assert met == {*ALTERATIONS, MISSING_HELPER, MISNAMED_HELPER}


@pytest.mark.parametrize("name", BROKEN_SYNTAX)
def test_what_is_meant_to_be_no_python_is_none(bundles: list[Bundle], name: str) -> None:
    for bundle in bundles:
        for each in mistakes(bundle)[name]:
            wrong = with_mistakes(files_of(bundle), [each])
            (code,) = (code for file, code in wrong.items() if code != files_of(bundle)[file])
            with pytest.raises(SyntaxError):
                ast.parse(code)


@pytest.mark.parametrize("whole_lines", [False, True])
def test_the_mend_of_each_mistake_restores_the_bundle(bundles: list[Bundle], *, whole_lines: bool) -> None:
    for bundle in bundles:
        right = files_of(bundle)
        for found in mistakes(bundle).values():
            for each in found:
                wrong = with_mistakes(right, [each])
                calls = list(mends(wrong, right, random.Random(0), whole_lines=whole_lines))
                assert carried_out(wrong, calls) == right


def test_mistakes_are_mended_one_by_one_whatever_else_is_wrong(bundles: list[Bundle]) -> None:
    where = (Shows.RULES, Shows.MATCHING, Shows.VALUES)
    for seed in range(40):
        chance = random.Random(seed)
        bundle = bundles[seed % len(bundles)]
        right, left = files_of(bundle), list(chosen(mistakes(bundle), where, chance))
        assert [each.shows for each in left] == list(where)
        files = with_mistakes(right, left)
        while left:
            left.pop(0)
            wanted = with_mistakes(right, left)
            files = carried_out(files, list(mends(files, wanted, chance)))
            assert files == wanted
        assert files == right


def test_a_patch_names_few_lines(bundles: list[Bundle]) -> None:
    right = files_of(bundles[0])
    for each in mistakes(bundles[0])["other literal"]:
        calls = list(mends(with_mistakes(right, [each]), right, random.Random(0)))
        assert [name for name, _ in calls] == ["patch_file"]
        assert calls[0][1]["old"].count("\n") <= 1


def test_equal_seeds_give_equal_plans_and_others_do_not(rules_bundles: list[Bundle]) -> None:
    plans = [plan_of(seed, rules_bundles[0], 3) for seed in ("1", "1", "2")]
    assert plans[0] == plans[1] != plans[2]


@pytest.mark.slow
def test_plans_have_the_stated_shares(rules_bundles: list[Bundle]) -> None:
    plans = [plan_of(str(seed), rules_bundles[seed % len(rules_bundles)], 0) for seed in range(600)]
    known = [each for each in plans if each is not None]
    wrong_values = sum(any(one.shows is Shows.VALUES for one in each.mistakes) for each in known) / len(known)
    wanted = sum(share for share, where in KINDS if Shows.VALUES in where)
    assert sum(share for share, _ in KINDS) == pytest.approx(1.0)
    assert wrong_values == pytest.approx(wanted, abs=0.06)
    assert sum(each.given for each in known) / len(known) == pytest.approx(GIVEN, abs=0.06)


# --- the script, played against made-up results ---

ACCEPTED = "a/0/b: right, not timed. All outputs correct on 7 input sets."
MATCHES = "a/0/b: matches. The pass matches in 1 place."
WRONG = "a/0/b: wrong values. Output 0 is wrong."


def played(plan: Plan, refusals: list[str]) -> list[Message]:
    """The answers of the script if check and evaluate first refuse in these words, and then accept."""
    model, messages = ScriptedModel(plan), [Message(Role.SYSTEM, "…"), Message(Role.USER, "…")]
    while True:
        reply = model.complete(messages, (), cancelled=threading.Event()).message
        messages.append(reply)
        calls = calls_in(reply.text) if plan.in_text else reply.calls
        if calls[-1].name == "finish":
            return [each for each in messages if each.role is Role.MODEL]
        good = {"check": MATCHES, "evaluate": ACCEPTED}
        said = [
            "Done." if call.name not in good else refusals.pop(0) if refusals else good[call.name] for call in calls
        ]
        messages.append(Message(Role.USER, "\n\n".join(said)))


def plan_with(bundle: Bundle, taken: tuple[Flaw, ...], seed: str, *, text: bool = False) -> Plan:
    return Plan(files_of(bundle), taken, given=False, in_text=text, seed=seed)


def written(messages: list[Message], *, text: bool) -> dict[str, str]:
    """The files at the end, as the calls in these answers leave them, without those that tools would refuse."""
    files: dict[str, str] = {}
    for message in messages:
        calls: tuple[ToolCall, ...] = calls_in(message.text) if text else message.calls
        for call in calls:
            arguments = json.loads(call.arguments)
            if call.name == "write_file" and set(arguments) == {"name", "code"}:
                files[arguments["name"]] = arguments["code"]
            if call.name == "delete_file" and arguments.get("name") in files:
                del files[arguments["name"]]
            if call.name == "patch_file" and set(arguments) == {"name", "old", "new"}:
                code = files.get(arguments["name"], "")
                if code.count(arguments["old"]) == 1:
                    files[arguments["name"]] = code.replace(arguments["old"], arguments["new"])
    return files


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_the_script_ends_with_the_right_files_and_says_nothing_itself(
    bundles: list[Bundle], seed: int, *, text: bool
) -> None:
    bundle = bundles[seed % len(bundles)]
    taken = chosen(mistakes(bundle), (Shows.MATCHING,), random.Random(seed))
    plan = plan_with(bundle, taken, str(seed), text=text)
    messages = played(plan, ["a/0/b: no match. The nearest misses:\n- p: x."])
    assert written(messages, text=text) == files_of(bundle)
    for message in messages:
        if text:
            outside = [line for part in message.text.split("```")[::2] for line in part.splitlines() if line.strip()]
            assert all(line.startswith("### ") for line in outside)
        else:
            assert not message.text


def test_a_mistake_that_the_judge_accepts_is_given_up(bundles: list[Bundle]) -> None:
    taken = chosen(mistakes(bundles[0]), (Shows.VALUES,), random.Random(1))
    with pytest.raises(Harmless, match="accepted"):
        played(plan_with(bundles[0], taken, "1"), [])


def test_a_mended_bundle_that_the_judge_refuses_is_given_up(bundles: list[Bundle]) -> None:
    with pytest.raises(Harmless, match="not accepted"):
        played(plan_with(bundles[0], (), "1"), [WRONG])


def test_calls_in_plain_text_are_read_as_they_were_meant(bundles: list[Bundle]) -> None:
    code = bundles[0].passes[0].code
    calls: list[Call] = [
        ("write_file", {"name": "a.py", "code": code}),
        ("patch_file", {"name": "a.py", "old": "x = 1\n", "new": "y = 2\n"}),
        ("read_guide", {"page": "verdicts"}),
        ("check", {}),
    ]
    read = calls_in("\n\n".join(map(in_text, calls)))
    assert [(each.name, json.loads(each.arguments)) for each in read] == [(name, dict(given)) for name, given in calls]
