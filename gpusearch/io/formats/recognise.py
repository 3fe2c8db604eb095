"""Which form a file of documents has, from its name and its first lines."""

from __future__ import annotations

import re
from pathlib import PurePath

from gpusearch.errors import InputError
from gpusearch.io.files import split_blank
from gpusearch.io.formats import conllu, mteval, tsv

_BY_SUFFIX = {
    ".txt": "text",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".conllu": "conllu",
    ".sgm": "mteval",
    ".sgml": "mteval",
}
_BY_ROOT = {"dataset": "wmt-xml"} | dict.fromkeys(("mteval", *mteval.SETS), "mteval")
_PROLOG = re.compile(r"(?:\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[[^\]]*\]\s*)?>)*", re.DOTALL | re.IGNORECASE)
_ROOT = re.compile(r"<([A-Za-z][\w.-]*)(?=[\s/>])")


def recognise(data: bytes, path: str) -> str:
    """The name of the format: by the suffix where it says all, else by the content; plain text if by nothing.

    Tables are told by their first ten lines: CoNLL-U by a word line of ten columns, TSV by three or four
    columns in all of them, the first two without blanks. Empty lines are passed over here: the reader of TSV
    names them.

    Raises:
        InputError: XML of another kind; a header of TSV without its tabs.
    """
    suffixes = [suffix for suffix in PurePath(path).suffixes if suffix not in (".gz", ".bz2", ".xz")]
    suffix = suffixes[-1].lower() if suffixes else ""
    if suffix in _BY_SUFFIX:
        return _BY_SUFFIX[suffix]
    head = data[:65536].decode(_encoding(data), errors="replace").removeprefix("\ufeff")
    root = _ROOT.match(head, _PROLOG.match(head).end())  # type: ignore[union-attr]  # it matches the empty text
    if root is not None and root[1].lower() in _BY_ROOT:
        return _BY_ROOT[root[1].lower()]
    if suffix == ".xml" or head.startswith("<?xml"):
        raise InputError(
            "an XML file that holds no documents",
            path=path,
            found=f"<{root[1]}>" if root else "no root element",
            expected="<dataset> (WMT) or <mteval>, <srcset>, <refset>, <tstset> (MTEval)",
        )
    lines = [line.removesuffix("\r") for line in head.split("\n")[:-1] or [head]]
    if lines[0].startswith("{") and ('"doc_id"' in lines[0] or '"segments"' in lines[0]):
        return "jsonl"
    word = next((line for line in lines if not line.startswith("#")), "")
    if word[:1].isdigit() and word.count("\t") == conllu.COLUMNS - 1:
        return "conllu"
    rows = [line.split("\t") for line in lines[:10] if line]
    if rows and len(rows[0]) in (3, 4) and all(_is_row(row, len(rows[0])) for row in rows):
        return "tsv"
    names = split_blank(lines[0])
    if "\t" not in lines[0] and len(names) in (3, 4) and tsv.is_header(names) and names[0].lower().endswith("id"):
        raise InputError(
            "the header of a TSV file, without tabs",
            path=path,
            line=1,
            found=lines[0],
            expected="a tab between two columns",
            hint="for a sentence, give the file a name in .txt",
        )
    return "text"


def _encoding(data: bytes) -> str:
    """UTF-16 by its byte order mark or the first letters of XML, else UTF-8: XML may be written in any of them."""
    for start, name in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if data.startswith((start, "<?".encode(name))):
            return name
    return "utf-8"


def _is_row(row: list[str], columns: int) -> bool:
    return len(row) == columns and all(name and " " not in name for name in row[:2])
