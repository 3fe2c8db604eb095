"""What the two XML forms share: a parser that expands and fetches nothing, texts of segments, output."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.parsers import expat

from lxml import etree

from gpusearch.errors import InputError
from gpusearch.io.corpus import Document, Segment, check_characters, check_unique, ids_of

FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LINES = 65_535  # libxml2 counts no further
_PLACE = re.compile(r"\s*, line \d+, column \d+$")
_ADVICE = re.compile(r", (?:use|try) XML_PARSE_HUGE(?: option)?")  # to programmers
_STRING = etree.XPath("string()", smart_strings=False)  # all text inside, without comments


@dataclass(frozen=True, eq=False)
class XmlFile:
    """A parsed file; ``data`` is XML with the lines of the file ``path``."""

    root: etree._Element
    data: bytes
    path: str

    def line(self, node: etree._Element) -> int:
        """The line of an element or an entity, for messages."""
        if self.data.count(b"\n") < _LINES:
            return node.sourceline or 1
        nodes = self.root.iter(etree.Element, etree.Entity)
        place = next(place for place, one in enumerate(nodes) if one is node)
        return _lines(self.data, self.root.getroottree().docinfo.encoding or "UTF-8")[place]


def _lines(data: bytes, encoding: str) -> list[int]:
    """The line in which each element and each entity of a well-formed file begins."""
    wide = encoding.upper().startswith("UTF-16")  # of which expat tells the two forms apart
    parser = expat.ParserCreate(None if wide else "UTF-8")
    lines: list[int] = []

    def note(*_: object) -> None:
        lines.append(parser.CurrentLineNumber)

    def note_entity(_: str, is_parameter: bool) -> None:
        if not is_parameter:
            note()

    parser.StartElementHandler, parser.SkippedEntityHandler = note, note_entity
    parser.Parse(data if wide else data.decode(encoding), True)
    return lines


def parse(data: bytes, path: str) -> XmlFile:
    """Parse an XML file. Entities of its own are refused, an external DTD is not read.

    Raises:
        InputError: not well-formed, an entity, more than libxml2's limits allow; names the line.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise _not_parsed(error, path) from None
    file = XmlFile(root, data, path)
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
            line=file.line(node),
            found=node.text,
            expected="&amp; &lt; &gt; &quot; &apos; or a character's number",
        )
    return file


def _not_parsed(error: etree.XMLSyntaxError, path: str) -> InputError:
    said = _PLACE.sub("", error.msg or "")
    found = _ADVICE.sub("", said)
    if found != said:
        return InputError(
            "too large for XML",
            path=path,
            line=error.lineno,
            found=found,
            expected="texts of at most 10 MB, elements at most 256 deep",
            hint="write the documents as JSONL",
        )
    hint = "write & as &amp; and < as &lt;" if "EntityRef" in found else None
    return InputError("not well-formed XML", path=path, line=error.lineno, found=found, hint=hint)


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
    element: etree._Element, id_attribute: str, segments: Iterable[etree._Element], file: XmlFile
) -> Document:
    """A document from its element and those of its segments: ids, texts and all other attributes."""
    name = element.get(id_attribute)
    if not name:
        raise InputError(
            "a document without an id",
            path=file.path,
            line=file.line(element),
            expected=f'<doc {id_attribute}="…">',
        )
    elements = list(segments)
    found = [Segment(text_of(item), id=item.get("id") or None, attributes=_attributes(item, "id")) for item in elements]
    check_unique("segment", [segment.id for segment in found], lambda place: file.line(elements[place]), file.path)
    return Document(name, found, _attributes(element, id_attribute))


def attach(document: Document, references: Sequence[str], element: etree._Element, file: XmlFile) -> None:
    """Give each segment its reference from an element of the same file."""
    if len(references) != len(document.segments):
        raise InputError(
            f"the reference of document {document.id!r} has another number of segments",
            path=file.path,
            line=file.line(element),
            found=f"{len(references)}",
            expected=f"{len(document.segments)} as in the source",
        )
    for segment, reference in zip(document.segments, references, strict=True):
        segment.reference = reference


def check_documents(documents: Sequence[Document], elements: Sequence[etree._Element], file: XmlFile) -> None:
    """Refuse a document id that is there twice."""
    check_unique("document", [document.id for document in documents], lambda at: file.line(elements[at]), file.path)


def add_segments(parent: etree._Element, document: Document, texts: Sequence[str] | None = None) -> None:
    """Append a ``seg`` for each segment, with these texts or empty."""
    for place, name in enumerate(ids_of(document.segments)):
        text = "" if texts is None else texts[place]
        for value in (name, text):
            check_characters(value, FORBIDDEN, "XML", f"document {document.id!r}, segment {name!r},")
        etree.SubElement(parent, "seg", id=name).text = text


def _attributes(element: etree._Element, but: str) -> dict[str, str]:
    return {str(key): str(value) for key, value in element.attrib.items() if key != but}
