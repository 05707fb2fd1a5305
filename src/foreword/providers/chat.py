"""A writer behind an OpenAI-compatible chat endpoint."""

from __future__ import annotations

import time
from collections.abc import Mapping

from foreword.errors import ProviderError
from foreword.providers.api import Api, Names, endpoint_of, key_in
from foreword.providers.writer import WriterSettings

_NAMES = Names(role="writing model", section="writer", address="endpoint", serves="an OpenAI-compatible chat API")
# Where each provider is, what it is asked for, and the variable that holds its key.
_DEFAULTS = {
    "ollama": ("http://127.0.0.1:11434/v1", "llama3.2", ""),
    "openai": ("https://api.openai.com/v1", "gpt-4o-mini", "OPENAI_API_KEY"),
}
# A token is seldom less than three characters; the cap holds before anything is sent.
_CHARS_PER_TOKEN = 3


def open_chat(settings: WriterSettings, environ: Mapping[str, str]) -> ChatWriter:
    """Raises BadSettings for an address that cannot be used, ProviderError when the key is needed and not there."""
    url, model, variable = _DEFAULTS[settings.provider]
    key = key_in(environ, settings.key_env or ("" if settings.endpoint else variable), settings.provider, _NAMES)
    api = Api(
        names=_NAMES,
        provider=settings.provider,
        endpoint=endpoint_of(settings.endpoint or url, _NAMES),
        headers={"Authorization": f"Bearer {key}"} if key else {},
    )
    return ChatWriter(api, settings.model or model, settings.deadline_ms, settings.max_tokens_per_run)


class ChatWriter:
    """An OpenAI-compatible chat endpoint. One of these is one run: what it sent and received is counted."""

    def __init__(self, api: Api, model: str, deadline_ms: int, max_tokens: int) -> None:
        self._api = api
        self._model = model
        self._deadline_ms = deadline_ms
        self._left = max_tokens

    @property
    def name(self) -> str:
        return self._model

    def write(self, instructions: str, material: str) -> str:
        asked = len(instructions + material) // _CHARS_PER_TOKEN
        if asked >= self._left:
            raise ProviderError(
                f"About {asked:,} tokens would be sent to {self._model}, and {self._left:,} are left for this run.",
                hint="Raise writer.max_tokens_per_run.",
            )
        answer = self._api.ask(
            "/chat/completions",
            {
                "model": self._model,
                "messages": [
                    {"role": "system", "content": instructions},
                    {"role": "user", "content": material},
                ],
                "temperature": 0,
                "max_tokens": self._left - asked,
                "stream": False,
            },
            time.monotonic() + self._deadline_ms / 1000,
        )
        try:
            text = answer["choices"][0]["message"]["content"]
            used = (answer.get("usage") or {}).get("total_tokens") or asked + len(text) // _CHARS_PER_TOKEN
            self._left -= int(used)
        except (LookupError, TypeError, ValueError, AttributeError):
            raise self._api.error("answered in a shape that is not a chat's", self._api.check_address) from None
        if not isinstance(text, str) or not text.strip():
            raise self._api.error("answered with nothing")
        return text
