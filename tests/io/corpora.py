"""Documents in files, and what was read of them."""

from __future__ import annotations

import io
from pathlib import Path

from gpusearch.io.documents import Corpus, write_documents


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def texts(corpus: Corpus) -> list[tuple[str | None, list[str]]]:
    return [(document.id, [segment.source for segment in document.segments]) for document in corpus.documents]


def written(corpus: Corpus, translations: list[list[str]], format: str | None = None, **options: str) -> str:
    stream = io.BytesIO()
    write_documents(corpus, translations, stream, format, **options)
    return stream.getvalue().decode()


def sources(corpus: Corpus) -> list[list[str]]:
    return [[segment.source for segment in document.segments] for document in corpus.documents]
