"""The Writer: instructions and material → text, by a model outside Foreword. None is asked unless it is configured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Protocol

from foreword.errors import BadSettings
from foreword.values import dataclass

PROVIDERS = ("none", "ollama", "openai")


class Writer(Protocol):
    @property
    def name(self) -> str:
        """Who writes, as drafts tell it."""
        ...

    def write(self, instructions: str, material: str) -> str:
        """The model's answer. Raises ProviderError, also where the cap of this run would be passed."""
        ...


@dataclass(frozen=True, slots=True)
class WriterSettings:
    provider: str = field(
        default="none",
        metadata={
            "help": "Who drafts wisdom and TOOLS_COMPACT.md: none (the files' own words), ollama, or openai for any"
            " compatible endpoint.",
            "choices": PROVIDERS,
        },
    )
    model: str = field(default="", metadata={"help": "Name of the writing model; empty takes the provider's default."})
    endpoint: str = field(
        default="", metadata={"help": "Base address of its chat API, with `/v1`; empty takes the provider's own."}
    )
    key_env: str = field(
        default="",
        metadata={"help": "Name of the environment variable that holds its API key, never the key itself."},
    )
    deadline_ms: int = field(default=120_000, metadata={"help": "Longest wait for one answer of it.", "min": 1})
    max_tokens_per_run: int = field(
        default=20_000,
        metadata={
            "help": "The most tokens that one command may send and receive; past it, nothing is asked.",
            "min": 1,
        },
    )


def open_writer(settings: WriterSettings, environ: Mapping[str, str]) -> Writer | None:
    """The writer the settings ask for, or None. Opens no connection yet. Raises BadSettings and ProviderError."""
    if settings.provider not in PROVIDERS:
        raise BadSettings(
            f"writer.provider is {settings.provider!r}, which is not a provider.",
            hint=f"Choose one of: {', '.join(PROVIDERS)}.",
        )
    if settings.provider == "none":
        return None
    # Imported here: who has no writer never pays for the network code.
    from foreword.providers.chat import open_chat

    return open_chat(settings, environ)
