"""The Embedder: text → a unit vector, stamped with the model that made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import Protocol

import numpy as np
import numpy.typing as npt

from foreword.errors import BadSettings
from foreword.values import dataclass

FloatArray = npt.NDArray[np.float32]

PROVIDERS = ("static", "openai", "ollama", "gemini", "none")


class Purpose(StrEnum):
    """Some models place a question and the text that answers it differently."""

    MEMORY = "memory"
    QUERY = "query"


class Embedder(Protocol):
    @property
    def model(self) -> str:
        """The stamp on every vector; differs whenever the vector space differs, so spaces are never mixed."""
        ...

    @property
    def dims(self) -> int:
        """Length of a vector; 0 until a remote model has answered once."""
        ...

    @property
    def local(self) -> bool:
        """True: microseconds and no network, so it may run inside a write."""
        ...

    def embed(
        self, texts: Sequence[str], *, purpose: Purpose = Purpose.MEMORY, deadline_ms: int | None = None
    ) -> FloatArray:
        """One row per text, in order, float32, of length one or all zeros. Raises ProviderError."""
        ...


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    provider: str = field(
        default="static",
        metadata={
            "help": "Who turns text into vectors: static (offline), openai, ollama, gemini, or none.",
            "choices": ("static", "openai", "ollama", "gemini", "none"),
        },
    )
    model: str = field(default="", metadata={"help": "Name of the remote model; empty takes the provider's default."})
    url: str = field(default="", metadata={"help": "Base address of the remote API; empty takes the provider's own."})
    key_env: str = field(
        default="",
        metadata={"help": "Name of the environment variable that holds the API key, never the key itself."},
    )
    dims: int = field(
        default=0, metadata={"help": "Vector length to ask a remote model for; 0 takes the model's default."}
    )
    deadline_ms: int = field(
        default=300, metadata={"help": "Longest wait for a remote model; after it, words answer alone."}
    )
    batch: int = field(default=64, metadata={"help": "Most texts sent to a remote model in one request.", "min": 1})


def open_embedder(settings: EmbedderSettings, environ: Mapping[str, str]) -> Embedder | None:
    """The embedder the settings ask for, or None for "none". Reads no file and opens no connection yet.

    Raises BadSettings for a setting that cannot be used, ProviderError when the key a provider needs is not set.
    """
    if settings.provider not in PROVIDERS:
        raise BadSettings(
            f"embedder.provider is {settings.provider!r}, which is not a provider.",
            hint=f"Choose one of: {', '.join(PROVIDERS)}.",
        )
    if settings.provider == "none":
        return None
    if settings.provider == "static":
        from foreword.providers.static import shipped

        return shipped()
    for name, value, least in (
        ("dims", settings.dims, 0),
        ("deadline_ms", settings.deadline_ms, 1),
        ("batch", settings.batch, 1),
    ):
        if value < least:
            raise BadSettings(f"embedder.{name} is {value}.", hint=f"It must be at least {least}.")
    # Imported here: the offline default never pays for the remote code.
    from foreword.providers.remote import open_remote

    return open_remote(settings, environ)
