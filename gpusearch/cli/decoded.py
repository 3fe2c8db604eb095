"""What `gpusearch decode` writes: translations, scores, learning curves, and the table of proposals."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gpusearch.config import TextConfig
from gpusearch.decoder import Decoded
from gpusearch.errors import InputError
from gpusearch.io.corpus import Corpus, describe_segment, id_or_place
from gpusearch.io.documents import FORMATS, write_documents
from gpusearch.io.files import split_blank
from gpusearch.io.nbest import BORDER
from gpusearch.io.trace import format_trace, is_span
from gpusearch.kernels.records import ACCEPTED, BELOW_BOUND, BELOW_SCORE, EMPTY, TOO_FAR
from gpusearch.model.weights import Features
from gpusearch.search.result import DocumentResult, exchanges
from gpusearch.search.translation import SentenceTranslation, Translation

OUTPUT_FORMATS = (*(name for name in FORMATS if name != "conllu"), "trace")


def check_format(name: str | None) -> None:
    """Refuse an output format before the work begins.

    Raises:
        InputError: unknown, or one that is only read.
    """
    if name is not None and name not in OUTPUT_FORMATS:
        raise InputError("unusable output format", found=name, expected=", ".join(OUTPUT_FORMATS))


def output_form(corpus: Corpus, name: str | None) -> str:
    """The form of the output: the one that is named, else that of the input, or JSONL where that is only read."""
    if name is not None:
        return name
    return corpus.format if corpus.format in OUTPUT_FORMATS else "jsonl"


def check_labels(corpus: Corpus, form: str) -> None:
    """Refuse documents whose ids or sources the output cannot hold, before the work begins.

    Raises:
        InputError: a character that has no place there.
    """
    nothing = [[""] * len(document.segments) for document in corpus.documents]
    write_documents(corpus, nothing, io.BytesIO(), "text" if form == "trace" else form)


def check_words(corpus: Corpus, text: TextConfig, form: str, nbest_list: Path | None) -> None:
    """Refuse words of the source that the output would be misread with if they are copied, before the work begins.

    Raises:
        InputError: one that looks like a span where a trace is written, or like a border in a list.
    """
    if text.tokenizer != "none" or text.mark_unknown or text.drop_unknown:
        return
    moses_list = nbest_list is not None and ".jsonl" not in nbest_list.suffixes
    for place, document in enumerate(corpus.documents):
        for number, segment in enumerate(document.segments):
            for word in split_blank(segment.source):
                if (moses_list and word == BORDER) or (form == "trace" and is_span(word)):
                    what = f"{describe_segment(document, place, number)} has a word that "
                    what += "a list in Moses' form cannot hold" if word == BORDER else "the format trace cannot hold"
                    raise InputError(what, found=word, hint="write JSONL (--format jsonl, a list called .jsonl)")


def write_decoded(decoded: Decoded, features: Features, destination: Path | None, name: str | None) -> None:
    """Write translations in the form of the input or in a named one; None: to standard output."""
    texts = decoded.texts
    where = destination if destination is not None else "-"
    form = output_form(decoded.corpus, name)
    if form == "trace":
        texts = [[_trace(sentence) for sentence in found.best.sentences] for found in decoded.result.documents]
        form = "text"
    if form == "jsonl":
        _describe(decoded, features)
    write_documents(decoded.corpus, texts, where, form)


def _trace(sentence: SentenceTranslation) -> str:
    return format_trace((phrase.start, phrase.stop, phrase.words) for phrase in sentence.phrases)


def _describe(decoded: Decoded, features: Features) -> None:
    """Put scores, features, segmentation and alignment beside the segments, where JSONL output finds them.

    What the input has under these names goes into an object "input".
    """
    for document, found, n_best_texts, texts in zip(
        decoded.corpus.documents,
        decoded.result.documents,
        decoded.n_best_texts,
        decoded.sentence_n_best_texts,
        strict=True,
    ):
        ours: dict[str, Any] = {
            "score": found.best.score,
            **document_features(found.best, features),
            "chain_scores": found.chain_scores.tolist(),
        }
        if found.neighbours.any():
            ours["neighbours"] = found.neighbours.tolist()
        if found.n_best:
            ours["nbest"] = [
                _n_best_row(translation, texts, features)
                for translation, texts in zip(found.n_best, n_best_texts, strict=True)
            ]
        _put(ours, document.attributes)
        described = [describe_sentence(sentence, features) for sentence in found.best.sentences]
        for row, several, raw in zip(described, found.sentence_n_best, texts, strict=False):
            row["nbest"] = [
                {"hyp": text, **describe_sentence(one, features)} for one, text in zip(several, raw, strict=True)
            ]
        for segment, row in zip(document.segments, described, strict=True):
            _put({"hyp": None, **row}, segment.attributes)  # the writer has the text


def _put(ours: dict[str, Any], attributes: dict[str, Any]) -> None:
    theirs = {name: attributes[name] for name in ("input", *ours) if name in attributes}
    attributes.update(ours)
    if theirs.keys() & ours.keys():
        attributes["input"] = theirs


def _n_best_row(translation: Translation, texts: Sequence[str], features: Features) -> dict[str, Any]:
    segments = [
        {"hyp": text, **describe_sentence(sentence, features)}
        for text, sentence in zip(texts, translation.sentences, strict=True)
    ]
    return {"score": translation.score, **document_features(translation, features), "segments": segments}


def document_features(translation: Translation, features: Features) -> dict[str, Any]:
    """Where some features are of the document: the values of all over it, nats."""
    return {"features": features.grouped(translation.features)} if features.document else {}


def describe_sentence(sentence: SentenceTranslation, features: Features) -> dict[str, Any]:
    """A sentence as JSON: score and features in nats, phrases with their source words (first, last), alignment."""
    return {
        "score": sentence.score,
        "features": features.grouped(sentence.features),
        "phrases": [
            {"span": [phrase.start, phrase.stop - 1], "words": " ".join(phrase.words)} for phrase in sentence.phrases
        ],
        "alignment": alignment_text(sentence),
    }


def alignment_text(sentence: SentenceTranslation) -> str:
    """Its word alignment as ``source-target ...``, from 0."""
    return " ".join(f"{source}-{target}" for source, target in sentence.alignment)


def score_rows(decoded: Decoded, features: Features) -> Iterator[dict[str, Any]]:
    """A row a document: its score, that of its best chain, and the features of the document, where there are some."""
    for name, found in _named(decoded):
        yield {
            "doc": name,
            "score": found.best.score,
            "best_chain": float(found.chain_scores.max()),
            **document_features(found.best, features),
        }


def trace_rows(decoded: Decoded) -> Iterator[dict[str, Any]]:
    """A row for each document and step looked at: the scores of all chains (the paper's learning curves)."""
    for name, found in _named(decoded):
        for step, scores in found.trace.items():
            yield {"doc": name, "step": step, "scores": scores.tolist()}


def lattice_rows(decoded: Decoded) -> Iterator[dict[str, Any]]:
    """A row for each sentence: its document, its place there from 0, and its lattice (docs/lattices.md)."""
    for name, found in _named(decoded):
        for place, lattice in enumerate(found.lattices):
            if lattice is not None:
                yield {"doc": name, "segment": place, **lattice.row()}


def _named(decoded: Decoded) -> Iterator[tuple[str | int, DocumentResult]]:
    """Documents by id, or by their place from 1 where they have none."""
    for place, (document, found) in enumerate(
        zip(decoded.corpus.documents, decoded.result.documents, strict=True), start=1
    ):
        yield id_or_place(document, place), found


def tally_table(decoded: Decoded) -> str:
    """How far the proposals of each operation came, in per cent."""
    lines = [f"{'operation':16}{'proposals':>14}{'empty':>8}{'too far':>9}{'bound':>8}{'score':>8}{'accepted':>10}"]
    tally = decoded.result.tally
    named = zip(decoded.result.operators, tally, strict=False)
    rows = [(name, counts) for name, counts in named if counts.sum()]
    for name, counts in [*rows, ("all", tally.sum(axis=0))]:
        share = 100 * counts / max(1, int(counts.sum()))
        lines.append(
            f"{name:16}{int(counts.sum()):14,}{share[EMPTY]:8.1f}{share[TOO_FAR]:9.1f}{share[BELOW_BOUND]:8.1f}"
            f"{share[BELOW_SCORE]:8.1f}{share[ACCEPTED]:10.2f}"
        )
    return "\n".join(lines)


def report(decoded: Decoded, table: str) -> None:
    """Timing, proposals, scores and signature, on standard error."""
    best_chains = sum(float(document.chain_scores.max()) for document in decoded.result.documents)
    if table:
        print(table, tally_table(decoded), sep="\n", file=sys.stderr)
    if decoded.result.swaps:
        offered, accepted = np.sum(decoded.result.swaps, axis=0)
        print(exchanges(accepted / np.maximum(offered, 1)), file=sys.stderr)
    neighbours = np.concatenate([found.neighbours for found in decoded.result.documents] or [np.zeros(0, np.int64)])
    if neighbours.any():
        from gpusearch.search.final_sweep import NEIGHBOURHOOD  # its kernels are loaded by now

        print(
            f"local optima: {(neighbours > 0).sum()} of {len(neighbours)} units, "
            f"none of whose {neighbours.sum():,} neighbours scores higher ({NEIGHBOURHOOD})",
            file=sys.stderr,
        )
    print(f"score {decoded.score:.4f}; best chain of each document {best_chains:.4f}", file=sys.stderr)
    print(decoded.signature, file=sys.stderr)
