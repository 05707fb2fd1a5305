"""OpenCode 1.18. It has no commands at its hooks: Foreword's plugin runs within it, tells of what happens under the
names below with the host's own fields, and takes plain text back.

A sub-agent has a session of its own that names its parent's. `opencode run "two words"` hands the prompt on in quotes
that nobody typed. A session that another process began is marked as resumed: what was put beside its messages was in
that process alone, so it counts as said no more.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from foreword.hosts.hook import Hook, Host, Reader, Spelling, Told, answer, compact, plain, prompt, silent, start, tool

_TOOLS: Mapping[str, str] = {
    "read": "read",
    "edit": "edit",
    "multiedit": "edit",
    "write": "edit",
    "patch": "edit",
    "apply_patch": "edit",
    "bash": "command",
    "glob": "search",
    "grep": "search",
    "list": "search",
    "codesearch": "search",
    "webfetch": "web",
    "websearch": "web",
    # A sub-agent's report is the last answer of its own session.
    "task": "",
    "todowrite": "",
    "todoread": "",
    "skill": "",
    "question": "",
    "invalid": "",
}
_QUOTED = re.compile(r'\A"((?:[^"]|(?<=\\)")*)"\Z')


def _of_its_session(read: Reader) -> Reader:
    """A sub-agent is named by its parent's session first, as with every host."""

    def read_it(told: Told) -> Hook:
        own, parent = told.name("sessionID"), told.hint("parentID")
        named = {"session": parent or own, "subagent": own if parent else ""}
        return read(replace(told, document={**told.document, **named}))

    return read_it


def _prompt(told: Told) -> Hook:
    words = told.words("prompt")
    if quoted := _QUOTED.match(words.strip()):
        words = quoted[1].replace('\\"', '"')
    read = prompt(plain)(replace(told, document={**told.document, "prompt": words}))
    if told.hint("parentID"):
        # The agent that sends another says what it is to do; that is no person's word.
        read = replace(read, records=())
    if read.asks and told.hint("source") == "resume":
        read = replace(read, asks=(*compact(silent)(told).asks, *read.asks))
    return read


HOST = Host(
    name="opencode",
    spelling=Spelling(
        session="session",
        turn="messageID",
        call="callID",
        subagent="subagent",
        tool="tool",
        tool_input="args",
        tool_response="result",
    ),
    tools=_TOOLS,
    events={
        event: _of_its_session(read)
        for event, read in {
            "start": start(plain),
            "prompt": _prompt,
            "compact": compact(plain),
            "tool": tool,
            "answer": answer("text"),
        }.items()
    },
)
