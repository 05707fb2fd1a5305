"""Gemini CLI: nested context under its own event names.

Nothing is given at SessionStart. There the text is put in front of the prompt under `-p`, and on resuming the whole
message, prompt and all, is missing from the request: an index is not worth a lost prompt. Where a frame of Foreword's
stands in front of a prompt all the same, the engine takes it out.
"""

from __future__ import annotations

from collections.abc import Mapping

from foreword.hosts.hook import Host, Spelling, answer, compact, emptied, nested, prompt, silent, tool

_TOOLS: Mapping[str, str] = {
    "read_file": "read",
    "read_many_files": "read",
    "replace": "edit",
    "write_file": "edit",
    "run_shell_command": "command",
    "glob": "search",
    "grep_search": "search",
    "list_directory": "search",
    "search_file_content": "search",
    "google_web_search": "web",
    "web_fetch": "web",
    "write_todos": "",
}

HOST = Host(
    name="gemini",
    spelling=Spelling(),
    tools=_TOOLS,
    events={
        "SessionStart": emptied,
        "BeforeAgent": prompt(nested("BeforeAgent")),
        "AfterTool": tool,
        "AfterAgent": answer("prompt_response"),
        # Only told about: what is printed here goes nowhere.
        "PreCompress": compact(silent),
    },
)
