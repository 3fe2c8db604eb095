"""Translations to start from: a file with segmentation, or the state of all chains as an earlier run left it.

A saved state is JSON, a document a line: its phrases as [start, stop, words, place among the options of the span], and
how far each chain had come. Chains that go on from it are those of a run that had not been broken off.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gpusearch.errors import InputError
from gpusearch.io.files import read_lines, replaced, split_blank
from gpusearch.io.json_files import parse_json
from gpusearch.io.trace import Phrase, read_trace
from gpusearch.model.problem import Batch, Forced

if TYPE_CHECKING:
    from gpusearch.search.result import DocumentResult

VERSION = 1
PhrasesOfDocument = list[list[Phrase]]
"""Phrases of each of its sentences in target order."""


@dataclass
class Given:
    """First translations of all documents of a corpus."""

    chains: list[list[PhrasesOfDocument]]
    """``chains[document][chain][sentence]``."""
    places: list[list[list[list[int]]]] = field(default_factory=list)
    """Where they are known, for each phrase of `chains` its place among the options of its span."""
    steps: list[NDArray[np.int64]] = field(default_factory=list)
    """For each document ``[C, U]``: proposals made on each unit; none where the chains begin here."""
    rejected: list[NDArray[np.int64]] = field(default_factory=list)

    def fingerprint(self) -> str:
        """BLAKE2b-64 of the translations, and of how far the chains have come."""
        counters = [[array.tolist() for array in arrays] for arrays in (self.steps, self.rejected)]
        return blake2b(json.dumps([self.chains, self.places, *counters]).encode(), digest_size=8).hexdigest()

    def forced(self, first: int, last: int) -> Forced:
        """All phrases of the documents first .. last - 1: they must be options, whatever the table limit."""
        forced: dict[tuple[int, int], list[Phrase]] = {}
        for document in range(first, last):
            for derivation in self.chains[document]:
                for sentence, phrases in enumerate(derivation):
                    forced.setdefault((document - first, sentence), []).extend(phrases)
        return forced

    def options(self, batch: Batch, first: int) -> list[list[list[int]]]:
        """``[chain][sentence of the batch]``: the options of the phrases."""
        documents = range(len(batch.units.first_sentence) - 1)
        chains = len(self.chains[first]) if self.chains else 1
        result = []
        for chain in range(chains):
            sentences: list[list[int]] = []
            for document in documents:
                begin = int(batch.units.first_sentence[document])
                for index, phrases in enumerate(self.chains[first + document][chain]):
                    places = self.places[first + document][chain][index] if self.places else []
                    sentences.append(_options(batch, begin + index, phrases, places))
            result.append(sentences)
        return result

    def counters(self, batch: Batch, first: int) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """Steps and consecutive rejections that each chain brings along, ``[C, U]`` each; None: they begin here."""
        if not self.steps:
            return None
        documents = range(first, first + len(batch.units.first_sentence) - 1)
        steps = np.concatenate([self.steps[document] for document in documents], axis=1)
        rejected = np.concatenate([self.rejected[document] for document in documents], axis=1)
        if steps.shape[1] != len(batch.problem.unit):
            raise InputError(
                "the saved state was made with other units",
                found=f"{steps.shape[1]} units",
                expected=f"{len(batch.problem.unit)}",
                hint='start from its translation instead: initial = "file"',
            )
        return steps, rejected


def _options(batch: Batch, sentence: int, phrases: Sequence[Phrase], places: Sequence[int]) -> list[int]:
    """The options of the phrases; of several that say the same those in the given places, if they are there."""
    found = batch.options.find(sentence, phrases)
    for number, place in enumerate(places):
        start, stop, words = phrases[number]
        options = batch.options.in_span(sentence, start, stop)
        if place < len(options) and batch.options.target(options[place]) == words:
            found[number] = options[place]
    return found


def given_from_trace(path: str | Path, documents: Sequence[Sequence[Sequence[str]]]) -> Given:
    """A translation with its segmentation, for all chains: a line for each sentence that has words.

    Raises:
        InputError: another number of lines than of such sentences, or what `read_trace` finds.
    """
    lines = read_trace(path)
    filled = sum(len(sentence) > 0 for document in documents for sentence in document)
    if len(lines) != filled:
        raise InputError(
            "the translation has another number of sentences than the documents",
            path=path,
            found=f"{len(lines)} lines",
            expected=f"{filled}, one for each sentence that has words",
        )
    rest = iter(lines)
    return Given([[[next(rest) if sentence else [] for sentence in document]] for document in documents])


def save(path: str | Path, ids: Sequence[str | None], results: Sequence[DocumentResult]) -> None:
    """Write the state of all chains, a document a line; ``.gz`` by name."""
    with replaced(path) as stream:
        for name, result in zip(ids, results, strict=True):
            row = {
                "version": VERSION,
                "doc": name,
                "steps": result.steps.tolist(),
                "rejected": result.rejected.tolist(),
                "chains": [
                    [
                        [
                            [start, stop, " ".join(words), place]
                            for (start, stop, words), place in zip(*pair, strict=True)
                        ]
                        for pair in zip(derivation, places, strict=True)
                    ]
                    for derivation, places in zip(result.chains, result.places, strict=True)
                ],
            }
            stream.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")


def load(path: str | Path, documents: Sequence[Sequence[Sequence[str]]], chains: int) -> Given:
    """Read what `save` has written, for the same documents and number of chains.

    Raises:
        InputError: no such file, other documents or chains; names the line.
    """
    given = Given([])
    for number, line in enumerate(read_lines(path), 1):
        read, places, steps, rejected = _parse(line, path, number)
        if len(read) != chains:
            raise InputError(
                "a saved state of another number of chains",
                path=path,
                line=number,
                found=len(read),
                expected=chains,
                hint=f"decode with --chains {len(read)}",
            )
        sizes = {len(derivation) for derivation in read}
        if number <= len(documents) and sizes != {len(documents[number - 1])}:
            raise InputError(
                "a saved state of another document",
                path=path,
                line=number,
                found=f"{min(sizes)} sentences",
                expected=f"{len(documents[number - 1])}",
            )
        given.chains.append(read)
        given.places.append(places)
        given.steps.append(steps)
        given.rejected.append(rejected)
    if len(given.chains) != len(documents):
        raise InputError(
            "a saved state of other documents",
            path=path,
            found=f"{len(given.chains)} documents",
            expected=len(documents),
        )
    return given


def _parse(
    line: str, path: str | Path, number: int
) -> tuple[list[PhrasesOfDocument], list[list[list[int]]], NDArray[np.int64], NDArray[np.int64]]:
    """Phrases of each chain and their places, steps and rejections ``[C, U]``."""
    try:
        row = parse_json(line)
        version = row["version"]
        steps, rejected = np.array(row["steps"], np.int64), np.array(row["rejected"], np.int64)
        read = [
            [[(int(a), int(b), split_blank(words)) for a, b, words, _ in phrases] for phrases in derivation]
            for derivation in row["chains"]
        ]
        places = [[[int(place) for *_, place in phrases] for phrases in derivation] for derivation in row["chains"]]
        if steps.shape != rejected.shape or steps.ndim != 2 or len(steps) != len(read):
            raise ValueError("counters that are not those of its chains")
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise InputError(
            f"no saved state ({error})", path=path, line=number, expected="what --save-state has written"
        ) from None
    if version != VERSION:
        raise InputError("a saved state of another version", path=path, line=number, found=version, expected=VERSION)
    return read, places, steps, rejected
