"""Questions that a user's own notes answer: made from their text, the same every time, and asked through the search
that an agent has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from foreword.bootstrap import facts, read, without_secrets
from foreword.record import redact
from foreword.upkeep import COMPACT
from foreword.values import dataclass

WANTED = 3
# How far down a list of results an agent reads.
READ = 3
_WORD = re.compile(r"[^\W\d_]{3,}")
_MARKS = re.compile(r"[*_`#>|]+")
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
_FEWEST_WORDS = 4
_MOST_WORDS = 45
_ASKED_WORDS = 6
_ASKED_CHARS = 300
_FEWEST_OWN_WORDS = 2


@dataclass(frozen=True, slots=True)
class Probe:
    """`question` is answered by `file`, a path within the workspace; `answer` is what its answer must hold, "" where
    the file itself is the answer."""

    question: str
    file: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """A result as far as a probe looks at it: which files it came from, by their whole paths, and its text."""

    files: Sequence[str]
    text: str


Search = Callable[[str], Sequence[Row]]


@dataclass(frozen=True, slots=True)
class Probed:
    """Whether a probe was answered, and what came instead. `indexed` tells whether anything of the workspace did."""

    probe: Probe
    answered: bool
    found: str
    indexed: bool


def notes(workspace: Path) -> dict[str, str]:
    """Every Markdown file of a workspace that is looked up or sent, the newest day first, with its text; secrets are
    taken out, because questions are shown, and no search would find them."""
    days = sorted((f"memory/{one.name}" for one in (workspace / "memory").glob("*.md")), reverse=True)
    # The compact file says again what TOOLS.md says, and would be as good an answer.
    names = [*sorted(one.name for one in workspace.glob("*.md") if one.name != COMPACT), *days]
    found = {one.name: one.text for one in read(workspace, names) if one.text}
    return {name: without_secrets(text, lambda part: redact(part).text) for name, text in found.items()}


def retrieval(texts: Mapping[str, str]) -> list[Probe]:
    """A statement with its fact taken out is the question, and the fact its answer."""
    return _spread(texts, _asked_for_a_fact)


def behaviour(texts: Mapping[str, str]) -> list[Probe]:
    """The few words by which somebody remembers a note; the file that holds it is the answer."""
    return _spread(texts, _asked_for_a_note)


def ask(probe: Probe, search: Search, workspace: Path) -> Probed:
    """An answer counts among the first results. A file has to be the first of those that came from the workspace."""
    rows = list(search(probe.question))
    named = [(_of(workspace, one.files), one.text) for one in rows]
    inside = [(name, text) for name, text in named if name]
    if probe.answer:
        hit = next((name for name, text in inside[:READ] if probe.answer in text.casefold()), "")
        return Probed(probe, bool(hit), hit or _shown(inside), bool(inside))
    return Probed(probe, bool(inside) and inside[0][0] == probe.file, _shown(inside), bool(inside))


def reachable(name: str, texts: Mapping[str, str], search: Search, workspace: Path) -> bool:
    """Whether the search leads to this file for words of its own."""
    text = texts.get(name, "")
    stated = sorted((one.text for one in _statements(text)), key=len, reverse=True)[:WANTED]
    return any(
        name in {_of(workspace, row.files) for row in search(question)} for question in stated or [text[:_ASKED_CHARS]]
    )


def _shown(inside: Sequence[tuple[str, str]]) -> str:
    return inside[0][0] if inside else "nothing of the workspace"


def _of(workspace: Path, files: Sequence[str]) -> str:
    """The file within the workspace that a result came from, "" where it came from none."""
    real = workspace.resolve()
    for one in files:
        path = Path(one).resolve()
        if Path(one).is_absolute() and path.is_relative_to(real):
            return str(path.relative_to(real))
    return ""


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence or a list item, on one line, and the heading it stands under. `alone` are the words that no other
    statement holds, `of_file` those that no other file holds."""

    text: str
    heading: str
    alone: tuple[str, ...] = ()
    of_file: tuple[str, ...] = ()


Made = Callable[[_Statement], tuple[str, str, int] | None]


def _spread(texts: Mapping[str, str], made: Made) -> list[Probe]:
    """One of each kind of notes, then more of the first, while there are fewer than wanted."""
    days = [name for name in texts if name.startswith("memory/")]
    groups = [list(_candidates(texts, names, made)) for names in (["TOOLS.md"], ["MEMORY.md"], days)]
    found: list[Probe] = []
    while len(found) < WANTED and any(groups):
        for group in groups:
            if group and len(found) < WANTED:
                found.append(group.pop(0))
    return found


def _candidates(texts: Mapping[str, str], names: Sequence[str], made: Made) -> Iterator[Probe]:
    """Those that nothing else could answer as well come first."""
    stated = {name: list(_statements(text)) for name, text in texts.items()}
    in_statements = Counter(word for many in stated.values() for one in many for word in set(_words(one.text)))
    in_files = Counter(word for text in texts.values() for word in set(_words(text)))
    ranked = []
    for at, name in enumerate(names):
        for number, one in enumerate(stated.get(name, ())):
            words = list(dict.fromkeys(_words(one.text)))
            alone = tuple(word for word in words if in_statements[word] == 1)
            of_file = tuple(word for word in words if in_files[word] == 1)
            if question := made(replace(one, alone=alone, of_file=of_file)):
                text, answer, own = question
                ranked.append((-own, at, number, Probe(text, name, answer)))
    for *_, probe in sorted(ranked, key=lambda one: one[:3]):
        yield probe


def _asked_for_a_fact(one: _Statement) -> tuple[str, str, int] | None:
    known = [fact for fact in facts(one.text) if any(sign.isdigit() for sign in fact)]
    if not known or not one.alone:
        return None
    answer = known[-1]
    question = " ".join(word for word in one.text.split() if answer not in word.casefold())
    if len(_words(question)) < _FEWEST_WORDS:
        return None
    return f"{one.heading}: {question}" if one.heading else question, answer, len(one.alone)


def _asked_for_a_note(one: _Statement) -> tuple[str, str, int] | None:
    words = one.of_file[:_ASKED_WORDS]
    if len(words) < _FEWEST_OWN_WORDS or next(facts(one.text), None) is not None:
        return None
    return f"Where is it written: {' '.join(words)}?", "", len(one.of_file)


def _statements(text: str) -> Iterator[_Statement]:
    """Without Markdown's marks; no code and no comments."""
    text = re.sub(r"<!--.*?-->|^(`{3,}|~{3,}).*?^\1", " ", text, flags=re.DOTALL | re.MULTILINE)
    block: list[str] = []
    heading = ""
    for line in [*text.splitlines(), ""]:
        titled = line.lstrip().startswith("#")
        if not line.strip() or titled or _ITEM.match(line):
            for one in _sentences(" ".join(block)):
                yield _Statement(one, heading)
            block = []
        if titled:
            heading = _MARKS.sub("", line).strip()
        else:
            block.append(_ITEM.sub("", line, count=1).strip())


def _sentences(text: str) -> Iterator[str]:
    for one in re.split(r"(?<=[.!?])\s+", _MARKS.sub("", text)):
        if _FEWEST_WORDS <= len(one.split()) <= _MOST_WORDS:
            yield " ".join(one.split())


def _words(text: str) -> list[str]:
    return [found.casefold() for found in _WORD.findall(text)]
