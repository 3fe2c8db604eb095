"""WMT XML, 2021 on: ``dataset > doc > src | ref | hyp > p > seg``, with ``collection`` between or not.

https://github.com/wmt-conference/wmt-format-tools
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

from lxml import etree

from gpusearch.errors import InputError
from gpusearch.io.corpus import Corpus, Document, Origin, check_characters, check_template, ids_of
from gpusearch.io.formats import markup

FORBIDDEN = markup.FORBIDDEN


def read(data: bytes, path: str) -> Corpus:
    """Read the source of each document and its first reference, if any. The template is the file."""
    file = markup.parse(data, path)
    if file.root.tag != "dataset":
        found, line = f"<{file.root.tag!s}>", file.line(file.root)
        raise InputError("not WMT XML", path=path, line=line, found=found, expected="<dataset>")
    elements = list(file.root.iter("doc"))
    documents = [_document(element, file) for element in elements]
    markup.check_documents(documents, elements, file)
    return Corpus(documents, "wmt-xml", path, data)


def _document(element: etree._Element, file: markup.XmlFile) -> Document:
    sources = element.findall("src")
    if len(sources) != 1:
        raise InputError(
            f"document {element.get('id')!r} needs one <src>",
            path=file.path,
            line=file.line(element),
            found=f"{len(sources)}",
        )
    document = markup.read_document(element, "id", sources[0].iter("seg"), file)
    reference = element.find("ref")
    if reference is not None:
        texts = [markup.text_of(segment) for segment in reference.iter("seg")]
        markup.attach(document, texts, reference, file)
    return document


def write(corpus: Corpus, translations: Sequence[Sequence[str]], origin: Origin) -> bytes:
    """Write the file with one more ``hyp`` in each document, in the structure of its ``src``.

    A ``hyp`` of the same system is replaced. A corpus of another format is written with its ids, sources and
    references, but without other attributes.
    """
    root = _new(corpus) if corpus.template is None else markup.parse(corpus.template, corpus.path).root
    elements = list(root.iter("doc"))
    counts = [len(list(element.iterfind("src//seg"))) for element in elements]
    check_template(corpus, counts == [len(document.segments) for document in corpus.documents])
    for element, texts in zip(elements, translations, strict=True):
        _add_hypothesis(element, texts, origin)
    return markup.serialise(root)


def _add_hypothesis(document: etree._Element, texts: Sequence[str], origin: Origin) -> None:
    for old in document.findall("hyp"):
        if old.get("system") == origin.system:
            document.remove(old)
    hypothesis = copy.deepcopy(document.findall("src")[0])
    hypothesis.tag = "hyp"
    hypothesis.attrib.clear()
    languages = [origin.language, *(item.get("lang") for item in document.findall("ref"))]
    for language in languages:
        if language:
            hypothesis.set("lang", language)
            break
    hypothesis.set("system", origin.system)
    for segment, text in zip(hypothesis.iter("seg"), texts, strict=True):
        markup.set_text(segment, text)
    last = [child for child in document if child.tag in ("src", "ref", "hyp")][-1]
    document.insert(document.index(last) + 1, hypothesis)
    hypothesis.tail, last.tail = last.tail, document.text  # the white space that indents


def _new(corpus: Corpus) -> etree._Element:
    root = etree.Element("dataset", id="documents")
    for name, document in zip(ids_of(corpus.documents), corpus.documents, strict=True):
        check_characters(name, FORBIDDEN, "wmt-xml", f"the document id {name!r}")
        element = etree.SubElement(root, "doc", id=name)
        texts = [("src", [segment.source for segment in document.segments])]
        if any(segment.reference is not None for segment in document.segments):
            texts.append(("ref", [segment.reference or "" for segment in document.segments]))
        for tag, segments in texts:
            markup.add_segments(etree.SubElement(etree.SubElement(element, tag), "p"), document, segments)
    etree.indent(root)
    return root
