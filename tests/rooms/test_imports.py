"""What other programs have kept, read as events."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import pytest

from foreword.errors import BadInput
from foreword.imports import FORMATS, recognised
from foreword.model import Event, Kind, Origin

SESSION = "5f1d0c1e-0000-4000-8000-000000000001"


def lines(*documents: Any) -> str:
    return "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in documents)


def events(kind: str, path: Path, mark: str = "") -> list[Event]:
    return [item.event for item in FORMATS[kind].read(path, mark) if item.event]


def problems(kind: str, path: Path) -> list[str]:
    return [f"{item.where}: {item.problem}" for item in FORMATS[kind].read(path, "") if item.problem]


def marks(kind: str, path: Path) -> list[str]:
    return [item.mark for item in FORMATS[kind].read(path, "") if item.mark]


# Claude Code


def said(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content} | more.pop("message", {})
    return {"type": kind, "sessionId": SESSION, "cwd": "/srv/shop", "timestamp": "2026-03-01T09:30:00.000Z"} | {
        "message": message,
        **more,
    }


def answer(text: str, name: str = "msg_1", **more: Any) -> dict[str, Any]:
    return said("assistant", [{"type": "text", "text": text}], message={"id": name, "stop_reason": "end_turn"}, **more)


def claude(folder: Path, *documents: Any) -> Path:
    file = folder / f"{SESSION}.jsonl"
    file.write_text(lines(*documents))
    return file


def test_a_claude_code_turn_is_a_prompt_what_tools_showed_and_the_last_answer(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {"file_path": "/srv/shop/a.py"}}
    shown = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "port = 5433"}
    file = claude(
        tmp_path,
        said("user", "Which port?", promptId="p1"),
        said("assistant", [{"type": "thinking", "thinking": "hm"}], message={"id": "msg_0"}),
        answer("Let me look.", "msg_0"),
        said("assistant", [call], message={"id": "msg_0", "stop_reason": "tool_use"}),
        said("user", [shown], toolUseResult={"file": {"content": "port = 5433"}}),
        answer("Port 5433."),
    )
    prompt, seen, last = events("claude-code", file)
    assert (prompt.text, prompt.origin, prompt.source_id) == ("Which port?", Origin.OWNER, "p1")
    assert (prompt.session, prompt.project) == (f"agent:claude-code:{SESSION}", "/srv/shop")
    assert prompt.at == 1772357400.0
    assert (seen.kind, seen.title, list(seen.files), seen.source_id) == (
        Kind.OBSERVATION,
        "Read: a.py",
        ["a.py"],
        "toolu_1",
    )
    assert (last.text, last.origin, last.source_id) == ("Port 5433.", Origin.AGENT, "p1")


def test_what_claude_code_writes_for_itself_is_left_out(tmp_path: Path) -> None:
    file = claude(
        tmp_path,
        {"type": "attachment", "attachment": {"type": "environment"}, "sessionId": SESSION},
        {"type": "api-request-blob", "message": {"role": "user", "content": "the whole prompt"}, "sessionId": SESSION},
        said("user", "<local-command-caveat>run by hand</local-command-caveat>", isMeta=True),
        said("assistant", [{"type": "text", "text": "API Error"}], isApiErrorMessage=True),
        said("user", [{"type": "image", "source": {"data": "A" * 900}}]),
    )
    assert events("claude-code", file) == []
    assert problems("claude-code", file) == []


def test_a_compaction_s_summary_is_a_summary_and_not_a_person_s_words(tmp_path: Path) -> None:
    told = (
        "This session is being continued from a previous conversation that ran out of context.\n\nWe chose brass"
        " hinges.\n\nIf you need specific details from before compaction, read the file."
    )
    (only,) = events("claude-code", claude(tmp_path, said("user", told, isCompactSummary=True, uuid="u1")))
    assert (only.kind, only.text, only.origin) == (Kind.SUMMARY, "We chose brass hinges.", Origin.AGENT)


def test_a_subagent_s_task_is_not_a_person_s_and_its_report_is_its_own(tmp_path: Path) -> None:
    aside = {"isSidechain": True, "agentId": "a1"}
    file = claude(tmp_path, said("user", "Count the barns.", promptId="p1", **aside), answer("Three barns.", **aside))
    (report,) = events("claude-code", file)
    assert (report.text, report.origin) == ("Three barns.", Origin.AGENT)
    assert report.session == f"agent:claude-code:subagent:{SESSION}:a1"


def test_broken_lines_are_named_and_a_half_written_last_one_is_not(tmp_path: Path) -> None:
    file = claude(tmp_path, said("user", "One.", promptId="p1"), "{not json", {"type": "user", "sessionId": SESSION})
    with file.open("a") as more:
        more.write('{"type": "user", "mess')
    assert [event.text for event in events("claude-code", file)] == ["One."]
    named = problems("claude-code", file)
    assert len(named) == 2
    assert named[0].startswith("line 2: this is not JSON")
    assert named[1].startswith("line 3: ")


def test_an_answer_that_is_still_being_worked_on_waits(tmp_path: Path) -> None:
    working = answer("Let me look.", "msg_0")
    working["message"]["stop_reason"] = "tool_use"
    file = claude(tmp_path, said("user", "Which port?", promptId="p1"), working)
    assert [event.text for event in events("claude-code", file)] == ["Which port?"]


@pytest.mark.proves("B8")
def test_reading_goes_on_at_a_mark_and_begins_anew_in_another_file(tmp_path: Path) -> None:
    turns = [
        one for n in range(4) for one in (said("user", f"Ask {n}.", promptId=f"p{n}"), answer(f"Said {n}.", f"m{n}"))
    ]
    file = claude(tmp_path, *turns)
    whole = events("claude-code", file)
    for at, mark in enumerate(marks("claude-code", file)):
        assert events("claude-code", file, mark) == whole[2 * at :]
    last = marks("claude-code", file)[-1]
    claude(tmp_path, said("user", "Quite another file.", promptId="x"), *turns[2:])
    assert events("claude-code", file, last)[0].text == "Quite another file."


# OpenClaw


def entry(role: str, content: Any, **about: Any) -> dict[str, Any]:
    message = {"role": role, "content": content, "timestamp": 1772357400000, "__openclaw": about.pop("about", {})}
    return {"type": "message", "id": f"e-{role}", "message": message | about}


def openclaw(folder: Path, key: str, *entries: Any) -> Path:
    file = folder / "openclaw-agent.sqlite"
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE session_windows (session_id, session_key, updated_at)")
        database.execute("CREATE TABLE transcript_events (session_id, seq, event_json, event_zstd)")
        database.execute("INSERT INTO session_windows VALUES ('s1', ?, 7)", (key,))
        database.executemany(
            "INSERT INTO transcript_events VALUES ('s1', ?, ?, NULL)",
            [(number, one if isinstance(one, str) else json.dumps(one)) for number, one in enumerate(entries)],
        )
    database.close()
    return file


GROUP = "agent:main:telegram:group:-555"
CALL = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "/srv/work/a.md"}}
PLUM = [{"type": "text", "text": "Plum it is."}]
TURN = (
    {"type": "session", "id": "s1", "cwd": "/srv/work"},
    entry("user", "We said plum.", about={"senderId": "778", "transport": {"channel": "telegram"}}),
    entry("assistant", [CALL], stopReason="toolUse", about={"runId": "r1"}),
    entry("toolResult", [{"type": "text", "text": "Plums are blue."}], toolCallId="c1", toolName="read"),
    entry("assistant", PLUM, stopReason="stop", about={"runId": "r1"}),
    entry("assistant", PLUM, model="delivery-mirror"),
)


def test_an_openclaw_turn_keeps_its_key_its_sender_and_the_names_of_its_run(tmp_path: Path) -> None:
    prompt, seen, last = events("openclaw", openclaw(tmp_path, GROUP, *TURN))
    assert (prompt.session, prompt.sender, prompt.channel) == (GROUP, "778", "telegram")
    assert (prompt.source_id, last.source_id) == ("openclaw:r1:user", "openclaw:r1:agent")
    assert (seen.kind, seen.title, seen.session) == (Kind.OBSERVATION, "read: a.md", GROUP)
    assert (last.text, last.origin, last.sender) == ("Plum it is.", Origin.AGENT, "778")


def test_older_openclaw_transcripts_find_their_keys_beside_them(tmp_path: Path) -> None:
    folder = tmp_path / "agents" / "main" / "sessions"
    folder.mkdir(parents=True)
    (folder / "sessions.json").write_text(json.dumps({GROUP: {"sessionId": "s1"}}))
    (folder / "s1.jsonl").write_text(lines(*TURN))
    assert events("openclaw", folder / "s1.jsonl") == events("openclaw", openclaw(tmp_path, GROUP, *TURN))


def test_an_entry_that_nobody_can_unpack_is_named(tmp_path: Path) -> None:
    file = openclaw(tmp_path, GROUP, *TURN, "not json")
    with sqlite3.connect(file) as database:
        database.execute("INSERT INTO transcript_events VALUES ('s1', 99, NULL, x'00')")
    database.close()
    first, second = problems("openclaw", file)
    assert "entry 6: it is not JSON" in first
    assert "entry 99: it is packed with zstd" in second


# OpenCode


def opencode(folder: Path, *messages: tuple[dict[str, Any], list[Any]]) -> Path:
    file = folder / "opencode.db"
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE session (id, parent_id, directory, time_updated)")
        database.execute("CREATE TABLE message (id, session_id, time_created, data)")
        database.execute("CREATE TABLE part (id, message_id, data)")
        database.execute("INSERT INTO session VALUES ('ses_1', NULL, '/srv/shop', 9)")
        for number, (about, parts) in enumerate(messages):
            about = about if isinstance(about, str) else json.dumps(about)
            database.execute("INSERT INTO message VALUES (?, 'ses_1', ?, ?)", (f"msg_{number}", number, about))
            for place, part in enumerate(parts):
                row = (f"prt_{number}_{place}", f"msg_{number}", json.dumps(part))
                database.execute("INSERT INTO part VALUES (?, ?, ?)", row)
    database.close()
    return file


def test_an_opencode_turn_leaves_out_what_the_host_added(tmp_path: Path) -> None:
    done = {"created": 1772357400000, "completed": 1772357401000}
    state = {"status": "completed", "input": {"command": "make test"}, "output": "412 passed"}
    typed = [{"type": "text", "text": "Run the tests."}, {"type": "text", "text": "added", "synthetic": True}]
    used = [{"type": "reasoning", "text": "hm"}, {"type": "tool", "tool": "bash", "callID": "c1", "state": state}]
    file = opencode(
        tmp_path,
        ({"role": "user", "time": {"created": 1772357400000}}, typed),
        ({"role": "assistant", "time": done, "finish": "tool-calls"}, used),
        ({"role": "assistant", "time": done, "finish": "stop"}, [{"type": "text", "text": "All pass."}]),
        ({"role": "assistant", "time": done, "summary": True}, [{"type": "text", "text": "We ran the tests."}]),
    )
    prompt, seen, summary, last = events("opencode", file)
    assert (prompt.text, prompt.source_id, prompt.project) == ("Run the tests.", "msg_0", "/srv/shop")
    assert (seen.title, seen.source_id) == ("bash: make test", "c1")
    assert (last.text, last.source_id) == ("All pass.", "msg_2")
    assert (summary.kind, summary.text) == (Kind.SUMMARY, "We ran the tests.")


def test_a_broken_opencode_message_is_named(tmp_path: Path) -> None:
    (named,) = problems("opencode", opencode(tmp_path, ("{broken", [])))
    assert named == "session ses_1, message msg_0: it is not JSON."


# claude-mem


def claude_mem(folder: Path, *, older: bool = False) -> Path:
    own, host = ("sdk_session_id", "claude_session_id") if older else ("memory_session_id", "content_session_id")
    file = folder / "claude-mem.db"
    with sqlite3.connect(file) as database:
        database.execute(f"CREATE TABLE sdk_sessions (id, {host}, {own}, project)")
        database.execute(
            f"CREATE TABLE observations (id, {own}, project, type, title, narrative, facts, concepts, files_read,"
            " files_modified, created_at_epoch)"
        )
        database.execute(f"CREATE TABLE session_summaries (id, {own}, project, request, learned, created_at_epoch)")
        database.execute(f"CREATE TABLE user_prompts (id, {host}, prompt_text, created_at_epoch)")
        database.execute("INSERT INTO sdk_sessions VALUES (1, ?, 'own-1', 'shop')", (SESSION,))
        database.execute("INSERT INTO user_prompts VALUES (1, ?, 'Fix the port.', 1772357400000)", (SESSION,))
        database.execute(
            "INSERT INTO observations VALUES (1, 'own-1', 'shop', 'bugfix', 'Port fixed', 'It is 5433 now.',"
            " '[\"Staging uses 5433\"]', '[\"ports\"]', '[\"a.py\"]', '[\"b.py\"]', 1772357401000)"
        )
        database.execute(
            "INSERT INTO session_summaries VALUES (1, 'own-1', 'shop', 'Fix the port', 'Ports differ', 1772357402000)"
        )
    database.close()
    return file


@pytest.mark.parametrize("older", [False, True])
def test_claude_mem_s_rows_come_in_the_order_of_their_times(tmp_path: Path, older: bool) -> None:
    prompt, seen, summary = events("claude-mem", claude_mem(tmp_path, older=older))
    assert {one.session for one in (prompt, seen, summary)} == {f"agent:claude-code:{SESSION}"}
    assert {one.project for one in (prompt, seen, summary)} == {"shop"}
    assert (prompt.text, prompt.origin, prompt.at) == ("Fix the port.", Origin.OWNER, 1772357400.0)
    assert (seen.kind, seen.title, seen.type) == (Kind.OBSERVATION, "Port fixed", "bugfix")
    assert (list(seen.files), list(seen.concepts)) == (["b.py", "a.py"], ["ports"])
    assert seen.text == "It is 5433 now.\n- Staging uses 5433"
    assert (summary.kind, summary.text) == (Kind.SUMMARY, "Request: Fix the port\nLearned: Ports differ")


def test_claude_mem_is_read_on_from_the_last_time(tmp_path: Path) -> None:
    file = claude_mem(tmp_path)
    assert [event.kind for event in events("claude-mem", file, marks("claude-mem", file)[-1])] == [Kind.SUMMARY]


# ChatGPT


def node(name: str, parent: str | None, role: str, *parts: Any, **more: Any) -> dict[str, Any]:
    content = {"content_type": more.pop("kind", "text"), "parts": list(parts)}
    message = {"id": name, "author": {"role": role}, "create_time": 1772357400.5, "content": content, **more}
    return {"id": name, "parent": parent, "message": message, "children": []}


def conversation(number: int = 1) -> dict[str, Any]:
    nodes = [
        {"id": "root", "parent": None, "message": None, "children": []},
        node("sys", "root", "system", ""),
        node(
            "u1", "sys", "user", {"content_type": "image_asset_pointer"}, f"Question {number}?", kind="multimodal_text"
        ),
        node("old", "u1", "assistant", "An answer that was made anew."),
        node("call", "u1", "assistant", "search()", recipient="web"),
        node("a1", "call", "assistant", f"Answer {number}."),
    ]
    return {
        "conversation_id": f"c{number}",
        "title": "A talk",
        "current_node": "a1",
        "mapping": {one["id"]: one for one in nodes},
    }


def test_the_branch_of_a_chatgpt_conversation_that_was_shown_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([conversation()]))
    asked, answered = events("chatgpt", file)
    assert (asked.text, asked.origin, asked.source_id, asked.at) == ("Question 1?", Origin.OWNER, "u1", 1772357400.5)
    assert (answered.text, answered.origin, answered.session) == ("Answer 1.", Origin.AGENT, "agent:chatgpt:c1")


def test_a_chatgpt_archive_is_read_as_it_is_and_goes_on_at_a_mark(tmp_path: Path) -> None:
    file = tmp_path / "export.zip"
    # More than is read at once, so that a conversation is cut by the reading.
    many = [conversation(number) | {"padding": "x" * 40_000} for number in range(60)]
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("chat.html", "<html>")
        archive.writestr("conversations.json", json.dumps(many, indent=1))
    whole = events("chatgpt", file)
    assert len(whole) == 120
    assert events("chatgpt", file, marks("chatgpt", file)[50]) == whole[100:]


def test_a_chatgpt_export_that_was_cut_off_gives_what_came_before(tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([conversation(1), conversation(2)])[:-40])
    read = FORMATS["chatgpt"].read(file, "")
    found = [next(read) for _ in range(3)]
    assert [item.event.text for item in found if item.event] == ["Question 1?", "Answer 1."]
    with pytest.raises(BadInput, match="ends in the middle"):
        next(read)


# All of them


def test_every_format_is_known_by_its_looks(tmp_path: Path) -> None:
    chat = tmp_path / "conversations.json"
    chat.write_text(json.dumps([conversation()]))
    plain = tmp_path / "plain.jsonl"
    plain.write_text(lines({"text": "A fact."}))
    files = {
        "claude-code": claude(tmp_path, said("user", "Hello.")),
        "openclaw": openclaw(tmp_path, GROUP),
        "opencode": opencode(tmp_path),
        "claude-mem": claude_mem(tmp_path),
        "chatgpt": chat,
        "jsonl": plain,
    }
    assert set(files) == set(FORMATS)
    for name, file in files.items():
        found = recognised(file)
        assert found is not None
        assert found.name == name
    (tmp_path / "odd").write_bytes(b"\x00\xff" * 100)
    assert recognised(tmp_path / "odd") is None
    assert recognised(tmp_path / "missing") is None


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_that_is_none_of_it_is_never_a_crash(tmp_path: Path, name: str) -> None:
    for number, data in enumerate((b"", b"\x00\xff\xfe" * 50, b"[1, 2", b"{}", b"null\n", b"SQLite format 3\x00")):
        file = tmp_path / f"{number}.jsonl"
        file.write_bytes(data)
        found, said = _read(name, file)
        assert found == []
        assert not said or str(file) in said


def _read(name: str, file: Path) -> tuple[list[Event], str]:
    try:
        return events(name, file), ""
    except BadInput as error:
        return [], str(error)
