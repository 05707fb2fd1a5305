"""What people commonly speak of with an assistant, as directions in the offline embedder's space: the file that
`foreword.recall.themes` reads. `python -m tools.themes --data PATH/longmemeval`.

What persons said in LongMemEval's sessions (MIT) is embedded, and k-means finds the middles of what lies together. No
question, answer or label is read. The same in gives the same out.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

import numpy as np
import numpy.typing as npt

from foreword.providers import StaticEmbedder
from foreword.recall import passages
from foreword.recall.themes import FILE

Floats = npt.NDArray[np.float32]

COUNT = 1024
ROUNDS = 8
_AT_ONCE = 4096


def said(folder: Path, embedder: StaticEmbedder) -> Floats:
    """The vectors of everything that persons said."""
    with gzip.open(folder / "sessions.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [
            passage
            for line in lines
            for role, text in json.loads(line)["turns"]
            if role == "user"
            for passage in passages(text)
        ]
    vectors = embedder.embed(texts)
    return vectors[vectors.any(axis=1)]


def middles(vectors: Floats, *, count: int = COUNT, rounds: int = ROUNDS, seed: int = 0) -> Floats:
    """Spherical k-means; a middle that nothing is closest to stays where it was."""
    found = vectors[np.random.default_rng(seed).choice(len(vectors), count, replace=False)]
    for _ in range(rounds):
        closest = np.concatenate(
            [(vectors[start : start + _AT_ONCE] @ found.T).argmax(axis=1) for start in range(0, len(vectors), _AT_ONCE)]
        )
        sums = np.zeros_like(found)
        np.add.at(sums, closest, vectors)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        found = np.where(lengths > 0, sums / np.maximum(lengths, 1e-9), found)
    return found


def write(file: Path, folder: Path, embedder: StaticEmbedder) -> None:
    """Makes the file from the sessions in `folder`."""
    themes = middles(said(folder, embedder))
    scales = np.abs(themes).max(axis=1) / 127
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as out:
        np.save(out, np.frombuffer(embedder.model.encode("ascii"), np.uint8))
        np.save(out, np.round(themes / scales[:, None]).astype(np.int8))
        np.save(out, scales.astype(np.float32))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with LongMemEval's sessions.jsonl.gz")
    parser.add_argument("--out", type=Path, default=FILE, help="file for the themes")
    chosen = parser.parse_args()
    write(chosen.out, chosen.data, StaticEmbedder())


if __name__ == "__main__":
    main()
