"""MTEval: ``mteval > srcset | refset | tstset > doc > … > seg`` in XML, or in the SGML that was before it."""

from __future__ import annotations

from collections.abc import Sequence

from lxml import etree

from gpusearch.errors import InputError
from gpusearch.io.corpus import Corpus, Document, Origin, check_characters, check_template, ids_of
from gpusearch.io.formats import markup, sgml

FORBIDDEN = markup.FORBIDDEN
SETS = ("srcset", "refset", "tstset")
# SGML has no capitals in names; these are looked up, all others are kept as they are written.
_NAMES = frozenset(("mteval", *SETS, "doc", "seg", "docid", "id", "sysid", "trglang"))


def read(data: bytes, path: str) -> Corpus:
    """Read the source set, or the only set: every ``seg`` of a ``doc``, whatever stands between.

    A ``refset`` beside a ``srcset`` gives the references (the first, if there are several). The template is
    the file.
    """
    file = _parse(data, path)
    sets = _sets(file)
    documents, elements = _documents(sets[0], file)
    markup.check_documents(documents, elements, file)
    references = next((item for item in sets if item.tag == "refset"), None)
    if sets[0].tag == "srcset" and references is not None:
        by_id = dict(zip([document.id for document in documents], documents, strict=True))
        for reference, element in zip(*_documents(references, file), strict=True):
            if reference.id in by_id:
                texts = [segment.source for segment in reference.segments]
                markup.attach(by_id[reference.id], texts, element, file)
    return Corpus(documents, "mteval", path, data)


def _parse(data: bytes, path: str) -> markup.XmlFile:
    if data.removeprefix(b"\xef\xbb\xbf").startswith(b"<?xml"):
        return markup.parse(data, path)
    try:
        file = markup.parse(data, path)
    except InputError:  # not XML then, which is no fault in a file that does not say that it is
        file = markup.parse(sgml.to_xml(data, path), path)
    for element in file.root.iter(etree.Element):
        element.tag = _name(element.tag)
        attributes = {_name(key): value for key, value in element.attrib.items()}
        element.attrib.clear()
        element.attrib.update(attributes)
    return file


def _name(written: object) -> str:
    lower = str(written).lower()
    return lower if lower in _NAMES else str(written)


def _sets(file: markup.XmlFile) -> list[etree._Element]:
    """The sets of a file, the source set first."""
    root = file.root
    sets = [item for item in ([root] if root.tag in SETS else root) if item.tag in SETS]
    if not sets:
        raise InputError(
            "no set of documents",
            path=file.path,
            line=file.line(root),
            found=f"<{root.tag!s}>",
            expected="<srcset>, <refset> or <tstset> inside <mteval>",
        )
    return sorted(sets, key=lambda item: item.tag != "srcset")


def _documents(collection: etree._Element, file: markup.XmlFile) -> tuple[list[Document], list[etree._Element]]:
    elements = list(collection.iter("doc"))
    return [markup.read_document(item, "docid", item.iter("seg"), file) for item in elements], elements


def write(corpus: Corpus, translations: Sequence[Sequence[str]], origin: Origin) -> bytes:
    """Write a ``tstset`` in the structure of the set that was read; the file's other sets are left out."""
    file = _new(corpus) if corpus.template is None else _parse(corpus.template, corpus.path)
    output, *others = _sets(file)
    languages = [origin.language, output.get("trglang"), *(item.get("trglang") for item in others)]
    for item in others:
        file.root.remove(item)
    output.tag = "tstset"
    output.set("trglang", next((name for name in languages if name), "und"))  # ISO 639: undetermined
    output.set("sysid", origin.system)
    elements = [list(document.iter("seg")) for document in output.iter("doc")]
    check_template(corpus, [len(x) for x in elements] == [len(x.segments) for x in corpus.documents])
    for segments, texts in zip(elements, translations, strict=True):
        for segment, text in zip(segments, texts, strict=True):
            markup.set_text(segment, text)
    for document in output.iter("doc"):
        if "sysid" in document.attrib:
            document.set("sysid", origin.system)
    return markup.serialise(file.root, doctype=False)


def _new(corpus: Corpus) -> markup.XmlFile:
    root = etree.Element("mteval")
    collection = etree.SubElement(root, "srcset", setid="documents", srclang="und")
    for name, document in zip(ids_of(corpus.documents), corpus.documents, strict=True):
        check_characters(name, FORBIDDEN, "mteval", f"the document id {name!r}")
        markup.add_segments(etree.SubElement(collection, "doc", docid=name), document)
    etree.indent(root, space="")
    return markup.XmlFile(root, b"", corpus.path)
