"""The public data sets that the benchmarks read, as asks against homes filled through the engine. `--data` names a
folder that holds one or several of them; a set's folder may be named with or without `-dev`."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from foreword import Event, Foreword, Origin, Settings
from foreword.errors import BadInput

DAY_S = 86_400.0
SESSION_PREFIX = "agent:main:"
SILENT_KINDS = ("smalltalk", "general-question", "assistant-command")
_AGAIN = "Copy the set anew."
_One = TypeVar("_One")


@dataclass(frozen=True, slots=True)
class Question:
    """An ask with what answers it: sessions for LongMemEval, turns (source ids) for LoCoMo."""

    id: str
    text: str
    type: str
    at: float
    evidence: frozenset[str]
    answerable: bool = True
    answer: str = ""
    evidence_sessions: frozenset[str] = frozenset()
    # Counts in recall: answerable ones of LongMemEval, those with evidence of LoCoMo (adversarial ones have some).
    scored: bool = True
    # The right topic, and no answer: nothing should be injected, and nobody knows how to tell.
    near_miss: bool = False


@dataclass(frozen=True, slots=True)
class Haystack:
    """One user's history, and the questions that are asked of it."""

    id: str
    sessions: Sequence[tuple[str, float, Sequence[tuple[str, str, str]]]]  # key, start, (speaker, text, source id)
    questions: Sequence[Question] = field(default_factory=tuple)

    def events(self) -> Iterator[Event]:
        for key, start, turns in self.sessions:
            for place, (speaker, text, source_id) in enumerate(turns):
                roles = {"user": Origin.OWNER, "assistant": Origin.AGENT}
                yield Event(
                    text,
                    session=f"{SESSION_PREFIX}{key}",
                    origin=roles.get(speaker, Origin.OWNER),
                    sender="" if speaker in roles else speaker,
                    source_id=source_id,
                    at=start + place,
                )

    @contextmanager
    def filled(self, folder: Path, settings: Settings | None = None) -> Iterator[Foreword]:
        """The history in a home of its own below `folder`; made once, then only opened. By default with the settings
        that everybody has."""
        home = folder / self.id
        made = (home / "made").exists()
        told = max((start for _, start, _ in self.sessions), default=0.0)
        latest = max((question.at for question in self.questions), default=told + DAY_S)
        with Foreword.open(home, settings=settings or Settings(), clock=lambda: latest) as foreword:
            if not made:
                for _ in foreword.record_all(self.events()):
                    pass
                (home / "made").touch()
            yield foreword


def find(data: Path, name: str) -> Path | None:
    """The folder of a set below (or at) `data`."""
    data = data.expanduser().resolve()
    for folder in (data / name, data / f"{name}-dev", data):
        if folder.is_dir() and folder.name.removesuffix("-dev") == name:
            return folder
    return None


def longmemeval(folder: Path) -> list[Haystack]:
    """Raises BadInput, naming file and line, for what cannot be read."""
    file = folder / "sessions.jsonl.gz"
    sessions: dict[str, list[tuple[str, str]]] = dict(
        _read(file, lambda one: (one["id"], [(role, text) for role, text in one["turns"]]))
    )

    def haystack(one: dict[str, Any]) -> Haystack:
        if missing := [key for key, _ in one["haystack"] if key not in sessions]:
            raise ValueError(f"its session {missing[0]} is not in {file.name}")
        evidence = frozenset(one["evidence"])
        question = Question(
            one["id"],
            one["question"],
            one["type"],
            _time(one["asked"]),
            evidence,
            one["answerable"],
            str(one["answer"]),
            evidence_sessions=evidence,
            scored=one["answerable"] and bool(evidence),
            near_miss=not one["answerable"],
        )
        told = [
            (key, _time(date), [(role, text, f"{key}/{place}") for place, (role, text) in enumerate(sessions[key])])
            for key, date in one["haystack"]
        ]
        return Haystack(f"longmemeval-{one['id']}", told, (question,))

    return list(_read(folder / "questions.jsonl", haystack))


def locomo(folder: Path) -> list[Haystack]:
    """Raises BadInput for what cannot be read."""
    file = folder / "conversations.json"
    try:
        conversations = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        raise BadInput(f"{file} is missing.", hint=_AGAIN) from None
    except json.JSONDecodeError as error:
        raise BadInput(f"{file}, line {error.lineno}: {error.msg}.", hint=_AGAIN) from None
    except UnicodeDecodeError:
        raise BadInput(f"{file} is not UTF-8.", hint=_AGAIN) from None
    if not isinstance(conversations, list):
        raise BadInput(f"{file} is not a list of conversations.", hint=_AGAIN)
    return [
        _made(_conversation, one, f"{file}, conversation {number}") for number, one in enumerate(conversations, start=1)
    ]


def _conversation(one: dict[str, Any]) -> Haystack:
    told = [
        (
            session["id"],
            _time(session["date"]),
            [(turn["speaker"], turn["text"], turn["id"]) for turn in session["turns"]],
        )
        for session in one["sessions"]
    ]
    if not told:
        raise ValueError("it has no session")
    session_of = {turn: key for key, _, turns in told for _, _, turn in turns}
    asked = told[-1][1] + DAY_S
    questions = tuple(
        Question(
            item["id"],
            str(item["question"]),
            item["category"],
            asked,
            frozenset(item["evidence"]),
            answerable=bool(item["evidence"]) and item["category"] != "adversarial",
            evidence_sessions=frozenset(session_of[turn] for turn in item["evidence"] if turn in session_of),
            scored=bool(item["evidence"]),
            near_miss=item["category"] == "adversarial",
        )
        for item in one["questions"]
    )
    return Haystack(f"locomo-{one['id']}", told, questions)


def silence(folder: Path) -> list[tuple[str, str]]:
    """(kind, text) of asks that deserve no memory. Raises BadInput, naming file and line."""
    return list(_read(folder / "asks.jsonl", lambda one: (str(one["kind"]), str(one["text"]))))


def _read(file: Path, make: Callable[[dict[str, Any]], _One]) -> Iterator[_One]:
    number = 0
    try:
        with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    one = json.loads(line)
                except json.JSONDecodeError as error:
                    raise BadInput(f"{file}, line {number}: {error.msg}.", hint=_AGAIN) from None
                yield _made(make, one, f"{file}, line {number}")
    except FileNotFoundError:
        raise BadInput(f"{file} is missing.", hint=_AGAIN) from None
    except (EOFError, gzip.BadGzipFile, zlib.error, UnicodeDecodeError):
        raise BadInput(f"{file} is damaged after line {number}.", hint=_AGAIN) from None


def _made(make: Callable[[dict[str, Any]], _One], one: dict[str, Any], where: str) -> _One:
    try:
        return make(one)
    except KeyError as error:
        raise BadInput(f"{where}: {error} is missing.", hint=_AGAIN) from None
    except (TypeError, ValueError, AttributeError) as error:
        raise BadInput(f"{where}: {error}.", hint=_AGAIN) from None


def _time(date: str) -> float:
    return datetime.fromisoformat(date).timestamp()
