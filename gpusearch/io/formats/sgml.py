"""MTEval files from before XML: what differs is put right in its line, so that an XML parser reads it.

Names in capitals, values without quotes, ``&`` and ``<`` that stand for themselves, several sets without a
common root. Inside a ``seg`` everything but the five entities of XML and numeric references is text.
"""

from __future__ import annotations

import re

from gpusearch.errors import InputError
from gpusearch.io.corpus import lines_of

_BARE_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]+|#x[0-9A-Fa-f]+);)")
_DOCTYPE = re.compile(r"<!DOCTYPE[^>\[]*(\[)?[^>]*>", re.IGNORECASE)
_SEGMENT = re.compile(r"<seg\b([^>]*?)(?:/>|>(.*?)</seg\s*>)", re.IGNORECASE | re.DOTALL)
_ROOT = re.compile(r"<mteval\b", re.IGNORECASE)
_SET = re.compile(r"<(?:srcset|refset|tstset)\b", re.IGNORECASE)
_TAG = re.compile(r"<(/?)([A-Za-z][\w.:-]*)([^<>]*)>")
_ATTRIBUTE = re.compile(r"""([A-Za-z_][\w.:-]*)\s*=\s*("[^"]*"|'[^']*'|[^\s"'<>]+)""")


def to_xml(data: bytes, path: str) -> bytes:
    """The same content as XML, in the same lines. Names of elements are in small letters, so that ends match starts."""
    text = _BARE_AMPERSAND.sub("&amp;", "\n".join(lines_of(data, path)))
    doctype = _DOCTYPE.search(text)
    if doctype is not None:
        if doctype[1]:
            raise InputError(
                "declarations inside DOCTYPE", path=path, line=_line(text, doctype.start()), expected="none"
            )
        text = text[: doctype.start()] + "\n" * doctype[0].count("\n") + text[doctype.end() :]
    no_root = bool(_SET.search(text)) and not _ROOT.search(text)
    pieces = ["<mteval>"] if no_root else []
    end = 0
    for match in _SEGMENT.finditer(text):
        content = match[2] or ""
        if re.search(r"<seg\b", content, re.IGNORECASE):
            raise InputError("a seg that is not closed", path=path, line=_line(text, match.start()), expected="</seg>")
        pieces.append(_TAG.sub(_tag, text[end : match.start()]))
        content = content.replace("<", "&lt;").replace(">", "&gt;")
        pieces.append(f"<seg{_ATTRIBUTE.sub(_attribute, match[1])}>{content}</seg>")
        end = match.end()
    pieces.append(_TAG.sub(_tag, text[end:]))
    if no_root:
        pieces.append("</mteval>")
    return "".join(pieces).encode()


def _tag(match: re.Match[str]) -> str:
    return f"<{match[1]}{match[2].lower()}{_ATTRIBUTE.sub(_attribute, match[3])}>"


def _attribute(match: re.Match[str]) -> str:
    value = match[2] if match[2][0] in "\"'" else f'"{match[2]}"'
    return f"{match[1]}={value}"


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1
