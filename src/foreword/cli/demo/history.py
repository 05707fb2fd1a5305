"""A small history to remember: two agents, three sessions, nine days. The people and the boat are made up."""

from __future__ import annotations

from datetime import datetime

from foreword.model import Event, Kind, Origin

OWNER = "telegram:777"
SECRET = "tidal-Wren-4471-quay"
PROJECT = "harbour-api"

DIRECT = "agent:main:telegram:direct:777"
GROUP = "agent:main:telegram:group:-100200"
CODING = "agent:builder:main"


def at(text: str) -> float:
    """Local time, so that the demo shows the same dates everywhere."""
    return datetime.fromisoformat(text).timestamp()


# A Thursday. The demo's clock stands still, so that "last Tuesday" is always the same day.
NOW = at("2026-05-14T09:00")


def _nora(day: str, text: str) -> Event:
    return Event(text, session=DIRECT, channel="telegram", at=at(day))


def _main(day: str, text: str, session: str = DIRECT) -> Event:
    return Event(text, session=session, channel="telegram", at=at(day), origin=Origin.AGENT)


def _crew(day: str, sender: str, text: str) -> Event:
    return Event(text, session=GROUP, channel="telegram", sender=sender, at=at(day))


def _asked(day: str, text: str) -> Event:
    return Event(text, session=CODING, project=PROJECT, at=at(day))


def _builder(day: str, text: str) -> Event:
    return Event(text, session=CODING, project=PROJECT, at=at(day), origin=Origin.AGENT)


def _saw(day: str, tool: str, kind: str, title: str, text: str, *files: str) -> Event:
    return Event(
        text,
        kind=Kind.OBSERVATION,
        session=CODING,
        project=PROJECT,
        at=at(day),
        tool=tool,
        type=kind,
        title=title,
        files=files,
    )


EVENTS = (
    _nora("2026-05-05T08:12", "My sister Ines moved to Porto in April, her new place is at Rua das Flores 88."),
    _main("2026-05-05T08:12", "Good to know. Letters to Ines go to Porto from now on."),
    _nora("2026-05-05T08:15", "The surprise for Ines's birthday is a sailing trip to Bilbao. Nobody may know yet."),
    _main("2026-05-05T08:16", "It stays between us."),
    _nora("2026-05-05T19:40", "I am allergic to hazelnuts, please mind that when you suggest recipes."),
    _main("2026-05-05T19:41", "No hazelnuts in any recipe, then."),
    _nora("2026-05-06T21:03", "The spare key of the boat is in the blue toolbox under the stairs."),
    _nora("2026-05-06T21:04", "Our boat insurance is with Nordwall, number KV-20871, and renews in September."),
    _nora("2026-05-06T21:06", f"The router at home has a new login: user nora, password={SECRET}"),
    _main("2026-05-06T21:06", "That belongs into your password manager; I keep only that there is one."),
    _nora("2026-05-08T07:30", "We will paint the hull dark green this year, two coats, before the regatta."),
    _main("2026-05-08T07:31", "Dark green, two coats. Shall I order the paint?"),
    _nora("2026-05-08T07:33", "Yes, from Lindqvist on the quay, they give members ten percent."),
    _crew("2026-05-07T18:00", "Jonas", "Training is on Thursdays at half past six from now on, at the north pier."),
    _crew("2026-05-07T18:02", "Mirela", "I can bring two life vests for the new people."),
    _crew("2026-05-07T18:05", OWNER, "The regatta entry costs 45 euros a boat, and I have paid ours."),
    _main("2026-05-07T18:06", "The entry is paid.", GROUP),
    _crew("2026-05-09T10:20", "Jonas", "The wind looks rough for Saturday, let us meet an hour later."),
    _crew("2026-05-09T10:25", "Mirela", "Fine with me. Who opens the club house?"),
    _asked("2026-05-11T09:02", "The staging database runs on port 5433, production on 5432."),
    _builder("2026-05-11T09:03", "I will run the migrations against staging first."),
    _saw(
        "2026-05-11T09:10",
        "bash",
        "test",
        "Three booking tests fail around midnight",
        "3 failed, 212 passed: test_double_booking, test_overlap_at_midnight, test_cancel_twice",
        "tests/test_booking.py",
    ),
    _builder("2026-05-11T09:24", "The overlap check compares local times, and berth bookings cross midnight in UTC."),
    _saw(
        "2026-05-11T09:31",
        "edit",
        "bugfix",
        "Booking overlap is compared in UTC",
        "overlap() converts both ends to UTC before it compares them; 215 passed.",
        "src/booking/overlap.py",
    ),
    _asked("2026-05-12T14:00", "For payments we decided on direct debit through Mollie, because members pay by bank."),
    _builder("2026-05-12T14:01", "Mollie it is; I will take the card form out."),
    _asked("2026-05-12T14:05", "Deploys go out in the morning only, and never before a regatta weekend."),
    _saw(
        "2026-05-12T14:30",
        "web_fetch",
        "reference",
        "Limits of the tide API",
        "100 requests an hour for each account; answers may be cached for six hours.",
    ),
    Event(
        "Bump the version, write the changelog, tag, then deploy to staging and wait an hour.",
        kind=Kind.NOTE,
        session=CODING,
        project=PROJECT,
        at=at("2026-05-12T15:00"),
        title="How a release is made",
    ),
    Event(
        "Made bookings safe across midnight, chose how members pay, agreed when deploys go out.",
        kind=Kind.SUMMARY,
        session=CODING,
        project=PROJECT,
        at=at("2026-05-12T17:45"),
        decisions=("direct debit through Mollie", "deploys in the morning only"),
        concepts=("bookings", "payments"),
    ),
)
