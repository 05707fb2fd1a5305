"""The public data sets that the benchmarks read, as asks against homes filled through the engine. `--data` names a
folder that holds one or several of them; a set's folder may be named with or without `-dev`."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from foreword import Event, Foreword, Origin, Settings

DAY_S = 86_400.0


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
                    session=f"agent:main:{key}",
                    origin=roles.get(speaker, Origin.OWNER),
                    sender="" if speaker in roles else speaker,
                    source_id=source_id,
                    at=start + place,
                )

    @contextmanager
    def filled(self, folder: Path) -> Iterator[Foreword]:
        """The history in a home of its own below `folder`; made once, then only opened."""
        home = folder / self.id
        made = (home / "made").exists()
        latest = max((question.at for question in self.questions), default=0.0)
        with Foreword.open(home, settings=Settings(), clock=lambda: latest) as foreword:
            if not made:
                for _ in foreword.record_all(self.events()):
                    pass
                (home / "made").touch()
            yield foreword


def find(data: Path, name: str) -> Path | None:
    """The folder of a set below (or at) `data`."""
    for folder in (data / name, data / f"{name}-dev", data):
        if folder.is_dir() and folder.name.removesuffix("-dev") == name:
            return folder
    return None


def longmemeval(folder: Path) -> list[Haystack]:
    sessions: dict[str, list[list[str]]] = {}
    with gzip.open(folder / "sessions.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            session = json.loads(line)
            sessions[session["id"]] = session["turns"]
    haystacks = []
    for one in _json_lines(folder / "questions.jsonl"):
        question = Question(
            one["id"],
            one["question"],
            one["type"],
            _time(one["asked"]),
            frozenset(one["evidence"]),
            one["answerable"],
            str(one["answer"]),
        )
        told = [
            (key, _time(date), [(role, text, f"{key}/{place}") for place, (role, text) in enumerate(sessions[key])])
            for key, date in one["haystack"]
        ]
        haystacks.append(Haystack(f"longmemeval-{one['id']}", told, (question,)))
    return haystacks


def locomo(folder: Path) -> list[Haystack]:
    haystacks = []
    for one in json.loads((folder / "conversations.json").read_text("utf-8")):
        told = [
            (
                session["id"],
                _time(session["date"]),
                [(turn["speaker"], turn["text"], turn["id"]) for turn in session["turns"]],
            )
            for session in one["sessions"]
        ]
        asked = told[-1][1] + DAY_S
        questions = tuple(
            Question(
                item["id"],
                str(item["question"]),
                item["category"],
                asked,
                frozenset(item["evidence"]),
                answerable=bool(item["evidence"]) and item["category"] != "adversarial",
            )
            for item in one["questions"]
        )
        haystacks.append(Haystack(f"locomo-{one['id']}", told, questions))
    return haystacks


def silence(folder: Path) -> list[tuple[str, str]]:
    """(kind, text) of asks that deserve no memory."""
    return [(one["kind"], one["text"]) for one in _json_lines(folder / "asks.jsonl")]


def _json_lines(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def _time(date: str) -> float:
    return datetime.fromisoformat(date).timestamp()
