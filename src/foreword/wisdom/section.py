"""The `## Wisdom` section of SOUL.md: found, checked against its rules, replaced with every other byte kept. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from foreword.errors import ReviewError
from foreword.values import dataclass

LOAD_BEARING = (
    "When context feels incomplete, check your memory. Read `memory/YYYY-MM-DD.md` and `MEMORY.md` when historical"
    " knowledge is needed."
)
HEADING = "## Wisdom"
MAX_TOKENS = 150
MAX_ENTRIES = 15
MAX_WORDS = 15
FEWEST_LESSONS = 3
# What SOUL.md may cost as a whole once it was tightened.
MAX_SOUL_TOKENS = 200

_COMPRESSED = re.compile(r"_Last compressed: (\d{4}-\d{2}-\d{2}) \| Source lessons: (\d+)_")
_ENTRY = re.compile(r"[ \t]*(?:[-*+]|\d{1,2}[.)])[ \t]+(.*)")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")

# Why a stretch of an entry is too special for a pattern, with what finds it; the first that matches is named.
SPECIFICS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("an address", re.compile(r"\b\w+://\S+|\bwww\.\S+|[\w.+-]+@[\w-]+\.\w+|(?<!\w)@\w+|\blocalhost\b")),
    ("code", re.compile(r"`[^`]*`?")),
    (
        "a path or a file",
        re.compile(
            r"(?:~|\.{1,2}|(?<![\w/]))/[\w.-]+(?:/[\w.-]*)*|\b[\w-]+(?:/[\w.-]+){2,}"
            r"|\b(?:[\w-]+/)*[\w-]+\.(?:md|json5?|ya?ml|toml|py|[cm]?[jt]sx?|sh|env|conf|cfg|ini|db|sqlite|log|txt|csv|html?|sql|plist|service)\b",
            re.I,
        ),
    ),
    (
        "a model's name",
        re.compile(
            r"\b(?:gpt|chatgpt|claude|gemini|gemma|llama|qwen|mi[sx]tral|deepseek|kimi|grok|sonnet|opus|haiku|minimax"
            r"|whisper|codex|phi|nova|titan|command-r|o[134](?:-(?:mini|pro))?)\b(?:[-_. ]?[\dvk][\w.-]*)?",
            re.I,
        ),
    ),
    ("a version", re.compile(r"\bv?\d+\.\d+[\w.-]*|\bv\d+\b", re.I)),
    (
        "a date",
        re.compile(
            r"\d{4}-\d{2}(?:-\d{2})?|\b\d{1,2}:\d{2}\b|\b(?:January|February|March \d|April|June|July|August|September"
            r"|October|November|December|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)\b"
        ),
    ),
    ("a flag", re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*")),
    ("an identifier", re.compile(r"\b\w+_\w+\b|\b[a-z]+[A-Z]\w*|\b[A-Z]{2,}_\w+|\w+\(\)|(?<!\w)#\w+|(?<!\w)\$\w+")),
    ("a number", re.compile(r"\d+")),
)


@dataclass(frozen=True, slots=True)
class Broken:
    """An entry that breaks a rule; "" is the section as a whole."""

    entry: str
    rule: str

    def __str__(self) -> str:
        return f"“{self.entry}” {self.rule}." if self.entry else f"The section {self.rule}."


def rendered(entries: Sequence[str], day: str, lessons: int) -> str:
    """The section with these patterns and the load-bearing entry, as it stands in SOUL.md."""
    listed = [one for one in entries if one != LOAD_BEARING]
    lines = [HEADING, f"_Last compressed: {day} | Source lessons: {lessons}_", ""]
    return "\n".join([*lines, *(f"- {one}" for one in (*listed, LOAD_BEARING))]) + "\n"


def entries_of(section: str) -> list[str]:
    """The entries, each on one line however it is wrapped."""
    found: list[str] = []
    for line in section.splitlines()[1:]:
        if item := _ENTRY.match(line):
            found.append(item[1].strip())
        elif found and line.strip() and not _COMPRESSED.search(line):
            found[-1] += " " + line.strip()
    return [" ".join(one.split()) for one in found if one]


def last_compressed(section: str) -> tuple[str, int] | None:
    """The day and the number of lessons that the section tells of itself."""
    found = _COMPRESSED.search(section)
    return (found[1], int(found[2])) if found else None


def specifics_in(entry: str) -> str:
    """What in an entry is too special for a pattern, named with the words themselves; "" where nothing is."""
    for what, pattern in SPECIFICS:
        if found := pattern.search(entry):
            return f"{what} ({found[0].strip()})"
    return ""


def words_in(text: str) -> int:
    """A script without spaces has about one word in two characters."""
    dense = sum(0x3040 <= ord(one) <= 0x9FFF or 0xAC00 <= ord(one) <= 0xD7AF for one in text)
    return len(text.split()) + dense // 2


def check_entry(entry: str) -> list[Broken]:
    if entry == LOAD_BEARING:
        return []
    broken = []
    if (words := words_in(entry)) > MAX_WORDS:
        broken.append(Broken(entry, f"has {words} words, and {MAX_WORDS} are the most"))
    if special := specifics_in(entry):
        broken.append(Broken(entry, f"holds {special}, and a pattern holds no specifics"))
    return broken


def check(section: str, *, count_tokens: Callable[[str], int]) -> list[Broken]:
    """Every rule that the section breaks; [] where it may go into SOUL.md."""
    if section.split("\n", 1)[0].strip() != HEADING:
        return [Broken("", f"does not begin with “{HEADING}”")]
    entries = entries_of(section)
    broken = [one for entry in entries for one in check_entry(entry)]
    if LOAD_BEARING not in entries:
        broken.append(Broken("", f"lacks the entry that must survive every cycle: “{LOAD_BEARING}”"))
    if last_compressed(section) is None:
        broken.append(Broken("", "lacks its line “_Last compressed: YYYY-MM-DD | Source lessons: N_”"))
    if len(entries) > MAX_ENTRIES:
        broken.append(Broken("", f"has {len(entries)} entries, and {MAX_ENTRIES} are the most"))
    if (tokens := count_tokens(section.strip())) > MAX_TOKENS:
        broken.append(Broken("", f"has {tokens} tokens, and {MAX_TOKENS} are the most"))
    body = section.strip().splitlines()[1:]
    if any(title for _, title in _headings(body)):
        broken.append(Broken("", "holds another heading, which would end it"))
    return broken


def found_in(soul: str) -> str:
    """The section as it stands in SOUL.md, with its heading; "" where there is none. Raises ReviewError for two."""
    lines = soul.splitlines(keepends=True)
    place = _place(lines)
    if place is None:
        return ""
    text = "".join(lines[place[0] : place[1]])
    return "\n".join(text.removeprefix("\ufeff").splitlines()) + "\n"


def replaced(soul: bytes, section: str) -> bytes:
    """SOUL.md with this section in place of its own, or at its end where it has none; every other byte stays. Raises
    ReviewError where it is not UTF-8, or holds two."""
    try:
        text = soul.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ReviewError("SOUL.md is not UTF-8 text.", hint="Nothing was touched; save it as UTF-8 first.") from error
    newline = "\r\n" if "\r\n" in text else "\n"
    new = newline.join(section.strip().splitlines())
    lines = text.splitlines(keepends=True)
    place = _place(lines)
    if place is None:
        body = text.removeprefix("\ufeff")
        if not body.strip():
            return (text + new + newline).encode()
        ends = body.endswith(("\n", "\r"))
        gap = "" if body.endswith(newline * 2) else newline if ends else newline * 2
        return (text + gap + new + (newline if ends else "")).encode()
    start, end = place
    mark = "\ufeff" if lines[start].startswith("\ufeff") else ""
    old = "".join(lines[start:end])
    # What stands between the last word and the next heading, or the end of the file, is not ours.
    return ("".join(lines[:start]) + mark + new + old[len(old.rstrip()) :] + "".join(lines[end:])).encode()


def _place(lines: Sequence[str]) -> tuple[int, int] | None:
    titles = list(_headings([line.rstrip("\r\n") for line in lines]))
    found = [at for at, (line, title) in enumerate(titles) if title[0] == 2 and title[1].casefold() == "wisdom"]
    if not found:
        return None
    if len(found) > 1:
        raise ReviewError("SOUL.md holds two sections “## Wisdom”.", hint="Make them one, then run the command again.")
    start = titles[found[0]][0]
    after = [line for line, title in titles[found[0] + 1 :] if title[0] <= 2]
    return start, after[0] if after else len(lines)


def _headings(lines: Sequence[str]) -> Iterator[tuple[int, tuple[int, str]]]:
    """The line, the level and the words of every heading; what stands in a fence or a comment is none."""
    fence, comment = "", False
    for at, raw in enumerate(lines):
        line = raw.removeprefix("\ufeff") if at == 0 else raw
        if comment:
            comment = "-->" not in line
            continue
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not mark[2].strip():
                fence = ""
            continue
        if mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
            continue
        if line.lstrip().startswith("<!--") and "-->" not in line:
            comment = True
            continue
        if title := _ATX.match(line):
            yield at, (len(title[1]), (title[2] or "").strip())
        elif (under := _UNDERLINE.match(line)) and at and _is_text(lines[at - 1]):
            yield at - 1, (1 if under[1][0] == "=" else 2, lines[at - 1].strip())


def _is_text(line: str) -> bool:
    """A line that the one below may underline as a heading: neither blank nor of a list, a quote, a table or a rule."""
    return bool(line.strip()) and not line.startswith("    ") and line.lstrip()[0] not in "-*+#>|=`~<_"


def prose_of(soul: str) -> list[str]:
    """SOUL.md without its section of wisdom: headings, list items and paragraphs, each on one line; fences, tables and
    comments are left out."""
    lines = re.sub(r"<!--.*?-->", "", soul.removeprefix("\ufeff"), flags=re.S).splitlines()
    place = _place(lines)
    if place:
        lines = lines[: place[0]] + lines[place[1] :]
    found: list[str] = []
    fence, fresh = "", True
    for line in lines:
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
            continue
        text = line.strip()
        if fence or not text or text.startswith("|") or set(text) <= {"-", "*", "_", "=", " "}:
            fresh = True
            continue
        item = _ENTRY.match(line)
        if fresh or item or text.startswith("#") or found[-1].startswith("#"):
            found.append(" ".join((item[1] if item else text).split()))
        else:
            found[-1] += " " + text
        fresh = False
    return found
