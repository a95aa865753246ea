"""The drawer in which others work on a task: a language model, with its prompt, answers and verdicts, or rules."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import altair as alt
import streamlit as st

from pages.ui import frame, links, resources
from pages.ui.by_rules import by_rules
from pages.ui.components import long_code
from pages.ui.drafting import EditorDraft
from pages.ui.options import spec_of
from pages.ui.proposals import proposal
from pages.ui.shares import sharing_toggle
from pages.ui.text import code_span, count, difference, figure, plain, seconds, when
from passnet_core import outside
from passnet_core.errors import BadInput
from passnet_core.records import Task
from passnet_core.records.trajectories import (
    Budget,
    End,
    Ending,
    Price,
    Role,
    ToolCall,
    Trajectory,
    Turn,
    trajectory_lines,
)
from passnet_core.settings import ModelSettings
from passnet_core.solvers.conversations import ConversationOrder, ConversationStanding, TrajectorySummary
from passnet_core.solvers.llm.chat import ChatServer, Model, ToolProtocol
from passnet_core.solvers.llm.tools import calls_in

LONGEST_URL, LONGEST_NOTE = 2_000, 20_000
"""Most characters of an address or a key, and of a message to a model."""
POLL_S = 0.5
OPENAI = "https://api.openai.com/v1"
PATIENCE_S = 60.0
"""How long a server that does not answer is asked again."""
NEW, RULES = "new", "rules"
"""What the URL names instead of a conversation: the form of a new one, and the bundle that rules write."""
TURN_S, WRITING = 4.0, 0.7
"""Playback: seconds per turn, and the share of them during which its text is being written."""
SIDE_BY_SIDE = 8
"""How many attempts may run at once."""
LISTED = 12
URL, KEY, NAME, TURNS, TOKENS, MONEY, MINUTES, ATTEMPTS, REPAIR, CONSENT, PROMPT, REPLY, PROTOCOL = (
    f"model-{name}"
    for name in (
        *("url", "key", "name", "turns", "tokens", "money", "minutes", "attempts", "repair", "consent"),
        *("prompt", "reply", "protocol"),
    )
)
PROTOCOLS = {
    ToolProtocol.AUTO: "as the server allows",
    ToolProtocol.TOOLS: "the server's tool calls",
    ToolProtocol.TEXT: "in plain text",
}
PLAYED = "conversation-played"
"""Session state: (conversation being played back, its start by the monotonic clock)."""
REACHED = "model-reached"
"""Session state: the model entered last. A typed key is kept nowhere else."""
ENDS = {
    End.FINISHED: "The model has finished.",
    End.SILENT: "The model called no more tools.",
    End.TURNS: "The limit of turns is reached.",
    End.TOKENS: "The limit of tokens is reached.",
    End.MONEY: "The limit of cost is reached.",
    End.TIME: "The limit of time is reached.",
    End.STOPPED: "The conversation was stopped.",
    End.CONTEXT: "The conversation is longer than the model can read.",
    End.FAILED: "The model did not answer.",
    End.SERVER: "The server of the model did not answer.",
    End.INTERRUPTED: "The playground ended during the conversation. Its turns are here; continue from the last one.",
}


@dataclass(frozen=True)
class Reached:
    """A model and how to reach it. The key is never shown."""

    server: ChatServer
    name: str
    budget: Budget
    price: Price
    protocol: ToolProtocol = ToolProtocol.AUTO

    def model(self) -> Model:
        """Return a client. Raises ModelError if the server needs a key."""
        from passnet_core.solvers.llm.client import (
            ChatModel,  # importing it takes half a second, so only visitors who use a model wait for it
        )

        return ChatModel(self.server, self.name, patience_s=PATIENCE_S)


def drawer(task: Task, draft: EditorDraft, asked: str) -> None:
    """Draw the conversation that the URL names, the form of a new one, or the bundle that rules write."""
    with st.container(border=True, key="drawer"):
        head, close = st.columns([6, 1], vertical_alignment="center")
        close.button("Close", icon=":material/close:", key="close-talk", on_click=links.select, args=("talk", None))
        if asked == RULES:
            head.markdown("## :material/auto_fix_high: Passes written by rules")
            with frame.errors_shown():
                by_rules(task, draft)
        elif asked == NEW:
            head.markdown("## :material/smart_toy: Have a language model write the passes")
            with frame.errors_shown():
                examples(task)
                own(task)
                own_model(task, draft)
        else:
            with head:
                st.markdown(f"## :material/smart_toy: Conversation {plain(asked)}")
            with frame.errors_shown():
                conversation(task, draft, asked)
                further(asked)
                own(task, asked)
                examples(task, asked)


# --- a new one -------------------------------------------------------------------------------------------------------


def own_model(task: Task, draft: EditorDraft) -> None:
    """Draw the form of a new conversation, folded until there is a model."""
    known, talks = resources.shared().settings.models, resources.service().talks
    given = bool(known.key or known.base_url) and (talks.servers is None or talks.has_key)
    reached = given or REACHED in st.session_state
    with st.expander("Use your own model", icon=":material/smart_toy:", expanded=reached):
        if talks.servers == ():
            st.info("No server of models may be asked from here. Who runs this playground can add some.")
        else:
            new_conversation(task, draft, known, given=given)


def new_conversation(task: Task, draft: EditorDraft, known: ModelSettings, *, given: bool) -> None:
    """Draw the form of a new conversation. known, given: the model that the playground was started with, if any."""
    if not given:
        st.info(
            "No model is set up here. Enter a server that speaks OpenAI's protocol: your own, or a hosted one with its"
            " key. Or set OPENAI_BASE_URL, OPENAI_API_KEY and PASSNET_MODEL before you start the playground.",
            icon=":material/key_off:",
        )
    where, how = st.columns(2, gap="large")
    with where:
        url = _server(known)
        if problem := _problem_of(url.strip()):
            st.error(problem)
        st.text_input(
            "Key",
            key=KEY,
            type="password",
            max_chars=LONGEST_URL,
            placeholder="the key that the playground was started with" if given and not url else "none",
            help="Kept for this browser session only, and sent to that server only.",
        )
        name = st.text_input(
            "Model",
            key=NAME,
            max_chars=outside.LONGEST_NAME,
            placeholder=known.model or "name of the model",
            persist_state="session",
        )
        prompt, reply = st.columns(2)
        price = known.price(name or known.model)
        prompt.number_input("Price per 1M input tokens", 0.0, value=price[0], key=f"{PROMPT}-{name}")
        reply.number_input("Price per 1M output tokens", 0.0, value=price[1], key=f"{REPLY}-{name}")
    with how:
        first, second = st.columns(2)
        first.number_input("Turn limit", 1, 100, 12, key=TURNS, persist_state="session")
        second.number_input("Attempts at once", 1, SIDE_BY_SIDE, 1, key=ATTEMPTS, persist_state="session")
        exceeded = "0: no limit. The last answer may exceed it."
        first.number_input("Token limit", 0, value=0, step=10_000, key=TOKENS, help=exceeded)
        second.number_input("Cost limit", 0.0, value=0.0, key=MONEY, help=exceeded)
        first.number_input("Time limit, minutes", 0.0, value=20.0, key=MINUTES, help="0: no limit.")
        second.selectbox(
            "Tool calls", list(PROTOCOLS), format_func=PROTOCOLS.__getitem__, key=PROTOCOL, persist_state="session",
            help="Some servers leave tools out without a word. By default the model is told how to call them in plain"
            " text once the server refuses them, or its first answer calls none.",
        )  # fmt: skip
        st.checkbox("Start from the passes in the editor, and repair them", key=REPAIR)
    host = plain(url or known.base_url or "api.openai.com")
    with st.expander("Exactly what is sent first", icon=":material/outbox:"):
        st.caption(
            "Later messages contain what the model wrote, what the judge said about it, and what the model asks for:"
            " help pages, and the code that TorchInductor generates for these subgraphs. Nothing else is sent. The"
            " shapes and dtypes of the nodes are included once the judge has found them."
        )
        for message in resources.service().talks.first_messages(task):
            st.markdown(f"**{message.role.value}**")
            long_code(message.text, height=260)
        if st.session_state.get(REPAIR):
            for file in draft.bundle.files:
                st.markdown(f"**{plain(file.name)}**")
                long_code(file.code, language="python", height=200)
    agreed = st.checkbox(f"Send this to {host}, and let the judge run what its model writes", key=f"{CONSENT}-{host}")
    st.button(
        "Start",
        type="primary",
        icon=":material/play_arrow:",
        key="begin-talk",
        disabled=not agreed,
        on_click=begin,
        args=(task, draft),
    )


def _server(known: ModelSettings) -> str:
    """Draw the field of the server: any address on a machine of one's own, else a choice."""
    servers = resources.service().talks.servers
    if servers is None:
        return str(
            st.text_input(
                "Server",
                key=URL,
                max_chars=LONGEST_URL,
                placeholder=known.base_url or OPENAI,
                persist_state="session",
            )
        )
    help_ = "Those that who runs this playground has chosen."
    return str(st.selectbox("Server", servers, key=URL, format_func=lambda each: each or OPENAI, help=help_) or "")


def _problem_of(url: str) -> str:
    """Why an address cannot be one, said beside the field: the errors of Start stand at the top of the page."""
    try:
        ChatServer(url)
    except BadInput as error:
        return plain(str(error))
    return ""


@frame.action
def begin(task: Task, draft: EditorDraft) -> None:
    reached = typed()
    st.session_state[REACHED] = reached
    state = st.session_state
    model = reached.model()
    start = draft.bundle if state.get(REPAIR) else None
    spec = spec_of(resources.service().device, None)
    begun = [
        resources.service().talks.start(
            model,
            task,
            ConversationOrder(spec, reached.budget, reached.price, number + 1, start, protocol=reached.protocol),
        )
        for number in range(int(state.get(ATTEMPTS) or 1))
    ]
    links.select("talk", begun[0])


def typed() -> Reached:
    """Return the model of the fields; empty fields take their value from the environment. A key from the environment
    never goes to a server that a visitor named."""
    known, state = resources.shared().settings.models, st.session_state
    server = resources.service().talks.server(str(state.get(URL) or "").strip(), str(state.get(KEY) or ""))
    typed_name = str(state.get(NAME) or "")
    name = typed_name.strip() or known.model
    if not name:
        raise BadInput("No model is named. Enter the name of a model on the server.")
    minutes = float(state.get(MINUTES) or 0)
    budget = Budget(
        int(state.get(TURNS) or 12), int(state.get(TOKENS) or 0) or None, float(state.get(MONEY) or 0) or None,
        minutes * 60 or None,
    )  # fmt: skip
    prices = (float(state.get(f"{each}-{typed_name}") or 0) for each in (PROMPT, REPLY))
    return Reached(server, name, budget, Price(*prices), ToolProtocol(state.get(PROTOCOL) or ToolProtocol.AUTO))


# --- one under way, or finished --------------------------------------------------------------------------------------


def conversation(task: Task, draft: EditorDraft, talk: str) -> None:
    standing = resources.service().talks.standing(talk)
    if not standing.finished:
        _live(task, draft, talk)
    elif st.session_state.get(PLAYED, ("", 0.0))[0] == talk:
        _played_back(task, draft, talk)
    else:
        head(standing)
        if standing.trajectory.turns:
            st.button(
                "Play it back", key=f"play-{talk}", icon=":material/play_circle:", on_click=play, args=(talk,),
                help="Shows the conversation turn by turn, as it went. No model is called.",
            )  # fmt: skip
        shown(task, draft, standing)


def play(talk: str | None) -> None:
    """Start playing a conversation back; None stops it. Call it from a callback."""
    st.session_state.pop(PLAYED, None)
    if talk is not None:
        st.session_state[PLAYED] = (talk, time.monotonic())


@st.fragment(run_every=POLL_S)
def _played_back(task: Task, draft: EditorDraft, talk: str) -> None:
    with frame.errors_shown():
        standing = resources.service().talks.standing(talk)
        turns = standing.trajectory.turns
        done, part = divmod((time.monotonic() - st.session_state[PLAYED][1]) / TURN_S, 1)
        if done >= len(turns):
            play(None)
            st.rerun()
        now = turns[int(done)]
        text = written(now)
        so_far = replace(standing.trajectory, turns=turns[: int(done)], ending=None)
        doing = f"turn {now.number} of {len(turns)}, played back"
        then = replace(standing, trajectory=so_far, doing=doing, elapsed_s=sum(each.seconds for each in so_far.turns))
        head(then)
        st.button("Stop playing", key=f"end-{talk}", icon=":material/stop_circle:", on_click=play, args=(None,))
        with st.container(key="writing"):
            long_code(text[: int(part / WRITING * len(text))], height=220)
        shown(task, draft, replace(then, finished=False))


def written(turn: Turn) -> str:
    """Return what the model wrote in a turn, tool calls included."""
    parts = [turn.answer.text]
    for call in turn.answer.calls:
        try:
            given = outside.from_json_text(call.arguments or "{}")
        except ValueError:
            given = {"": call.arguments}
        parts.append(
            "\n".join([call.name, *(f"{each}" for each in (given.values() if isinstance(given, dict) else ()))])
        )
    return "\n\n".join(part for part in parts if part.strip())


@st.fragment(run_every=POLL_S)
def _live(task: Task, draft: EditorDraft, talk: str) -> None:
    with frame.errors_shown():
        standing = resources.service().talks.standing(talk)
        if standing.finished:
            st.rerun()
        head(standing)
        st.button("Stop", key=f"stop-{talk}", icon=":material/stop_circle:", on_click=stop, args=(talk,))
        if standing.writing:
            with st.container(key="writing"):
                long_code(standing.writing, height=220)
        shown(task, draft, standing)


@frame.action
def stop(talk: str) -> None:
    resources.service().talks.stop(talk)


def head(standing: ConversationStanding) -> None:
    """Draw the model, the progress and the cost of a conversation."""
    found = standing.trajectory
    opening = found.opening
    facts = [
        f"{plain(opening.model)}, attempt {opening.attempt}",
        when(opening.started_at),
        count(len(found.own), "turn"),
        f"{found.tokens:,} tokens",
        *([f"cost {figure(found.cost)}"] if opening.price != Price() else []),
        seconds(standing.elapsed_s),
        *([f"recorded: {plain(opening.recorded)}"] if opening.recorded else []),
    ]
    st.caption(" · ".join(facts))
    if opening.branched_from:
        st.caption(f":material/fork_right: Branched at turn {opening.branched_at} of {plain(opening.branched_from)}.")
    if standing.problem:
        st.error(plain(standing.problem), title="The conversation ended early")
    elif found.ending is None:
        st.markdown(f"**:material/autorenew: {plain(standing.doing)}…**")
    else:
        ended(found.ending)


def ended(ending: Ending) -> None:
    words = plain(f"{ENDS[ending.end]} {ending.reason}".strip())
    timed = f", {ending.speedup:.2f} times eager's speed" if ending.speedup is not None else ""
    if ending.best is None:
        st.info(f"{words} No bundle was evaluated.", icon=":material/flag:")
        return
    result = f"The best bundle is accepted on {ending.accepted} of {count(ending.total, 'subgraph')}{timed}."
    draw = st.success if ending.accepted == ending.total else st.info
    draw(f"{words} {result}", icon=":material/flag:")


def shown(task: Task, draft: EditorDraft, standing: ConversationStanding) -> None:
    """Draw the proposed bundle and the turns."""
    found = standing.trajectory
    best = found.best
    if best is not None and best.bundle is not None and best.score is not None and best.score.accepted:
        with st.expander(f"Proposal: the bundle of turn {best.number}", icon=":material/difference:"):
            proposal(task, draft, best.bundle)
    scored = [turn for turn in found.turns if turn.score is not None]
    if len(scored) > 1:
        st.altair_chart(score_chart(scored), width="stretch")
    start = resources.service().talks.start_bundle(found.opening.id)
    files = {file.name: file.code for file in start.files} if start else {}
    for turn in found.turns:
        last = turn is found.turns[-1]
        with st.expander(turn_title(turn), expanded=last, icon=turn_icon(turn)):
            one_turn(turn, files)
            if standing.finished:
                going_on(task, found, turn)
    if found.ending is not None and found.ending.unfinished.strip():
        with st.expander("An answer that was not finished", icon=":material/content_cut:"):
            long_code(found.ending.unfinished, height=300)


def turn_title(turn: Turn) -> str:
    calls = calls_of(turn)
    done = ", ".join(dict.fromkeys(call.name for call in calls)) or "text only"
    return f"Turn {turn.number} · {plain(done)}" + (f" · {verdict_words(turn)}" if turn.score else "")


def turn_icon(turn: Turn) -> str:
    if turn.score is None:
        return ":material/chat:"
    return ":material/check_circle:" if turn.score.accepted == turn.score.total else ":material/cancel:"


def verdict_words(turn: Turn) -> str:
    assert turn.score is not None
    timed = f", {turn.score.speedup:.2f}×" if turn.score.speedup != 1 else ""
    return f"{turn.score.accepted} of {turn.score.total} accepted{timed}"


def calls_of(turn: Turn) -> Sequence[ToolCall]:
    return turn.answer.calls or calls_in(turn.answer.text)


def one_turn(turn: Turn, files: dict[str, str]) -> None:
    """Draw one turn: messages, tool calls and their results. files: the bundle's files, updated by this turn."""
    st.caption(
        f"{turn.prompt_tokens:,} input tokens, {turn.reply_tokens:,} output tokens, {seconds(turn.seconds)}"
        + (f" · sent again {count(turn.restarts, 'time')} after a lost connection" if turn.restarts else "")
    )
    with st.popover("What the model was told", icon=":material/hearing:"):
        for message in turn.said:
            st.markdown(f"**{'result of a tool' if message.role is Role.TOOL else message.role.value}**")
            long_code(message.text, height=260)
    if turn.answer.reasoning.strip():
        with st.popover("What the model thought", icon=":material/psychology:"):
            long_code(turn.answer.reasoning, height=260)
    if turn.answer.text.strip():
        st.code(turn.answer.text, language=None, wrap_lines=True)
    for call, result in zip(calls_of(turn), turn.results):
        st.markdown(f":material/build: {code_span(call.name)}")
        change = changed(call, files)
        if change:
            long_code(change, language="diff", height=420)
        if call.name not in ("write_file", "patch_file", "delete_file") or result.startswith("Not done"):
            long_code(result, height=300)


def changed(call: ToolCall, files: dict[str, str]) -> str:
    """Return what a call changes in the files, as a diff, and update the files."""
    try:
        given = outside.from_json_text(call.arguments or "{}")
    except ValueError:
        return ""
    if not isinstance(given, dict) or not all(isinstance(each, str) for each in given.values()):
        return ""
    name, before = given.get("name", ""), files.get(given.get("name", ""), "")
    if call.name == "write_file" and "code" in given:
        files[name] = given["code"]
    elif call.name == "patch_file" and before.count(given.get("old", "")) == 1:
        files[name] = before.replace(given["old"], given.get("new", ""))
    elif call.name == "delete_file":
        files.pop(name, None)
    return difference({name: before} if before else {}, {name: files[name]} if name in files else {})


def score_chart(scored: Sequence[Turn]) -> alt.Chart:
    """Chart the subgraphs accepted, over the turns that evaluated a bundle."""
    rows: list[dict[str, float]] = [
        {"turn": turn.number, "accepted": turn.score.accepted, "of": turn.score.total, "speedup": turn.score.speedup}
        for turn in scored
        if turn.score
    ]
    height = alt.Scale(domain=[0, rows[0]["of"]])
    ticks = alt.Axis(values=[0, rows[0]["of"]], format="d")
    chart = alt.Chart(alt.Data(values=rows)).mark_line(point=alt.OverlayMarkDef(size=70), color="#0072b2")
    return chart.encode(
        x=alt.X("turn:O", title="turn", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("accepted:Q", title="accepted", scale=height, axis=ticks),
        tooltip=["turn:O", "accepted:Q", "of:Q", alt.Tooltip("speedup:Q", format=".2f")],
    ).properties(height=150)


def going_on(task: Task, found: Trajectory, turn: Turn) -> None:
    reached: Reached | None = st.session_state.get(REACHED)
    known = resources.shared().settings.models
    key = f"{found.opening.id}-{turn.number}"
    with st.popover("Continue from here", icon=":material/fork_right:"):
        talks = resources.service().talks
        if reached is None and not ((known.key or known.base_url) and (talks.servers is None or talks.has_key)):
            st.caption("This needs a model. Set one up with New conversation, then come back.")
            return
        name = reached.name if reached else known.model
        st.caption(f"Starts a new conversation with {plain(name or 'a model')} from everything said up to this turn.")
        st.text_area(
            "Your message to the model",
            key=f"note-{key}",
            max_chars=LONGEST_NOTE,
            placeholder="May be left empty.",
        )
        st.button("Continue", key=f"go-on-{key}", type="primary", on_click=go_on, args=(task, found, turn.number, key))


@frame.action
def go_on(task: Task, found: Trajectory, number: int, key: str) -> None:
    reached = st.session_state.get(REACHED) or typed()
    note = str(st.session_state.get(f"note-{key}") or "").strip()
    spec = spec_of(resources.service().device, None)
    order = ConversationOrder(
        spec, reached.budget, reached.price, after=(found.opening.id, number), note=note, protocol=reached.protocol
    )
    model = reached.model()
    links.select("talk", resources.service().talks.start(model, task, order))


# --- others ----------------------------------------------------------------------------------------------------------


def examples(task: Task, current: str | None = None) -> None:
    """List the recorded conversations, those on this task first; a click opens one."""
    found = [each for each in resources.service().talks.recorded() if each.opening.id != current]
    if not found:
        return
    st.markdown("**Watch a recorded conversation**")
    with st.container(gap=None):
        for each in sorted(found, key=lambda each: each.opening.task_id != task.id):
            links.turn(example_line(each), icon=":material/movie:", task=each.opening.task_id, talk=each.opening.id)
    for origin in dict.fromkeys(each.opening.recorded for each in found):
        st.caption(f"Recorded: {plain(origin)}.")


def own(task: Task, current: str | None = None) -> None:
    """List the visitor's other conversations on this task."""
    talks = resources.service().talks
    found = [each for each in talks.latest(LISTED, task.id) if each.opening.id != current]
    if not found:
        return
    st.markdown("**Your conversations on this task**")
    with st.container(gap=None):
        for each in found:
            st.button(
                line(each), key=f"talk-{each.opening.id}", type="tertiary", icon=":material/forum:",
                on_click=links.select, args=("talk", each.opening.id),
            )  # fmt: skip


def further(talk: str) -> None:
    """Draw the ways on from a conversation: a new one, or a file of this one."""
    with st.container(horizontal=True):
        st.button("New conversation", icon=":material/add:", key="new-talk", on_click=links.select, args=("talk", NEW))
        talks = resources.service().talks  # a download is made where nobody is known
        if resources.serves_others() and talks.is_own(talk):
            sharing_toggle(talk, shared=talks.is_shared(talk), share=talks.share)
        st.download_button(
            "Download",
            lambda: "".join(trajectory_lines(talks.trajectory(talk))),
            file_name=f"{talk}.jsonl",
            mime="application/jsonl",
            icon=":material/download:",
            on_click="ignore",
            help="The whole conversation, as JSON lines.",
        )


def example_line(each: TrajectorySummary) -> str:
    """Name a recorded conversation by its id: "Repaired twice · clip-quick-gelu · 4 turns · 6 of 6 accepted"."""
    opening = each.opening
    name = opening.id.removeprefix("example-").replace("-", " ").capitalize()
    return " · ".join(map(plain, (name, opening.task_id, count(each.turns, "turn"), accepted_words(each))))


def line(each: TrajectorySummary) -> str:
    if resources.service().talks.in_progress(each):
        state = "under way"
    else:
        state = each.ending.end.value if each.ending else End.INTERRUPTED.value
    opening = each.opening
    pieces = (opening.model, when(opening.started_at), count(each.turns, "turn"), accepted_words(each), state)
    return " · ".join(map(plain, pieces))


def accepted_words(each: TrajectorySummary) -> str:
    if each.accepted is None:
        return "nothing evaluated"
    return f"{each.accepted} of {len(each.opening.subgraphs)} accepted"
