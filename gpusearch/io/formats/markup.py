"""What the two XML forms share: a parser that expands and fetches nothing, texts of segments, output."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from lxml import etree

from gpusearch.errors import InputError
from gpusearch.io.corpus import Document, Segment, check_characters, check_unique, ids_of

FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_STRING = etree.XPath("string()", smart_strings=False)  # all text inside, without comments


def parse(data: bytes, path: str) -> etree._Element:
    """The root of an XML file. Entities of its own are refused, an external DTD is not read."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        found = re.sub(r", line \d+, column \d+$", "", error.msg or "")
        hint = "write & as &amp; and < as &lt;" if "EntityRef" in found else None
        raise InputError("not well-formed XML", path=path, line=error.lineno, found=found, hint=hint) from None
    declarations = root.getroottree().docinfo.internalDTD
    for entity in declarations.iterentities() if declarations is not None else ():
        raise InputError(
            "an entity declaration",
            path=path,
            line=data[: max(0, data.find(b"<!ENTITY"))].count(b"\n") + 1,
            found=entity.name,
            expected="XML without entities of its own",
        )
    for node in root.iter(etree.Entity):
        raise InputError(
            "an unknown entity",
            path=path,
            line=node.sourceline,
            found=node.text,
            expected="&amp; &lt; &gt; &quot; &apos; or a character's number",
        )
    return root


def serialise(root: etree._Element, doctype: bool = True) -> bytes:
    """XML in UTF-8. A carriage return in a text becomes a character reference, so that it is read back."""
    node = root.getroottree() if doctype else root
    return etree.tostring(node, encoding="UTF-8", xml_declaration=True) + b"\n"


def text_of(element: etree._Element) -> str:
    """The text of a segment; a line break with its indentation counts as one blank, at the ends as none."""
    first, *others = _STRING(element).split("\n")
    if not others:
        return first
    *middle, last = others
    lines = [first.rstrip(" \t"), *(line.strip(" \t") for line in middle), last.lstrip(" \t")]
    return " ".join(line for line in lines if line)


def set_text(element: etree._Element, text: str) -> None:
    """Make ``text`` the only content of an element."""
    del element[:]
    element.text = text


def read_document(
    element: etree._Element, id_attribute: str, segments: Iterable[etree._Element], path: str
) -> Document:
    """A document from its element and those of its segments: ids, texts and all other attributes."""
    name = element.get(id_attribute)
    if not name:
        raise InputError(
            "a document without an id",
            path=path,
            line=element.sourceline,
            expected=f'<doc {id_attribute}="…">',
        )
    elements = list(segments)
    found = [Segment(text_of(item), id=item.get("id"), attributes=_attributes(item, "id")) for item in elements]
    check_unique("segment", [segment.id for segment in found], _lines(elements), path)
    return Document(name, found, _attributes(element, id_attribute))


def attach(document: Document, references: Sequence[str], path: str, line: int | None) -> None:
    """Give each segment its reference from the same file."""
    if len(references) != len(document.segments):
        raise InputError(
            f"the reference of document {document.id!r} has another number of segments",
            path=path,
            line=line,
            found=f"{len(references)}",
            expected=f"{len(document.segments)} as in the source",
        )
    for segment, reference in zip(document.segments, references, strict=True):
        segment.reference = reference


def check_documents(documents: Sequence[Document], elements: Iterable[etree._Element], path: str) -> None:
    """Refuse a document id that is there twice."""
    check_unique("document", [document.id for document in documents], _lines(elements), path)


def add_segments(parent: etree._Element, document: Document, texts: Sequence[str] | None = None) -> None:
    """Append a ``seg`` for each segment, with these texts or empty."""
    for place, name in enumerate(ids_of(document.segments)):
        text = "" if texts is None else texts[place]
        for value in (name, text):
            check_characters(value, FORBIDDEN, "XML", f"document {document.id!r}, segment {name!r},")
        etree.SubElement(parent, "seg", id=name).text = text


def _lines(elements: Iterable[etree._Element]) -> list[int]:
    return [element.sourceline or 0 for element in elements]


def _attributes(element: etree._Element, but: str) -> dict[str, str]:
    return {str(key): str(value) for key, value in element.attrib.items() if key != but}
