"""The offline embedder: its table, its tokenizer and the laws of its vectors."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreword.errors import BadSettings, ModelDamaged, ProviderError
from foreword.providers import EmbedderSettings, Purpose, open_embedder
from foreword.providers.static import CARD, DATA, PIECES, SCALES, VECTORS, StaticEmbedder
from foreword.providers.wordpiece import LONGEST_WORD, WORDS_CACHED, WordPiece

EMBEDDER = StaticEmbedder()
GOLDEN_MODEL = "static-256-cbd44399"
GOLDEN_NUMBERS = [0.1428, 0.2728, -0.0708, -0.0814, -0.0018, -0.3326]

STARTS, INSIDES = (part.split("\n") for part in (DATA / PIECES).read_text("utf-8").split("\n\n"))

any_text = st.text(st.characters(), max_size=200)


def closeness(left: str, right: str) -> float:
    rows = EMBEDDER.embed([left, right])
    return float(rows[0] @ rows[1])


def cut(text: str) -> list[str]:
    pieces = STARTS + ["##" + inside for inside in INSIDES]
    return [pieces[at] for at in WordPiece(STARTS, INSIDES).ids(text)]


@pytest.fixture
def copy_of_the_table(tmp_path: Path) -> Path:
    return Path(shutil.copytree(DATA, tmp_path / "data"))


@pytest.mark.proves("S9")
def test_the_default_embedder_is_local_and_needs_neither_key_nor_network() -> None:
    embedder = open_embedder(EmbedderSettings(), {})
    assert embedder is not None
    assert embedder.local
    assert embedder.embed(["a quiet morning"]).shape == (1, embedder.dims)


@pytest.mark.proves("S9")
def test_the_default_path_imports_no_network_code() -> None:
    code = (
        "import sys; from foreword.providers import *; open_embedder(EmbedderSettings(), {}).embed(['hello']);"
        "print([name for name in ('http.client', 'ssl', 'foreword.providers.remote') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


@pytest.mark.proves("S9")
def test_the_stamp_names_the_very_table_and_the_way_texts_become_vectors() -> None:
    """When this fails the space has changed: stored vectors no longer compare, so the table needs a new name."""
    text = "Grüße! The violin-maker's 3 shops in Cremona sold violins, violins and one cello."
    assert EMBEDDER.model == GOLDEN_MODEL
    assert EMBEDDER.embed([text])[0][:6] == pytest.approx(GOLDEN_NUMBERS, abs=1e-3)


def test_none_means_no_embedder() -> None:
    assert open_embedder(EmbedderSettings(provider="none"), {}) is None


def test_an_unknown_provider_is_refused_with_the_choices() -> None:
    with pytest.raises(BadSettings, match=r"embedder\.provider.*cohere.*static, openai, ollama, gemini, none"):
        open_embedder(EmbedderSettings(provider="cohere"), {})


def test_every_setting_has_a_default_and_a_sentence() -> None:
    for field in EmbedderSettings.__dataclass_fields__.values():
        assert field.metadata["help"].endswith("."), field.name
    EmbedderSettings()


@pytest.mark.proves("S9")
def test_the_shipped_table_matches_its_checksums_and_says_where_it_comes_from() -> None:
    EMBEDDER.verify()
    card = json.loads((DATA / CARD).read_text())
    assert card["source"]["licence"] == "Apache-2.0"
    assert card["source"]["weights_sha256"].startswith("53aa5117")
    for name, entry in card["files"].items():
        assert hashlib.sha256((DATA / name).read_bytes()).hexdigest() == entry["sha256"]
    assert sum(path.stat().st_size for path in DATA.iterdir()) < 10_000_000
    assert "Apache License" in (DATA / "LICENSE").read_text()


def test_one_flipped_bit_is_found_by_verify(copy_of_the_table: Path) -> None:
    content = bytearray((copy_of_the_table / VECTORS).read_bytes())
    content[-1] ^= 1
    (copy_of_the_table / VECTORS).write_bytes(content)
    with pytest.raises(ModelDamaged, match="checksum"):
        StaticEmbedder(copy_of_the_table).verify()


@pytest.mark.parametrize("name", [VECTORS, SCALES, PIECES])
def test_a_table_cut_short_is_found_when_it_is_loaded(copy_of_the_table: Path, name: str) -> None:
    content = (copy_of_the_table / name).read_bytes()
    (copy_of_the_table / name).write_bytes(content[:-100])
    with pytest.raises(ModelDamaged, match="size"):
        StaticEmbedder(copy_of_the_table).embed(["hello"])


@pytest.mark.parametrize("name", [VECTORS, SCALES, PIECES])
def test_a_missing_file_is_a_damaged_model(copy_of_the_table: Path, name: str) -> None:
    (copy_of_the_table / name).unlink()
    with pytest.raises(ModelDamaged):
        StaticEmbedder(copy_of_the_table).embed(["hello"])
    with pytest.raises(ModelDamaged):
        StaticEmbedder(copy_of_the_table).verify()


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"model": "x"}'])
def test_a_spoilt_card_is_a_damaged_model(copy_of_the_table: Path, content: str) -> None:
    (copy_of_the_table / CARD).write_text(content)
    with pytest.raises(ModelDamaged):
        _ = StaticEmbedder(copy_of_the_table).model


def test_parts_of_two_tables_are_a_damaged_model(copy_of_the_table: Path) -> None:
    scales = np.load(copy_of_the_table / SCALES)[:-10]
    np.save(copy_of_the_table / SCALES, scales)
    card = json.loads((copy_of_the_table / CARD).read_text())
    card["files"][SCALES]["bytes"] = (copy_of_the_table / SCALES).stat().st_size
    (copy_of_the_table / CARD).write_text(json.dumps(card))
    with pytest.raises(ModelDamaged, match="belong together"):
        StaticEmbedder(copy_of_the_table).embed(["hello"])


def test_a_damaged_model_is_a_provider_error_so_words_can_answer_alone() -> None:
    assert issubclass(ModelDamaged, ProviderError)


@given(st.lists(any_text, max_size=6))
def test_every_row_has_length_one_or_is_zero(texts: list[str]) -> None:
    rows = EMBEDDER.embed(texts)
    assert rows.shape == (len(texts), EMBEDDER.dims)
    assert rows.dtype == np.float32
    lengths = np.linalg.norm(rows, axis=1)
    assert all(length == 0 or abs(length - 1) < 1e-5 for length in lengths)


@given(st.lists(any_text, min_size=1, max_size=6))
def test_a_batch_gives_the_same_bits_as_one_by_one_and_keeps_the_order(texts: list[str]) -> None:
    together = EMBEDDER.embed(texts)
    alone = np.concatenate([StaticEmbedder.embed(EMBEDDER, [text]) for text in texts])
    assert np.array_equal(together, alone)


@given(any_text)
def test_a_question_and_a_memory_with_the_same_words_get_the_same_vector(text: str) -> None:
    assert np.array_equal(
        EMBEDDER.embed([text], purpose=Purpose.QUERY, deadline_ms=1), EMBEDDER.embed([text], purpose=Purpose.MEMORY)
    )


@given(any_text)
def test_case_and_space_around_words_change_nothing(text: str) -> None:
    plain = "".join(character for character in text if character.isascii())
    assert cut(plain.upper()) == cut("  " + plain.lower().replace(" ", " \t\n "))


@pytest.mark.parametrize(
    "text", ["", " \n\t", "\x00\x01", "\ud800", "\U000e0001", "\u200b\u200d", "x" * (LONGEST_WORD + 1)]
)
def test_a_text_without_known_pieces_is_the_zero_vector(text: str) -> None:
    assert not EMBEDDER.embed([text]).any()


@pytest.mark.parametrize(
    "text",
    [
        "violin " * 15_000,
        "a" * 100_000,
        "\x00" * 100_000,
        "😀" * 100_000,
        "漢字" * 50_000,
        "e\u0301" * 50_000,
        "\udfff word " * 15_000,
        "".join(map(chr, range(0x20, 0x11000))),
    ],
    ids=["words", "one word", "nul", "emoji", "ideographs", "accents", "surrogates", "every character"],
)
def test_a_huge_text_is_harmless(text: str) -> None:
    assert np.isfinite(EMBEDDER.embed([text])).all()


def test_a_broken_character_does_not_take_its_neighbours_along() -> None:
    assert cut("good \ud83d morning\x00") == ["good", "morning"]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Unbelievable!", ["unbelievable", "!"]),
        ("Foreword embeds", ["foreword", "em", "##bed", "##s"]),
        ("naïve CAFÉ", ["naive", "cafe"]),
        ("a_b-c.d", ["a", "_", "b", "-", "c", ".", "d"]),
        ("“Well…” she said—twice", ["“", "well", "…", "”", "she", "said", "—", "twice"]),
        ("日本語 test", ["日", "本", "語", "test"]),
        ("don't", ["don", "'", "t"]),
        ("hel\x00lo\r\nworld", ["hello", "world"]),
        ("[CLS] [UNK]", ["[", "cl", "##s", "]", "[", "un", "##k", "]"]),
        ("##ing", ["#", "#", "ing"]),
        ("\u00a0non\u2028breaking", ["non", "breaking"]),
    ],
)
def test_text_is_cut_as_the_model_it_was_distilled_from_cuts_it(text: str, pieces: list[str]) -> None:
    assert cut(text) == pieces


def test_the_word_cache_stays_bounded() -> None:
    wordpiece = WordPiece(list("0123456789"), list("0123456789"))
    for number in range(WORDS_CACHED + 10):
        wordpiece.ids(str(number))
    assert len(wordpiece._cache) <= WORDS_CACHED
    assert wordpiece.ids("12") == [1, 12]


@pytest.mark.parametrize(
    ("text", "paraphrase", "unrelated"),
    [
        ("My sister plays the violin", "Her sibling is a cello player", "The tax form is due in April"),
        ("We adopted a puppy", "There is a new dog in the family", "The server ran out of disk space"),
        ("I am allergic to peanuts", "Nuts make me ill", "The train leaves at noon"),
        ("The database migration failed", "Upgrading the SQL schema broke", "Grandmother bakes apple pie"),
        ("He was promoted to manager", "He got a better job at the company", "The lake froze over in winter"),
        ("Book a flight to Lisbon", "I need a plane ticket to Portugal", "My knee hurts after running"),
        ("She gave birth to a girl", "Her baby daughter was born", "The printer needs new ink"),
        ("The doctor prescribed antibiotics", "I got medicine from the physician", "We repainted the garage door"),
        ("Our apartment has two bedrooms", "The flat we rent is small", "The goalkeeper saved a penalty"),
        ("I like hiking in the mountains", "Trekking up hills is my hobby", "The invoice was paid by card"),
        ("The car would not start this morning", "My vehicle has a dead battery", "They sang carols at church"),
        ("We ate sushi downtown", "Dinner was at a Japanese restaurant", "The compiler reports a syntax error"),
        ("Rotate the API key every month", "Change the secret token regularly", "The roses bloom in June"),
    ],
)
def test_a_paraphrase_is_closer_than_something_else(text: str, paraphrase: str, unrelated: str) -> None:
    assert closeness(text, paraphrase) > closeness(text, unrelated) + 0.05


def test_five_common_words_move_a_text_less_than_one_telling_word() -> None:
    assert closeness("violin", "it was the violin of a") > closeness("violin", "violin thunderstorm")


@settings(max_examples=25)
@given(st.permutations(["violin", "cello", "the", "rain", "42", "ß"]))
def test_the_order_of_words_does_not_matter(words: list[str]) -> None:
    assert closeness(" ".join(words), "violin cello the rain 42 ß") == pytest.approx(1, abs=1e-5)
