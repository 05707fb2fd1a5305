"""A note in pieces: by heading, then by paragraph, in the note's own words. A line scanner, because only the shape of
the text matters here, not how it would look; tables and code keep their heads when they have to be cut."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from foreword.patterns import lazy
from foreword.values import dataclass

MAX_CHUNK_CHARS = 1200
MAX_CHUNKS = 200

_MOST_FRONT_LINES = 200
_LONGEST_HEADING = 200
# A longer line is nothing but text.
_LONGEST_MARK = 400
_FENCED = frozenset("`~-*+>")
# A head that takes more of a chunk than this is not repeated.
_LONGEST_HEAD = MAX_CHUNK_CHARS // 6
_HEADING = lazy(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#*)?[ \t]*")
_FENCE = lazy(r"\s{0,12}(?:[-*+>] {1,3}){0,3}(`{3,}|~{3,})([^`]*)")
_UNDERLINE = lazy(r" {0,3}(=+|-{2,})[ \t]*")
_NOT_A_TITLE = lazy(r"\s*(?:[-*+>|]|\d+[.)])|\s{4}")
# Without its blanks, so that no two ways of reading a line can be tried in turns.
_RULE_OF_TABLE = lazy(r"\|?:?-+:?(?:\|(?::?-+:?)?)*")
_SENTENCE = lazy(r"(?<=[.!?。!?;])\s+|\s+")
_TAG = lazy(r"(?:^|(?<=[\s(\[,;]))#([^\W\d_][\w/-]{0,60}\w|[^\W\d_])(?![\w#])", re.MULTILINE)
_COLOUR = lazy(r"(?:[0-9a-f]{3}){1,2}|[0-9a-f]{8}", re.IGNORECASE)
_CODE = lazy(r"`[^`\n]*`")
_MARKUP = lazy(
    r"!?\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]*)\]\]|!?\[([^\[\]\n]*)\]\([^()\n]*\)|[*_`~]{1,3}(?=\S)|(?<=\S)[*_`~]{1,3}"
)
_KEY = lazy(r"([A-Za-z][\w -]{0,40}):(?:[ \t]+(.*)|[ \t]*)")
_DATE = lazy(
    r"(?P<day>(?:19|20)\d\d-\d\d-\d\d)(?:[T ](?P<time>\d\d:\d\d(?::\d\d)?)(?:\.\d+)?\s?(?P<zone>Z|[+-]\d\d:?\d\d)?)?"
)
_DATE_IN_NAME = lazy(r"(?<!\d)((?:19|20)\d\d-\d\d-\d\d)(?!\d)")
_DATE_KEYS = ("date", "updated", "modified", "created")
_TAG_KEYS = ("tags", "tag", "keywords")
_ALIAS_KEYS = ("aliases", "alias")
_UNDERSTOOD = {"title", *_DATE_KEYS, *_TAG_KEYS, *_ALIAS_KEYS}


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a note, of at most MAX_CHUNK_CHARS. `headings` lead to it, `opens` are those that begin in it; `head`
    tells that it is the note's front matter."""

    text: str
    headings: tuple[str, ...] = ()
    opens: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    head: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """A whole note; `cut` tells that there was more than MAX_CHUNKS hold."""

    chunks: Sequence[Chunk]
    title: str = ""
    tags: Sequence[str] = ()
    aliases: Sequence[str] = ()
    at: float | None = None
    cut: bool = False


def note(text: str) -> Note:
    """Every word below the front matter is in the chunks, in order, and only the head of a table or of code is ever
    repeated. Front matter is a chunk where it says more than is understood of it."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    front, begins = _front_matter(lines)
    packer = _Packer()
    if front.keys() - _UNDERSTOOD:
        packer.add(_Block("front", lines[:begins]))
    for block in _blocks(lines, begins):
        if not packer.add(block):
            break
    chunks = packer.done()
    return Note(
        chunks[:MAX_CHUNKS],
        title=front.get("title", [""])[0],
        tags=tuple(tag.lstrip("#") for key in _TAG_KEYS for tag in front.get(key, ())),
        aliases=tuple(one for key in _ALIAS_KEYS for one in front.get(key, ())),
        at=next((at for key in _DATE_KEYS for value in front.get(key, ()) if (at := _moment(value)) is not None), None),
        cut=len(chunks) > MAX_CHUNKS,
    )


def date_in(name: str) -> float | None:
    """The day that a file's name tells, such as `2026-03-04.md`."""
    found = _DATE_IN_NAME.search(name)
    return _moment(found[1]) if found else None


@dataclass(frozen=True, slots=True)
class _Block:
    kind: str
    lines: Sequence[str]
    level: int = 0
    title: str = ""

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip("\n")


def _blocks(lines: Sequence[str], at: int) -> Iterator[_Block]:
    paragraph: list[str] = []
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            if paragraph:
                yield _Block("text", paragraph)
                paragraph = []
            at += 1
            continue
        begin = line.lstrip()[:1] if len(line) <= _LONGEST_MARK else ""
        ends, block = at + 1, None
        if begin == "#" and len(line) <= _LONGEST_HEADING and (heading := _HEADING.fullmatch(line)):
            block = _Block("heading", [line], len(heading[1]), plain(heading[2] or ""))
        elif begin in _FENCED and (fence := _FENCE.fullmatch(line)):
            ends = _end_of_fence(lines, at + 1, fence[1])
            block = _Block("code", lines[at:ends])
        elif (
            begin in ("=", "-")
            and len(paragraph) == 1
            and (under := _UNDERLINE.fullmatch(line))
            and _is_title(paragraph[0])
        ):
            block = _Block("heading", [*paragraph, line], 1 if under[1][0] == "=" else 2, plain(paragraph[0]))
            paragraph = []
        elif "|" in line and at + 1 < len(lines) and _is_rule(lines[at + 1]):
            while ends < len(lines) and "|" in lines[ends]:
                ends += 1
            block = _Block("table", lines[at:ends])
        if block is None:
            paragraph.append(line)
        else:
            if paragraph:
                yield _Block("text", paragraph)
                paragraph = []
            yield block
        at = ends
    if paragraph:
        yield _Block("text", paragraph)


def _is_rule(line: str) -> bool:
    """Whether a line is the one below a table's head."""
    return "-" in line and _RULE_OF_TABLE.fullmatch("".join(line.split())) is not None


def _end_of_fence(lines: Sequence[str], at: int, mark: str) -> int:
    """One line after the fence's end; a fence that never ends goes on to the last line."""
    while at < len(lines):
        closing = lines[at].strip().lstrip("> ")
        if closing.startswith(mark) and not closing.strip(mark[0]):
            return at + 1
        at += 1
    return at


def _is_title(line: str) -> bool:
    return len(line) <= _LONGEST_HEADING and "|" not in line and not _NOT_A_TITLE.match(line)


def plain(text: str) -> str:
    """A heading without its markup, on one line."""
    return " ".join(_MARKUP.sub(lambda found: found[1] or found[2] or "", text).split())


class _Packer:
    """Blocks into chunks: as many of one section as fit, never of two; a heading goes with what stands below it."""

    def __init__(self) -> None:
        self._chunks: list[Chunk] = []
        self._stack: list[tuple[int, str]] = []
        self._parts: list[str] = []
        self._length = 0
        self._opens: list[str] = []
        self._tags: dict[str, None] = {}
        self._has_body = False

    def add(self, block: _Block) -> bool:
        """Whether there is room for more."""
        if block.kind == "front":
            self._chunks += [Chunk(piece, head=True) for piece in _pieces(block, MAX_CHUNK_CHARS)]
            return True
        if block.kind == "heading":
            if self._has_body or self._length + len(block.text) > MAX_CHUNK_CHARS // 2:
                self._flush()
            while self._stack and self._stack[-1][0] >= block.level:
                self._stack.pop()
            if block.title:
                self._stack.append((block.level, block.title))
                self._opens.append(block.title)
            self._put(block.text)
            return len(self._chunks) <= MAX_CHUNKS
        # Headings that wait for their text have it in the same chunk.
        waiting = self._length + 2 if self._parts and not self._has_body else 0
        for piece in _pieces(block, MAX_CHUNK_CHARS - waiting):
            if self._parts and self._length + 2 + len(piece) > MAX_CHUNK_CHARS:
                self._flush()
            self._put(piece)
            self._has_body = True
            if block.kind != "code" and "#" in piece:
                bare = _CODE.sub("", piece)
                self._tags.update((tag, None) for tag in _TAG.findall(bare) if not _COLOUR.fullmatch(tag))
            if len(self._chunks) > MAX_CHUNKS:
                return False
        return True

    def done(self) -> list[Chunk]:
        self._flush()
        return self._chunks

    def _put(self, text: str) -> None:
        self._length += len(text) + (2 if self._parts else 0)
        self._parts.append(text)

    def _flush(self) -> None:
        text = "\n\n".join(self._parts).strip()
        if text:
            headings = tuple(title for _, title in self._stack)
            self._chunks.append(Chunk(text, headings, tuple(self._opens), tuple(self._tags)))
        self._parts, self._length, self._opens, self._tags, self._has_body = [], 0, [], {}, False


def _pieces(block: _Block, room: int) -> Iterator[str]:
    text = block.text
    if len(text) <= room:
        yield text
        return
    head, tail, body = _head(block)
    inner = room - len(head) - len(tail) - 2
    for number, piece in enumerate(_packed(body, inner)):
        # Of what is cut, the first piece has its own head already, and code that never ended has no end.
        yield piece if number == 0 and not tail else "\n".join(part for part in (head, piece, tail) if part)


def _head(block: _Block) -> tuple[str, str, Sequence[str]]:
    """What is repeated before and after each piece, and the lines that are cut; of a table the first piece is not given
    its head again, because the lines begin with it."""
    if block.kind == "table":
        head = "\n".join(block.lines[:2])
        if len(head) <= _LONGEST_HEAD:
            return head, "", block.lines
    if block.kind == "code" and len(block.lines) > 2 and len(block.lines[0]) <= _LONGEST_HEAD:
        last = block.lines[-1].strip()
        if last and not last.strip("`~") and len(last) <= _LONGEST_HEAD:
            return block.lines[0], block.lines[-1].strip(), block.lines[1:-1]
    return "", "", block.lines


def _packed(lines: Sequence[str], room: int) -> Iterator[str]:
    pending: list[str] = []
    length = 0
    for line in lines:
        for part in _cut(line, room) if len(line) > room else (line,):
            if pending and length + 1 + len(part) > room:
                yield "\n".join(pending)
                pending, length = [], 0
            length += len(part) + (1 if pending else 0)
            pending.append(part)
    if pending:
        yield "\n".join(pending)


def _cut(line: str, room: int) -> Iterator[str]:
    """A long line at the ends of sentences where there are any, else between words, else anywhere."""
    at = 0
    while len(line) - at > room:
        window = line[at : at + room + 1]
        stops = [found.start() for found in _SENTENCE.finditer(window) if found.start() > room // 2]
        good = [stop for stop in stops if window[stop - 1] in ".!?。!?;"]
        stop = (good or stops or [room])[-1]
        yield line[at : at + stop]
        at += stop
    yield line[at:]


def _front_matter(lines: Sequence[str]) -> tuple[dict[str, list[str]], int]:
    """The plain keys of a YAML head, each as a list, and the line after it. What is nested or cannot be read is only
    text: this is a note, not a settings file."""
    if not lines or lines[0].rstrip() != "---":
        return {}, 0
    ends = next((n for n, line in enumerate(lines[1:_MOST_FRONT_LINES], 1) if line.rstrip() in ("---", "...")), 0)
    if not ends:
        return {}, 0
    found: dict[str, list[str]] = {}
    key = ""
    for line in lines[1:ends]:
        if key and (item := line.strip()).startswith("- "):
            found[key].append(_unquoted(item[2:]))
        elif match := _KEY.fullmatch(line.rstrip()):
            key = match[1].strip().lower()
            value = (match[2] or "").strip()
            listed = value[1:-1].split(",") if value.startswith("[") and value.endswith("]") else [value]
            if key in (*_TAG_KEYS, *_ALIAS_KEYS) and len(listed) == 1:
                listed = value.strip("[]").split(",")
            found[key] = [one for one in map(_unquoted, listed) if one]
        elif line.strip() and not line.startswith((" ", "\t", "#")):
            key = ""
    return {name: values for name, values in found.items() if values}, ends + 1


def _unquoted(value: str) -> str:
    value = value.strip()
    return value[1:-1].strip() if len(value) > 1 and value[0] in "'\"" and value[-1] == value[0] else value


def _moment(text: str) -> float | None:
    """Seconds since 1970 of an ISO date or time. A day alone is its noon, which is the same day nearly everywhere."""
    found = _DATE.match(text.strip())
    if not found:
        return None
    try:
        if not found["time"]:
            return max(datetime.fromisoformat(found["day"]).replace(hour=12, tzinfo=UTC).timestamp(), 0.0)
        zone = (found["zone"] or "").replace("Z", "+00:00")
        return max(datetime.fromisoformat(f"{found['day']}T{found['time']}{zone}").timestamp(), 0.0)
    except (ValueError, OverflowError, OSError):
        return None
