"""Codex: Claude Code's form, with a turn's id. Before a compaction it takes no text, and `suppressOutput` would make
its tool hooks fail, so nobody here writes it."""

from __future__ import annotations

from foreword.hosts.hook import Host, Spelling, answer, compact, nested, prompt, silent, start, tool

HOST = Host(
    name="codex",
    spelling=Spelling(turn="turn_id", call="tool_use_id"),
    tools={"Bash": "command", "apply_patch": "edit", "update_plan": ""},
    events={
        "SessionStart": start(nested("SessionStart")),
        "UserPromptSubmit": prompt(nested("UserPromptSubmit")),
        "PreCompact": compact(silent),
        "PostToolUse": tool,
        "Stop": answer("last_assistant_message"),
    },
)
