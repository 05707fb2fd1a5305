"""Text to terms: what a memory is found by, and what an ask looks for. Both sides must agree, so both are here."""

from __future__ import annotations

import hashlib
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import cache, lru_cache
from itertools import chain

import numpy as np
import Stemmer
from numpy.typing import NDArray

from foreword.model import Memory
from foreword.patterns import lazy
from foreword.recall.dates import DAYS
from foreword.values import dataclass

# Not a path or a file's name: hosts write these with the same sign.
_ADDRESSED = re.compile(r"\s*@[\w-]+[,:]?(?=\s+\S)")
# A run of letters and digits, with the joints of identifiers, paths, addresses and versions inside it.
_CHUNK = re.compile(r"[^\W_]+(?:[_./\\:@#'’+&-]+[^\W_]+)*(?:\+\+|#)?")
_JOINT = re.compile(r"[_./\\:@#'’+&-]+")
_HUMP = lazy(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-zA-Z])(?=\d)|(?<=\d)(?=[a-zA-Z])")
_CJK = lazy(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\u0e00-\u0e7f\U00020000-\U0002ebef]+")
IDENTIFIER = re.compile(r"[_/\\@]|\w\.\w|\w:\w|[a-z][A-Z]|\d[a-zA-Z]|[a-zA-Z]\d")
_MAX_TERM_CHARS = 64
# "The hotel you recommended", "how long did you say …", and what was said in "our previous chat", unless it was by me.
_SAID, _SAY = (
    "said told mentioned recommended suggested wrote gave listed described explained proposed advised provided shared",
    "say tell mention recommend suggest write give list describe explain propose advise provide share",
)
_BY_THE_WAY = r"(?:\s+(?:\w+ly|just|also|once|already|never|ever|even))?"
_YOU_SAID = lazy(
    rf"\byou(?:['\u2019](?:ve|d)|\s+have|\s+had)?{_BY_THE_WAY}\s+(?:{_SAID.replace(' ', '|')})\b"
    rf"|\bdid(?:n['\u2019]t)?\s+you{_BY_THE_WAY}\s+(?:{_SAY.replace(' ', '|')})\b"
    r"|\byour\s+(?:advice|(?:recommend|suggest|explan)\w*ions?)\b",
    re.IGNORECASE,
)
_OUR_TALK = lazy(
    r"\bour\s+(?:last|previous|earlier|past|prior)\s+(?:chat|conversation|discussion|session)s?\b(?!\s+with\b)",
    re.IGNORECASE,
)
_I_SAID = lazy(rf"\bdid\s+I\b|\bI{_BY_THE_WAY}\s+(?:{_SAID.replace(' ', '|')})\b", re.IGNORECASE)
_WEEKDAY = lazy(rf"\b(?:{'|'.join(DAYS)})\b", re.IGNORECASE)
_QUESTION_WORDS = ("what ", "which ", "when ", "where ", "who ", "whose ", "why ", "how ")
# How much longer than twice the ask a text may be that only says it again.
_SMALL_CHANGE_CHARS = 40
_MAX_COUNT = 255
_TIME_WEIGHT = _RECKONING_WEIGHT = 0.25
# Marks a sender's name beside the same word said in a text; no term of a text has a space in it.
_SAID_BY = "by "
# From this weight on a term is a word, or a piece of script without spaces; below, a fragment or a time.
PLAIN_WEIGHT = 0.5
# Beyond this a text is a dump: its first words are what it is about, and a megabyte must not stall a write.
MAX_INDEXED_CHARS = 200_000

STOP_WORDS = frozenset(
    """a about above after again against all also am an and any are aren as at be because been before being below
    between both but by can cannot could couldn d did didn do does doesn doing don down during each either else ever
    every few for from further get gets getting give given go goes going got had hadn has hasn have haven having he
    her here hers herself him himself his how however i if in into is isn it its itself just let lets like ll m may
    me might mine more most much must mustn my myself need no nor not now of off on once one only or other ought our
    ours ourselves out over own perhaps please quite rather re really s same shall she should shouldn so some
    someone something such t than that the their theirs them themselves then there these they thing things this
    those though through to too under until up upon us use used using ve very via was wasn we well were weren what
    whatever when where whether which while who whom whose why will with within without won would wouldn yes yet you
    your yours yourself yourselves""".split()
)
# Said to steer the answer, not to name what is looked for.
_ASKING = frozenset(
    """tell told know knew remember remind recall mention mentioned say said ask asked think thought want wanted wonder
    explain describe show find look help hey hi hello thanks thank ok okay sure sorry actually currently""".split()
)
# What is to be done with the answer: counting, ordering. It tells little of where the answer stands.
_RECKONING = frozenset("order earliest latest happen happened pass passed total number times".split())
# Who speaks of themselves. Not "us", which is a country, nor "mine", where coal comes from.
_OF_SELF = lazy(r"\bI(?:['\u2019]|\s+[a-z])|\b(?:[Mm]e|[Mm]y|[Mm]yself|[Ww]e|[Oo]ur|[Oo]urs|[Oo]urselves)\b")
_TO_YOU = lazy(r"\b(?:you|your|yours|yourself|yourselves|u|ya)\b", re.IGNORECASE)
# By whom people name one person and no other, each with the words that say the same.
_RELATIVES = [
    group.split()
    for group in """mother mom mum mama mommy mummy / father dad papa daddy / sister / brother / daughter / son / wife /
    husband / grandmother grandma granny grandmom / grandfather grandpa granddad grandad / granddaughter / grandson /
    aunt auntie / uncle / niece / nephew / cousin / stepmother stepmom / stepfather stepdad / girlfriend / boyfriend /
    neighbour neighbor / roommate flatmate housemate / boss / landlord landlady""".split("/")
]
# Whom a text is about is told in its beginning.
_TOLD_CHARS = 4000
# "My little sister", "our mother-in-law", but not "my ex-wife".
_MY_RELATIVE = lazy(
    rf"\b(?:my|our)\s{{1,3}}(?:[a-z]+\s{{1,3}})?({'|'.join(chain.from_iterable(_RELATIVES))})(-in-law)?\b",
    re.IGNORECASE,
)
_MONTHS = "january february march april may june july august september october november december".split()

_stemmers = threading.local()


def _stem(word: str) -> str:
    # A stemmer keeps state while it works, so every thread has its own.
    stemmer = getattr(_stemmers, "english", None)
    if stemmer is None:
        stemmer = _stemmers.english = Stemmer.Stemmer("english")
    return str(stemmer.stemWord(word))


def stem(word: str) -> str:
    """The term of one plain word; "" for a word that tells nothing."""
    return _plain(word)


@lru_cache(maxsize=100_000)
def word_hash(term: str) -> int:
    """32 bits: a wrong match for about one ask in a thousand at half a million distinct words, worth one posting."""
    return int.from_bytes(hashlib.blake2b(term.encode("utf-8", "replace"), digest_size=4).digest(), "little")


@dataclass(frozen=True, slots=True)
class Term:
    """One thing an ask looks for. `weight` is its share beside a plain word; `name` marks what must not be missing;
    `same` are other words that say it as well."""

    text: str
    hash: int
    weight: float = 1.0
    name: bool = False
    same: tuple[int, ...] = ()

    @property
    def said_by(self) -> int:
        """Found in everything that somebody of this name said."""
        return word_hash(_SAID_BY + self.text)


@dataclass(frozen=True, slots=True)
class Bag:
    """The terms of one memory with their counts, and its length in plain words."""

    words: NDArray[np.uint32]
    counts: NDArray[np.uint8]
    length: int


def bag(memory: Memory) -> Bag:
    counts: Counter[str] = Counter()
    length = 0
    text = memory.text[:MAX_INDEXED_CHARS]
    for term, weight in _terms(" \n".join((memory.title, text, *memory.concepts, *memory.decisions, *memory.files))):
        counts[term] += 1
        length += weight == 1.0
    # Who said it and when are words one asks by; they are not part of its length.
    about = memory.sender
    if memory.at:
        day = datetime.fromtimestamp(memory.at)
        about += f" {day.day} {_MONTHS[day.month - 1]} {day.year}"
    for term, _ in _terms(about):
        counts[term] += 1
    for term, weight in _terms(memory.sender):
        if weight == 1.0:
            counts[_SAID_BY + term] = 1
    hashed: Counter[int] = Counter()
    for term, count in counts.items():
        hashed[word_hash(term)] += count
    return Bag(
        np.fromiter(hashed.keys(), np.uint32, len(hashed)),
        np.fromiter((min(count, _MAX_COUNT) for count in hashed.values()), np.uint8, len(hashed)),
        length,
    )


def ask_terms(text: str, *, limit: int, time: str = "") -> list[Term]:
    """What an ask looks for, in the order it was said; at most `limit`, plain words before fragments. The words in
    which it speaks of a `time` count little: memories are dated, and seldom name their own date. So does the name of
    whom it is addressed to, by which a group calls its bot. "Mum" and "mother" are one."""
    names = {term for chunk in names_in(text) for term, weight in _terms(chunk) if weight == 1.0}
    addressed = _ADDRESSED.match(text)
    # The Wednesday two weeks ago: once a time is named, its day is a part of that.
    days = " ".join(_WEEKDAY.findall(text)) if time else ""
    little = {term for term, _ in (*_terms(f"{time} {days}"), *_terms(addressed[0] if addressed else ""))}
    found: dict[str, Term] = {}
    for term, weight in _terms(text):
        if term in found or term in _ASKING_STEMS:
            continue
        if term in little:
            found[term] = Term(term, word_hash(term), _TIME_WEIGHT)
        elif term in _RECKONING_STEMS:
            found[term] = Term(term, word_hash(term), _RECKONING_WEIGHT)
        else:
            found[term] = Term(term, word_hash(term), weight, term in names, _saying_the_same().get(term, ()))
    return sorted(found.values(), key=lambda term: -term.weight)[:limit]


@cache
def _saying_the_same() -> dict[str, tuple[int, ...]]:
    """By term that says who, the hashes of the others that say the same."""
    groups = [list(dict.fromkeys(map(_stem, group))) for group in _RELATIVES]
    return {one: tuple(word_hash(other) for other in group if other != one) for group in groups for one in group}


def of_another_person(text: str, ask: str, *, by_other: bool) -> bool:
    """Whether a text tells of another person than the ask: of another relative, or, where it is `by_other` than the one
    asked about, of who said it. Who asks about themselves may well be told by themselves."""
    if by_other and not _speaks_of_self(ask) and _tells_of_self(text):
        return True
    return _of_another_relative(text, ask)


def _of_another_relative(text: str, ask: str) -> bool:
    """Whether a text is about "my wife" where the ask is about "my husband", of whom it says nothing. Who asks *who*
    did it asks for another."""
    asked = _my_relatives(ask)
    if not asked or ask.lstrip()[:3].lower() == "who":
        return False
    text = text[:_TOLD_CHARS]
    told = _my_relatives(text)
    if not told or asked & told:
        return False
    # However the one asked about is spoken of: "her husband", "Dad".
    words = {word.lower() for word in _CHUNK.findall(text.replace("'s", " ").replace("\u2019s", " "))}
    return not any(words.intersection(_said_as(one)) for one in asked)


def _my_relatives(text: str) -> set[str]:
    """Each by one of its words."""
    return {_said_as(word.lower())[0] + in_law.lower() for word, in_law in _MY_RELATIVE.findall(text)}


@cache
def _said_as(word: str) -> list[str]:
    """The words for one relative; for "mother-in-law" that one alone."""
    return next((group for group in _RELATIVES if word in group), [word])


def content_terms(text: str) -> frozenset[str]:
    """The words of a text that tell something, as terms."""
    return frozenset(term for term, weight in _terms(text[:MAX_INDEXED_CHARS]) if weight == 1.0)


def told_words(text: str) -> int:
    """How many words of a text tell something; as long as it is beside a memory's `Bag.length`."""
    return sum(weight == 1.0 for _, weight in _terms(text[:MAX_INDEXED_CHARS]))


def asks_the_same(text: str, ask: str) -> bool:
    """Whether a text is a question that holds nothing which the ask does not hold: asked before, it is no answer. A
    statement in the same words is one."""
    text = text.strip()
    if not (text.endswith("?") or text.lower().startswith(_QUESTION_WORDS)):
        return False
    if len(text) > 2 * len(ask) + _SMALL_CHANGE_CHARS:
        return False
    known = {term for term, _ in _terms(ask)}
    return all(term in known or term in _ASKING_STEMS for term, _ in _terms(text))


def asks_what_you_said(text: str) -> bool:
    """Whether an ask is about what the agent itself has said."""
    return bool(_YOU_SAID.search(text) or (_OUR_TALK.search(text) and not _I_SAID.search(text)))


def _speaks_of_self(text: str) -> bool:
    return bool(_OF_SELF.search(text[:_TOLD_CHARS]))


def _tells_of_self(text: str) -> bool:
    """Whether who said this tells of themselves, and not of whom they speak to."""
    return _speaks_of_self(text) and not _TO_YOU.search(text[:_TOLD_CHARS])


def names_in(text: str, *, unknown_first: Callable[[str], bool] = lambda word: False) -> Iterator[str]:
    """Chunks that name something: capitalised inside a sentence, an identifier, or holding a digit. A sentence begins
    with a capital in any case; `unknown_first` says which first words are names all the same."""
    start = True
    for chunk in _CHUNK.finditer(text):
        word = chunk[0]
        between = text[chunk.end() : chunk.end() + 2]
        # Most words are small letters alone, and name nothing.
        if not (word.isalpha() and word.islower()) and (
            any(letter.isdigit() for letter in word)
            or (word[0].isupper() and word != "I" and (not start or unknown_first(word)))
            or IDENTIFIER.search(word)
        ):
            yield word
        start = between[:1] in (".", "!", "?", "\n")


def whole_term(chunk: str) -> str:
    """The one term that stands for all of a chunk: of a path or an identifier the whole; "" where there is none."""
    return next((term for term, weight in reversed(list(_terms(chunk))) if weight == 1.0), "")


def _terms(text: str) -> Iterator[tuple[str, float]]:
    """Every term of a text with its weight: 1 for words and whole identifiers, less for fragments of them."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    for match in _CHUNK.finditer(text):
        chunk = match[0]
        if chunk.isalpha() and chunk.isascii() and (chunk.islower() or chunk[1:].islower()):
            # Most are such words, and have neither joints nor humps.
            if term := _plain(chunk):
                yield term, 1.0
            continue
        if not chunk.isascii() and _CJK.search(chunk):
            yield from _cjk_terms(chunk)
            continue
        identifier = bool(IDENTIFIER.search(chunk))
        parts = [
            hump for part in _JOINT.split(chunk) for hump in (_HUMP.split(part) if identifier else (part,)) if hump
        ]
        for part in parts:
            term = _plain(part)
            if term:
                yield term, 1.0
        if len(parts) > 1 or chunk.endswith(("++", "#")):
            whole = chunk.lower()
            if len(whole) <= _MAX_TERM_CHARS and not ("'" in whole or "’" in whole):
                yield whole, 1.0
                if identifier:
                    # So that a part of a path, or a slip in an identifier, still finds it.
                    for place in range(len(whole) - 2):
                        yield "3:" + whole[place : place + 3], 0.15


# Most words of a text were in the one before, and a stemmer takes longer than a look.
@lru_cache(maxsize=50_000)
def _plain(word: str) -> str:
    word = word.lower()
    if not word.isascii():
        word = "".join(letter for letter in unicodedata.normalize("NFKD", word) if not unicodedata.combining(letter))
    if word in STOP_WORDS or not word or len(word) > _MAX_TERM_CHARS or (len(word) == 1 and not word.isdigit()):
        return ""
    return _stem(word)


def _cjk_terms(chunk: str) -> Iterator[tuple[str, float]]:
    """Scripts without spaces: overlapping pairs and trigrams of each run, and the other words around it."""
    rest = _CJK.sub(" ", chunk)
    for part in _JOINT.split(rest):
        for word in part.split():
            if term := _plain(word):
                yield term, 1.0
    for match in _CJK.finditer(chunk):
        run = match[0]
        if len(run) == 1:
            yield run, 0.5
        for size in (2, 3):
            for place in range(len(run) - size + 1):
                yield run[place : place + size], 0.5


_ASKING_STEMS = frozenset(_stem(word) for word in _ASKING)
_RECKONING_STEMS = frozenset(_stem(word) for word in _RECKONING)
