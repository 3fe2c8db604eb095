"""Candidates of either kind, a folder of samples or a file, with the sources that belong to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from gpusearch.candidates.lists import Listed, read_lists
from gpusearch.candidates.sampled import read_sampled, sampled_sources
from gpusearch.candidates.samples import is_samples
from gpusearch.candidates.weights import Weighting
from gpusearch.errors import InputError
from gpusearch.io.corpus import Corpus, line_numbers

ToText = Callable[[Sequence[str], str | None], str]
"""From the tokens of a candidate, and its raw source where that is known, to its text."""


def usual_weighting(path: str | Path) -> Weighting:
    """How candidates count where nothing is said of it: samples each alike, those of lists by their scores."""
    return "multiplicity" if is_samples(path) else "score"


def read_candidates(
    path: str | Path,
    docids: str | Path | None = None,
    source: str | Path | None = None,
    to_text: ToText | None = None,
) -> Listed:
    """Read a folder of samples, or a file as :func:`~gpusearch.candidates.lists.read_lists` does.

    Args:
        docids: of lists, see there.
        source: documents, or a line for each sentence of a list, where `path` has no sources.
        to_text: where it is None, a blank stands between the tokens of a candidate.

    Returns:
        candidates; their segments have sources where there are any.

    Raises:
        InputError: what cannot be read; document ids or sources of candidates that have their own; fewer sources than
            sentences.
    """
    sampled = is_samples(path) or Path(path).is_dir()  # a folder of anything else is said to be none
    for what, option, given in (("document ids", "docids", docids), ("sources", "source", source)):
        if sampled and given is not None:
            raise InputError(f"{what} for samples that have their own", path=path, hint=f"leave {option} out")
    sources = None if source is None else read_sources(source, docids)
    if to_text is None:
        join = None
    else:
        known, make = sampled_sources(path) if sampled else sources or [], to_text

        def join(tokens: Sequence[str], number: int) -> str:
            return make(tokens, known[number] if number < len(known) else None)

    if sampled:
        return read_sampled(path, join)
    listed = read_lists(path, docids, join)
    if source is not None and sources is not None:
        _put_sources(listed.corpus, sources, source)
    return listed


def read_sources(path: str | Path, docids: str | Path | None = None) -> list[str]:
    """The raw source of each sentence of a list, which has the number of its line (`line_numbers`).

    The borders between documents of plain text are lines, too, without words.
    """
    from gpusearch.io.documents import read_documents  # imports lxml

    corpus = read_documents(path, docids=docids)
    numbers, lines = line_numbers(corpus)
    sources = [""] * lines
    for document, places in zip(corpus.documents, numbers, strict=True):
        for segment, number in zip(document.segments, places, strict=True):
            sources[number] = segment.source
    return sources


def _put_sources(corpus: Corpus, sources: Sequence[str], path: str | Path) -> None:
    """Give the segments of a list their sources; it may end before its input does.

    Raises:
        InputError: fewer sources than sentences, or sentences that have sources.
    """
    segments = [segment for document in corpus.documents for segment in document.segments]
    if any(segment.source for segment in segments):
        raise InputError("sources for candidates that have their own", path=corpus.path, hint="leave source out")
    if len(sources) < len(segments):
        raise InputError(
            "fewer sources than sentences",
            path=path,
            found=f"{len(sources)}",
            expected=f"{len(segments)} as in {corpus.path}",
        )
    for segment, source in zip(segments, sources, strict=False):
        segment.source = source
