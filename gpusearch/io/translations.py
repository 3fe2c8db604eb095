"""Translations and references from several files, brought together segment by segment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from gpusearch.errors import InputError
from gpusearch.io.corpus import Corpus, Document, Segment, describe, group
from gpusearch.io.documents import read_documents
from gpusearch.io.files import read_lines, split_blank
from gpusearch.io.formats import markup


@dataclass(frozen=True)
class AlignedTexts:
    """Texts of the same segments from several files, in the order of the first file that tells documents apart."""

    texts: list[list[str]]
    """``texts[f][n]``: segment n of file f."""
    starts: list[int]
    """Index of each document's first segment; documents without segments are left out."""


def read_translations(path: str | Path, system: str | None = None) -> Corpus:
    """Read a file of translations: each segment's ``source`` is its translation.

    In JSONL that is the ``hyp`` of a segment, as decoding writes it, if there is one; in WMT XML the ``hyp`` of
    the document; else the text of the file itself (plain text, TSV, MTEval's ``tstset``).

    Args:
        path: the file.
        system: the one to take where a WMT XML file has several.

    Raises:
        InputError: see :func:`~gpusearch.io.documents.read_documents`; a document without a translation, or
            with several to choose from.
    """
    corpus = read_documents(path)
    if corpus.format == "wmt-xml":
        _take_wmt_hypotheses(corpus, system)
    elif corpus.format == "jsonl":
        for document in corpus.documents:
            for segment in document.segments:
                text = segment.attributes.get("hyp")
                segment.source = text if isinstance(text, str) else segment.source
    return corpus


def read_references(path: str | Path) -> Corpus:
    """Read a file of references: each segment's ``source`` is its reference if it has one, else its text."""
    corpus = read_documents(path)
    for document in corpus.documents:
        for segment in document.segments:
            segment.source = segment.source if segment.reference is None else segment.reference
    return corpus


def align_translations(
    translations: Sequence[str | Path],
    references: Sequence[str | Path],
    docids: str | Path | None = None,
    system: str | None = None,
) -> AlignedTexts:
    """Read files of translations and of references and bring them together.

    Plain text is joined line by line. Where all files are plain text, lines that are blank in all of them are
    borders of documents, and those that are blank in some are empty segments; a file of document ids makes every
    line a segment. Other forms are joined by document ids where both files have them, else by the order of
    documents, and segments by their order.

    Args:
        translations, references: files in any form of documents; the result has them in this order.
        docids: a file with the document id of each line of the plain texts.
        system: see :func:`read_translations`.

    Raises:
        InputError: documents or segments that do not correspond (names the file and the document).
    """
    corpora = [read_translations(path, system) for path in translations]
    corpora += [read_references(path) for path in references]
    if system is not None and all(corpus.format != "wmt-xml" for corpus in corpora[: len(translations)]):
        found = ", ".join(dict.fromkeys(corpus.format for corpus in corpora[: len(translations)]))
        raise InputError(f"a system is named ({system})", found=f"translations as {found}", expected="WMT XML")
    if docids is not None and all(corpus.format != "text" for corpus in corpora):
        raise InputError("a file of document ids for forms that have their own", path=docids, expected="plain text")
    if docids is not None:
        ids = list(read_lines(docids))
        corpora = [_with_ids(corpus, ids, docids) if corpus.format == "text" else corpus for corpus in corpora]
    with_documents = [corpus for corpus in corpora if not _is_plain(corpus)]
    if not with_documents:
        return _by_lines(corpora)
    master = with_documents[0]
    lengths = [len(document.segments) for document in master.documents]
    return AlignedTexts([_joined(master, corpus) for corpus in corpora], _starts(lengths))


def _is_plain(corpus: Corpus) -> bool:
    """Whether the documents of a corpus are told apart by blank lines, which may as well be empty segments."""
    return corpus.format == "text" and corpus.template is not None


def _lines(corpus: Corpus) -> list[str]:
    """All lines of a plain text."""
    lines = [""] * corpus.template[0]
    for document, border in zip(corpus.documents, corpus.template[1:], strict=True):
        lines += _texts(document) + [""] * border
    return lines


def _texts(document: Document) -> list[str]:
    return [segment.source for segment in document.segments]


def _with_ids(corpus: Corpus, ids: Sequence[str], docids: str | Path) -> Corpus:
    lines = _lines(corpus)
    if len(lines) != len(ids):
        raise InputError(
            "not one document id for every line",
            path=docids,
            found=f"{len(ids)} lines",
            expected=f"{len(lines)} as in {corpus.path}",
        )
    return Corpus(group(ids, [Segment(line) for line in lines], str(docids)), "text", corpus.path)


def _by_lines(corpora: Sequence[Corpus]) -> AlignedTexts:
    files = [_lines(corpus) for corpus in corpora]
    for corpus, lines in zip(corpora, files, strict=True):
        if len(lines) != len(files[0]):
            expected = f"{len(files[0])} as in {corpora[0].path}"
            raise InputError("another number of lines", path=corpus.path, found=f"{len(lines)}", expected=expected)
    texts: list[list[str]] = [[] for _ in files]
    starts: list[int] = []
    inside = False
    for row in zip(*files, strict=True):
        if not any(map(split_blank, row)):
            inside = False
            continue
        if not inside:
            starts.append(len(texts[0]))
            inside = True
        for column, text in zip(texts, row, strict=True):
            column.append(text)
    return AlignedTexts(texts, starts)


def _starts(lengths: Sequence[int]) -> list[int]:
    stops = list(accumulate(lengths))
    return [stop - length for stop, length in zip(stops, lengths, strict=True) if length]


def _joined(master: Corpus, corpus: Corpus) -> list[str]:
    """The segments of a corpus in the order of the master's."""
    count = sum(len(document.segments) for document in master.documents)
    if _is_plain(corpus) and len(lines := _lines(corpus)) == count:
        return lines
    documents: list[Document | None] = [*corpus.documents]
    if all(document.id is not None for document in [*master.documents, *corpus.documents]):
        by_id = {document.id: document for document in corpus.documents}
        documents = [by_id.pop(document.id, None) for document in master.documents]
        documents += by_id.values()
    if len(documents) > len(master.documents):
        extra = documents[len(master.documents)]
        name = "documents" if extra is None or extra.id is None else f"document {extra.id!r}"
        raise InputError(f"{name} that {master.path} lacks", path=corpus.path)
    documents += [None] * (len(master.documents) - len(documents))
    texts = []
    for position, (wanted, document) in enumerate(zip(master.documents, documents, strict=True)):
        if document is None:
            raise InputError(f"lacks {describe(wanted, position)} of {master.path}", path=corpus.path)
        if len(document.segments) != len(wanted.segments):
            raise InputError(
                f"another number of segments in {describe(wanted, position)}",
                path=corpus.path,
                found=f"{len(document.segments)}",
                expected=f"{len(wanted.segments)} as in {master.path}",
            )
        texts += _texts(document)
    return texts


def _take_wmt_hypotheses(corpus: Corpus, system: str | None) -> None:
    """Put the text of each document's ``hyp`` in the place of its source."""
    file = markup.parse(corpus.template, corpus.path)
    for element, document in zip(file.root.iter("doc"), corpus.documents, strict=True):
        found = {hypothesis.get("system", ""): hypothesis for hypothesis in element.findall("hyp")}
        names = ", ".join(found) or "none"
        if system is not None and system not in found:
            what = f"document {document.id!r} has no translation by {system!r}"
            raise InputError(what, path=corpus.path, line=file.line(element), found=names)
        if system is None and len(found) != 1:
            raise InputError(
                f"document {document.id!r} needs one translation",
                path=corpus.path,
                line=file.line(element),
                found=names,
                expected="one <hyp>",
                hint="name a system" if found else None,
            )
        hypothesis = found[system] if system is not None else next(iter(found.values()))
        texts = [markup.text_of(segment) for segment in hypothesis.iter("seg")]
        if len(texts) != len(document.segments):
            raise InputError(
                f"another number of segments in the translation of document {document.id!r}",
                path=corpus.path,
                line=file.line(hypothesis),
                found=f"{len(texts)}",
                expected=f"{len(document.segments)} as in its source",
            )
        for segment, text in zip(document.segments, texts, strict=True):
            segment.source = text
