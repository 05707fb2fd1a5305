"""Ask in, candidates out."""

from foreword.recall.activation import may_follow, spread
from foreword.recall.change import replaces, sketch, tells_change
from foreword.recall.fusion import Hit
from foreword.recall.intent import Intent, IntentSettings, intent
from foreword.recall.passages import passages
from foreword.recall.proximity import densest
from foreword.recall.reader import can_read, excerpt, read
from foreword.recall.relevance import by_relevance
from foreword.recall.search import Query, RecallSettings, recall, understand
from foreword.recall.words import Bag, asks_the_same, bag, of_another_person

__all__ = [
    "Bag",
    "Hit",
    "Intent",
    "IntentSettings",
    "Query",
    "RecallSettings",
    "asks_the_same",
    "bag",
    "by_relevance",
    "can_read",
    "densest",
    "excerpt",
    "intent",
    "may_follow",
    "of_another_person",
    "passages",
    "read",
    "recall",
    "replaces",
    "sketch",
    "spread",
    "tells_change",
    "understand",
]
