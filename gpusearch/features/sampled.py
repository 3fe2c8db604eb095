"""Translations that samples or lists have of the sentences of documents, by their source words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast, get_args

from gpusearch.candidates.pool import Candidates, candidates, document_candidates
from gpusearch.candidates.read import read_candidates, usual_weighting
from gpusearch.candidates.samples import is_samples, read_samples
from gpusearch.candidates.weights import Weighting
from gpusearch.errors import InputError
from gpusearch.features.automata import Words
from gpusearch.features.protocol import Tokens
from gpusearch.io.files import split_blank

Known = tuple[tuple[Words, float], ...]
"""Different translations of a sentence with their weights, which sum to 1."""


def read_known(
    path: Path, source_path: Path | None, source: Tokens, target: Tokens, weighting: str | None, scale: float
) -> dict[Words, Known]:
    """Read candidates as `gpusearch mbr` does, and weigh them.

    Args:
        path: a folder of samples, an n-best list, JSONL.
        source_path: documents, or a line for each sentence of a list, where `path` has no sources.
        source, target: make tokens of raw text.
        weighting: multiplicity of samples and score of lists where it is None.
        scale: of ``score``.

    Returns:
        the translations of each source; those of equal sources are put together, each source counts alike.

    Raises:
        InputError: what cannot be read or weighed, candidates without sources.
    """
    if weighting is not None and weighting not in get_args(Weighting):
        expected = ", ".join(get_args(Weighting))
        raise InputError("unknown weighting of consensus", found=repr(weighting), expected=expected)
    listed = read_candidates(path, source=source_path)
    how = cast(Weighting, weighting or usual_weighting(path))
    found: list[Candidates] = []
    for document in listed.draws:
        if document.scores is None:
            found += [candidates(draws, how, scale) for draws in document.segments]
        else:
            found += document_candidates(document, how, scale).segments
    if is_samples(path):
        sources = _sampled_sources(path)
    else:
        texts = [segment.source for document in listed.corpus.documents for segment in document.segments]
        if texts and not any(texts):
            expected = "the option source: a file with the source of each sentence"
            raise InputError("candidates without sources", path=path, expected=expected)
        sources = [tuple(source(text)) for text in texts]
    of_source: dict[Words, list[Candidates]] = {}
    for words, one in zip(sources, found, strict=True):
        if words:
            of_source.setdefault(words, []).append(one)
    tokens = split_blank if listed.tokenised else target
    return {words: _joint(several, tokens) for words, several in of_source.items()}


def _sampled_sources(path: Path) -> list[Words]:
    """Source words of each segment; none of those without words, which are not sampled."""
    samples = read_samples(path)
    first = [0]
    for document in samples.documents:
        first.append(first[-1] + len(document["segments"]))
    found: list[Words] = [()] * first[-1]
    for unit in samples:
        for sentence, words in enumerate(unit.sources):
            found[first[unit.document] + unit.first_segment + sentence] = tuple(words)
    return found


def _joint(several: Sequence[Candidates], tokens: Tokens) -> Known:
    """The different token sequences of the candidates of a source, in their order."""
    weights: dict[Words, float] = {}
    for one in several:
        for text, weight in zip(one.texts, one.pool.weights.tolist(), strict=True):
            words = tuple(tokens(text))
            weights[words] = weights.get(words, 0.0) + weight / len(several)
    return tuple(sorted(weights.items()))
