"""What a workspace has learnt, collected from where people and agents write it down. Read only."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path

from foreword.values import dataclass

# How far back the daily notes are read.
DAYS = 30
_LARGEST_BYTES = 1_000_000
_DAILY = re.compile(r"(\d{4})-(\d{2})-(\d{2})\.md")
# Which headings of a file hold lessons; None is the whole file.
_SECTIONS: Mapping[str, re.Pattern[str] | None] = {
    "AGENTS.md": re.compile(r"operational lessons|lessons? learn(ed|t)", re.I),
    "LESSONS_LEARNED.md": None,
    "MEMORY.md": re.compile(r"lesson|decision|learn(ed|t|ing)|mistake|insight|教训|决策|学び|教訓", re.I),
}
_IN_A_DAY = re.compile(
    r"lesson|learn(ed|t|ing)|decision|decided|mistake|insight|takeaway|went wrong|教训|决策|学び|教訓", re.I
)
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"(\s*)(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(.*)")
_TAGGED = re.compile(
    r"^\W*(lessons?(?: learn(?:ed|t))?|learn(?:ed|t)|decisions?|decided|mistake|takeaway)\W*[:：]\s*", re.I
)
_FEWEST_WORDS = 4


@dataclass(frozen=True, slots=True)
class Lesson:
    """One lesson, on one line, and the file it stands in."""

    text: str
    source: str

    @property
    def fingerprint(self) -> str:
        """The same for a lesson that is only written or placed otherwise."""
        folded = " ".join(re.findall(r"\w+", self.text.lower()))
        return hashlib.sha256(folded.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Collected:
    """Every lesson once, in the order of the sources; what was not there, one sentence each."""

    lessons: Sequence[Lesson]
    warnings: Sequence[str]


def collect(workspace: Path, today: date, *, redact: Callable[[str], str]) -> Collected:
    """The lessons of a workspace as they are now. A source that is missing is a warning, never an error."""
    found: dict[str, Lesson] = {}
    warnings: list[str] = []
    for name, heading in _SECTIONS.items():
        text = _read(workspace, name, warnings)
        if text is None:
            continue
        lessons = [Lesson(redact(one), name) for one in _lessons(text, heading)]
        if not lessons:
            where = f" under a heading such as “{_SHOWN[name]}”" if heading else ""
            warnings.append(f"{name} holds no lessons{where}.")
        for lesson in lessons:
            found.setdefault(lesson.fingerprint, lesson)
    days = list(_days(workspace, today))
    if not days:
        warnings.append(f"There are no daily notes of the last {DAYS} days in {workspace / 'memory'}.")
    for name in days:
        text = _read(workspace, name, warnings)
        for one in _lessons(text or "", _IN_A_DAY, tagged=True):
            lesson = Lesson(redact(one), name)
            found.setdefault(lesson.fingerprint, lesson)
    return Collected(tuple(found.values()), tuple(warnings))


_SHOWN = {"AGENTS.md": "Operational Lessons", "MEMORY.md": "Lessons"}


def _days(workspace: Path, today: date) -> Iterator[str]:
    folder = workspace / "memory"
    if not folder.is_dir():
        return
    first = today - timedelta(days=DAYS)
    for file in sorted(folder.iterdir()):
        if match := _DAILY.fullmatch(file.name):
            try:
                day = date(int(match[1]), int(match[2]), int(match[3]))
            except ValueError:
                continue
            if first <= day <= today:
                yield f"memory/{file.name}"


def _read(workspace: Path, name: str, warnings: list[str]) -> str | None:
    file = workspace / name
    try:
        # A workspace may have come with somebody's repository: no link in it leads to other files of the user's.
        if not file.resolve().is_relative_to(workspace.resolve()):
            warnings.append(f"{name} leads out of the workspace and is not read.")
            return None
        if not file.is_file():
            warnings.append(f"{name} is not there.")
            return None
        if file.stat().st_size > _LARGEST_BYTES:
            warnings.append(f"{name} is larger than {_LARGEST_BYTES // 1_000_000} MB and is not read.")
            return None
        return file.read_text("utf-8-sig", errors="replace")
    except (OSError, RuntimeError) as error:
        warnings.append(f"{name} cannot be read: {getattr(error, 'strerror', None) or error}.")
        return None


def _lessons(text: str, heading: re.Pattern[str] | None, *, tagged: bool = False) -> Iterator[str]:
    """The items and paragraphs below the headings that match, all where there is no pattern; with `tagged`, lines
    elsewhere that call themselves a lesson or a decision as well."""
    inside = 0 if heading else 7
    fence = ""
    open_item: list[str] = []

    def closed() -> Iterator[str]:
        if open_item:
            one = _plain(" ".join(open_item))
            open_item.clear()
            if len(one.split()) >= _FEWEST_WORDS or (len(one) >= 8 and not one.isascii()):
                yield one

    for line in text.splitlines():
        if mark := _FENCE.match(line):
            if not fence:
                fence = mark[1][0]
            elif mark[1][0] == fence:
                fence = ""
            continue
        if fence:
            continue
        if title := _HEADING.match(line):
            yield from closed()
            level = len(title[1])
            if heading is None:
                continue
            if heading.search(title[2] or ""):
                inside = min(inside or 7, level)
            elif inside and level <= inside:
                inside = 0
            continue
        item = _ITEM.match(line)
        words = item[2] if item else line.strip()
        if not words or words.startswith(("|", "<!--", "---", ">")) or set(words) <= {"-", "*", "_", "="}:
            yield from closed()
            continue
        if item:
            yield from closed()
        if inside or (tagged and _TAGGED.match(words)) or (open_item and not item):
            open_item.append(words)
    yield from closed()


def _plain(text: str) -> str:
    """One line without Markdown's marks and without the tag that says that it is a lesson."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"(\*\*|__|~~)(.+?)\1", r"\2", text)
    text = re.sub(r"(?<!\w)[*_]([^*_]+)[*_](?!\w)", r"\1", text)
    return " ".join(_TAGGED.sub("", text).split())
