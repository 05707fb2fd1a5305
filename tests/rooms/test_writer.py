"""The writer against a real server that speaks an OpenAI-compatible chat API, and misspeaks it."""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from foreword.errors import BadSettings, ProviderError
from foreword.providers import WriterSettings, open_writer
from tests.rooms.test_embedder_http import Request, send, serving

KEY = "sk-very-secret-0123456789"


def says(text: Any, **more: Any) -> Any:
    def reply(request: Request, handler: BaseHTTPRequestHandler) -> None:
        send(handler, {"choices": [{"message": {"role": "assistant", "content": text}}], **more})

    return reply


def settings(url: str, **more: Any) -> WriterSettings:
    return WriterSettings(**{"provider": "openai", "endpoint": f"{url}/v1", "model": "scribe", **more})


@pytest.mark.proves("T6")
def test_a_writer_sends_instructions_and_material_apart_and_answers_with_the_text() -> None:
    with serving(says("1: Ask early")) as api:
        writer = open_writer(settings(api.url, key_env="WRITER_KEY"), {"WRITER_KEY": KEY})
        assert writer is not None
        assert writer.write("be short", "the lessons") == "1: Ask early"
        assert writer.name == "scribe"
    (seen,) = api.seen
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.body["model"] == "scribe"
    assert [one["content"] for one in seen.body["messages"]] == ["be short", "the lessons"]
    assert seen.body["messages"][0]["role"] == "system"


@pytest.mark.proves("B9")
def test_no_writer_is_opened_unless_one_is_configured() -> None:
    assert open_writer(WriterSettings(), {}) is None


@pytest.mark.proves("B9")
def test_a_run_never_passes_its_cap_and_nothing_is_sent_that_would() -> None:
    with serving(says("short", usage={"total_tokens": 90})) as api:
        writer = open_writer(settings(api.url, max_tokens_per_run=100), {})
        assert writer is not None
        assert writer.write("be short", "the lessons") == "short"
        assert api.seen[0].body["max_tokens"] < 100
        with pytest.raises(ProviderError, match="10 are left for this run"):
            writer.write("be short", "the lessons " * 10)
    assert len(api.seen) == 1


def test_ollama_is_asked_at_its_own_address_without_a_key() -> None:
    writer = open_writer(WriterSettings(provider="ollama", model="qwen", deadline_ms=1), {})
    assert writer is not None
    with pytest.raises(ProviderError, match="writing model ollama"):
        writer.write("a", "b")


def test_a_key_that_is_needed_and_not_there_is_named() -> None:
    with pytest.raises(ProviderError, match="OPENAI_API_KEY"):
        open_writer(WriterSettings(provider="openai"), {})


@pytest.mark.parametrize("url", ["ftp://example.net", "http://user:pw@example.net", "http://[", "example"])
def test_an_address_that_cannot_be_used_is_refused_with_the_setting_s_name(url: str) -> None:
    with pytest.raises(BadSettings, match=r"writer\.endpoint"):
        open_writer(WriterSettings(provider="ollama", endpoint=url), {})


def test_an_unknown_provider_is_refused() -> None:
    with pytest.raises(BadSettings, match="none, ollama, openai"):
        open_writer(WriterSettings(provider="oracle"), {})


@pytest.mark.parametrize("answer", [{}, [], "text", {"choices": []}, {"choices": [{"message": {"content": None}}]}])
def test_an_answer_of_another_shape_is_a_provider_error_without_the_key(answer: Any) -> None:
    with serving(lambda request, handler: send(handler, answer)) as api:
        writer = open_writer(settings(api.url, key_env="WRITER_KEY"), {"WRITER_KEY": KEY})
        assert writer is not None
        with pytest.raises(ProviderError) as caught:
            writer.write("be short", "my private diary")
    assert KEY not in str(caught.value)
    assert "diary" not in str(caught.value)


def test_an_empty_answer_and_a_refusal_are_told() -> None:
    with serving(says("  ")) as api:
        writer = open_writer(settings(api.url), {})
        assert writer is not None
        with pytest.raises(ProviderError, match="nothing"):
            writer.write("a", "b")
    with serving(lambda request, handler: send(handler, {}, 401)) as api:
        writer = open_writer(settings(api.url), {})
        assert writer is not None
        with pytest.raises(ProviderError, match=r"writer\.key_env"):
            writer.write("a", "b")
