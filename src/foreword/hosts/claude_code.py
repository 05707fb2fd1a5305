"""Claude Code 2.1: nested context, and plain text before a compaction, where it becomes a part of the instructions for
the summary. `SessionEnd` tells nothing that was not told before."""

from __future__ import annotations

from collections.abc import Mapping

from foreword.hosts.hook import Hook, Host, Reader, Spelling, Told, answer, compact, nested, plain, prompt, start, tool

_TOOLS: Mapping[str, str] = {
    "Read": "read",
    "NotebookRead": "read",
    "Edit": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Write": "edit",
    "Bash": "command",
    "Glob": "search",
    "Grep": "search",
    "LS": "search",
    "WebFetch": "web",
    "WebSearch": "web",
    # A subagent's report comes with SubagentStop, also when it worked in the background and this returned at once.
    "Agent": "",
    "Task": "",
    "TodoWrite": "",
    "ToolSearch": "",
}


def _of_a_subagent(read: Reader) -> Reader:
    def read_it(told: Told) -> Hook:
        # The summariser of a compaction is a subagent without a type; what it says is the conversation once more.
        if told.words("agent_type") == "":
            return Hook()
        told.name("agent_id")
        return read(told)

    return read_it


HOST = Host(
    name="claude-code",
    spelling=Spelling(turn="prompt_id", call="tool_use_id", subagent="agent_id"),
    tools=_TOOLS,
    events={
        "SessionStart": start(nested("SessionStart")),
        "UserPromptSubmit": prompt(nested("UserPromptSubmit")),
        "PreCompact": compact(plain),
        "PostToolUse": tool,
        "Stop": answer("last_assistant_message"),
        # What the subagent is to do is not told here, so nothing can be asked about it.
        "SubagentStart": _of_a_subagent(start(nested("SubagentStart"))),
        "SubagentStop": _of_a_subagent(answer("last_assistant_message")),
    },
)
