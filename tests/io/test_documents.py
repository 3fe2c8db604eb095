"""Every form of documents: what is read, and that what is written is the same but for the translation."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest
from lxml import etree

from gpusearch.io.documents import (
    Corpus,
    Document,
    Segment,
    read_documents,
    write_document_ids,
    write_documents,
)
from tests.io.corpora import put, sources, texts, written

# --- plain text ---


@pytest.mark.complaint(7)
def test_plain_text_gives_each_input_line_its_output_line(tmp_path: Path) -> None:
    """Complaint 7: blank lines at the start, between documents and at the end come back as blank lines."""
    corpus = read_documents(put(tmp_path, "a", "\n\na b\nc\n \t\n\n\nd\n\n\n"))
    assert texts(corpus) == [(None, ["a b", "c"]), (None, ["d"])]
    assert written(corpus, [["A B", ""], ["D"]]) == "\n\nA B\n\n\n\n\nD\n\n\n"


@pytest.mark.complaint(7)
def test_blank_line_is_an_empty_segment_where_documents_have_ids(tmp_path: Path) -> None:
    """Complaint 7: with a file of ids a blank line is a sentence, and its translation has its place."""
    corpus = read_documents(put(tmp_path, "a", "a\n\nb\n\n"), docids=put(tmp_path, "ids", "one\none\n../two\n../two\n"))
    assert texts(corpus) == [("one", ["a", ""]), ("../two", ["b", ""])]
    assert written(corpus, [["A", ""], ["B", ""]]) == "A\n\nB\n\n"
    write_document_ids(corpus, tmp_path / "ids.again")
    assert (tmp_path / "ids.again").read_text() == "one\none\n../two\n../two\n"


@pytest.mark.complaint(26)
def test_lines_end_at_line_feed_only(tmp_path: Path) -> None:
    """Complaint 26: Unicode's line separators, form feeds and the like are characters; CRLF is read."""
    odd = "a\u2028b\x0b\x0c\x1c\x85\u2029c\u00a0 d\re"
    for format in ("text", "tsv"):
        prefix = "x\t1\t" if format == "tsv" else ""
        corpus = read_documents(put(tmp_path, "a", f"{prefix}{odd}\r\n"), format)
        assert sources(corpus) == [[odd]]
        assert written(corpus, [[odd]]) == f"{prefix}{odd}\n"


@pytest.mark.complaint(6)
@pytest.mark.parametrize("format", ["text", "tsv", "jsonl", "wmt-xml", "mteval"])
def test_any_token_is_opaque(tmp_path: Path, format: str) -> None:
    """Complaint 6: what other programs take for mark-up is text here, in every form, there and back."""
    tokens = [
        "[]",
        "(((",
        "[X]",
        "a|b|c|d|e",
        "|||",
        "<a>",
        "</seg>",
        "&amp;",
        "&",
        "]]>",
        '"',
        "\\n",
        "{",
        "#",
    ]
    corpus = Corpus([Document("x", [Segment(token) for token in tokens])], "")
    path = tmp_path / "a"
    write_documents(corpus, [tokens], path, format)
    again = read_documents(path, format)
    assert sources(again) == [tokens]


def test_empty_files_are_read_and_written() -> None:
    for format in ("text", "tsv", "jsonl", "mteval", "wmt-xml"):
        assert isinstance(written(Corpus([], format), []), str)
    assert written(Corpus([], "text"), []) == ""


# --- TSV ---


def test_tsv(tmp_path: Path) -> None:
    corpus = read_documents(put(tmp_path, "a.tsv", "d1\t1\tx y\tr s\nd1\t2\t\t\nd2\t1\t z \tt\n"))
    assert texts(corpus) == [("d1", ["x y", ""]), ("d2", [" z "])]
    assert [segment.reference for document in corpus.documents for segment in document.segments] == [
        "r s",
        "",
        "t",
    ]
    assert written(corpus, [["X Y", ""], ["Z"]]) == "d1\t1\tX Y\nd1\t2\t\nd2\t1\tZ\n"


@pytest.mark.parametrize(
    "names", ["doc_id\tseg_id", "docid\tsegid", "DocID\tSegID", "document_id\tsegment-id", "doc\tseg"]
)
def test_tsv_keeps_its_header(tmp_path: Path, names: str) -> None:
    corpus = read_documents(put(tmp_path, "a", f"{names}\tsrc\tref\nd1\t1\tx\ty\n"))
    assert texts(corpus) == [("d1", ["x"])]
    assert written(corpus, [["X"]]) == f"{names}\tsrc\nd1\t1\tX\n"


# --- JSONL ---


def test_jsonl_keeps_what_it_does_not_know(tmp_path: Path) -> None:
    first = {"seg_id": "s", "src": "x\ny", "ref": "r", "spans": [[0, 1]], "hyp": "old"}
    document = {"doc_id": "d", "domain": {"a": [1, None]}, "segments": [first, {"src": ""}]}
    corpus = read_documents(put(tmp_path, "a.jsonl", json.dumps(document) + "\n"))
    assert corpus.documents[0].segments[0] == Segment("x\ny", "r", "s", {"spans": [[0, 1]], "hyp": "old"})
    result = written(corpus, [["X\u2028", ""]])
    segments = [first | {"hyp": "X\u2028"}, {"src": "", "hyp": ""}]
    assert json.loads(result) == document | {"segments": segments}
    assert result.count("\n") == 1


# --- WMT XML ---

WMT = """<?xml version='1.0' encoding='utf-8'?>
<!-- a comment -->
<dataset id="set">
  <collection id="general">
    <doc origlang="en" id="d1" testsuite="t">
      <src lang="en" extra="e">
        <p>
          <seg id="1" key="v">a &amp; b</seg>
          <seg id="2"/>
        </p>
        <p type="q"><seg id="3">c<!-- note --> d
          \u00a0e\u00a0
        </seg></p>
      </src>
      <ref lang="de" translator="A"><p><seg id="1">A</seg><seg id="2">B</seg><seg id="3">C</seg></p></ref>
      <ref lang="de" translator="B"><p><seg id="1">?</seg><seg id="2">?</seg><seg id="3">?</seg></p></ref>
      <hyp system="other" language="de"><p><seg id="1">o</seg></p></hyp>
      <supplemental kind="k"><anything>z</anything></supplemental>
    </doc>
    <doc id="d2"><src lang="en"><p><seg id="1">f</seg></p></src></doc>
  </collection>
</dataset>
"""


def test_wmt_xml_is_read(tmp_path: Path) -> None:
    corpus = read_documents(put(tmp_path, "a", WMT))
    assert corpus.format == "wmt-xml"
    assert texts(corpus) == [("d1", ["a & b", "", "c d \u00a0e\u00a0"]), ("d2", ["f"])]
    assert corpus.documents[0].attributes == {"origlang": "en", "testsuite": "t"}
    assert corpus.documents[0].segments[0] == Segment("a & b", "A", "1", {"key": "v"})
    assert corpus.documents[1].segments[0].reference is None


def test_wmt_xml_gets_one_more_hyp_and_is_else_the_same(tmp_path: Path) -> None:
    corpus = read_documents(put(tmp_path, "a", WMT))
    result = written(corpus, [["x <y>", "", "z"], ["w"]])
    root = etree.fromstring(result.encode())
    for hypothesis in root.findall(".//hyp[@system='gpusearch']"):
        parent = hypothesis.getparent()
        assert parent is not None
        parent.remove(hypothesis)
    same = etree.XMLParser(remove_blank_text=True)
    before, after = etree.fromstring(WMT.encode(), same), etree.fromstring(etree.tostring(root), same)
    assert etree.tostring(before.getroottree(), method="c14n") == (
        b"<!-- a comment -->\n" + etree.tostring(after, method="c14n")
    )
    assert (
        """
      <hyp lang="de" system="gpusearch">
        <p>
          <seg id="1" key="v">x &lt;y&gt;</seg>
          <seg id="2"></seg>
        </p>
        <p type="q"><seg id="3">z</seg></p>
      </hyp>
      <supplemental"""
        in result
    )
    assert '<hyp system="gpusearch"><p><seg id="1">w</seg></p></hyp></doc>' in result


def test_wmt_xml_written_twice_has_the_second_translation(tmp_path: Path) -> None:
    first = written(read_documents(put(tmp_path, "a", WMT)), [["1", "2", "3"], ["4"]])
    second = written(read_documents(put(tmp_path, "b", first)), [["5", "6", "7"], ["8"]], target_language="de")
    hypotheses = etree.fromstring(second.encode()).findall(".//hyp[@system='gpusearch']")
    assert ["".join(seg.text or "" for seg in item.iter("seg")) for item in hypotheses] == ["567", "8"]
    assert [item.get("lang") for item in hypotheses] == ["de", "de"]


# --- MTEval ---

MTEVAL = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE mteval SYSTEM "ftp://nowhere.invalid/mteval-xml-v1.3.dtd">
<mteval>
<srcset setid="s" srclang="fr">
<doc docid="d/1" genre="nw" odd="o">
<hl><seg id="1">a</seg></hl>
<p kind="k"><seg id="2" key="v">b &lt; c</seg>
<seg id="3"/></p>
</doc>
</srcset>
<refset setid="s" srclang="fr" trglang="en" refid="r">
<doc docid="d/1"><seg id="1">A</seg><seg id="2">B</seg><seg id="3">C</seg></doc>
</refset>
</mteval>
"""


def test_mteval_xml(tmp_path: Path) -> None:
    corpus = read_documents(put(tmp_path, "a", MTEVAL))
    assert corpus.format == "mteval"
    assert texts(corpus) == [("d/1", ["a", "b < c", ""])]
    assert [segment.reference for segment in corpus.documents[0].segments] == ["A", "B", "C"]
    assert (
        written(corpus, [["x", "&", ""]], system="me")
        == """<?xml version='1.0' encoding='UTF-8'?>
<mteval>
<tstset setid="s" srclang="fr" trglang="en" sysid="me">
<doc docid="d/1" genre="nw" odd="o">
<hl><seg id="1">x</seg></hl>
<p kind="k"><seg id="2" key="v">&amp;</seg>
<seg id="3"></seg></p>
</doc>
</tstset>
</mteval>
"""
    )


def test_mteval_sgml_of_the_old_sort(tmp_path: Path) -> None:
    """Capitals, values without quotes, bare & and <, unknown entities, two sets without a common root."""
    text = """<!DOCTYPE srcset SYSTEM "mteval.dtd">
<SRCSET setid=s SrcLang='fr'>
<DOC docid=AT&T sysid=ref>
<HL><Seg id=1> R&D < 3 &amp; &eacute; <a> &#233; </SEG></hl>
<seg id=2/>
</doc>
</srcset>
<refset setid=s trglang=en><doc docid="AT&T"><seg id=1>x</seg><seg id=2></seg></doc></refset>
"""
    corpus = read_documents(put(tmp_path, "a", text))
    assert texts(corpus) == [("AT&T", [" R&D < 3 & &eacute; <a> é ", ""])]
    assert [segment.reference for segment in corpus.documents[0].segments] == ["x", ""]
    again = read_documents(put(tmp_path, "b", written(corpus, [["X", "Y"]])))
    assert texts(again) == [("AT&T", ["X", "Y"])]
    assert again.documents[0].attributes == {"sysid": "gpusearch"}


def test_xml_in_capitals_and_without_declaration(tmp_path: Path) -> None:
    text = '<TSTSET SETID="s"><DOC DOCID="d"><SEG ID="1">a</SEG></DOC></TSTSET>'
    assert texts(read_documents(put(tmp_path, "a", text))) == [("d", ["a"])]


def test_sgml_keeps_the_names_of_what_it_does_not_know(tmp_path: Path) -> None:
    """Only the names that mean something may be written in any case, with or without XML's rules for the rest."""
    attributes = {"origLang": "fr", "genre": "nw", "Key": "a"}
    for value, start in (('"d"', "<DOC DocID"), ("d", "<doc docid")):
        text = f"<SRCSET SetID='s'>\n{start}={value} origLang='fr' genre='nw' Key='a'>\n<SEG Id='1' xLen='1'>a</SEG>\n"
        corpus = read_documents(put(tmp_path, "a.sgm", text + f"</{start[1:4]}>\n</SRCSET>\n"))
        assert corpus.documents[0].id == "d" and corpus.documents[0].attributes == attributes
        assert corpus.documents[0].segments == [Segment("a", id="1", attributes={"xLen": "1"})]
        output = written(corpus, [["A"]])
        assert '<doc docid="d" origLang="fr" genre="nw" Key="a">' in output
        assert '<seg id="1" xLen="1">A</seg>' in output and 'SetID="s"' in output
        assert read_documents(put(tmp_path, "b", output)).documents[0].attributes == attributes


# --- CoNLL-U ---

CONLLU = """# newdoc id = d1
# sent_id = s1
# text_en = not this
# text = du  pain
1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\tde\tADP\t_\t_\t0\troot\t_\t_
2\tle\tle\tDET\t_\t_\t1\tdet\t_\t_
3\tpain\tpain\tNOUN\t_\t_\t1\tobj\t_\t_

# sent_id = s2
1-2\tDu\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tde\tde\tADP\t_\t_\t0\troot\t_\t_
2\tle\tle\tDET\t_\t_\t1\tdet\t_\tSpaceAfter=No
2.1\tx\tx\tX\t_\t_\t_\t_\t_\t_
3\t-\t-\tPUNCT\t_\t_\t1\tpunct\t_\tX=Y|SpaceAfter=No
4\t1\u00a0000\t1\tNUM\t_\t_\t1\tobj\t_\t_
5\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_

# newdoc
# sent_id = s1
# text = fin
1\tfin\tfin\tNOUN\t_\t_\t0\troot\t_\t_

"""


def test_conllu(tmp_path: Path) -> None:
    corpus = read_documents(put(tmp_path, "a", CONLLU))
    assert corpus.format == "conllu"
    assert texts(corpus) == [("d1", ["du  pain", "Du-1\u00a0000 ."]), (None, ["fin"])]
    assert corpus.documents[0].segments[0] == Segment("du  pain", id="s1", attributes={"text_en": "not this"})


def test_conllu_is_written_as_jsonl_and_grouped_by_a_file_of_ids(tmp_path: Path) -> None:
    corpus = read_documents(put(tmp_path, "a", CONLLU), docids=put(tmp_path, "ids", "x\ny\ny\n"))
    assert texts(corpus) == [("x", ["du  pain"]), ("y", ["Du-1\u00a0000 .", "fin"])]
    lines = [json.loads(line) for line in written(corpus, [["bread"], ["a", "b"]]).split("\n")[:-1]]
    assert [line["doc_id"] for line in lines] == ["x", "y"]
    assert lines[1]["segments"][1] == {"seg_id": "s1", "src": "fin", "hyp": "b"}


# --- encodings, places ---


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be", "iso-8859-1"])
@pytest.mark.parametrize("form", ["wmt-xml", "mteval"])
def test_xml_in_other_encodings(tmp_path: Path, encoding: str, form: str) -> None:
    """As its first bytes and its declaration say; what is written is UTF-8."""
    seg = '<seg id="1">là, ÿ</seg>'
    body = {
        "wmt-xml": f'<dataset><doc id="a"><src><p>{seg}</p></src></doc></dataset>',
        "mteval": f'<mteval><srcset setid="t" srclang="fr"><doc docid="a">{seg}</doc></srcset></mteval>',
    }[form]
    declared = encoding.removesuffix("-le").removesuffix("-be")
    path = tmp_path / "in.xml"
    path.write_bytes(f'<?xml version="1.0" encoding="{declared}"?>\n{body}\n'.encode(encoding))
    corpus = read_documents(path)
    assert corpus.format == form and texts(corpus) == [("a", ["là, ÿ"])]
    assert ">été</seg>" in written(corpus, [["été"]])


@pytest.mark.complaint(33)
def test_standard_input_and_output(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """Complaint 33: `-` reads from a pipe, compressed data too; standard output has the result alone."""
    packed = gzip.compress("d\t1\té\n".encode())
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(packed)))
    corpus = read_documents("-")
    write_documents(corpus, [["É"]], "-")
    assert capsysbinary.readouterr().out == "d\t1\tÉ\n".encode()
