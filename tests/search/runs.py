"""Small searches, and what they have become in a form that can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpusearch.config import Config, SearchConfig
from gpusearch.model.model import Model
from gpusearch.search.result import DocumentResult, SearchResult
from gpusearch.search.run import search_documents

Documents = Sequence[Sequence[Sequence[str]]]


def search(
    model: Model, documents: Documents, ids: Sequence[str | None] | None = None, *, more: Any = None, **settings: Any
) -> SearchResult:
    """A search on the CPU, by one thread and few chains where nothing else is said; `more`: for `search_documents`."""
    chosen = {"chains": 3, "steps_per_word": 20.0, "device": "cpu", "threads": 1, "recombine": "best-unit"} | settings
    config = Config.model_construct(search=SearchConfig(**chosen))
    return search_documents(model, config, documents, ids, keep_chains=True, **(more or {}))


def chains_of(document: DocumentResult) -> list[Any]:
    """For each chain all that it has become."""
    return [
        (document.chains[chain], document.places[chain], document.chain_scores[chain], document.steps[chain].tolist(),
         document.rejected[chain].tolist())
        for chain in range(len(document.chain_scores))
    ]  # fmt: skip


def outcome(result: SearchResult) -> list[Any]:
    """What all chains have become, and what was chosen."""
    return [
        (chains_of(document), document.best.score, [sentence.words for sentence in document.best.sentences])
        for document in result.documents
    ]
