"""The client of language models, against a real HTTP server that speaks the chat protocol."""

import asyncio
import itertools
import json
import logging
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from passnet_core.errors import BadInput
from passnet_core.records.trajectories import Message, Role, ToolCall
from passnet_core.solvers.llm import client as client_module
from passnet_core.solvers.llm import streaming
from passnet_core.solvers.llm.chat import ChatServer, ModelError, Reply, Stopped, Tool, Trouble
from passnet_core.solvers.llm.client import ChatModel
from tests.contract.model_server import ModelServer, Said, _Answer, holding_back, saying, serving

KEY = "sk-secret-0123456789"
ASKED = (Message(Role.SYSTEM, "You write passes."), Message(Role.USER, "Write one."))
CHECK = Tool("check", "Rules and matching.", {"type": "object", "properties": {}})
WRITE = Tool("write_file", "Writes a file.", {"type": "object", "properties": {"name": {}, "code": {}}})
EVENTS = ("Content-Type", "text/event-stream")
LONG = "One kernel is enough for this, since all of it is pointwise. " * 3


@pytest.fixture(autouse=True)
def _hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "RESTART_PAUSE_S", 0.001)
    monkeypatch.setattr(client_module, "FIRST_PAUSE_S", 0.001)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving({}) as made:
        yield made


def model(server: ModelServer, name: str = "scripted", **more: Any) -> ChatModel:
    return ChatModel(ChatServer(server.base_url, KEY), name, **more)


def answer(asked: ChatModel, *, tools: tuple[Tool, ...] = (), **more: Any) -> Reply:
    return asked.complete(ASKED, tools, cancelled=threading.Event(), **more)


def test_text_is_streamed_and_tokens_are_counted(server: ModelServer) -> None:
    server.models["scripted"] = saying(Said(LONG))
    seen: list[str] = []
    reply = answer(model(server), on_text=seen.append, most_tokens=500)
    assert reply.message == Message(Role.MODEL, LONG)
    assert (reply.finish, reply.restarts) == ("stop", 0)
    assert (reply.prompt_tokens, reply.reply_tokens) == (5, len(LONG.split()))
    assert seen[-1] == LONG
    assert len(seen) > 5
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(seen))
    ((authorization, request),) = server.asked
    assert authorization == f"Bearer {KEY}"
    assert request["messages"] == [
        {"role": "system", "content": "You write passes."},
        {"role": "user", "content": "Write one."},
    ]
    assert request["max_tokens"] == 500


def test_the_code_of_a_call_is_streamed_as_it_is_written(server: ModelServer) -> None:
    arguments = '{"name": "relu.py", "code": "import torch\\nx = \\"1\\"\\n"}'
    server.models["scripted"] = saying(Said("A file.", [("write_file", arguments)]))
    seen: list[str] = []
    reply = answer(model(server), tools=(CHECK,), on_text=seen.append)
    assert reply.message.text == "A file."
    assert any(each.endswith("### write_file\n") for each in seen)
    assert seen[-1].startswith('A file.\n\n### write_file\n{"name": "relu.py"')
    assert 'import torch\nx = "1"\n' in seen[-1]
    assert len(seen) > 5


def test_the_client_works_inside_a_running_event_loop(server: ModelServer) -> None:
    server.models["scripted"] = saying(Said("Here."))

    async def asked() -> Reply:
        return answer(model(server))

    # in a thread of its own, since the browser tests may have left a loop in this one
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(asyncio.run, asked()).result().message.text == "Here."


def test_tool_calls_are_assembled_and_their_results_are_sent_back(server: ModelServer) -> None:
    arguments = '{"name": "relu.py", "code": "import torch\\n"}'
    server.models["scripted"] = saying(
        Said("First a file.", [("write_file", arguments), ("check", "{}")]), Said("Done.")
    )
    asked = model(server)
    reply = answer(asked, tools=(CHECK,))
    assert [(call.name, call.arguments) for call in reply.message.calls] == [("write_file", arguments), ("check", "{}")]
    assert reply.finish == "tool_calls"
    assert server.asked[0][1]["tools"][0]["function"]["name"] == "check"
    told = Message(Role.TOOL, "It matches.", answers=reply.message.calls[1].id)
    asked.complete((*ASKED, reply.message, told), (CHECK,), cancelled=threading.Event())
    back = server.asked[1][1]["messages"]
    assert [call["function"]["name"] for call in back[2]["tool_calls"]] == ["write_file", "check"]
    assert back[3] == {"role": "tool", "tool_call_id": reply.message.calls[1].id, "content": "It matches."}


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_temporary_failure_of_the_server_is_retried(server: ModelServer, status: int) -> None:
    server.models["scripted"] = saying(Said("not now", status=status), Said("not now", status=status), Said("Here."))
    assert answer(model(server)).message.text == "Here."
    assert server.counts["scripted"] == 3


def test_a_dropped_stream_is_requested_again(server: ModelServer) -> None:
    server.models["scripted"] = saying(Said(LONG, dropped=40), Said(LONG, dropped=80), Said(LONG))
    seen: list[str] = []
    reply = answer(model(server), on_text=seen.append)
    assert (reply.message.text, reply.restarts) == (LONG, 2)
    assert seen[-1] == LONG


def test_parameters_that_a_server_does_not_support_are_replaced_or_left_out(server: ModelServer) -> None:
    def older(request: dict, before: int) -> Said:
        for name in ("max_tokens", "temperature", "stream_options"):
            if name in request:
                return Said(f"Unsupported parameter: '{name}'", status=400)
        if request["messages"][0]["role"] == "system":
            return Said("System role not supported", status=500)
        return Said("As you like.")

    server.models["scripted"] = older
    assert answer(model(server, temperature=0.2), most_tokens=300).message.text == "As you like."
    request = server.asked[-1][1]
    assert request["max_completion_tokens"] == 300
    assert [each["role"] for each in request["messages"]] == ["user"]
    assert request["messages"][0]["content"].startswith("You write passes.\n\nWrite one.")


def test_a_server_that_does_not_say_what_it_dislikes_gets_a_plain_request(server: ModelServer) -> None:
    server.models["scripted"] = lambda request, before: (
        Said("1 validation error", status=422) if "stream_options" in request else Said("Here.")
    )
    assert answer(model(server)).message.text == "Here."
    server.models["scripted"] = saying(Said("1 validation error", status=422))
    with pytest.raises(ModelError, match="rejects the request"):
        answer(model(server))


@pytest.mark.parametrize(
    ("said", "trouble", "words"),
    [
        (Said(f"Incorrect API key provided: {KEY}", status=401), Trouble.WRONG_KEY, "refuses the key"),
        (Said("no", status=403), Trouble.WRONG_KEY, "refuses the key"),
        (Said("Too many requests", status=429), Trouble.BUSY, "even after waiting: Too many requests."),
        (Said("It broke", status=500), Trouble.DOWN, "failed, even after retries: It broke."),
        (Said("Input is too long: 9000 tokens", status=400), Trouble.TOO_LONG, "conversation is too long for scripted"),
        (Said(f"Bad word {KEY}", status=400), Trouble.REJECTED, "rejects the request: Bad word …"),
        (Said("Well", finish="content_filter"), Trouble.REFUSED, "refuses to answer"),
        (Said(raw=b"<html>It works!</html>"), Trouble.MALFORMED, "did not answer with a chat completion"),
        (
            Said(raw=b"data: {nonsense\n\n", headers=(("Content-Type", "text/event-stream"),)),
            Trouble.MALFORMED,
            "did not answer with a chat",
        ),
        (Said(LONG, dropped=24), Trouble.DOWN, "breaks the connection"),
        (Said(dropped=-1), Trouble.DOWN, "breaks the connection"),
        (Said(raw=b"", headers=(EVENTS,)), Trouble.MALFORMED, "did not answer with a chat completion"),
    ],
    ids=lambda value: value.name if isinstance(value, Trouble) else None,
)
def test_each_failure_is_a_sentence_that_does_not_contain_the_key(
    server: ModelServer, said: Said, trouble: Trouble, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.models["scripted"] = saying(said)
    with pytest.raises(ModelError) as failed:
        answer(model(server, patience_s=0.01))
    assert failed.value.trouble is trouble
    assert words in str(failed.value)
    assert KEY not in str(failed.value)
    assert KEY not in repr(ChatServer(server.base_url, KEY))
    assert KEY not in caplog.text


def test_a_key_of_one_letter_garbles_no_message(server: ModelServer) -> None:
    server.models["scripted"] = saying(Said("There is a bad word", status=400))
    with pytest.raises(ModelError, match=r"rejects the request: There is a bad word\."):
        answer(ChatModel(ChatServer(server.base_url, "a"), "scripted"))


def test_an_error_about_tools_means_no_tools_only_if_some_were_sent(server: ModelServer) -> None:
    server.models["scripted"] = saying(Said("scripted does not support tools", status=400))
    with pytest.raises(ModelError) as failed:
        answer(model(server), tools=(CHECK,))
    assert failed.value.trouble is Trouble.NO_TOOLS
    with pytest.raises(ModelError) as failed:
        answer(model(server))
    assert failed.value.trouble is Trouble.REJECTED


def test_an_unknown_model_and_an_unreachable_server_are_reported() -> None:
    with serving({}) as server, pytest.raises(ModelError, match="has no model 'nobody'") as failed:
        answer(model(server, "nobody"))
    assert failed.value.trouble is Trouble.UNKNOWN_MODEL
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nowhere = ChatModel(
            ChatServer(f"http://127.0.0.1:{unused.getsockname()[1]}/v1", KEY), "scripted", patience_s=0.01
        )
        with pytest.raises(ModelError, match="cannot be reached") as failed:
            answer(nowhere)
    assert failed.value.trouble is Trouble.DOWN


def test_a_silent_server_times_out_and_stop_does_not_wait_for_it(server: ModelServer) -> None:
    with holding_back() as released:
        server.models["scripted"] = saying(Said(LONG, held=released))
        with pytest.raises(ModelError, match="did not answer in time") as failed:
            answer(model(server, timeout_s=0.3, patience_s=0))
        assert failed.value.trouble is Trouble.DOWN
        cancelled = threading.Event()
        with pytest.raises(Stopped):
            model(server).complete(ASKED, (), cancelled=cancelled, on_text=lambda text: cancelled.set())
        assert not released.is_set(), "it waited for the rest of the answer"


def test_stop_does_not_wait_for_the_beginning_of_an_answer_either(server: ModelServer) -> None:
    with holding_back() as released:
        cancelled = threading.Event()

        def thinks(request: dict[str, Any], before: int) -> Said:
            cancelled.set()
            released.wait()
            return Said(LONG)

        server.models["scripted"] = thinks
        with pytest.raises(Stopped):
            model(server).complete(ASKED, (), cancelled=cancelled)
        assert not released.is_set(), "it waited for the answer"


def test_only_a_server_with_a_base_url_is_asked_without_a_key(server: ModelServer) -> None:
    server.models["scripted"] = saying(Said("Hello."))
    assert answer(ChatModel(ChatServer(server.base_url), "scripted")).message.text == "Hello."
    with pytest.raises(ModelError, match="Set OPENAI_API_KEY") as failed:
        ChatModel(ChatServer(), "scripted")
    assert failed.value.trouble is Trouble.NO_KEY


def test_malformed_tool_calls_are_passed_on_as_they_are(server: ModelServer) -> None:
    server.models["scripted"] = saying(Said(calls=[("", "{not json"), ("check", "")]))
    calls = answer(model(server), tools=(CHECK,)).message.calls
    assert [(call.name, call.arguments) for call in calls] == [("", "{not json"), ("check", "")]
    assert all(isinstance(call, ToolCall) and call.id for call in calls)


HALF = chr(0xD83D)


def test_half_a_character_in_an_answer_is_made_valid(server: ModelServer) -> None:
    server.models["scripted"] = saying(Said(deltas=[{"content": "a" + HALF}, {"reasoning": HALF}], finish="stop"))
    message = answer(model(server)).message
    assert (message.text, message.reasoning) == ("a\ufffd", "\ufffd")


@pytest.mark.parametrize(
    "delta",
    [
        {"tool_calls": ["check", 3, None, {"index": "x", "function": "check"}]},
        {"tool_calls": {"index": 0}},
        {"content": ["text"], "refusal": 4, "reasoning": {}},
    ],
)
def test_parts_of_an_answer_that_are_of_another_type_are_left_out(server: ModelServer, delta: dict[str, Any]) -> None:
    server.models["scripted"] = saying(Said("Well.", deltas=[delta]))
    reply = answer(model(server))
    assert reply.message.text == "Well."
    assert all((call.name, call.arguments) == ("", "") for call in reply.message.calls)


@pytest.mark.parametrize(
    "rest", [b'{"a": "\xff"}', b"{", b"9" * 5000, b"[" * 100_000], ids=["bytes", "cut", "digits", "deep"]
)
def test_what_is_no_json_ends_an_answer_as_a_lost_connection_does(server: ModelServer, rest: bytes) -> None:
    begun = b'data: {"choices": [{"index": 0, "delta": {"content": "a"}}]}\n\ndata: ' + rest + b"\n\n"
    server.models["scripted"] = saying(Said(raw=begun, headers=[("Content-Type", "text/event-stream")]))
    with pytest.raises(ModelError, match="ended its answer in the middle") as failed:
        answer(model(server))
    assert failed.value.trouble is Trouble.MALFORMED


def test_an_answer_without_an_end_is_broken_off(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "LONGEST_ANSWER", 100)
    server.models["scripted"] = saying(Said("x" * 101))
    with pytest.raises(ModelError, match="without an end: it has more than 100 characters"):
        answer(model(server))


def pieces(*calls: dict[str, Any]) -> Said:
    return Said(deltas=[{"tool_calls": [each]} for each in calls], finish="tool_calls")


def piece(
    index: int | None, name: str | None = None, arguments: str = "", call_id: str | None = None
) -> dict[str, Any]:
    return {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("said", "calls"),
    [
        pytest.param(
            pieces(piece(0, "check", "{", "a"), piece(0, "check", "", "a"), piece(0, "check", "}", "a")),
            [("check", "{}")],
            id="the name comes with every piece",
        ),
        pytest.param(pieces(piece(0, "che", "", "a"), piece(0, "ck", "{}")), [("check", "{}")], id="a name in pieces"),
        pytest.param(
            pieces(piece(0, "check", "{}", "a"), piece(0, "check", '{"b": 1}', "b")),
            [("check", "{}"), ("check", '{"b": 1}')],
            id="calls of one index and two ids",
        ),
        pytest.param(
            pieces(piece(0, "check", "{}"), piece(0, "check", "{}")),
            [("check", "{}"), ("check", "{}")],
            id="calls of one index without ids",
        ),
        pytest.param(
            pieces(piece(0, "check", "{}", "a"), piece(1, "check", "{}", "a")),
            [("check", "{}"), ("check", "{}")],
            id="calls of one id",
        ),
    ],
)
def test_calls_are_put_together_as_servers_send_them(
    server: ModelServer, said: Said, calls: list[tuple[str, str]]
) -> None:
    server.models["scripted"] = saying(said)
    found = answer(model(server), tools=(CHECK,)).message.calls
    assert [(call.name, call.arguments) for call in found] == calls
    assert len({call.id for call in found}) == len(found)


def test_arguments_that_come_as_an_object_are_read(server: ModelServer) -> None:
    """As Ollama's own form and some proxies have them."""
    function = {"name": "write_file", "arguments": {"name": "a.py", "code": 'x = "é"\n'}}
    server.models["scripted"] = saying(Said(deltas=[{"tool_calls": [{"index": 0, "function": function}]}]))
    seen: list[str] = []
    (call,) = answer(model(server), tools=(WRITE,), on_text=seen.append).message.calls
    assert (call.name, json.loads(call.arguments)) == ("write_file", function["arguments"])
    assert 'x = "é"\n' in seen[-1]


TAGGED = '<tool_call>\n{"name": "check", "arguments": {}}\n</tool_call>'


def test_calls_that_a_server_leaves_in_the_text_are_calls(server: ModelServer) -> None:
    """As a server without a parser for the model's calls does."""
    written = TAGGED.replace("check", "write_file").replace("{}", '{"name": "a.py"}')
    server.models["scripted"] = saying(Said(f"Let me see.\n{TAGGED}\n{written}"))
    message = answer(model(server), tools=(CHECK, WRITE)).message
    assert message.text == "Let me see."
    assert [(call.name, json.loads(call.arguments)) for call in message.calls] == [
        ("check", {}), ("write_file", {"name": "a.py"}),
    ]  # fmt: skip
    assert len({call.id for call in message.calls}) == 2


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"```\n{TAGGED}\n```", id="in a block of code"),
        pytest.param(TAGGED.replace("check", "gone"), id="of a tool that was not offered"),
        pytest.param("<tool_call>{oh no</tool_call>", id="no JSON"),
        pytest.param(TAGGED.replace("{}", "[1]"), id="no object"),
    ],
)
def test_what_only_looks_like_a_call_stays_text(server: ModelServer, text: str) -> None:
    server.models["scripted"] = saying(Said(text))
    assert answer(model(server), tools=(CHECK,)).message == Message(Role.MODEL, text)


def test_without_tools_what_looks_like_a_call_stays_text(server: ModelServer) -> None:
    server.models["scripted"] = saying(Said(TAGGED))
    assert answer(model(server)).message == Message(Role.MODEL, TAGGED)


def test_garbled_answers_are_sent_back_so_that_templates_can_read_them(server: ModelServer) -> None:
    server.models["scripted"] = saying(Said("Here."))
    garbled = (ToolCall("a", "", "{not json"), ToolCall("b", "check it!", "[1]"), ToolCall("c", "check", '{"x": 1}'))
    results = [Message(Role.TOOL, "Not done.", answers=call.id) for call in garbled]
    said = [*ASKED, Message(Role.USER, "Hurry."), Message(Role.MODEL, "", garbled), *results, Message(Role.MODEL, " ")]
    model(server).complete([*said, Message(Role.USER, "And?")], (), cancelled=threading.Event())
    sent = server.asked[0][1]["messages"]
    assert [each["role"] for each in sent] == ["system", "user", "assistant", *["tool"] * 3, "assistant", "user"]
    assert sent[1]["content"] == "Write one.\n\nHurry."
    called = [(call["id"], call["function"]["name"], call["function"]["arguments"]) for call in sent[2]["tool_calls"]]
    assert called == [("a", "unnamed", "{}"), ("b", "check_it", "{}"), ("c", "check", '{"x": 1}')]
    assert sent[6]["content"] == "(no answer)"


def test_what_a_model_thinks_is_kept_apart_and_not_sent_back(server: ModelServer) -> None:
    thought = [{"reasoning_content": "It is "}, {"reasoning_content": "pointwise."}]
    server.models["scripted"] = saying(Said("Here.", deltas=thought), Said("Here.", deltas=[{"reasoning": "Hm."}]))
    reply = answer(model(server))
    assert (reply.message.text, reply.message.reasoning) == ("Here.", "It is pointwise.")
    model(server).complete((*ASKED, reply.message), (), cancelled=threading.Event())
    assert server.asked[1][1]["messages"][-1] == {"role": "assistant", "content": "Here."}
    assert answer(model(server)).message.reasoning == "Hm."


@pytest.mark.parametrize(
    ("status", "code", "text"),
    [
        (400, "context_length_exceeded", "Please reduce the length of the messages."),
        (400, "", "This model's maximum context length is 2048 tokens. However, you requested 3000 tokens."),
        (400, "", "The decoder prompt (length 5000) is longer than the maximum model length of 4096."),
        (400, "", "the request exceeds the available context size (4096 tokens), try increasing it"),
        (500, "", "input is too large to process. increase the physical batch size"),
        (400, "", "Requested tokens (5000) exceed context window of 4096"),
        (400, "", "litellm.ContextWindowExceededError: OpenAIException"),
        (422, "", "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000"),
        (400, "", "The input (5000 tokens) is longer than the model's context length (4096 tokens)."),
    ],
)
def test_a_conversation_that_does_not_fit_is_said_to_be_too_long(
    server: ModelServer, status: int, code: str, text: str
) -> None:
    server.models["scripted"] = saying(Said(text, status=status, code=code))
    with pytest.raises(ModelError, match="too long for scripted") as failed:
        answer(model(server), most_tokens=100)
    assert failed.value.trouble is Trouble.TOO_LONG
    assert server.counts["scripted"] == 1, "it is no use to ask again"


def test_an_empty_answer_to_a_long_conversation_means_that_it_is_too_long(server: ModelServer) -> None:
    server.models["scripted"] = saying(Said(raw=b"", headers=(EVENTS,)))
    long = (Message(Role.SYSTEM, "You write passes."), Message(Role.USER, "word " * 2000))
    with pytest.raises(ModelError, match="longer than the model's context") as failed:
        model(server).complete(long, (), cancelled=threading.Event())
    assert failed.value.trouble is Trouble.TOO_LONG


def test_a_server_that_still_loads_its_model_is_waited_for(server: ModelServer) -> None:
    server.models["scripted"] = saying(*[Said("Loading model", status=503)] * 4, *[Said(dropped=-1)] * 4, Said("Here."))
    told: list[str] = []
    assert answer(model(server, on_wait=told.append)).message.text == "Here."
    assert server.counts["scripted"] == 9
    assert told == [f"{server.base_url} does not answer yet: asking again for 180 s."]
    # no credit comes back within minutes
    server.counts.clear()
    server.models["scripted"] = saying(Said("You exceeded your quota", status=429, code="insufficient_quota"))
    with pytest.raises(ModelError, match="no more requests"):
        answer(model(server))
    assert server.counts["scripted"] == 1


def test_a_limit_that_a_server_refuses_under_both_names_is_reported(server: ModelServer) -> None:
    server.models["scripted"] = lambda request, before: Said(
        f"{'max_tokens' if 'max_tokens' in request else 'max_completion_tokens'} is too large: 90000", status=400
    )
    with pytest.raises(ModelError, match="is too large: 90000"):
        answer(model(server), most_tokens=90000)
    assert server.counts["scripted"] < 10


def test_an_answer_that_ends_in_the_middle_is_no_full_context(server: ModelServer) -> None:
    chunk = b'data: {"choices": [{"index": 0, "delta": {"content": "Let"}, "finish_reason": null}]}\n\n'
    server.models["scripted"] = saying(Said(raw=chunk, headers=(EVENTS,)))
    long = (Message(Role.SYSTEM, "You write passes."), Message(Role.USER, "word " * 2000))
    with pytest.raises(ModelError, match="ended its answer in the middle") as failed:
        model(server).complete(long, (), cancelled=threading.Event())
    assert failed.value.trouble is Trouble.MALFORMED


DONE = "data: [DONE]\n\n"


@pytest.mark.parametrize("done", [DONE, "data:[DONE]\r\n\r\n", f"{DONE}: goodbye\n\n"])
def test_an_answer_that_ends_as_streams_end_is_whole_without_a_reason(server: ModelServer, done: str) -> None:
    called = {"tool_calls": [piece(0, "check", "{}", "a")]}
    for delta, finish in (({"content": "Here, [DONE]."}, "stop"), (called, "tool_calls")):
        chunk = f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta}]})}\n\n"
        server.models["scripted"] = saying(Said(raw=f"{chunk}{done}".encode(), headers=(EVENTS,)))
        reply = answer(model(server), tools=(CHECK,))
        assert (reply.message.text, reply.finish, reply.restarts) == (delta.get("content", ""), finish, 0)


def test_words_about_the_end_of_a_stream_do_not_end_an_answer(server: ModelServer) -> None:
    chunk = {"choices": [{"index": 0, "delta": {"content": DONE}}]}
    server.models["scripted"] = saying(Said(raw=f"data: {json.dumps(chunk)}\n\n".encode(), headers=(EVENTS,)))
    with pytest.raises(ModelError, match="ended its answer in the middle"):
        answer(model(server))


@pytest.mark.parametrize(
    "address",
    [
        "localhost:8000",
        "ftp://localhost/v1",
        "http:///v1",
        "http://localhost:abc/v1",
        "http://localhost:99999/v1",
        "http://localhost:0/v1",
        "http://[::1/v1",
        "http://[1:2]/v1",
        "http://a b/v1",
        "http://..:80/v1",
        f"http://{'a' * 300}/v1",
        "http://x\udced/v1",
        "http://☃.net/v1",
        "http://localhost/\n/v1",
    ],
)
def test_what_cannot_be_an_address_is_refused(address: str) -> None:
    with pytest.raises(BadInput, match=r"is not an address\. Enter the server as"):
        ChatServer(address)


@pytest.mark.parametrize("address", ["http://[::1]:80/v1", "https://my_host.example.org./v1", "HTTP://10.0.0.1:8000"])
def test_addresses_of_all_kinds_are_taken(address: str) -> None:
    assert ChatServer(address).place == address


# --- what real servers do; tests/others/test_model_servers.py asks these themselves ---


class _Bare(_Answer):
    """Refuses with the text of what is said as the whole body."""

    def _fail(self, said: Said) -> None:
        self._plain(said.status, said.text.encode(), said.headers)


@pytest.fixture
def bare() -> Iterator[ModelServer]:
    """A server that wraps its refusals in nothing."""
    with serving({}) as made:
        made.RequestHandlerClass = _Bare
        yield made


def detail(text: str) -> Said:
    """A refusal as FastAPI writes it."""
    return Said(json.dumps({"detail": text}), status=400, headers=(("Content-Type", "application/json"),))


FAILED = Said("Internal Server Error", status=500)


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(
            Said("Server is pinned to 'toolmaker'; requested 'scripted'.", status=400), id="transformers serve"
        ),
        pytest.param(
            Said("/chat/completions: Invalid model name passed in model=scripted. Call `/v1/models`.", status=400),
            id="LiteLLM",
        ),
        pytest.param(Said("The model `scripted` does not exist", status=400, code="model_not_found"), id="llama.cpp"),
    ],
)
def test_a_server_may_say_with_the_status_400_that_it_does_not_know_the_model(server: ModelServer, said: Said) -> None:
    server.models["scripted"] = saying(said)
    with pytest.raises(ModelError, match="has no model 'scripted'") as failed:
        answer(model(server), tools=(CHECK,))
    assert failed.value.trouble is Trouble.UNKNOWN_MODEL
    assert server.counts["scripted"] == 1


def test_a_model_without_tools_on_a_router_is_no_unknown_model(server: ModelServer) -> None:
    server.models["scripted"] = saying(Said("No endpoints found that support tool use", status=404))
    with pytest.raises(ModelError) as failed:
        answer(model(server), tools=(CHECK,))
    assert failed.value.trouble is Trouble.NO_TOOLS


def test_the_words_of_a_refusal_are_shown_in_whatever_form_they_come(bare: ModelServer) -> None:
    bare.models["scripted"] = saying(detail("Server is pinned to 'other'; requested 'scripted'."))
    with pytest.raises(ModelError, match=r"has no model 'scripted': Server is pinned to 'other'"):
        answer(model(bare))
    bare.models["scripted"] = saying(Said("overloaded", status=503))
    with pytest.raises(ModelError, match=r"failed, even after retries: overloaded\. Try later"):
        answer(model(bare, patience_s=0.01))


@pytest.mark.parametrize(
    "failed",
    [
        pytest.param(FAILED, id="an error without a reason"),
        pytest.param(
            Said(
                "litellm.InternalServerError: InternalServerError: OpenAIException - Internal Server Error. Received"
                " Model Group=tiny\nAvailable Model Group Fallbacks=None",
                status=500,
            ),
            id="the same behind LiteLLM",
        ),
        pytest.param(Said(raw=b"", headers=(EVENTS,)), id="an answer with nothing"),
    ],
)
def test_a_chat_template_without_a_system_is_found_out_if_the_server_does_not_say_so(
    bare: ModelServer, failed: Said
) -> None:
    bare.models["scripted"] = lambda request, before: (
        failed if request["messages"][0]["role"] == "system" else Said("As you like.")
    )
    assert answer(model(bare)).message.text == "As you like."
    assert bare.asked[-1][1]["messages"] == [{"role": "user", "content": "You write passes.\n\nWrite one."}]


def test_a_server_that_fails_once_without_a_reason_gets_the_same_request_again(bare: ModelServer) -> None:
    bare.models["scripted"] = saying(FAILED, Said("Here."))
    assert answer(model(bare)).message.text == "Here."
    assert bare.asked[0] == bare.asked[1]
    bare.models["scripted"] = saying(FAILED)
    with pytest.raises(ModelError, match="without a reason") as failed:
        answer(model(bare, patience_s=0.01))
    assert failed.value.trouble is Trouble.DOWN


BEGUN = b'data: {"choices": [{"index": 0, "delta": {"role": "assistant"}}]}\n\n'


@pytest.mark.parametrize(
    ("event", "trouble", "words", "asked"),
    [
        pytest.param(
            b'data: {"error": "json parser could not parse region as JSON.\nContent: \'{oh\'"}\n\n',
            Trouble.NO_TOOLS,
            "cannot read the tool calls that scripted writes",
            4,
            id="a garbled call, transformers serve",
        ),
        pytest.param(
            b'data: {"error": {"message": "Failed to parse input at pos 12", "code": 500}}\n\n',
            Trouble.NO_TOOLS,
            "cannot read the tool calls that scripted writes",
            4,
            id="a garbled call, llama.cpp",
        ),
        pytest.param(
            b'data: {"error": {"message": "OpenAIException - Unterminated string: line 1 column 11 (char 10)"}}\n\n',
            Trouble.NO_TOOLS,
            "cannot read the tool calls that scripted writes",
            4,
            id="a garbled call behind LiteLLM",
        ),
        pytest.param(
            b'data: {"error": "out of\nmemory"}\n\n',
            Trouble.MALFORMED,
            "ended its answer in the middle",
            4,
            id="no JSON",
        ),
        pytest.param(
            b'data: {"error": {"message": "Requested tokens (3000) exceed context window of 2048"}}\n\n',
            Trouble.TOO_LONG,
            "too long for scripted",
            1,
            id="a full context",
        ),
    ],
)
def test_an_error_within_an_answer_says_whose_fault_it_is(
    server: ModelServer, event: bytes, trouble: Trouble, words: str, asked: int
) -> None:
    server.models["scripted"] = saying(Said(raw=BEGUN + event, headers=(EVENTS,)))
    with pytest.raises(ModelError, match=words) as failed:
        answer(model(server), tools=(CHECK,))
    assert failed.value.trouble is trouble
    assert server.counts["scripted"] == asked


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_server_that_sends_requests_on_gets_none_sent_on(server: ModelServer, status: int) -> None:
    """Else whoever runs a listed server could have this machine send requests, with a key, wherever they like."""
    with serving({"scripted": saying(Said("Here."))}) as other:
        place = (("Location", f"{other.base_url}/chat/completions"),)
        server.models["scripted"] = saying(Said("Moved", status=status, headers=place))
        with pytest.raises(ModelError, match="sends requests on to another address") as failed:
            answer(model(server))
        assert other.asked == []
    assert failed.value.trouble is Trouble.REJECTED
    assert len(server.asked) == 1
