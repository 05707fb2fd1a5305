"""Copilot CLI: flat context, fields in camel case. `agentStop` carries no words, only the path of a transcript, which
is not for a room without I/O: the agent's answers are not kept."""

from __future__ import annotations

from collections.abc import Mapping

from foreword.hosts.hook import Host, Spelling, compact, flat, prompt, silent, start, tool

_TOOLS: Mapping[str, str] = {
    "view": "read",
    "create": "edit",
    "edit": "edit",
    "bash": "command",
    "powershell": "command",
    "glob": "search",
    "grep": "search",
    "web_fetch": "web",
    "report_intent": "",
}

HOST = Host(
    name="copilot",
    spelling=Spelling(session="sessionId", tool="toolName", tool_input="toolArgs", tool_response="toolResult"),
    tools=_TOOLS,
    events={
        "sessionStart": start(flat),
        "userPromptSubmitted": prompt(flat),
        "postToolUse": tool,
        # Whether it takes a text is not known.
        "preCompact": compact(silent),
    },
)
