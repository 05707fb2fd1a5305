"""skill: what teaches a model when to search."""

from __future__ import annotations

from foreword.cli.call import Call, Exit
from foreword.cli.parser import Verbs


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "skill",
        skill,
        summary="print what teaches a model when to search its memory",
        more="A section for AGENTS.md or CLAUDE.md, for hosts whose models have the tools of `foreword mcp`.",
        example="foreword skill >> AGENTS.md\nforeword skill --card > .claude/skills/foreword-recall/SKILL.md",
    )
    parser.add_argument("--card", action="store_true", help="a SKILL.md instead, for hosts that have skills")


def skill(call: Call) -> int:
    from foreword.serve import skill as source

    text = source.card() if call.args.card else source.snippet()
    call.answer({"text": text}, [text.rstrip("\n")])
    return Exit.OK
