"""The one token counter against two real vocabularies, snippets, and caps that nothing exceeds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rs_bpe.bpe import openai

from foreword.compose import ComposeSettings, compact, count_tokens, hot, stable
from foreword.compose.budget import snippet
from foreword.compose.layers import ALREADY_SAID
from foreword.model import Candidate, Judged, Kind, Memory, Origin, Style

SAMPLES = {
    "prose": """We moved the nursery upstairs in the spring, mostly because the old room caught the noise of the street.
My sister painted the ceiling a pale green and hung the lamp she had kept from our grandmother's kitchen. The dog was
not consulted and took it badly: for a week he slept in the hallway with his nose against the door. By June everybody
had forgotten that the house had ever been arranged in another way, and the old room had become a place for bicycles,
jam jars and the suitcase that nobody wants to throw away. If you visit, ring twice; the bell is quiet.""",
    "technical": """\
The scheduler keeps one queue per worker and steals from the longest when its own is empty. Retries are
exponential with jitter, capped at thirty seconds, and a job that fails five times goes to the dead-letter table with
its stack trace. We decided against a global lock after measuring contention: at 64 workers the median wait was 11.4 ms
and the 99th percentile 240 ms. Configuration lives in scheduler.toml; the defaults are safe for a laptop.""",
    "python": '''def merge(left: list[int], right: list[int]) -> list[int]:
    """Two sorted lists into one."""
    merged: list[int] = []
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            merged.append(left[i])
            i += 1
        else:
            merged.append(right[j])
            j += 1
    return merged + left[i:] + right[j:]


class Harbour:
    def __init__(self, berths: int = 12) -> None:
        self._free = set(range(berths))

    def dock(self, ship_name: str) -> int:
        if not self._free:
            raise RuntimeError(f"no berth for {ship_name!r}")
        return self._free.pop()
''',
    "typescript": """export async function loadProfile(userId: string): Promise<Profile | undefined> {
  const response = await fetch(`${baseUrl}/v2/profiles/${encodeURIComponent(userId)}`, { signal: timeout(1500) });
  if (response.status === 404) return undefined;
  if (!response.ok) throw new HttpError(response.status, await response.text());
  const { name, email, preferences = {} } = (await response.json()) as RawProfile;
  return { name, email, preferences: { theme: "dark", ...preferences } };
}
""",
    "markdown": """# Release checklist

1. **Freeze** the branch and tag `v2.4.0-rc1`.
2. Run the migration rehearsal (see [runbook](docs/runbooks/migrate.md)).
3. Compare the dashboards:

| metric | before | after |
|---|---|---|
| p50 latency | 38 ms | 31 ms |
| error rate | 0.02 % | 0.01 % |

- [x] changelog written
- [ ] screenshots updated

> Never deploy on a Friday afternoon.
""",
    "log": """2026-03-04T09:15:22.481Z INFO  gateway: request id=7f3a9c path=/api/v1/orders status=200 ms=42
2026-03-04T09:15:22.977Z WARN  gateway: retry id=7f3a9d upstream=inventory-3 attempt=2
2026-03-04T09:15:23.102Z ERROR worker[18]: KeyError: 'sku' at /srv/app/stock.py:118
""",
    "german": """\
Im Herbst haben wir die Wohnung in der Lindenstraße gekündigt und sind aufs Land gezogen. Die Umzugsfirma
brauchte drei Tage, weil das Klavier nicht durch das Treppenhaus passte und über den Balkon abgeseilt werden musste.
Meine Großmutter schickte Pflaumenkuchen und ein Verzeichnis aller Handwerker, denen sie vertraut. Seitdem heizen wir
mit Holz, und die Kinder behaupten, die Sterne seien hier größer.""",
    "french": """\
Nous avons décidé de repousser la réunion à jeudi, parce que l'équipe de Lyon n'aura pas reçu les chiffres
avant mercredi soir. Hélène préparera un résumé d'une page, et chacun apportera ses questions par écrit.""",
    "russian": """\
Мы перенесли встречу на четверг, потому что отчёт ещё не готов. Ольга обещала прислать таблицу вечером,
а Павел забронирует переговорную на третьем этаже.""",
    "chinese": """我们决定把数据库迁移推迟到下个星期三，因为备份还没有验证。小李负责准备回滚方案，王芳会通知客户。
如果周二之前测试没有通过，就再等一个星期。""",
    "japanese": """来週の会議は木曜日の午後三時に変更になりました。資料は前日までに共有フォルダーに入れてください。
田中さんが議事録を担当し、佐藤さんは新しい見積もりを説明します。""",
    "korean": """다음 주 회의는 목요일 오후 세 시로 변경되었습니다. 자료는 전날까지 공유 폴더에 올려 주세요.
김 대리가 회의록을 맡고 박 과장이 새 견적을 설명합니다.""",
    "emoji": "Great work everyone 🎉🎉 the launch went well 🚀 — thanks to Ana 👩‍💻 and the crew 🌙✨ until Monday",
    "base64": "c2FtcGxlIHRleHQgd2l0aCBubyBtZWFuaW5nIGF0IGFsbCwganVzdCB0byBiZSBjb3VudGVkIGJ5IGEgdG9rZW5pemVy",
}

# Estimate over truth, measured on the samples above: (o200k low, high), (cl100k low, high).
MEASURED = {
    "prose": ((1.0, 1.15), (1.0, 1.15)),
    "technical": ((0.95, 1.1), (0.95, 1.1)),
    "python": ((1.0, 1.35), (1.0, 1.35)),
    "typescript": ((1.0, 1.35), (1.0, 1.35)),
    "markdown": ((1.0, 1.25), (1.0, 1.25)),
    "log": ((0.95, 1.15), (0.95, 1.15)),
    "german": ((0.85, 1.3), (0.7, 1.3)),
    "french": ((0.9, 1.3), (0.85, 1.3)),
    "russian": ((0.9, 1.7), (0.9, 1.7)),
    "chinese": ((0.9, 1.9), (0.9, 1.9)),
    "japanese": ((0.9, 1.8), (0.9, 1.8)),
    "korean": ((0.9, 1.6), (0.9, 1.6)),
    "emoji": ((0.9, 1.3), (0.9, 1.3)),
    # Known to be too low: nothing in a string of nonsense tells how a vocabulary will cut it.
    "base64": ((0.4, 1.3), (0.4, 1.3)),
}
VOCABULARIES = (openai.o200k_base(), openai.cl100k_base())


@pytest.mark.parametrize("name", SAMPLES)
def test_the_count_is_close_to_what_models_read(name: str) -> None:
    for vocabulary, (low, high) in zip(VOCABULARIES, MEASURED[name], strict=True):
        assert low <= count_tokens(SAMPLES[name]) / vocabulary.count(SAMPLES[name]) <= high


def test_english_prose_code_and_markdown_are_never_counted_more_than_a_tenth_too_low() -> None:
    for name in ("prose", "technical", "python", "typescript", "markdown", "log"):
        for vocabulary in VOCABULARIES:
            assert count_tokens(SAMPLES[name]) >= 0.9 * vocabulary.count(SAMPLES[name])


def test_nothing_counts_nothing() -> None:
    assert count_tokens("") == 0
    assert count_tokens("a") == 1


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=300), more=st.text(max_size=50))
def test_a_longer_text_never_counts_less(text: str, more: str) -> None:
    assert count_tokens(f"{text}\n{more}") >= count_tokens(text) >= 0
    assert count_tokens(text) == count_tokens(text)


# Snippets


WORDS = st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=30), max_size=200).map(" ".join)


@pytest.mark.proves("D6")
@settings(max_examples=300, deadline=None)
@given(text=WORDS, terms=st.lists(st.text(max_size=5), max_size=5), max_chars=st.integers(0, 900))
def test_a_snippet_is_never_longer_than_it_may_be(text: str, terms: list[str], max_chars: int) -> None:
    short = snippet(text, tuple(terms), max_chars)
    assert len(short) <= max_chars
    if len(text.strip()) <= max_chars:
        assert short == text.strip()
    assert short.removeprefix("… ").removesuffix(" …") in text


def test_a_snippet_shows_the_stretch_that_answers() -> None:
    text = (
        "Weather was fine. " * 100 + "The spare key hangs behind the blue barrel in the cellar. " + "Rain later. " * 100
    )
    short = snippet(text, ("key", "barrel", "cellar"), 200)
    assert "spare key hangs behind the blue barrel in the cellar" in short
    assert short.startswith("… ")
    assert short.endswith(" …")


def test_a_snippet_without_terms_is_the_beginning() -> None:
    assert snippet("alpha beta " * 100, (), 50).startswith("alpha beta")
    assert snippet("x" * 500, (), 50).startswith("x" * 40), "a text without a space is cut all the same"


# Whole briefs within their caps


NASTY = st.text(st.characters(codec="utf-8"), max_size=200) | st.sampled_from(
    ["<" * 300, "&&&&" * 100, "long " * 400, "行" * 500, "a\n" * 400, "😀" * 200, "x" * 2000, "# head\n> quote\n```\n"]
)
MEMORIES = st.lists(
    st.builds(
        Memory,
        text=NASTY.filter(str.strip),
        kind=st.sampled_from(Kind),
        origin=st.sampled_from(Origin),
        sender=st.text(max_size=20),
        session=st.text(max_size=20),
        title=st.text(max_size=150),
        type=st.text(max_size=10),
        concepts=st.lists(st.text(max_size=20), max_size=3).map(tuple),
        decisions=st.lists(st.text(max_size=60), max_size=3).map(tuple),
        at=st.floats(0, 4e9),
        tokens=st.integers(0, 10_000),
        row=st.integers(1, 10**9),
    ),
    max_size=8,
    unique_by=lambda memory: memory.row,
)
CAPS = st.builds(
    ComposeSettings,
    style=st.sampled_from(Style),
    max_memories=st.integers(0, 5),
    max_hot_tokens=st.integers(0, 500),
    max_snippet_chars=st.integers(0, 900),
    max_hot_chars=st.integers(0, 4000),
    max_context_tokens=st.integers(0, 600),
    max_index_entries=st.integers(0, 10),
    max_summaries=st.integers(0, 4),
)


def chosen(memories: list[Memory], *terms: str) -> list[Judged]:
    return [Judged(Candidate(memory, 1.0, terms=terms), 0.9, True, "") for memory in memories]


@pytest.mark.proves("D6")
@settings(max_examples=150, deadline=None)
@given(memories=MEMORIES, caps=CAPS)
def test_a_hot_brief_never_exceeds_its_caps_in_any_style(memories: list[Memory], caps: ComposeSettings) -> None:
    brief = hot(chosen(memories), (), caps)
    assert len(brief.text) <= caps.max_hot_chars
    assert brief.tokens == count_tokens(brief.text) <= caps.max_hot_tokens
    assert len(brief.memories) <= caps.max_memories
    assert bool(brief.text) == bool(brief.memories), "no wrapper around nothing"
    assert bool(brief.text) != bool(brief.reason), "silence says why"
    shown, left_out = {memory.id for memory in brief.memories}, {one for one, _ in brief.left_out}
    assert shown | left_out == {memory.id for memory in memories}, "each is shown, or its absence explained"
    assert not shown & left_out


@pytest.mark.proves("P1")
@settings(max_examples=100, deadline=None)
@given(memories=MEMORIES, caps=CAPS)
def test_the_stable_and_compacted_parts_never_exceed_their_budget(
    memories: list[Memory], caps: ComposeSettings
) -> None:
    summaries = [memory for memory in memories if memory.kind is Kind.SUMMARY]
    entries = [memory for memory in memories if memory.kind is not Kind.SUMMARY]
    for composed, budget in (
        (stable(summaries, entries, caps), caps.max_context_tokens),
        (compact(summaries, entries, caps), caps.max_context_tokens // 2),
    ):
        assert composed.tokens == count_tokens(composed.text) <= budget
        assert bool(composed.text) == bool(composed.memories)
        assert bool(composed.text) != bool(composed.reason)


@pytest.mark.proves("D6")
def test_three_memories_of_eight_hundred_characters_are_the_most_by_default() -> None:
    memories = [Memory("word " * 1000, row=row) for row in range(1, 9)]
    brief = hot(chosen(memories), (), ComposeSettings(max_hot_tokens=10_000))
    assert [memory.row for memory in brief.memories] == [1, 2, 3]
    assert len(brief.text) <= 4000
    assert max(map(len, brief.text.splitlines())) < 900


def test_a_memory_that_does_not_fit_whole_is_cut_before_it_is_dropped() -> None:
    long = Memory("The ferry leaves at noon from the northern pier. " * 40, row=1)
    brief = hot(chosen([long], "ferri"), (), ComposeSettings(max_hot_tokens=100))
    assert "ferry leaves at noon" in brief.text
    assert brief.tokens <= 100


def test_a_short_memory_still_goes_in_after_one_that_did_not_fit() -> None:
    huge, tiny = Memory("行" * 3000, row=1), Memory("Tea at four.", row=2)
    brief = hot(chosen([huge, tiny]), (), ComposeSettings(max_hot_tokens=80))
    assert [memory.row for memory in brief.memories] == [2]
    assert brief.left_out == [("m1", "no room left in the budget")]


def test_what_was_said_in_this_conversation_is_not_said_again() -> None:
    memories = [Memory("one", row=1), Memory("two", row=2)]
    brief = hot(chosen(memories), {1}, ComposeSettings())
    assert [memory.row for memory in brief.memories] == [2]
    assert brief.left_out == [("m1", ALREADY_SAID)]
    nothing = hot(chosen(memories), {1, 2}, ComposeSettings())
    assert (nothing.text, nothing.reason) == ("", "everything worth saying is already in this conversation")


@pytest.mark.proves("L3")
@pytest.mark.parametrize("style", Style)
def test_nothing_chosen_is_nothing_at_all(style: Style) -> None:
    caps = ComposeSettings(style=style)
    assert [part.text for part in (hot([], (), caps), stable([], [], caps), compact([], [], caps))] == ["", "", ""]


@pytest.mark.proves("P1")
def test_summaries_come_first_and_one_that_does_not_fit_ends_them() -> None:
    summaries = [Memory(text, Kind.SUMMARY, session=text[:3], row=row) for row, text in enumerate(
        ["first summary", "second " * 400, "third summary"], 1)]  # fmt: skip
    entries = [Memory("a note", Kind.NOTE, row=9)]
    composed = stable(summaries, entries, ComposeSettings(max_context_tokens=200))
    assert [memory.row for memory in composed.memories] == [1, 9]
    assert composed.text.index("first summary") < composed.text.index("a note")


@pytest.mark.proves("P3")
def test_compaction_takes_half_the_budget_three_sessions_and_ten_entries() -> None:
    summaries = [Memory(f"summary {row}", Kind.SUMMARY, session=f"s{row}", row=row) for row in range(1, 6)]
    entries = [Memory(f"entry {row}", Kind.OBSERVATION, session="s", row=row) for row in range(10, 30)]
    composed = compact(summaries, entries, ComposeSettings(max_context_tokens=4000))
    lines = composed.text.splitlines()
    assert lines[0] == "Recent sessions:"
    assert lines[4] == "Recent observations (10 entries):"
    assert len(lines) == 1 + 3 + 1 + 10 + 1
    tight = compact(summaries, entries, ComposeSettings(max_context_tokens=100))
    assert 0 < tight.tokens <= 50


@pytest.mark.proves("P1")
@pytest.mark.parametrize("style", Style)
def test_a_session_s_index_is_never_longer_than_a_host_takes(style: Style) -> None:
    entries = [Memory(f"An entry about bees 🐝 {'and more ' * 30}", Kind.NOTE, row=row) for row in range(1, 400)]
    caps = ComposeSettings(style=style, max_context_tokens=100_000, max_index_entries=400)
    composed = stable([], entries, caps)
    assert 9_000 < len(composed.text.encode("utf-16-le")) // 2 <= 10_000
    assert len(composed.memories) < len(entries)
