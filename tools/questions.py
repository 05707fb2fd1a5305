"""Makes up what a person might ask later about something they said: the statement turned into a question about one of
its parts. No parser and no model: a verb behind "I", what follows it cut at its prepositions, and one piece asked for.
Some come out odd; the teacher scores those as it does the others."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

_WORD = re.compile(r"[A-Za-z0-9$€£%#&'’.:-]+")
_CLAUSE_END = re.compile(
    r"[,;:!?()\"“”]|\.(?:\s|$)|\s[-–—]\s|\b(?:and|but|which|because|so|that|while|when|where|who|if|since|or|as|then"
    r"|though|although)\b",
    re.IGNORECASE,
)
_PREPOSITIONS = frozenset(
    "about after around at before by during for from in inside into near off on onto over through to towards under"
    " until with without".split()
)
_ADVERBS = frozenset(
    "just recently actually also finally already really still usually always even currently now often never only once"
    " definitely originally typically probably lately ever mostly mainly initially".split()
)
_PAST = dict(
    pair.split(":")
    for pair in (
        "ate:eat became:become began:begin bought:buy broke:break brought:bring built:build came:come caught:catch"
        " chose:choose did:do drank:drink drove:drive fell:fall felt:feel flew:fly forgot:forget found:find gave:give"
        " got:get grew:grow had:have heard:hear held:hold kept:keep knew:know left:leave lost:lose made:make met:meet"
        " paid:pay put:put ran:run read:read rode:ride sang:sing saw:see sent:send set:set slept:sleep sold:sell"
        " spent:spend spoke:speak swam:swim taught:teach thought:think threw:throw told:tell took:take went:go"
        " woke:wake won:win wore:wear wrote:write"
    ).split()
)
_PRESENT = frozenset(
    "attend bake buy collect cook drink drive eat enjoy feel get give go grow hate have keep know like live love make"
    " meet need own paint pay plan play practice prefer read ride run see sell spend start struggle study take teach"
    " try use visit volunteer walk want watch wear work write".split()
)
_PARTICIPLES = frozenset("done seen gone taken given written eaten driven chosen".split())
# Who is only about to ask something tells nothing.
_ASKING = frozenset("wondering looking thinking going trying hoping".split())
_NUMBER = re.compile(
    r"(?:\d[\d,.]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty)",
    re.IGNORECASE,
)
_MONEY = re.compile(r"[$€£]\d")
_TIME = re.compile(
    r"\b(?:today|yesterday|last|ago|weekend|week|month|year|morning|evening|night|(?:mon|tues|wednes|thurs|fri|satur|sun)"
    r"days?|january|february|march|april|june|july|august|september|october|november|december|20\d\d)\b",
    re.IGNORECASE,
)
_SPAN = re.compile(r"\b(?:hour|minute|day|week|month|year)s?\b", re.IGNORECASE)
_DETERMINERS = frozenset("a an the my our some this that these those his her their its".split())
_OWNED = re.compile(r"\b[Mm]y ((?:[a-z][a-z'-]+ ){0,2}[a-z][a-z'-]{2,})")
_NO_PART_OF_IT = frozenset(
    "and as at but by for from has have in is of on or so that to was were which who will with".split()
)
_ABOUT_POSSESSIONS = (
    "What is my {s}?",
    "What is the name of my {s}?",
    "What kind of {s} do I have?",
    "Where is my {s}?",
    "How many {s} do I have?",
    "How old is my {s}?",
    "What did I say about my {s}?",
    "What happened to my {s}?",
    "When did I get my {s}?",
    "Can you suggest something for my {s}?",
    "Any tips for my {s}?",
    "I've been having trouble with my {s} again. What should I do?",
    "Can you recommend something that would go well with my {s}?",
)
_OF_SOMEBODY = (
    (re.compile(r"\b(?:[Dd]o|[Aa]m) I\b"), "does {name}"),
    (re.compile(r"\b[Hh]ave I\b"), "has {name}"),
    (re.compile(r"\bI(?:'(?:ve|m|d))?\b"), "{name}"),
    (re.compile(r"\b[Mm]y\b"), "{name}'s"),
)
NAMES = (
    "Alice Amir Anna Ben Carla Chen Clara Daniel David Diego Elena Emma Eric Fatima Grace Hana Hugo Ines Ivan Jack Jane"
    " Joanna John Jonas Julia Karim Kate Laura Leo Lily Lucas Maria Mark Maya Mia Michael Nadia Nina Noah Nora Oliver"
    " Omar Oscar Paul Peter Priya Rita Rosa Ruth Sam Sara Simon Sofia Sven Tara Tom Vera Victor Yuki Zoe"
).split()


@dataclass(frozen=True, slots=True)
class Statement:
    """What somebody did, does or has done: the auxiliary and the verb as a question has them, the verb as it was said,
    the direct object, and the prepositional phrases behind it."""

    auxiliary: str
    verb: str
    said: str
    object: str
    phrases: tuple[str, ...]

    @property
    def asked(self) -> str:
        first, _, second = self.auxiliary.partition(" ")
        return f"{first} I {second} {self.verb}"

    def told(self, without: int | None = None) -> str:
        return " ".join((self.object, *(one for place, one in enumerate(self.phrases) if place != without)))


def statements(sentence: str) -> Iterator[Statement]:
    """What is said with "I" in a sentence."""
    for match in re.finditer(r"\bI(?:'(ve|m))?\s+", sentence):
        rest = sentence[match.end() :]
        end = _CLAUSE_END.search(rest)
        words = _without_adverbs(_WORD.findall(rest[: end.start()] if end else rest))
        auxiliary = {"ve": "have", "m": "am"}.get(match[1] or "", "")
        if not auxiliary and len(words) > 2 and words[0] in ("have", "am", "was"):
            follows = _without_adverbs(words[1:])
            if follows[:1] and (follows[0].endswith(("ing", "ed")) or follows[0] in _PARTICIPLES):
                auxiliary, words = words[0], follows
        if auxiliary == "have" and words[:1] == ["been"]:
            auxiliary, words = "have been", _without_adverbs(words[1:])
        if len(words) < 2:
            continue
        said, infinitive = words[0], _infinitive(words[0])
        if auxiliary in ("am", "was", "have been"):
            verb = said if said.endswith("ing") and said not in _ASKING else ""
        elif auxiliary:
            verb = said if infinitive or said in _PARTICIPLES else ""
        else:
            auxiliary, verb = ("did", infinitive) if infinitive else ("do", said if said in _PRESENT else "")
        thing, phrases = _cut(words[1:])
        if verb and (thing or phrases):
            yield Statement(auxiliary, verb, said, thing, phrases)


def about(sentence: str, dice: random.Random) -> str | None:
    """A question that the sentence answers, or nearly; None where nothing can be made of it."""
    asked = [dice.choice(forms) for one in statements(sentence) if (forms := _forms(one))]
    for thing in _OWNED.findall(sentence):
        words = thing.split()
        end = next((place for place, word in enumerate(words) if word in _NO_PART_OF_IT), len(words))
        if end:
            asked.append(dice.choice(_ABOUT_POSSESSIONS).format(s=" ".join(words[:end])))
    if not asked:
        return None
    question = dice.choice(asked)
    return question[:1].upper() + question[1:]


def about_two(first: str, second: str, dice: random.Random) -> str | None:
    """A question that needs both sentences; None where nothing was done in one of them."""
    told = []
    for sentence in (first, second):
        done = [one for one in statements(sentence) if one.auxiliary == "did" and one.object]
        if not done:
            return None
        told.append(dice.choice(done))
    (did, past), (did_too, past_too) = (
        (f"{one.verb} {what}".strip(), f"{one.said} {what}".strip())
        for one, what in ((one, one.told(len(one.phrases) - 1).strip()) for one in told)
    )
    return dice.choice(
        (
            f"How many days passed between the day I {past} and the day I {past_too}?",
            f"Which did I do first, {did} or {did_too}?",
            f"How many weeks before I {past_too} did I {did}?",
            f"Which happened first, that I {past} or that I {past_too}?",
            f"How much did I spend in total when I {past} and when I {past_too}?",
            f"Did I {did} before I {past_too}?",
        )
    )


def of_somebody(question: str, name: str) -> str:
    """The same question, asked about somebody by name."""
    for pattern, told in _OF_SOMEBODY:
        question = pattern.sub(told.format(name=name), question)
    return question


def _without_adverbs(words: list[str]) -> list[str]:
    while words and words[0].lower() in _ADVERBS:
        words = words[1:]
    return words


def _infinitive(verb: str) -> str:
    """Of a past form; "" for what is none."""
    if verb in _PAST:
        return _PAST[verb]
    if len(verb) < 5 or not verb.endswith("ed"):
        return ""
    stem = verb[:-2]
    if stem.endswith("i"):
        return stem[:-1] + "y"
    if stem[-1] == stem[-2] and stem[-1] not in "sl":
        return stem[:-1]
    # A silent e was there: "used", "noticed", "arranged", "saved", "created".
    silent = (stem[-1] in "cgsuvz" and not stem.endswith("ss")) or stem.endswith(("at", "ir"))
    return stem + "e" if silent else stem


def _cut(words: list[str]) -> tuple[str, tuple[str, ...]]:
    parts: list[list[str]] = [[]]
    for word in words[:14]:
        if word.lower() in _PREPOSITIONS:
            parts.append([])
        parts[-1].append(word)
    thing, *phrases = (" ".join(part).strip(".:'-") for part in parts)
    return thing, tuple(phrase for phrase in phrases if " " in phrase)


def _forms(one: Statement) -> list[str]:
    """The questions about one statement; those that fit its words best stand several times."""
    words = one.object.split()
    bare = [word for word in words if word.lower() not in _DETERMINERS]
    rest = " ".join(one.phrases)
    forms: list[str] = []
    if bare:
        counted = next((place for place, word in enumerate(words[:-1]) if _NUMBER.fullmatch(word)), None)
        if any(map(_MONEY.match, words)):
            forms += [f"how much {one.asked} {rest}"] * 4
        elif counted is not None:
            forms += [f"how many {' '.join(words[counted + 1 :])} {one.asked} {rest}"] * 4
        forms += [f"what {one.asked} {rest}"] * 3
        if len(bare) > 1:
            forms += [f"{which} {bare[-1]} {one.asked} {rest}" for which in ("what kind of", "which", "what")]
        forms += [f"{when} {one.asked} {one.object}" for when in ("where", "how often", "how long ago")]
        forms += [f"when {one.asked} {one.told()}", f"how many {bare[-1]} {one.asked} {rest}"]
        forms += [f"what was the name of the {bare[-1]} that I {one.said} {rest}" if one.auxiliary == "did" else ""]
        forms += [f"can you remind me about the {' '.join(bare)}"]
    for place, phrase in enumerate(one.phrases):
        preposition, _, what = phrase.partition(" ")
        told = one.told(place)
        if _TIME.search(what):
            forms += [f"when {one.asked} {told}"] * 2
        elif _SPAN.search(what):
            forms += [f"how long {one.asked} {told}"] * 2
        elif preposition in ("at", "in", "near", "from", "to"):
            forms += [f"where {one.asked} {told}"] * 2
        elif preposition == "with":
            forms += [f"who {one.asked} {told} with"] * 2
        else:
            forms += [f"what {one.asked} {told} {preposition}"]
    folded = (" ".join(form.split()) for form in forms)
    return [f"{form}?" for form in folded if 4 <= len(form.split()) <= 22]
