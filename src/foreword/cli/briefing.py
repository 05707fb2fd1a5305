"""brief, start, compact: what a model would be given."""

from __future__ import annotations

import os
import sys

from foreword.cli.call import Call, Exit
from foreword.cli.parser import Verbs, add_place, add_text
from foreword.model import Ask, Audience, Brief
from foreword.serve import documents


def add(verbs: Verbs) -> None:
    parser = verbs.add(
        "brief",
        brief,
        summary="what the model should be given with this message, or nothing",
        more="The text alone goes to stdout; why goes to stderr, on a terminal or with --explain.",
        example='foreword brief "What is Maya\'s cat called?" --session agent:main:main --explain',
    )
    add_text(parser, "the message that is about to be sent")
    add_place(parser, "session", "agent", "sender", "channel", "project")
    parser.add_argument(
        "--audience",
        choices=[one.label for one in Audience],
        help="who listens in, when more do than the session tells",
    )
    parser.add_argument(
        "--workspace", default="", metavar="DIR", help="the folder of the session's agent, for lanes that write there"
    )
    parser.add_argument("--explain", action="store_true", help="say on stderr why, and the receipt's id")
    parser.add_argument("--exit-code", action="store_true", help="leave with 1 when there is nothing to say")

    for name, run, summary, more in (
        (
            "start",
            start,
            "the part a session is given once, at its start",
            "It stays the same, byte for byte, until the session is compacted.",
        ),
        (
            "compact",
            compact,
            "what should survive when a host compacts a session",
            "Afterwards memories may be said again in that session.",
        ),
    ):
        parser = verbs.add(name, run, summary=summary, more=more, example=f"foreword {name} --session agent:main:main")
        add_place(parser, "session", "agent", "sender", "channel", "project", session_required=True)
        parser.add_argument("--explain", action="store_true", help="say on stderr why")
        parser.add_argument("--exit-code", action="store_true", help="leave with 1 when there is nothing to say")


def brief(call: Call) -> int:
    args = call.args
    ask = Ask(
        call.text(),
        session=args.session,
        agent=args.agent,
        sender=args.sender,
        channel=args.channel,
        project=args.project,
        audience=Audience.named(args.audience) if args.audience else None,
        workspace=os.path.abspath(args.workspace) if args.workspace else "",
    )
    with call.open() as engine:
        return _tell(call, engine.brief(ask))


def start(call: Call) -> int:
    args = call.args
    with call.open() as engine:
        given = engine.start(
            args.session, agent=args.agent, sender=args.sender, channel=args.channel, project=args.project
        )
    return _tell(call, given)


def compact(call: Call) -> int:
    args = call.args
    with call.open() as engine:
        given = engine.compact(
            args.session, agent=args.agent, sender=args.sender, channel=args.channel, project=args.project
        )
    return _tell(call, given)


def _tell(call: Call, given: Brief) -> int:
    call.answer(documents.brief(given), [given.text] if given else [])
    if call.args.explain or (sys.stderr.isatty() and not call.screen.as_json):
        call.screen.note(call.screen.paint(_why(given), "dim", on=sys.stderr))
    return Exit.NO if call.args.exit_code and not given and not given.file else Exit.OK


def _why(given: Brief) -> str:
    parts = [f"{given.tokens} tokens" if given or given.file else "silence", given.reason]
    if given.file:
        parts.append(f"in {given.file}")
    if given.receipt:
        parts.append(f"foreword why {given.receipt}")
    return " · ".join(part for part in parts if part)
