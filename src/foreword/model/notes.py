"""How one note names another: `[[Note]]`, `[[Note#Heading]]`, `[text](folder/note.md)`. A name becomes a single term
that the words of a memory can hold, so that a link leads to whoever bears the name, whatever is written first."""

from __future__ import annotations

import hashlib
import posixpath
import unicodedata
from collections.abc import Sequence

from foreword.patterns import lazy
from foreword.values import dataclass

SUFFIXES = (".md", ".markdown")
_LONGEST = 60
_WIKI = lazy(r"\[\[([^\[\]|#^\n]{0,300})(?:#([^\[\]|^\n]{0,300}))?(?:[|^][^\[\]\n]{0,300})?\]\]")
_INLINE = lazy(r"\]\(\s{0,3}(?:<([^<>\n]{1,300})>|([^()\s<>]{1,300}))")
_SCHEME = lazy(r"[A-Za-z][A-Za-z0-9+.-]*:")
_APART = lazy(r"[\W_]+")
# Scripts without spaces are indexed in pieces; a name in them is a term only by its hash.
_PIECES = lazy(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0002ebef]")


@dataclass(frozen=True, slots=True)
class NoteLink:
    """A link as it is written, and the names it may lead to, the most exact first."""

    shown: str
    names: Sequence[str]


def note_name(name: str, heading: str = "") -> str:
    """The term by which a note is known: `Boat House` and `boat house.md` are both `boat-house.md`; with a folder that
    belongs to it, and with a heading `boat-house.md#winter`. "" when there is nothing to be known by."""
    parts = [_plain(part) for part in _without_suffix(name).split("/")]
    if not all(parts):
        return ""
    term = "/".join(parts) + ".md" + (f"#{inside}" if (inside := _plain(heading)) else "")
    if len(term) > _LONGEST or _PIECES.search(term):
        return f"note-{hashlib.blake2b(term.encode('utf-8', 'replace'), digest_size=8).hexdigest()}.md"
    return term


def note_links(text: str, path: str = "") -> list[NoteLink]:
    """The links of a text that stands in the note at `path`, in their order, each once."""
    found: dict[str, NoteLink] = {}
    if "[[" in text:
        for match in _WIKI.finditer(text):
            target, heading = match[1].strip(), (match[2] or "").strip()
            if target or heading:
                _add(found, match[0], [target, _last(target)] if target else [path], heading)
    if "](" in text:
        from urllib.parse import unquote  # only whose text has such a link waits for it

        for match in _INLINE.finditer(text):
            target, _, heading = unquote(match[1] or match[2]).partition("#")
            if _SCHEME.match(target) or (target and not target.lower().endswith(SUFFIXES)):
                continue
            place = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path
            if (target or heading) and not place.startswith("../"):
                _add(found, target or f"#{heading}", [place.lstrip("/")], heading)
    return list(found.values())


def _add(found: dict[str, NoteLink], shown: str, places: Sequence[str], heading: str) -> None:
    """What a heading is known by has no folder in it; the note's own names have."""
    names = [note_name(_last(place), heading) for place in places if place and heading]
    names += [note_name(place) for place in places if place]
    if names := [one for one in dict.fromkeys(names) if one]:
        found.setdefault(shown, NoteLink(shown, names))


def _last(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _without_suffix(name: str) -> str:
    low = name.lower()
    return next((name[: -len(suffix)] for suffix in SUFFIXES if low.endswith(suffix)), name).strip("/ ")


def _plain(text: str) -> str:
    return _APART.sub("-", unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).lower())).strip("-")
