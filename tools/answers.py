"""Asks with what answers them and with what only looks like it, for the reader's second lesson (`tools/reader.py`).

Some are made up: a statement is turned into a question (`tools/questions.py`), which the statement answers, and what
others said in words like it does not. The others are of BEAM, a benchmark of long conversations (CC BY-SA 4.0): its
questions about what was said, with the messages that answer them, and what recall finds for them in other people's
conversations, which does not. Each text is cut as a turn would read it. Some of both are put in a few words, as by
somebody in a hurry.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import Stemmer
from bench.fit_gate import short
from bench.histories import pool
from bench.sets import Haystack

from foreword import Settings
from foreword.gate import GatePolicy
from foreword.providers import StaticEmbedder
from foreword.recall import densest, excerpt, understand
from foreword.recall.words import STOP_WORDS
from tools import asks
from tools.asks import Asked, Windows
from tools.questions import NAMES

SEED = 7
MADE_UP_ASKS, SILENT_ASKS, APART = 20_000, 800, 4000
# The share of the asks made up that are put in a few words, and in how many.
IN_A_HURRY = 0.2
HURRIED_WORDS = (2, 3, 4)
# Of the windows that look most like an ask: all of the first, some of the rest.
LOOK_ALIKE, CLOSEST, FARTHER = 40, 4, 2
# What vectors say counts beside what words say.
BY_VECTORS = 0.8
# The three rarest words of an ask have to single out this much together, in nats: who asks for less is answered by
# anybody.
LEAST_INFORMATION = 11.0
BEAM_SIZES = ("100K", "500K", "1M")
# Questions about what was said, and those for which it matters what somebody likes or has asked for once and for all;
# of the others, summaries are answered by nothing alone and abstentions by nothing at all.
BEAM_KINDS = frozenset(
    "contradiction_resolution event_ordering information_extraction instruction_following knowledge_update"
    " multi_session_reasoning preference_following temporal_reasoning".split()
)
STRANGERS, OWN_READ, FOREIGN_READ = 14, 4, 2
# So many are also asked in a few words.
HURRIED_STRANGERS = 5
# Evidence that recall does not find is read all the same, so that each question has this much.
LEAST_EVIDENCE = 2
_MARK = re.compile(r"\s*->->.*$", re.DOTALL)
_WORD = re.compile(r"[a-z0-9']+")


class Labelled(NamedTuple):
    """`idle` where nothing could be an answer: the ask deserves none, or the text has nothing to do with it."""

    ask: str
    text: str
    answers: bool
    idle: bool = False


@cache
def _stemmer() -> Any:
    return Stemmer.Stemmer("english")


def _stems(text: str) -> set[str]:
    return set(_stemmer().stemWords([word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS]))


class Rarity:
    """How much a word tells, by how many of the windows hold it."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._size = len(texts)
        self._held = Counter(stem for text in texts for stem in _stems(text))

    def of(self, stem: str) -> float:
        return math.log(1 + self._size / (1 + self._held[stem]))

    def telling(self, ask: str) -> bool:
        """Whether an ask singles something out."""
        most = sorted(map(self.of, _stems(ask)), reverse=True)
        return len(most) > 1 and sum(most[:3]) >= LEAST_INFORMATION


def made_up(data: Path, silence: Path, embedder: StaticEmbedder) -> list[Labelled]:
    """Asks made up from what was said, with what answers them and what looks like it, and asks that deserve nothing,
    which nothing answers."""
    dice = random.Random(SEED)
    windows = asks.cut_windows(asks.sessions(data), embedder, dice)
    rarity, phrases = Rarity(windows.texts), asks.Phrases(embedder, dice)
    told = [place for place, text in enumerate(windows.texts) if asks.OF_ONESELF.search(text)]
    made: list[Asked] = []
    while len(made) < MADE_UP_ASKS:
        place = dice.choice(told)
        ask = asks.about(windows.texts[place], windows.texts[dice.choice(told)], phrases, dice)
        if ask and dice.random() < IN_A_HURRY:
            ask = hurried(ask, dice)
        if ask and rarity.telling(ask):
            made.append(asks.of(ask, place, dice))
    made += [Asked(text) for text in dice.sample(asks.silent(silence), SILENT_ASKS)]
    return list(of_windows(made, windows, embedder, rarity, dice))


def of_windows(
    asked: Sequence[Asked], windows: Windows, embedder: StaticEmbedder, rarity: Rarity, dice: random.Random
) -> Iterator[Labelled]:
    """Every ask with the window it was made from, if any, which answers it, and with those of other sessions that look
    most like it by words and vectors, which do not."""
    holders: dict[str, list[int]] = {}
    for place, text in enumerate(windows.texts):
        for stem in _stems(text):
            holders.setdefault(stem, []).append(place)
    for start in range(0, len(asked), 256):
        some = asked[start : start + 256]
        near = embedder.embed([one.text for one in some]) @ windows.vectors.T
        for one, closeness in zip(some, near, strict=True):
            # In one order always, or sums would differ in their last digits from run to run.
            weights = {stem: rarity.of(stem) for stem in sorted(_stems(one.text)) if stem in holders}
            shares = np.zeros(len(windows.texts), np.float32)
            for stem, weight in weights.items():
                shares[holders[stem]] += weight / sum(weights.values())
            yield from _beside(one, shares + BY_VECTORS * closeness, windows, dice)


def _beside(one: Asked, alike: npt.NDArray[np.float32], windows: Windows, dice: random.Random) -> Iterator[Labelled]:
    own = -1 if one.source is None else windows.sessions[one.source]
    close = np.argpartition(-alike, 2 * LOOK_ALIKE)[: 2 * LOOK_ALIKE]
    others = [int(place) for place in close[np.argsort(-alike[close])] if windows.sessions[place] != own][:LOOK_ALIKE]
    chosen = others[:CLOSEST] + dice.sample(others[CLOSEST:], min(FARTHER, len(others[CLOSEST:])))
    for place in ([] if one.source is None else [one.source]) + chosen:
        text, answers = windows.texts[place], place == one.source
        if one.name:
            # Who is asked about tells what answers, and as often something else.
            who = one.name if answers or dice.random() < 0.5 else dice.choice(NAMES)
            text = f"{who}: {text}"
        yield Labelled(one.text, text, answers, idle=one.source is None)


def hurried(ask: str, dice: random.Random) -> str:
    """The ask in a few words."""
    return short(ask, dice.choice(HURRIED_WORDS))


def apart(labelled: Sequence[Labelled], count: int = APART) -> list[Labelled]:
    """Asks with texts that belong to others: what looks like an ask is not all that has to be told from an answer."""
    dice = random.Random(SEED)
    return [Labelled(dice.choice(labelled).ask, dice.choice(labelled).text, False, idle=True) for _ in range(count)]


@dataclass(frozen=True, slots=True)
class Chat:
    """A conversation of BEAM as a history, the text of each message, and its questions with what answers them."""

    history: Haystack
    messages: dict[int, tuple[str, str]]
    questions: tuple[tuple[str, frozenset[int]], ...]


def beam(folder: Path) -> tuple[list[Chat], dict[str, Any]]:
    """The conversations below BEAM's `chats`, and what they were made of. Raises SystemExit where there is none."""
    chats, digest = [], hashlib.sha256()
    for size in BEAM_SIZES:
        numbered = [one for one in (folder / size).glob("*") if one.name.isdigit()]
        for home in sorted(numbered, key=lambda one: int(one.name)):
            files = home / "chat.json", home / "probing_questions" / "probing_questions.json"
            if all(file.is_file() for file in files):
                said, asked = (file.read_bytes() for file in files)
                digest.update(said + asked)
                chats.append(_chat(f"beam-{size}-{home.name}", json.loads(said), json.loads(asked)))
    if not chats:
        raise SystemExit(f"{folder} holds no conversation of BEAM: give its folder of chats as --beam")
    return chats, {
        "from": "BEAM, all questions but those for summaries and about what was never said",
        "licence": "CC BY-SA 4.0",
        "according_to": "what others cite of the data set's card; its repository holds no licence",
        "conversations": len(chats),
        "questions": sum(len(one.questions) for one in chats),
        "sha256": digest.hexdigest(),
    }


def _chat(name: str, said: Sequence[dict[str, Any]], asked: dict[str, Sequence[dict[str, Any]]]) -> Chat:
    at = datetime(2024, 1, 1).timestamp()
    sessions, messages = [], {}
    for batch in said:
        began, turns = at, list[tuple[str, str, str]]()
        for message in (one for turn in batch["turns"] for one in turn):
            if anchor := message.get("time_anchor"):
                try:
                    at = datetime.strptime(anchor, "%B-%d-%Y").timestamp()
                except ValueError:
                    print(f"{name}: {anchor!r} is no date, the one before it counts", flush=True)
            began = began if turns else at
            text = _MARK.sub("", message["content"])
            messages[message["id"]] = message["role"], text
            turns.append((message["role"], text, f"{name}/{message['id']}"))
        sessions.append((f"{name}-{batch['batch_number']}", began, turns))
    questions = tuple(
        (one["question"], evidence)
        for kind, ones in asked.items()
        for one in ones
        if kind in BEAM_KINDS and (evidence := frozenset(_ids(one.get("source_chat_ids", []))))
    )
    return Chat(Haystack(name, sessions), messages, questions)


def _ids(told: Any) -> Iterator[int]:
    """Numbers, in lists and in parts that have names."""
    if isinstance(told, int):
        yield told
    elif isinstance(told, str) and told.isdigit():
        yield int(told)
    elif isinstance(told, dict | list):
        for one in told.values() if isinstance(told, dict) else told:
            yield from _ids(one)


def of_beam(chats: Sequence[Chat]) -> list[Labelled]:
    """Every question with the messages of its own conversation that answer it, and with what recall finds first in
    other people's."""
    dice = random.Random(1)
    errands: list[list[tuple[str, frozenset[int]]]] = [[] for _ in chats]
    for own, chat in enumerate(chats):
        others = [other for other in range(len(chats)) if other != own]
        for text, evidence in chat.questions:
            for ask, count in ((text, STRANGERS), (hurried(text, dice), HURRIED_STRANGERS)):
                errands[own].append((ask, evidence))
                for stranger in dice.sample(others, min(count, len(others))):
                    errands[stranger].append((ask, frozenset()))
    with tempfile.TemporaryDirectory() as folder, pool() as processes:
        found = processes.map(_asked_of, chats, errands, [Path(folder)] * len(chats))
        return [one for ones in found for one in ones]


def _asked_of(chat: Chat, errand: Sequence[tuple[str, frozenset[int]]], folder: Path) -> list[Labelled]:
    found: list[Labelled] = []
    with chat.history.filled(folder, Settings(gate=GatePolicy(floor=0.0))) as foreword:
        for ask, evidence in errand:
            read = foreword.search(ask, limit=OWN_READ if evidence else FOREIGN_READ)
            if not evidence:
                found += [Labelled(ask, _cut(ask, one.memory.text), answers=False) for one in read]
                continue
            places = {int(one.memory.source_id.rpartition("/")[2]): one.memory.text for one in read}
            # The message behind one that answers repeats it, mostly.
            right = [place for place in places if place in evidence or place - 1 in evidence]
            texts = [places[place] for place in right]
            missed = (chat.messages[one] for one in sorted(evidence - set(right)) if one in chat.messages)
            texts += [text for role, text in missed if role == "user"][: max(0, LEAST_EVIDENCE - len(texts))]
            found += [Labelled(ask, _cut(ask, text), answers=True) for text in texts]
    shutil.rmtree(folder / chat.history.id)
    return found


def _cut(ask: str, text: str) -> str:
    return excerpt(text, densest(text, [(term.text, term.weight) for term in understand(ask, now=0.0).terms]).start)
