"""The time an ask speaks of, as a span: "last Tuesday", "two weeks ago", "in March", "since 3 May 2026"."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from foreword.patterns import lazy
from foreword.values import dataclass

MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
          "december")  # fmt: skip
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "couple": 2, "three": 3, "few": 3, "four": 4, "five": 5, "six": 6,
            "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12}  # fmt: skip
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_COUNT = (
    r"(?P<count>\d{1,3}|(?:a |the (?:last|past) )?(?:couple(?: of)?|few)"
    r"|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
)
_BOUND = r"(?:(?P<bound>since|before|after|until|by)\s+)?"
# The last week of May is not last week, and last month's report is of the month before this one.
_NOT_OF, _NOT_ITS = r"(?! of\b)", r"(?!['\u2019]s\b)"
# What was, not what is or will be.
_LOOKS_BACK = lazy(r"\b(?:did|was|were|had)\b", re.IGNORECASE)

_MONTH_HINTS = tuple(month[:3] for month in MONTHS)
_YEAR_HINTS = ("19", "20")
_UNIT_HINTS = ("day", "week", "month", "year")

# Each with its hints: an ask in ASCII that holds none of them, in lower case, cannot match.
_PATTERNS = tuple(
    (hints, lazy(r"\b" + _BOUND + pattern + r"\b", re.IGNORECASE))
    for hints, pattern in (
        (_YEAR_HINTS, r"(?P<iso>(?:19|20)\d\d-\d\d-\d\d)"),
        (
            _MONTH_HINTS,
            r"(?:on |in |the ){0,3}(?P<day>\d{1,2})(?:st|nd|rd|th)?(?: of)? "
            rf"{_MONTH}\.?,?(?: (?P<year>(?:19|20)\d\d))?",
        ),
        (
            _MONTH_HINTS,
            rf"(?:on |in )?{_MONTH}\.? (?:the )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,? (?P<year>(?:19|20)\d\d))?",
        ),
        (_YEAR_HINTS, rf"{_MONTH}\.?,? (?:of )?(?P<year>(?:19|20)\d\d)"),
        (_MONTH_HINTS, rf"(?(bound)|(?:in|last|this|during|early|late) )(?:the month of )?{_MONTH}"),
        (_YEAR_HINTS, r"(?(bound)|(?:in|during) )(?P<year>(?:19|20)\d\d)"),
        (
            ("day", "night", "morning", "afternoon", "evening"),
            r"(?:the )?(?P<near>day before yesterday|yesterday|last night|today|tonight"
            r"|this (?:morning|afternoon|evening))",
        ),
        # "Last month" is the one before this; "in the last month" reaches to today.
        (
            _UNIT_HINTS,
            rf"(?:in |within |over |during )?the (?:last|past) {_COUNT} (?P<back>day|week|month|year)s?{_NOT_OF}",
        ),
        (
            _UNIT_HINTS,
            rf"(?:in|within|over|during|for) the (?:last|past) (?P<back>day|week|month|year){_NOT_OF}{_NOT_ITS}",
        ),
        (
            _UNIT_HINTS,
            rf"(?:the )?(?P<which>last|this|past|previous)(?: the)? (?P<unit>week(?:end)?|month|year){_NOT_OF}",
        ),
        (_UNIT_HINTS, rf"{_COUNT} (?P<unit>day|week|month|year)s? ago"),
        # On Saturday mornings is on no day in particular.
        (
            DAYS,
            rf"(?P<which>last|this|on|past|previous) (?P<weekday>{'|'.join(DAYS)})"
            r"(?! (?:morning|noon|afternoon|evening|night)s\b)",
        ),
    )
)
_LENGTH_DAYS = {"day": 1, "week": 7, "weekend": 7, "month": 30, "year": 365}
_PRESENT = ("today", "tonight", "this morning", "this afternoon", "this evening")
# "Three weeks ago" is seldom exact: a span reaches this share of its distance to either side.
_SLACK = 0.25


@dataclass(frozen=True, slots=True)
class Span:
    """`present` when it is the time one is in: what matters tonight may have been said long ago. Unless the ask
    `looks_back`: what we decided this morning was said then."""

    start: float
    end: float
    words: str
    present: bool = False
    looks_back: bool = False

    def holds(self, at: float) -> bool:
        return self.start <= at < self.end


def spoken_of(text: str, now: float) -> Span | None:
    """The first span of time an ask names, seen from `now`; None when it names none."""
    # Beyond ASCII a letter may match one that lowers otherwise ("ſ" an "s"), so there every pattern is tried.
    low = text.lower() if text.isascii() else ""
    for hints, pattern in _PATTERNS:
        if low and not any(hint in low for hint in hints):
            continue
        if match := pattern.search(text):
            span = _span(match, datetime.fromtimestamp(now))
            if span:
                return span
    return None


def _span(match: re.Match[str], now: datetime) -> Span | None:
    # Folded, not lowered: a pattern takes the long s of "ſeptember" for an s.
    given = {name: value.casefold() for name, value in match.groupdict().items() if value}
    try:
        found = _range(given, now)
    except (ValueError, OverflowError):  # 31 June, or a date before the calendar begins
        return None
    if found is None:
        return None
    start, end = found
    bound = given.get("bound", "")
    if bound in ("since", "after"):
        start, end = (start if bound == "since" else end), now + timedelta(days=1)
    elif bound in ("before", "until", "by"):
        start, end = datetime(1970, 1, 2), (start if bound == "before" else end)
    if end <= start:
        return None
    present = not bound and (given.get("near") in _PRESENT or given.get("which") == "this")
    looks_back = _LOOKS_BACK.search(match.string) is not None
    return Span(start.timestamp(), end.timestamp(), " ".join(match[0].split()), present, looks_back)


def _range(given: dict[str, str], now: datetime) -> tuple[datetime, datetime] | None:
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    one = timedelta(days=1)
    if "iso" in given:
        day = datetime.fromisoformat(given["iso"])
        return day, day + one
    if "month" in given:
        return _month(given, today)
    if "year" in given:
        year = int(given["year"])
        return datetime(year, 1, 1), datetime(year + 1, 1, 1)
    if "near" in given:
        back = {"yesterday": 1, "last night": 1, "day before yesterday": 2}.get(given["near"], 0)
        return today - back * one, today - (back - 1) * one
    if "weekday" in given:
        back = (today.weekday() - DAYS.index(given["weekday"])) % 7 or (0 if given["which"] == "this" else 7)
        return today - back * one, today - (back - 1) * one
    if "back" in given:
        return today - _count(given) * _LENGTH_DAYS[given["back"]] * one, today + one
    if "count" in given:
        length = _LENGTH_DAYS[given["unit"]]
        distance = _count(given) * length
        slack = max(distance * _SLACK, length / 2 if length > 1 else 0.0)
        middle = today - distance * one
        return middle - slack * one, middle + (slack + 1) * one
    return _calendar(given["which"], given["unit"], today)


def _month(given: dict[str, str], today: datetime) -> tuple[datetime, datetime]:
    number = next(place for place, name in enumerate(MONTHS, 1) if name.startswith(given["month"][:3]))
    year = int(given["year"]) if "year" in given else today.year - (number > today.month)
    if "day" in given:
        day = datetime(year, number, int(given["day"]))
        if "year" not in given and day > today:
            day = day.replace(year=year - 1)
        return day, day + timedelta(days=1)
    return datetime(year, number, 1), datetime(year + number // 12, number % 12 + 1, 1)


def _calendar(which: str, unit: str, today: datetime) -> tuple[datetime, datetime]:
    previous = which != "this"
    if unit == "weekend":
        # Said on a weekend, "last" means the one before.
        back = (today.weekday() - 5) % 7 + (7 if previous and today.weekday() >= 5 else 0)
        saturday = today - timedelta(days=back)
        return saturday, saturday + timedelta(days=2)
    if which == "past":
        return today - timedelta(days=_LENGTH_DAYS[unit]), today + timedelta(days=1)
    if unit == "week":
        monday = today - timedelta(days=today.weekday() + 7 * previous)
        return monday, monday + timedelta(days=7)
    if unit == "month":
        first = today.replace(day=1)
        if previous:
            first = (first - timedelta(days=1)).replace(day=1)
        return first, (first + timedelta(days=32)).replace(day=1)
    year = today.year - previous
    return datetime(year, 1, 1), datetime(year + 1, 1, 1)


def _count(given: dict[str, str]) -> int:
    word = given.get("count", "").split()
    return next(
        (int(one) if one.isdigit() else _NUMBERS[one] for one in reversed(word) if one.isdigit() or one in _NUMBERS), 1
    )
