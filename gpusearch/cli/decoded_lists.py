"""What `gpusearch decode` writes beside the translation, a line a sentence or derivation: lists, alignments."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from gpusearch.cli.decoded import describe_sentence
from gpusearch.decoder import Decoded
from gpusearch.io.files import replaced
from gpusearch.io.nbest import format_n_best
from gpusearch.model.weights import Features
from gpusearch.search.lists import n_best_entry


def write_lists(decoded: Decoded, features: Features, path: Path) -> None:
    """Write the derivations of each sentence as Moses does, or as JSON where the file is called .jsonl.

    Sentences count from 0 through all documents.
    """
    rows = _json_rows(decoded, features) if ".jsonl" in path.suffixes else _moses_rows(decoded, features)
    with replaced(path) as stream:
        for row in rows:
            stream.write(row.encode() + b"\n")


def _moses_rows(decoded: Decoded, features: Features) -> Iterator[str]:
    number = 0
    for found in decoded.result.documents:
        for best, derivations in zip(found.best.sentences, found.lists, strict=True):
            for one in derivations or [best]:
                yield format_n_best(n_best_entry(number, one, features))
            number += 1


def _json_rows(decoded: Decoded, features: Features) -> Iterator[str]:
    number = 0
    for place, (document, found) in enumerate(
        zip(decoded.corpus.documents, decoded.result.documents, strict=True), start=1
    ):
        sentences = zip(document.segments, found.best.sentences, found.lists, strict=True)
        for seg, (segment, best, derivations) in enumerate(sentences, start=1):
            name = {
                "id": number,
                "doc": document.id if document.id is not None else place,
                "seg": segment.id if segment.id is not None else seg,
            }
            for one in derivations or [best]:
                row = name | {"words": " ".join(one.words)} | describe_sentence(one, features)
                yield json.dumps(row, ensure_ascii=False)
            number += 1


def write_alignment(decoded: Decoded, path: Path) -> None:
    """Write the word alignment of each segment of the translation; an empty line for an empty one."""
    with replaced(path) as stream:
        for found in decoded.result.documents:
            for sentence in found.best.sentences:
                points = " ".join(f"{source}-{target}" for source, target in sentence.alignment)
                stream.write(points.encode() + b"\n")
