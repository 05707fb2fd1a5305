"""Gemini CLI: nested context under its own event names.

Nothing is given at SessionStart. There the text is put in front of the prompt under `-p`, and on resuming the whole
message, prompt and all, is missing from the request: an index is not worth a lost prompt. Where a frame of Foreword's
stands in front of a prompt all the same, the engine takes it out.
"""

from __future__ import annotations

from collections.abc import Mapping

from foreword.hosts.hook import Hook, Host, Spelling, Told, answer, compact, emptied, nested, prompt, silent, tool

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


def _compressed(told: Told) -> Hook:
    """Only told about: what is printed here goes nowhere. With the trigger `auto` the host says before every turn that
    it may compress, and hardly ever does; were that believed, every turn would be given the same again."""
    return compact(silent)(told) if told.hint("trigger") == "manual" else Hook()


HOST = Host(
    name="gemini",
    spelling=Spelling(),
    tools=_TOOLS,
    events={
        "SessionStart": emptied,
        "BeforeAgent": prompt(nested("BeforeAgent")),
        "AfterTool": tool,
        "AfterAgent": answer("prompt_response"),
        "PreCompress": _compressed,
    },
)
