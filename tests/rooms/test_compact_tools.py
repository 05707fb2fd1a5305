"""TOOLS.md → TOOLS_COMPACT.md: what is looked up stays, prose and secrets go, and the budget holds whatever comes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foreword.bootstrap import MAX_TOOLS_TOKENS, Compacted, compact, described, invented, missing, refused
from foreword.compose import count_tokens
from foreword.record import redact
from tests.scaling import is_linear

HOUSEHOLD = """# TOOLS.md - Local Notes

Skills define _how_ tools work. This file is for _your_ specifics — the stuff that's unique to your setup.

## What Goes Here

Things like:

- Camera names and locations
- SSH hosts and aliases

## Examples

```markdown
### SSH

- home-server → 192.168.1.100, user: admin

### TTS

- Preferred voice: "Nova" (warm, slightly British)
```

## Cameras

We put these up in spring, after the second break-in, and they have been a great help ever since.

- porch-cam → front door, motion-triggered
- yard-cam → behind the shed

## Servers

| Host | Address | Port | Notes |
|------|---------|------|-------|
| atlas | 10.0.0.12 | 5433 | the old one that hums at night and should be replaced some day |
| boreas | boreas.lan | 8443 | quiet |

SSH user is `keeper`; the jump host is **gate.example.net:2222** and it wants `-J`.

## Voices

- **Morning voice:** Alba
- **Evening voice:** Bruno (slower, for reading aloud to the children before bed)

## Commands

```bash
# restart the bridge when it hangs
systemctl --user restart bridge.service
backup run --target atlas:/srv/backup --keep 14   # takes an hour
```

- Logs: `~/logs/bridge/current.log`
- Dashboard: <https://status.example.net/board?id=77>
- Chat id: -1001234567890
- Key: stored as `BRIDGE_TOKEN` in the keyring
- Status: works
"""


def hidden(text: str) -> str:
    return redact(text).text


def compacted(source: str, max_tokens: int = MAX_TOOLS_TOKENS) -> Compacted:
    return compact(source, count_tokens=count_tokens, redact=hidden, max_tokens=max_tokens)


def lost(source: str, text: str) -> list[str]:
    return missing(source, text, redact=hidden)


@pytest.mark.proves("T5")
@pytest.mark.parametrize(
    "fact",
    [
        "porch-cam",
        "yard-cam",
        "10.0.0.12",
        "5433",
        "boreas.lan",
        "8443",
        "keeper",
        "gate.example.net:2222",
        "-J",
        "Morning voice: Alba",
        "Evening voice: Bruno",
        "systemctl --user restart bridge.service",
        "backup run --target atlas:/srv/backup --keep 14",
        "~/logs/bridge/current.log",
        "https://status.example.net/board?id=77",
        "-1001234567890",
        "BRIDGE_TOKEN",
    ],
)
def test_every_lookup_fact_of_the_source_is_present(fact: str) -> None:
    assert fact in compacted(HOUSEHOLD).text


@pytest.mark.proves("T5")
def test_sections_are_kept_and_nothing_is_missing_or_invented() -> None:
    found = compacted(HOUSEHOLD)
    for heading in ("Cameras", "Servers", "Voices", "Commands"):
        assert f"## {heading}\n" in found.text
    assert found.tokens == count_tokens(found.text) <= MAX_TOOLS_TOKENS
    assert lost(HOUSEHOLD, found.text) == []
    assert invented(HOUSEHOLD, found.text) == []
    assert found.left_out == []


@pytest.mark.proves("T5")
def test_prose_and_the_host_s_own_template_are_dropped() -> None:
    text = compacted(HOUSEHOLD).text
    for prose in ("spring", "break-in", "unique to your setup", "192.168.1.100", "Nova", "Camera names", "Things like"):
        assert prose not in text


def test_an_example_of_the_template_that_a_person_filled_in_is_a_fact() -> None:
    source = HOUSEHOLD.replace('Preferred voice: "Nova" (warm, slightly British)', "Preferred voice: Celeste")
    assert "Preferred voice: Celeste" in compacted(source).text


@pytest.mark.proves("T5")
def test_no_secret_reaches_the_compact_file_whatever_it_is_called() -> None:
    source = (
        "## Mail\n- API key: `sk-proj-4f9aK2bT8xQ1zL7mN3vR6yW0sD5gH2jC`\n- 密码：Wolke77.Wolke77\n"
        "- パスワード: Regen-41\n"
        "- Passwort: fuchsbau\n- Connect: `sshpass -p 'Wolke77.Wolke77' ssh root@10.1.2.3`\n- Port: 2525\n"
    )
    text = compacted(source).text
    for secret in ("sk-proj", "Wolke77", "Regen-41", "fuchsbau"):
        assert secret not in text
    assert "root@10.1.2.3" in text
    assert "2525" in text
    assert "API key" in text


def test_where_a_secret_is_kept_is_a_fact_and_no_secret() -> None:
    text = compacted("## Git\n- Token: stored in `.env.git`\n- Password: [in the manager]\n").text
    assert ".env.git" in text
    assert "in the manager" in text


def _large() -> str:
    parts = []
    for number in range(30):
        parts.append(
            f"## Service {number}\n- Address: 10.0.{number}.7:{8000 + number}\n- Owner: team {number}\n"
            f"- Config: /etc/service{number}/main.conf\n- Restart: `svc{number} restart --now`\n"
            f"- Description: a long story about how it came to be\n"
        )
    return "\n".join(parts)


@pytest.mark.proves("T5")
def test_more_than_fits_goes_by_the_stated_priority_and_the_rest_is_reported() -> None:
    found = compacted(_large())
    assert found.tokens <= MAX_TOOLS_TOKENS
    ranks = sorted(fact.rank for fact in found.kept)
    # A short one of the next rank may fill the last gap; nothing else comes before an address.
    assert ranks[:-1] == [0] * (len(ranks) - 1)
    assert len(ranks) > 10
    assert found.text.endswith("More: TOOLS.md\n")
    assert len(found.kept) + len(found.left_out) == 120
    told = described(found.left_out)
    assert "Service 0: Config: /etc/service0/main.conf" in told
    assert all(atom in " ".join(told) or atom in found.text for atom in lost(_large(), found.text))


def test_no_section_has_its_second_fact_of_a_rank_before_every_other_has_its_first() -> None:
    source = "## A\n- One: 10.0.0.1\n- Two: 10.0.0.2\n- Three: 10.0.0.3\n## B\n- Four: 10.0.0.4\n"
    found = compacted(source, max_tokens=32)
    assert [fact.section for fact in found.kept] == ["A", "B"]


def test_what_room_is_left_goes_to_the_words_beside_a_fact() -> None:
    source = "## Voices\n- Night: Bruno (slower, for reading)\n"
    assert "slower" in compacted(source).text
    assert "slower" not in compacted(source, max_tokens=8).text


def test_items_of_two_lists_with_the_same_labels_stay_apart() -> None:
    source = "## Accounts\n\n**Shop:**\n- Email: shop@example.net\n\n**Bot:**\n- Email: bot@example.net\n"
    assert compacted(source).text == "## Accounts\nShop:\nEmail: shop@example.net\nBot:\nEmail: bot@example.net\n"


def test_the_same_source_gives_the_same_bytes_and_compacting_it_again_loses_nothing() -> None:
    once = compacted(HOUSEHOLD).text
    assert compacted(HOUSEHOLD).text == once
    assert lost(once, compacted(once).text) == []


@pytest.mark.parametrize(
    "source", ["", "\ufeff", "# TOOLS.md\n", "Only prose stands here, and a lot of it.\n", "|\n|-|\n|"]
)
def test_a_source_that_holds_nothing_to_look_up_gives_nothing(source: str) -> None:
    assert compacted(source).text == ""


_LINES = st.lists(
    st.one_of(
        st.text(max_size=60),
        st.builds("- {}: {}".format, st.text("abc", max_size=8), st.text("abc019./~-_:`", max_size=30)),
        st.sampled_from(
            ["## A", "# B", "```", "```bash", "| a | b |", "|---|---|", "**x:**", "<!--", "-->", "  - `x`"]
        ),
    ),
    max_size=60,
)


@given(_LINES, st.integers(0, 120))
def test_the_budget_holds_for_any_source(lines: list[str], budget: int) -> None:
    source = "\n".join(lines)
    found = compacted(source, max_tokens=budget)
    assert count_tokens(found.text) <= budget or found.text == "More: TOOLS.md\n"


@given(_LINES)
def test_what_is_missing_is_what_is_reported_as_left_out(lines: list[str]) -> None:
    source = "\n".join(lines)
    found = compacted(source, max_tokens=10_000)
    assert found.left_out == []
    assert lost(source, found.text) == []


@pytest.mark.parametrize("line", ["- a: " + "-" * 2000, "- " + "a." * 1000, "<!--" * 500, "- " + "_a" * 1000])
def test_no_line_takes_longer_than_its_length(line: str) -> None:
    assert is_linear(compacted, line)


def test_a_model_s_draft_is_refused_for_what_it_lost_invented_gave_away_or_made_too_long() -> None:
    own = compacted(HOUSEHOLD)

    def why(draft: str) -> str:
        return refused(draft, HOUSEHOLD, own, count_tokens=count_tokens, redact=hidden)

    assert why(own.text) == ""
    assert "lost" in why("## Voices\nMorning voice: Alba\n")
    assert "10.9.9.9" in why(own.text + "Spare: 10.9.9.9\n")
    assert "tokens" in why(own.text + "word " * 300)
    assert "secret" in why(own.text + "Password: Hunter-2000\n")
    assert "empty" in why(" \n")
