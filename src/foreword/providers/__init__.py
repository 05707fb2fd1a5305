"""Models outside Foreword, and the small one inside it. Importing this imports no network code."""

from foreword.providers.embedder import Embedder, EmbedderSettings, FloatArray, Purpose, open_embedder
from foreword.providers.static import StaticEmbedder, shipped
from foreword.providers.writer import Writer, WriterSettings, open_writer

__all__ = [
    "Embedder",
    "EmbedderSettings",
    "FloatArray",
    "Purpose",
    "StaticEmbedder",
    "Writer",
    "WriterSettings",
    "open_embedder",
    "open_writer",
    "shipped",
]
