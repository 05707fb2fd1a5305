"""What of a folder of notes becomes memories: which names are notes, and what a note's chunks are. Nothing is read or
written here, and nothing unredacted leaves here."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from fnmatch import translate
from functools import lru_cache

from foreword.model import SUFFIXES, Audience, Kind, Memory, Origin, note_name, strip_frames
from foreword.patterns import lazy
from foreword.record import markdown
from foreword.record.intake import clean
from foreword.record.redaction import redact
from foreword.values import dataclass

# How notes are understood: when this grows, every file of every vault is read again.
READING = 1
MAX_FILE_BYTES = 2_000_000

# More than all chunks of a note can hold: what is beyond would be redacted for nothing.
_READ_CHARS = 2 * markdown.MAX_CHUNKS * markdown.MAX_CHUNK_CHARS
_MOST_CONCEPTS = 40
_MOST_NAMES = 10
_LONGEST_TITLE = 300
# Copies that programs which keep folders in step leave beside a note when two have changed it.
_CONFLICT = lazy(r"\.sync-conflict-\d|\bconflicted copy\b|\bcase conflict\b|\.orig\.md$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class VaultSettings:
    watch: bool = field(default=True, metadata={"help": "The daemon follows changes in vaults while it runs."})
    settle_ms: int = field(
        default=300,
        metadata={"help": "A note is read when nobody has written to it for so long; a half-written one never is."},
    )
    exclude: tuple[str, ...] = field(
        default=("node_modules",),
        metadata={"help": "Names of folders and notes in a vault that are left out, as names or globs."},
    )


@dataclass(frozen=True, slots=True)
class NoteChunk:
    """One chunk as it will be kept."""

    memory: Memory
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Keeping:
    """For whom the notes of a vault are kept."""

    vault: str
    agent: str = ""
    project: str = ""
    audience: Audience = Audience.PRIVATE


@lru_cache(maxsize=16)
def excluded(globs: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether a name is left out. Plain names are looked up, because a walk asks for each of ten thousand."""
    plain = frozenset(one for one in globs if not set(one) & set("*?["))
    wild = [translate(one) for one in globs if one not in plain]
    if not wild:
        return plain.__contains__
    pattern = re.compile("|".join(wild))
    return lambda name: name in plain or pattern.match(name) is not None


def is_note(name: str) -> bool:
    """By its name: what editors leave behind (`.note.md.swp`, `note.md~`, `note.md.tmp`, `.#note.md`) is none."""
    return name.lower().endswith(SUFFIXES) and name[0] not in ".~#"


def problem_of(path: str, size: int) -> str:
    """Why a note is left out whatever stands in it, or ""."""
    if size > MAX_FILE_BYTES:
        return f"larger than {MAX_FILE_BYTES // 1_000_000} MB"
    if _CONFLICT.search(path.rsplit("/", 1)[-1]):
        return "a copy that is left of a conflict"
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    return "its name looks like a secret" if redact(path).found else ""


def text_of(data: bytes) -> str | None:
    """A note's text, or None for what is no text."""
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None


def chunks_of(
    text: str, path: str, mtime: float, keeping: Keeping, *, count_tokens: Callable[[str], int]
) -> tuple[list[NoteChunk], bool]:
    """The chunks of the note at `path`, in order, and whether there was more than is kept of one note. Redacted as a
    whole: a secret or a private part may go over several paragraphs."""
    read = markdown.note(redact(clean(text[:_READ_CHARS])).text)
    stem = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    dated = read.at if read.at is not None else markdown.date_in(stem)
    made: list[NoteChunk] = []
    times: dict[str, int] = {}
    named = next((number for number, chunk in enumerate(read.chunks) if not chunk.head), 0)
    for number, chunk in enumerate(read.chunks):
        kept = strip_frames(chunk.text).strip()
        if not kept:
            continue
        # A link to the note leads to where it begins, one to a heading to where that does.
        names = [*(_names(path, stem, read) if number == named else ()), *(note_name(stem, one) for one in chunk.opens)]
        concepts = dict.fromkeys((*read.tags, *chunk.tags, *names))
        memory = Memory(
            text=kept,
            kind=Kind.CHUNK,
            origin=Origin.OWNER,
            audience=keeping.audience,
            agent=keeping.agent,
            project=keeping.project,
            channel=f"vault:{keeping.vault}",
            at=max(mtime, 0.0) if dated is None else dated,
            title=_title(read.title or stem, chunk.headings),
            files=(path,),
            concepts=tuple(one for one in concepts if one)[:_MOST_CONCEPTS],
            tokens=count_tokens(kept),
        )
        digest = _fingerprint(memory, dated)
        times[digest] = nth = times.get(digest, 0) + 1
        made.append(NoteChunk(memory, f"{digest}.{nth}" if nth > 1 else digest))
    return made, read.cut or len(text) > _READ_CHARS


def _names(path: str, stem: str, read: markdown.Note) -> Iterator[str]:
    """By what links may call the note: its name, its path, its aliases and its title."""
    for name in (stem, path, *list(read.aliases)[:_MOST_NAMES], read.title):
        if name:
            yield note_name(name)


def _title(root: str, headings: Sequence[str]) -> str:
    path = headings if headings and headings[0].casefold() == root.casefold() else (root, *headings)
    return " > ".join(path)[:_LONGEST_TITLE]


def _fingerprint(memory: Memory, dated: float | None) -> str:
    """What makes a chunk the same as before: its words and where it stands. Not the time of a file that is undated: a
    chunk that nobody touched is as old as it was. Made after redaction, so that no secret can be guessed from it."""
    place = (memory.channel, memory.agent, memory.project, memory.audience.label, *memory.files)
    digest = hashlib.blake2b(digest_size=16)
    for part in (*place, memory.title, str(dated), *memory.concepts, "", memory.text):
        data = part.encode("utf-8")
        digest.update(len(data).to_bytes(4, "little") + data)
    return digest.hexdigest()
