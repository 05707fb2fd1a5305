"""tools, wisdom, soul: the workspace files that cost on every turn, made shorter, and changed as a person agrees."""

from __future__ import annotations

import difflib
import os
import shlex
import subprocess
import textwrap
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from foreword.cli.call import Call, Exit
from foreword.cli.parser import Verbs
from foreword.cli.screen import columns, count, printable
from foreword.cli.workspace import add_workspace, confirmed, workspace_of
from foreword.errors import BadInput

if TYPE_CHECKING:
    from foreword.upkeep import Approval, ToolsPlan, Upkeep
    from foreword.wisdom import Draft

# Which options belong to which verb; the others are refused rather than ignored.
_OPTIONS = {
    "compact": ("check", "dry_run", "yes", "force"),
    "draft": (),
    "review": ("edit",),
    "approve": ("edit", "dry_run", "yes"),
    "reject": (),
    "status": (),
}
_NARROW = 80
_SHOWN = 20


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "tools",
        tools,
        summary="make TOOLS_COMPACT.md: what is looked up in TOOLS.md, without the prose, in 300 tokens",
        more="Where\nTOOLS.md holds more, addresses and ids go first, then names and paths, then commands; what was"
        " left out is\ntold. It shows the diff and asks. Secrets are left in TOOLS.md.",
        example="foreword tools compact --dry-run\nforeword tools compact --yes\nforeword tools compact --check",
    )
    parser.add_argument("what", choices=("compact",), help="what to do")
    add_workspace(parser)
    parser.add_argument("--check", action="store_true", help="only tell whether it is stale; then the exit code is 1")
    parser.add_argument("--dry-run", action="store_true", help="show the diff, and change nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--force", action="store_true", help="replace one that was written or edited by hand")

    parser = verbs.add(
        "wisdom",
        wisdom,
        summary="distil lessons into the Wisdom section of SOUL.md, once you have reviewed it",
        more="`draft`\ncollects the lessons of the workspace and lays a section on the review desk; `review` shows it"
        " beside the\npresent one; only `approve` changes SOUL.md, and keeps a copy. `status` tells what is due.",
        example="foreword wisdom status\nforeword wisdom draft\nforeword wisdom review --edit\nforeword wisdom approve",
    )
    parser.add_argument("what", choices=("draft", "review", "approve", "reject", "status"), help="what to do")
    _add_reviewing(parser)

    parser = verbs.add(
        "soul",
        soul,
        summary="tighten SOUL.md to 200 tokens with its wisdom, once you have reviewed it",
        more="The draft\nholds whole sentences of the file, in their order; only `approve` replaces SOUL.md, and keeps"
        " a copy.",
        example="foreword soul draft\nforeword soul review\nforeword soul approve",
    )
    parser.add_argument("what", choices=("draft", "review", "approve", "reject"), help="what to do")
    _add_reviewing(parser)


def _add_reviewing(parser: Any) -> None:
    add_workspace(parser)
    parser.add_argument("--edit", action="store_true", help="review, approve: open the draft in $EDITOR first")
    parser.add_argument("--dry-run", action="store_true", help="approve: show the diff, and change nothing")
    parser.add_argument("--yes", action="store_true", help="approve: do not ask")


def tools(call: Call) -> int:
    upkeep = _opened(call)
    if call.args.check:
        state = upkeep.tools_state()
        data = {"workspace": str(upkeep.workspace), "fresh": state.fresh, "edited": state.edited}
        step = "" if state.fresh else " Run `foreword tools compact`."
        call.answer({**data, "reason": state.reason}, [f"{_sentence(state.reason)}{step}"])
        return Exit.OK if state.fresh else Exit.NO
    plan = upkeep.plan_tools()
    shown = _diff(str(plan.file), plan.before, plan.after)
    data = _tools_document(upkeep, plan, shown)
    if call.args.dry_run:
        call.answer({**data, "written": False, "copy": None}, [shown.rstrip(), *_tools_report(plan)])
        return Exit.OK
    asks = plan.changes and not (plan.state.edited and not call.args.force)
    if asks:
        if not call.screen.as_json and not call.args.yes:
            for line in (shown.rstrip(), *_tools_report(plan)):
                call.screen.note(line)
        verb = "replaced" if plan.before is not None else "written"
        if not confirmed(call, f"Write {plan.file}?", f"{plan.file} is {verb}"):
            call.screen.note("Nothing was changed.")
            return Exit.NO
    copy = upkeep.write_tools(plan, force=call.args.force)
    lines = [f"changed  {plan.file}" if plan.changes else f"{plan.file} is as it should be already."]
    lines += [f"kept     {copy}, as it was"] if copy else []
    lines.append("It is made again when TOOLS.md changes, at the start of a session, while you leave it as it is.")
    call.answer({**data, "written": plan.changes, "copy": str(copy) if copy else None}, [*lines, *_tools_report(plan)])
    return Exit.OK


def wisdom(call: Call) -> int:
    verbs: Mapping[str, Callable[[Call, Upkeep, str], int]] = {**_REVIEWING, "status": _status}
    return verbs[call.args.what](call, _opened(call), "wisdom")


def soul(call: Call) -> int:
    return _REVIEWING[call.args.what](call, _opened(call), "soul")


def _opened(call: Call) -> Upkeep:
    from foreword.upkeep import Upkeep

    for option in sorted({one for options in _OPTIONS.values() for one in options} - {*_OPTIONS[call.args.what]}):
        if getattr(call.args, option, None):
            raise BadInput(f"--{option.replace('_', '-')} does not belong to {call.args.what}.")
    for warning in call.loaded.warnings:
        call.screen.warn(warning)
    return Upkeep.open(call.home, workspace_of(call), call.loaded.settings)


def _draft(call: Call, upkeep: Upkeep, what: str) -> int:
    draft = upkeep.draft_wisdom() if what == "wisdom" else upkeep.draft_soul()
    file = upkeep.desk.file_of(what)
    broken = upkeep.broken(draft)
    for note in draft.notes:
        call.screen.note(f"note: {printable(note)}")
    next_step = f"{draft.state}: `foreword {what} review` shows it beside what is there, `foreword {what} approve`"
    lines = [printable(draft.text).rstrip(), "", *broken, f"{next_step} puts it into SOUL.md.", f"draft    {file}"]
    call.answer({**_document(upkeep, draft), "broken": broken}, lines)
    return Exit.NO if broken else Exit.OK


def _review(call: Call, upkeep: Upkeep, what: str) -> int:
    if call.args.edit:
        _edit(upkeep, what)
    draft = upkeep.desk.draft(what)
    broken = upkeep.broken(draft)
    if call.screen.as_json:
        call.answer({**_document(upkeep, draft), "present": upkeep.present(what), "broken": broken})
        return Exit.NO if broken else Exit.OK
    for line in _beside(upkeep.present(what), draft.text, call.screen.width):
        call.screen.write(line)
    for pattern, lessons in upkeep.coverage(draft).items():
        call.screen.write("")
        call.screen.write(f"{printable(pattern)}: {count(len(lessons), 'lesson')}")
        for lesson in lessons:
            call.screen.write(f"  - {printable(lesson)}")
    call.screen.write("")
    for note in (*draft.notes, *(f"refused: {one}" for one in broken)):
        call.screen.write(printable(note))
    call.screen.write(f"{draft.state}, made {draft.made} ({draft.by}). The draft: {upkeep.desk.file_of(what)}")
    return Exit.NO if broken else Exit.OK


def _approve(call: Call, upkeep: Upkeep, what: str) -> int:
    if call.args.edit:
        _edit(upkeep, what)
    approval = upkeep.approval(what)
    shown = _diff(str(approval.file), approval.before, approval.after)
    data = {"workspace": str(upkeep.workspace), "file": str(approval.file), "diff": shown}
    if call.args.dry_run:
        call.answer({**data, "approved": False, "copy": None}, [shown.rstrip()])
        return Exit.OK
    if not call.args.yes and not call.screen.as_json:
        call.screen.note(shown.rstrip())
    if not confirmed(call, f"Put it into {approval.file}?", f"{approval.file} is changed"):
        call.screen.note("Nothing was changed; the draft still waits.")
        return Exit.NO
    return _approved(call, upkeep, approval, data)


def _approved(call: Call, upkeep: Upkeep, approval: Approval, data: Mapping[str, Any]) -> int:
    done = upkeep.approve(approval)
    lines = [f"changed  {approval.file}", *([f"kept     {done.copy}, as it was"] if done.copy else [])]
    call.answer({**data, "approved": True, "copy": done.copy, "before": done.before, "after": done.after}, lines)
    return Exit.OK


def _reject(call: Call, upkeep: Upkeep, what: str) -> int:
    draft = upkeep.desk.reject(what)
    call.answer({"workspace": str(upkeep.workspace), "rejected": draft.what}, ["Rejected; SOUL.md is as it was."])
    return Exit.OK


def _status(call: Call, upkeep: Upkeep, what: str) -> int:
    found = upkeep.wisdom_status()
    data = {
        "workspace": str(upkeep.workspace),
        "due": found.due,
        "reason": found.reason,
        "lessons": found.lessons,
        "new_lessons": found.new,
        "last_compressed": found.last or None,
        "waiting": [{"what": one.what, "state": one.state, "made": one.made} for one in found.waiting],
        "broken": list(found.broken),
        "warnings": list(found.warnings),
    }
    lines = [
        f"{'due' if found.due else 'not due'}: {found.reason}",
        f"{count(found.lessons, 'lesson')} in {upkeep.workspace}, {found.new:,} of them new",
    ]
    lines += [
        f"{one.state}: the draft of {one.what} made {one.made}; `foreword {one.what} review`" for one in found.waiting
    ]
    lines += [f"SOUL.md breaks a rule: {one}" for one in found.broken]
    if found.due and not found.waiting:
        lines.append("`foreword wisdom draft` makes one for review.")
    for warning in found.warnings:
        call.screen.note(f"note: {printable(warning)}")
    call.answer(data, lines)
    return Exit.OK


_REVIEWING: Mapping[str, Callable[[Call, Upkeep, str], int]] = {
    "draft": _draft,
    "review": _review,
    "approve": _approve,
    "reject": _reject,
}


def _edit(upkeep: Upkeep, what: str) -> None:
    """Raises BadInput where there is no editor, or it fails; the draft is then as the editor left it."""
    upkeep.desk.draft(what)
    file = upkeep.desk.file_of(what)
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    if not editor.strip():
        raise BadInput("$EDITOR is not set.", hint=f"Set it, or edit {file} yourself.")
    try:
        done = subprocess.run([*shlex.split(editor), str(file)], check=False)
    except (OSError, ValueError) as error:
        raise BadInput(f"The editor {editor!r} cannot be started: {error}.", hint=f"Edit {file} yourself.") from error
    if done.returncode:
        raise BadInput(f"The editor {editor!r} ended with {done.returncode}.", hint=f"Edit {file} yourself.")


def _beside(present: str, draft: str, width: int) -> Iterator[str]:
    """Both in two columns, or one below the other where the terminal is narrow."""
    left, right = printable(present).rstrip() or "(there is none yet)", printable(draft).rstrip()
    if width < _NARROW:
        yield from ("now", "---", *_wrapped(left, width), "", "draft", "-----", *_wrapped(right, width))
        return
    half = (width - 3) // 2
    rows = (_wrapped(f"now\n---\n{left}", half), _wrapped(f"draft\n-----\n{right}", half))
    for at in range(max(map(len, rows))):
        first, second = (row[at] if at < len(row) else "" for row in rows)
        yield f"{first}{' ' * (half - columns(first))} | {second}".rstrip()


def _wrapped(text: str, width: int) -> list[str]:
    found: list[str] = []
    for line in text.splitlines():
        indent = "  " if line.startswith("- ") else ""
        # Halved where letters are two columns wide, so that no line outgrows its column.
        room = width if line.isascii() else max(10, width // 2)
        found += textwrap.wrap(line, room, subsequent_indent=indent) or [""]
    return found


def _diff(file: str, before: bytes | None, after: bytes) -> str:
    from foreword.record import redact  # every command would wait for its patterns

    old, new = (("" if data is None else data.decode("utf-8", "replace")).splitlines() for data in (before, after))
    named = os.devnull if before is None else file
    text = "\n".join(difflib.unified_diff(old, new, named, file, lineterm="", n=2))
    return printable(redact(text).text) + "\n" if text else ""


def _tools_report(plan: ToolsPlan) -> Iterator[str]:
    from foreword.bootstrap import described

    found = plan.compacted
    yield (
        f"{count(len(found.kept), 'fact')} of {len(found.kept) + len(found.left_out):,} in {found.tokens:,} tokens"
        f" instead of {found.source_tokens:,} ({plan.by})."
    )
    for note in plan.notes:
        yield printable(note)
    if plan.state.edited and plan.changes:
        yield f"{_sentence(plan.state.reason)} Only --force replaces it; a copy is kept."
    if found.left_out:
        yield "Left out, and still in TOOLS.md:"
        told = described(found.left_out)
        yield from (f"  - {printable(one)}" for one in told[:_SHOWN])
        if len(told) > _SHOWN:
            yield f"  … and {len(told) - _SHOWN:,} more; --json lists all"


def _tools_document(upkeep: Upkeep, plan: ToolsPlan, shown: str) -> dict[str, Any]:
    from foreword.bootstrap import described

    return {
        "workspace": str(upkeep.workspace),
        "file": str(plan.file),
        "changes": plan.changes,
        "edited": plan.state.edited,
        "tokens": plan.compacted.tokens,
        "source_tokens": plan.compacted.source_tokens,
        "kept": described(plan.compacted.kept),
        "left_out": described(plan.compacted.left_out),
        "by": plan.by,
        "notes": list(plan.notes),
        "diff": shown,
    }


def _document(upkeep: Upkeep, draft: Draft) -> dict[str, Any]:
    return {
        "workspace": str(upkeep.workspace),
        "what": draft.what,
        "state": draft.state,
        "file": str(upkeep.desk.file_of(draft.what)),
        "text": draft.text,
        "made": draft.made,
        "by": draft.by,
        "notes": list(draft.notes),
        "coverage": {pattern: list(lessons) for pattern, lessons in upkeep.coverage(draft).items()},
        "lessons": len(draft.lessons),
    }


def _sentence(reason: str) -> str:
    return f"{reason[:1].upper()}{reason[1:]}."
