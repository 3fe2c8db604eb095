"""`gpusearch score`: what the model says of a translation that is given."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gpusearch.cli.options import ConfigPath, DocIds, InputFormat, Overrides

if TYPE_CHECKING:
    from gpusearch.search.translation import SentenceTranslation, Translation


def command(
    translation: Annotated[
        Path, typer.Option("--translation", metavar="FILE", help="With segmentation (words |0-1| ...), or plain text.")
    ],
    documents: Annotated[str, typer.Argument(metavar="[DOCUMENTS]", help="The source; - is standard input.")] = "-",
    config: ConfigPath = Path("model.toml"),
    input_format: InputFormat = None,
    docids: DocIds = None,
    overrides: Overrides = None,
) -> None:
    """Force-score a translation: a JSON object a sentence, with features in nats.

    Plain text is scored by the best segmentation that reaches it; the score is null where none does. Where the model
    has features of the document, a row without "seg" follows the sentences of each.
    """
    from gpusearch.decoder import load
    from gpusearch.io.corpus import id_or_place
    from gpusearch.io.documents import attach_references, read_documents
    from gpusearch.io.files import read_lines, split_blank
    from gpusearch.io.trace import parse_trace
    from gpusearch.search.force import score_plain, score_segmented
    from gpusearch.search.saved import given_from_trace
    from gpusearch.search.translation import whole

    corpus = read_documents(documents, format=input_format, docids=docids)
    decoder = load(config, overrides or [])
    prepared = decoder.prepare(corpus)
    tokens, constraints = prepared.tokens, prepared.constraints
    first = next((line for line in read_lines(translation) if split_blank(line)), "")
    rows: list[list[SentenceTranslation | None]]
    if first and parse_trace(first):
        given = given_from_trace(translation, tokens)
        rows = [
            [*document]
            for document in score_segmented(decoder.model, decoder.config.search, tokens, given, constraints)
        ]
    else:
        attach_references(corpus, translation, docids=docids)
        words = [
            [decoder.target.to_tokens(segment.reference or "") for segment in document.segments]
            for document in corpus.documents
        ]
        rows = score_plain(decoder.model, decoder.config.search, tokens, words, constraints)
    model, features = decoder.model, decoder.model.features

    def write(row: dict[str, Any], found: SentenceTranslation | Translation | None) -> None:
        row["score"] = None if found is None else found.score
        row["features"] = None if found is None else features.grouped(found.features)
        sys.stdout.write(json.dumps(row, ensure_ascii=False) + "\n")

    for place, (document, sentences) in enumerate(zip(corpus.documents, rows, strict=True), start=1):
        name = id_or_place(document, place)
        for number, (segment, sentence) in enumerate(zip(document.segments, sentences, strict=True), start=1):
            write({"doc": name, "seg": id_or_place(segment, number)}, sentence)
        if features.document:
            found = [sentence for sentence in sentences if sentence is not None]
            all_there = len(found) == len(sentences)
            write({"doc": name}, whole(model, tokens[place - 1], found) if all_there else None)
