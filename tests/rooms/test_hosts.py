"""What a host tells at a hook becomes wire requests, and an answer becomes what that host reads."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import foreword.hosts
from foreword import Foreword
from foreword.classify import classify
from foreword.errors import BadInput
from foreword.hosts import HOSTS, MOST_CHARS, Hook, understand
from foreword.hosts.observation import MOST_TEXT_CHARS, MOST_TITLE_CHARS, observation, shortened
from foreword.model import Audience, SessionKind
from foreword.record import redact
from foreword.serve.wire import _opened, answer
from tests.scaling import is_linear

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "hooks"
DOCUMENTS = sorted((file.parent.name, file.stem) for file in FIXTURES.glob("*/*.json"))
PROMPTS = [
    ("claude-code", "UserPromptSubmit"),
    ("codex", "UserPromptSubmit"),
    ("gemini", "BeforeAgent"),
    ("copilot", "userPromptSubmitted"),
    ("opencode", "prompt"),
]
ANSWERS = [("claude-code", "Stop"), ("codex", "Stop"), ("gemini", "AfterAgent"), ("opencode", "answer")]
TOOLS = [
    ("claude-code", "PostToolUse"),
    ("codex", "PostToolUse"),
    ("gemini", "AfterTool"),
    ("copilot", "postToolUse"),
    ("opencode", "tool"),
]
STARTS = [
    ("claude-code", "SessionStart"),
    ("codex", "SessionStart"),
    ("copilot", "sessionStart"),
    ("opencode", "start"),
]
COMPACTIONS = [
    ("claude-code", "PreCompact"),
    ("codex", "PreCompact"),
    ("gemini", "PreCompress"),
    ("copilot", "preCompact"),
    ("opencode", "compact"),
]
# What a host calls its session, and those that take plain text.
SESSION = {"copilot": "sessionId", "opencode": "sessionID"}
PLAIN = {("claude-code", "PreCompact"), *(("opencode", event) for event in ("prompt", "start", "compact"))}
SUBAGENTS = [("claude-code", "SubagentStart"), ("claude-code", "SubagentStop")]
ENDS = [
    *ANSWERS,
    ("claude-code", "SubagentStop"),
    ("claude-code", "SessionEnd"),
    ("codex", "SessionEnd"),
    ("copilot", "agentStop"),
]
SILENT = {*ENDS, *TOOLS, *(set(COMPACTIONS) - PLAIN), ("gemini", "SessionStart"), ("claude-code", "PostCompact")}
CONTEXT = "> **foreword recall** · data.\n> - `m1` The cellar is kept at twelve degrees."


def document(host: str, event: str, **other: Any) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((FIXTURES / host / f"{event}.json").read_text("utf-8"))
    return {**told, **other}


def told(host: str, event: str, **other: Any) -> Hook:
    return understand(host, event, document(host, event, **other))


def actions(hook: Hook) -> list[str]:
    return [one["action"] for one in hook.asks]


def said(hook: Hook, text: str) -> str:
    return hook.reply([{"text": text}] * len(hook.asks))


def context(host: str, event: str, reply: str) -> str:
    """The text that a host finds in a reply, each where that host looks for it."""
    if (host, event) in PLAIN:
        return reply
    found = json.loads(reply)
    if host == "copilot":
        assert found.keys() == {"additionalContext"}
        return str(found["additionalContext"])
    assert found.keys() == {"hookSpecificOutput"}
    inner = found["hookSpecificOutput"]
    assert inner.keys() == {"hookEventName", "additionalContext"}
    assert inner["hookEventName"] == event
    return str(inner["additionalContext"])


def carried_out(engine: Foreword, hook: Hook) -> tuple[str, list[dict[str, Any]]]:
    """What a door does: asks first, then records; the reply, and what became of the records."""
    answers = [answer(engine, one) for one in hook.asks]
    kept = [answer(engine, one) for one in hook.records]
    for one in (*answers, *kept):
        assert one["status"] == "ok", one
    return hook.reply([one["data"] for one in answers]), [one["data"] for one in kept]


# Hosts, events, documents


def test_an_unknown_host_is_refused_by_naming_those_there_are() -> None:
    with pytest.raises(BadInput, match=r"'cursor' is not a host.*claude-code, codex, gemini, copilot, opencode"):
        understand("cursor", "sessionStart", {})


@pytest.mark.parametrize("host", HOSTS)
def test_an_event_that_nobody_knows_is_nothing(host: str) -> None:
    for anything in ({}, None, "x", document(*PROMPTS[0])):
        hook = understand(host, "PostModelSwitch", anything)
        assert (hook.asks, hook.records, hook.reply([{"text": CONTEXT}])) == ((), (), "")


@pytest.mark.parametrize("wrong", [None, [], "text", 5, True])
def test_a_document_that_is_no_object_is_refused(wrong: object) -> None:
    with pytest.raises(BadInput, match="claude-code tells at Stop must be a JSON object"):
        understand("claude-code", "Stop", wrong)


@pytest.mark.parametrize(
    ("where", "field"),
    [
        *((where, SESSION.get(where[0], "session_id")) for where in (*PROMPTS, *STARTS, *TOOLS)),
        *((where, "cwd") for where in (*PROMPTS, *ANSWERS, *TOOLS, *STARTS, *COMPACTIONS)),
        *((where, "prompt") for where in PROMPTS),
        (("claude-code", "Stop"), "last_assistant_message"),
        (("gemini", "AfterAgent"), "prompt_response"),
        (("claude-code", "PostToolUse"), "tool_name"),
        (("claude-code", "PostToolUse"), "tool_response"),
        (("copilot", "postToolUse"), "toolArgs"),
        (("claude-code", "SubagentStart"), "agent_id"),
        (("claude-code", "SubagentStop"), "agent_id"),
    ],
)
def test_what_an_event_needs_is_named_when_it_is_missing_or_of_another_kind(where: tuple[str, str], field: str) -> None:
    lacking = document(*where)
    del lacking[field]
    with pytest.raises(BadInput, match=f"{where[0]}'s {where[1]} needs the field '{field}'"):
        understand(*where, lacking)
    if field not in ("tool_response", "toolArgs"):
        with pytest.raises(BadInput, match=f"'{field}'.* must be a string"):
            understand(*where, {**lacking, field: 7})


@pytest.mark.parametrize("where", DOCUMENTS)
def test_every_document_of_a_host_is_understood_and_every_request_fits_the_wire(
    foreword: Foreword, where: tuple[str, str]
) -> None:
    carried_out(foreword, told(*where))


# Who and where


@pytest.mark.parametrize("where", [one for one in DOCUMENTS if one not in SUBAGENTS])
def test_a_hosts_session_is_the_owners_own(where: tuple[str, str]) -> None:
    host, event = where
    hook = told(host, event)
    for request in (*hook.asks, *hook.records):
        place = request["payload"]
        assert (place["agent"], place["channel"], place["project"]) == (host, host, "/home/ann/shop")
        kind = classify(place["session"], channel=host)
        assert (kind.kind, kind.audience, kind.warning) == (SessionKind.FALLBACK, Audience.PRIVATE, "")


def test_sessions_of_two_hosts_never_collide() -> None:
    keys = {
        told(host, event, **{SESSION.get(host, "session_id"): "one"}).asks[0]["payload"]["session"]
        for host, event in PROMPTS
    }
    assert len(keys) == len(HOSTS)


@pytest.mark.parametrize("where", SUBAGENTS)
def test_a_subagent_has_a_private_session_of_its_own_and_its_parents_memories(where: tuple[str, str]) -> None:
    hook = told(*where)
    (request,) = (*hook.asks, *hook.records)
    parent = told("claude-code", "Stop").records[0]["payload"]
    assert request["payload"]["session"] != parent["session"]
    assert request["payload"]["agent"] == parent["agent"]
    assert document(*where)["session_id"] in request["payload"]["session"]
    kind = classify(request["payload"]["session"], channel="claude-code")
    assert (kind.kind, kind.audience, kind.warning) == (SessionKind.SUBAGENT, Audience.PRIVATE, "")


def test_what_a_subagent_does_with_tools_is_its_own() -> None:
    (mine,) = told("claude-code", "PostToolUse", agent_id="a1b2c3d4", agent_type="Explore").records
    (its_last,) = told("claude-code", "SubagentStop").records
    assert mine["payload"]["session"] == its_last["payload"]["session"]


@pytest.mark.parametrize("host_id", ["x:group:y", "a|external:b", "direct:777", "über uns", "\ud800"])
def test_no_session_id_makes_a_second_segment(host_id: str) -> None:
    key = told("claude-code", "UserPromptSubmit", session_id=host_id).asks[0]["payload"]["session"]
    assert key.count(":") == 2
    assert "|" not in key
    assert key.isascii()


# Prompts


@pytest.mark.parametrize("where", PROMPTS)
def test_a_prompt_is_asked_about_before_it_is_kept_as_the_owners_words(
    foreword: Foreword, where: tuple[str, str]
) -> None:
    hook = told(*where)
    assert actions(hook) == ["brief"]
    assert hook.asks[0]["payload"]["text"] == document(*where)["prompt"]
    reply, (kept,) = carried_out(foreword, hook)
    assert reply == ""
    assert kept["outcome"] == "stored"
    (memory,) = foreword.get([kept["id"]])
    assert (memory.text, memory.kind, memory.origin) == (document(*where)["prompt"], "message", "owner")
    assert (memory.agent, memory.project, memory.channel) == (where[0], "/home/ann/shop", where[0])


@pytest.mark.parametrize("where", PROMPTS)
def test_what_was_said_in_an_earlier_session_reaches_the_next_prompt(
    foreword: Foreword, where: tuple[str, str]
) -> None:
    host, event = where
    field = SESSION.get(host, "session_id")
    carried_out(
        foreword, told(*where, prompt="The wine cellar is kept at twelve degrees.", **{field: "an-earlier-one"})
    )
    reply, _ = carried_out(foreword, told(*where))
    assert "twelve degrees" in context(host, event, reply)


@pytest.mark.parametrize("where", PROMPTS)
def test_a_prompt_that_is_delivered_twice_is_kept_once(foreword: Foreword, where: tuple[str, str]) -> None:
    carried_out(foreword, told(*where))
    _, (second,) = carried_out(foreword, told(*where))
    assert second["outcome"] != "stored"
    assert foreword.status()["memories"] == 1


def test_the_same_words_in_another_turn_are_kept_again_where_a_host_names_its_turns(foreword: Foreword) -> None:
    for host, field in (("claude-code", "prompt_id"), ("codex", "turn_id")):
        hooks = [told(host, "UserPromptSubmit"), told(host, "UserPromptSubmit", **{field: "another"})]
        kept = [answer(foreword, hook.records[0])["data"] for hook in hooks]
        assert [one["outcome"] for one in kept] == ["stored", "stored"]


def test_a_machines_prompt_is_neither_answered_nor_kept(foreword: Foreword) -> None:
    carried_out(foreword, told("claude-code", "UserPromptSubmit", prompt="The survey of the cellar is finished."))
    machine = "<task-notification>\n<task-id>b1</task-id>\nThe survey of the cellar is finished.\n</task-notification>"
    reply, (kept,) = carried_out(foreword, told("claude-code", "UserPromptSubmit", prompt=machine, prompt_id="p2"))
    assert reply == ""
    assert kept["outcome"] == "skipped"


@pytest.mark.parametrize("prompt", ["", "  \n", None])
def test_a_prompt_without_words_asks_for_nothing(prompt: str | None) -> None:
    assert told("claude-code", "UserPromptSubmit", prompt=prompt) == Hook()


@pytest.mark.proves("L6")
def test_what_stands_in_front_of_geminis_prompt_is_neither_asked_with_nor_kept(foreword: Foreword) -> None:
    carried_out(foreword, told("gemini", "AfterTool", session_id="an-earlier-one"))
    index = foreword.start("agent:gemini:x", agent="gemini", project="/home/ann/shop").text
    assert "cellar.py" in index
    question = document("gemini", "BeforeAgent")["prompt"]
    _, (kept,) = carried_out(foreword, told("gemini", "BeforeAgent", prompt=f"{index}\n\n{question}"))
    assert foreword.get([kept["id"]])[0].text == question
    assert foreword.receipt(agent="gemini")["ask"] == question


# Starts and compactions


@pytest.mark.parametrize("where", STARTS)
@pytest.mark.parametrize(
    ("source", "asked"),
    [
        ("startup", ["start"]),
        ("new", ["start"]),
        ("a source of tomorrow", ["start"]),
        ("resume", []),
        ("compact", ["compact", "start"]),
        ("clear", ["compact", "start"]),
    ],
)
def test_a_session_is_given_its_stable_part_unless_it_still_holds_it(
    where: tuple[str, str], source: str, asked: list[str]
) -> None:
    hook = told(*where, source=source)
    assert actions(hook) == asked
    assert hook.records == ()
    if asked:
        answers = [*[{"text": "what compact answers"}] * (len(asked) - 1), {"text": CONTEXT}]
        assert context(*where, hook.reply(answers)) == CONTEXT
        assert hook.reply([*answers[:-1], None]) == ""
        assert hook.reply([None] * (len(asked) - 1) + [{"text": CONTEXT}]) != ""


@pytest.mark.parametrize("source", ["compact", "clear"])
def test_after_a_compaction_or_a_clearing_a_memory_may_be_said_again(foreword: Foreword, source: str) -> None:
    fact = "The wine cellar is kept at twelve degrees."
    carried_out(foreword, told("claude-code", "UserPromptSubmit", prompt=fact, session_id="an-earlier-one"))
    replies = []
    for number, wording in enumerate(
        ("At how many degrees is", "And at how many degrees is", "How warm in degrees is")
    ):
        if number == 2:
            carried_out(foreword, told("claude-code", "SessionStart", source=source))
        prompt = f"{wording} the wine cellar kept?"
        replies.append(carried_out(foreword, told("claude-code", "UserPromptSubmit", prompt=prompt))[0])
    assert [fact in reply for reply in replies] == [True, False, True]


def test_a_second_compact_changes_nothing(foreword: Foreword) -> None:
    carried_out(foreword, told("claude-code", "PostToolUse", session_id="an-earlier-one"))
    first, _ = carried_out(foreword, told("claude-code", "PreCompact"))
    again, _ = carried_out(foreword, told("claude-code", "SessionStart", source="compact"))
    once_more, _ = carried_out(foreword, told("claude-code", "SessionStart", source="compact"))
    assert "pytest" in first
    assert not first.startswith("{")
    assert "pytest" in context("claude-code", "SessionStart", again)
    assert again == once_more


@pytest.mark.parametrize("where", COMPACTIONS)
def test_every_host_that_compacts_makes_its_session_new(where: tuple[str, str]) -> None:
    hook = told(*where)
    assert actions(hook) == ["compact"]
    assert said(hook, CONTEXT) == (CONTEXT if where in PLAIN else "")


def test_gemini_says_at_every_turn_that_it_may_compress_and_is_not_believed() -> None:
    assert told("gemini", "PreCompress", trigger="auto") == Hook()


def test_gemini_is_given_nothing_at_start_because_it_would_lose_the_prompt() -> None:
    assert told("gemini", "SessionStart") == Hook()
    cleared = told("gemini", "SessionStart", source="clear")
    assert actions(cleared) == ["compact"]
    assert said(cleared, CONTEXT) == ""


def test_a_subagent_is_given_the_stable_part_of_its_own_session() -> None:
    hook = told("claude-code", "SubagentStart")
    assert actions(hook) == ["start"]
    assert context("claude-code", "SubagentStart", said(hook, CONTEXT)) == CONTEXT


# Answers


@pytest.mark.parametrize("where", [*ANSWERS, ("claude-code", "SubagentStop")])
def test_the_last_words_of_an_agent_are_kept_as_the_agents(foreword: Foreword, where: tuple[str, str]) -> None:
    hook = told(*where)
    assert hook.asks == ()
    _, (kept,) = carried_out(foreword, hook)
    (memory,) = foreword.get([kept["id"]])
    assert "cellar" in memory.text
    assert (memory.kind, memory.origin) == ("message", "agent")


@pytest.mark.parametrize("words", ["", " ", None])
def test_an_answer_without_words_is_not_kept(words: str | None) -> None:
    assert told("codex", "Stop", last_assistant_message=words) == Hook()


@pytest.mark.parametrize("where", SUBAGENTS)
def test_the_summariser_of_a_compaction_is_no_subagent(where: tuple[str, str]) -> None:
    assert told(*where, agent_type="") == Hook()


@pytest.mark.parametrize("where", ENDS)
def test_the_end_of_a_turn_is_never_answered(where: tuple[str, str]) -> None:
    hook = told(*where)
    assert hook.asks == ()
    for answers in ([], [None], [{"text": CONTEXT}]):
        assert hook.reply(answers) == ""


# Tools


@pytest.mark.parametrize(
    ("where", "type_", "title", "files", "words"),
    [
        (TOOLS[0], "command", "Bash: pytest -q tests/test_cellar.py", (), "1 failed"),
        (TOOLS[1], "command", "Bash: rg -n set_point src", (), "set_point = 12"),
        (TOOLS[2], "read", "read_file: src/cellar.py", ("src/cellar.py",), "agreed with the vintner"),
        (TOOLS[3], "edit", "edit: src/cellar.py", ("src/cellar.py",), "new_str: set_point = 12"),
    ],
)
def test_what_a_tool_gave_is_kept_as_an_observation(
    foreword: Foreword, where: tuple[str, str], type_: str, title: str, files: tuple[str, ...], words: str
) -> None:
    hook = told(*where)
    assert hook.asks == ()
    reply, (kept,) = carried_out(foreword, hook)
    assert reply == ""
    (memory,) = foreword.get([kept["id"]])
    assert (memory.kind, memory.origin, memory.type, memory.title) == ("observation", "tool", type_, title)
    assert memory.files == files
    assert words in memory.text


@pytest.mark.parametrize("where", TOOLS)
def test_a_tool_call_that_is_delivered_twice_is_kept_once(foreword: Foreword, where: tuple[str, str]) -> None:
    _, (first,) = carried_out(foreword, told(*where))
    _, (second,) = carried_out(foreword, told(*where))
    assert (second["outcome"], second["id"]) == ("known", first["id"])


@pytest.mark.parametrize(
    ("tool", "given", "response", "type_", "title", "text", "files"),
    [
        (
            "Read",
            {"file_path": "/home/ann/shop/src/app.py"},
            {"type": "text", "file": {"filePath": "/home/ann/shop/src/app.py", "content": "x = 1\n", "numLines": 1}},
            "read",
            "Read: src/app.py",
            "file_path: /home/ann/shop/src/app.py\nx = 1",
            ["src/app.py"],
        ),
        (
            "Edit",
            {"file_path": "/srv/app.py", "old_string": "a = 1", "new_string": "a = 2\nb = 3", "replace_all": False},
            {"filePath": "/srv/app.py", "originalFile": "THE WHOLE FILE", "structuredPatch": []},
            "edit",
            "Edit: /srv/app.py",
            "file_path: /srv/app.py\nold_string: a = 1\nnew_string:\na = 2\nb = 3",
            ["/srv/app.py"],
        ),
        (
            "Grep",
            {"pattern": "set_point", "path": "/home/ann/shop"},
            {"mode": "files_with_matches", "filenames": ["/home/ann/shop/src/cellar.py"], "numFiles": 1},
            "search",
            "Grep: set_point",
            "pattern: set_point\npath: /home/ann/shop\n/home/ann/shop/src/cellar.py",
            ["src/cellar.py"],
        ),
        (
            "WebFetch",
            {"url": "https://vintner.example/cellars", "prompt": "How warm?"},
            {"bytes": 5120, "code": 200, "result": "Twelve degrees.", "durationMs": 90},
            "web",
            "WebFetch: https://vintner.example/cellars",
            "url: https://vintner.example/cellars\nprompt: How warm?\nTwelve degrees.",
            [],
        ),
        (
            "mcp__github__get_issue",
            {"issue": 4521},
            [{"type": "text", "text": "The cellar is too warm."}, {"type": "image", "data": "A" * 5000}],
            "other",
            "mcp__github__get_issue: 4521",
            "issue: 4521\nThe cellar is too warm.\ntype: image",
            [],
        ),
    ],
)
def test_a_tools_use_is_readable(
    tool: str, given: object, response: object, type_: str, title: str, text: str, files: list[str]
) -> None:
    (request,) = told("claude-code", "PostToolUse", tool_name=tool, tool_input=given, tool_response=response).records
    payload = request["payload"]
    assert (payload["type"], payload["title"], payload["files"]) == (type_, title, files)
    assert payload["content"] == text
    assert payload.get("origin") == ("web" if type_ == "web" else None)
    assert payload["source_id"] == "toolu_01ABCDEF"


@pytest.mark.parametrize(
    "response", [None, "", " \n", "ok", "(no output)", "No files found.", {}, [], True, {"stdout": "", "stderr": ""}, 0]
)
def test_a_result_that_says_nothing_is_not_kept(response: object) -> None:
    assert told("claude-code", "PostToolUse", tool_response=response) == Hook()


@pytest.mark.parametrize("tool", ["TodoWrite", "ToolSearch", "Task", "Agent"])
def test_a_hosts_own_bookkeeping_is_not_kept(tool: str) -> None:
    assert told("claude-code", "PostToolUse", tool_name=tool) == Hook()


@pytest.mark.proves("L6")
def test_what_a_memory_tool_says_is_not_kept(foreword: Foreword) -> None:
    for tool in ("mcp__foreword__mem_search", "mcp__plugin_mem_mem__mem_search"):
        _, (kept,) = carried_out(foreword, told("claude-code", "PostToolUse", tool_name=tool))
        assert kept["outcome"] == "skipped"


def test_a_long_result_keeps_its_head_and_its_tail() -> None:
    lines = "\n".join(f"line {number}" for number in range(5000))
    (request,) = told("claude-code", "PostToolUse", tool_response={"stdout": lines}).records
    text = request["payload"]["content"]
    assert MOST_TEXT_CHARS * 0.9 < len(text) <= MOST_TEXT_CHARS
    assert "command: pytest" in text
    assert "line 0\nline 1\n" in text
    assert "characters left out" in text
    assert text.endswith("line 4998\nline 4999")


@pytest.mark.proves("B5")
def test_a_cut_hides_no_secret_from_redaction() -> None:
    body = "\n".join("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" + chr(97 + row % 26) * 31 for row in range(26))
    key = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----"
    token = "see ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8 there"
    block = "<private>\n" + "the vintner drinks\n" * 60 + "</private>"
    filler = "all is well in the cellar\n" * 400
    for secret, sign in ((key, "EFAASC"), (token, "a1B2"), (block, "the vintner drinks")):
        whole = 8000 - len(secret)
        for at in range(0, whole, 13):
            short = shortened(f"{filler[:at]}\n{secret}\n{filler[: whole - at]}", MOST_TEXT_CHARS)
            assert sign not in redact(short).text


@given(st.text(), st.integers(0, 300))
def test_a_shortened_text_keeps_within_its_bound(text: str, most_chars: int) -> None:
    short = shortened(text * 20, most_chars)
    assert len(short) <= most_chars
    if len((text * 20).strip()) <= most_chars:
        assert short == (text * 20).strip()


def test_a_long_result_is_read_in_linear_time() -> None:
    assert is_linear(lambda text: observation("Bash", "command", {}, {"stdout": text}, folder="/"), "a b\n" * 100_000)


# Replies


@pytest.mark.parametrize("where", [one for one in DOCUMENTS if one not in SILENT])
def test_each_host_finds_the_text_where_it_looks_for_it(where: tuple[str, str]) -> None:
    hook = told(*where)
    assert context(*where, said(hook, CONTEXT)) == CONTEXT


@pytest.mark.parametrize("where", sorted(SILENT))
def test_an_event_that_takes_no_text_is_given_none(where: tuple[str, str]) -> None:
    assert said(told(*where), CONTEXT) == ""


@pytest.mark.proves("L3")
@pytest.mark.parametrize("where", [*PROMPTS, *STARTS, COMPACTIONS[0]])
def test_nothing_to_say_is_nothing_at_all(where: tuple[str, str]) -> None:
    hook = told(*where)
    for answers in ([], [None], [{}], [{"text": ""}], [{"text": " \n"}], [{"text": None}], [{"text": 5}]):
        assert hook.reply(answers) == ""


@pytest.mark.parametrize("where", [*PROMPTS, *STARTS, COMPACTIONS[0]])
def test_a_text_that_a_host_would_cut_is_not_given(where: tuple[str, str]) -> None:
    hook = told(*where)
    assert context(*where, said(hook, "x" * MOST_CHARS)) == "x" * MOST_CHARS
    assert said(hook, "x" * (MOST_CHARS + 1)) == ""
    # Hosts written in JavaScript count such a character twice.
    assert said(hook, "🍷" * (MOST_CHARS // 2 + 1)) == ""


# Whatever comes

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)


@st.composite
def _deliveries(draw: st.DrawFn) -> tuple[str, str, object]:
    """A host's own document with some of its fields replaced by anything, or anything at all."""
    host, event = draw(st.sampled_from(DOCUMENTS))
    if draw(st.integers(0, 9)) == 0:
        return host, event, draw(_JSON)
    whole = document(host, event)
    names = st.sampled_from([*whole, "agent_id", "agent_type", "source", "filenames"])
    return host, event, {**whole, **draw(st.dictionaries(names, _JSON, max_size=3))}


@settings(max_examples=400)
@given(delivery=_deliveries(), text=st.text() | st.text(min_size=1).map(lambda some: some * 3000))
def test_whatever_a_host_tells_is_refused_or_fits_the_wire(delivery: tuple[str, str, object], text: str) -> None:
    host, event, anything = delivery
    try:
        hook = understand(host, event, anything)
    except BadInput:
        return
    for request in (*hook.asks, *hook.records):
        _opened(json.loads(json.dumps(request)))
    for request in hook.records:
        assert request["action"] == "ingest"
        assert len(request["payload"].get("title", "")) <= MOST_TITLE_CHARS
    reply = said(hook, text)
    if reply:
        assert len(context(host, event, reply)) <= MOST_CHARS
        assert context(host, event, reply) == text
        assert (host, event) not in SILENT


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(delivery=_deliveries())
def test_whatever_is_understood_is_answered_by_a_real_engine(
    open_home: Callable[..., Foreword], delivery: tuple[str, str, object]
) -> None:
    try:
        hook = understand(*delivery)
    except BadInput:
        return
    carried_out(open_home(), hook)


def test_a_document_of_any_depth_is_read() -> None:
    deep: Any = "bottom"
    for _ in range(100_000):
        deep = {"content": [deep]}
    for field in ("tool_input", "tool_response"):
        told("claude-code", "PostToolUse", **{field: deep})
    told("claude-code", "PostToolUse", tool_input="[" * 100_000, tool_response="said")
    told("claude-code", "PostToolUse", tool_input={"n": 10**5000}, tool_response="said")


def test_the_room_knows_nothing_but_errors_and_the_model() -> None:
    folder = Path(foreword.hosts.__file__).parent
    known: Mapping[str, set[str]] = {
        file.name: {
            node.module
            for node in ast.walk(ast.parse(file.read_text("utf-8")))
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("foreword")
        }
        for file in folder.glob("*.py")
    }
    rooms = {".".join(name.split(".")[:2]) for names in known.values() for name in names}
    # `values` is no room: it makes the classes that all of them have.
    assert rooms == {"foreword.errors", "foreword.model", "foreword.hosts", "foreword.values"}


# OpenCode's own


@pytest.mark.parametrize(
    ("told_as", "meant"),
    [
        ('"At how many degrees is the cellar kept?"', "At how many degrees is the cellar kept?"),
        (r'"Is \"cool\" what the cellar is?"', 'Is "cool" what the cellar is?'),
        ('"one" and "two" are words', '"one" and "two" are words'),
        ('Say "twelve" to me', 'Say "twelve" to me'),
    ],
)
def test_opencode_s_quotes_around_a_prompt_are_nobody_s_words(told_as: str, meant: str) -> None:
    hook = told("opencode", "prompt", prompt=told_as)
    assert hook.asks[-1]["payload"]["text"] == meant
    assert hook.records[0]["payload"]["content"] == meant


def test_an_opencode_session_that_another_process_began_is_given_again_what_it_was_given(foreword: Foreword) -> None:
    earlier = told("opencode", "prompt", prompt="The wine cellar is kept at twelve degrees.", sessionID="ses_earlier")
    carried_out(foreword, earlier)
    first, _ = carried_out(foreword, told("opencode", "prompt"))
    other, _ = carried_out(foreword, told("opencode", "prompt", prompt="How many degrees are it in the cellar?"))
    resumed, _ = carried_out(
        foreword, told("opencode", "prompt", prompt="Say, how many degrees has the cellar?", source="resume")
    )
    assert "twelve degrees" in first
    assert "twelve degrees" not in other
    assert "twelve degrees" in resumed


def test_an_opencode_sub_agent_is_named_by_its_parent_and_its_orders_are_nobody_s_words() -> None:
    order = told("opencode", "prompt", sessionID="ses_child", parentID="ses_parent")
    report = told("opencode", "answer", sessionID="ses_child", parentID="ses_parent")
    assert order.records == ()
    (kept,) = report.records
    for request in (*order.asks, kept):
        assert request["payload"]["session"] == "agent:opencode:subagent:ses_parent:ses_child"
    assert kept["payload"]["origin"] == "agent"
