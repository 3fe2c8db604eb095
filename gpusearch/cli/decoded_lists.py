"""What `gpusearch decode` writes beside the translation, a line a sentence or derivation: lists, alignments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from gpusearch.cli.decoded import alignment_text, describe_sentence
from gpusearch.decoder import Decoded
from gpusearch.io.corpus import id_or_place, line_numbers
from gpusearch.io.files import replaced
from gpusearch.io.nbest import format_n_best
from gpusearch.model.weights import Features
from gpusearch.search.lists import n_best_entry
from gpusearch.search.translation import SentenceTranslation


def write_lists(decoded: Decoded, features: Features, path: Path) -> None:
    """Write the derivations of each sentence as Moses does, or as JSON where the file is called .jsonl.

    Sentences have the number of their input line, from 0, where the input is plain text; else they are counted.

    Raises:
        InputError: a word that the list cannot hold.
    """
    rows = _json_rows(decoded, features) if ".jsonl" in path.suffixes else _moses_rows(decoded, features)
    with replaced(path) as stream:
        for row in rows:
            stream.write(row.encode() + b"\n")


def _moses_rows(decoded: Decoded, features: Features) -> Iterator[str]:
    """An entry for each derivation, and one for each line without words, borders between documents included."""
    nothing = SentenceTranslation((), np.zeros(len(features.names)), 0.0)
    for number, derivations in enumerate(_by_line(decoded)):
        for one in derivations or [nothing]:
            yield format_n_best(n_best_entry(number, one, features))


def _by_line(decoded: Decoded) -> list[list[SentenceTranslation]]:
    """The derivations of each line of the input; none of a border."""
    numbers, lines = line_numbers(decoded.corpus)
    by_line: list[list[SentenceTranslation]] = [[] for _ in range(lines)]
    for places, found in zip(numbers, decoded.result.documents, strict=True):
        for number, best, derivations in zip(places, found.best.sentences, found.lists, strict=True):
            by_line[number] = derivations or [best]
    return by_line


def _json_rows(decoded: Decoded, features: Features) -> Iterator[str]:
    by_line = _by_line(decoded)
    numbers, _ = line_numbers(decoded.corpus)
    for place, (document, lines) in enumerate(zip(decoded.corpus.documents, numbers, strict=True), start=1):
        for seg, (segment, number) in enumerate(zip(document.segments, lines, strict=True), start=1):
            name = {"id": number, "doc": id_or_place(document, place), "seg": id_or_place(segment, seg)}
            for one in by_line[number]:
                row = name | {"words": " ".join(one.words)} | describe_sentence(one, features)
                yield json.dumps(row, ensure_ascii=False)


def write_alignment(decoded: Decoded, path: Path) -> None:
    """Write the word alignment of each segment of the translation, an empty line for an empty one.

    Lines go with those of the input where it is plain text.
    """
    numbers, lines = line_numbers(decoded.corpus)
    rows = [""] * lines
    for places, found in zip(numbers, decoded.result.documents, strict=True):
        for number, sentence in zip(places, found.best.sentences, strict=True):
            rows[number] = alignment_text(sentence)
    with replaced(path) as stream:
        for row in rows:
            stream.write(row.encode() + b"\n")
