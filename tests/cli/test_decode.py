"""`gpusearch decode`: what it writes, where, and in which form."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

import gpusearch
from gpusearch.cli.main import run
from gpusearch.io.documents import read_documents
from gpusearch.io.trace import read_trace
from gpusearch.io.translations import read_translations
from tests.tiny import TINY, copy_tiny, with_chains

SOURCES = [
    ["la maison bleue .", "le petit chien ne dort pas dans la maison ."],
    ["une maison", "", "xyz dort"],
    [""],
]
TARGETS = [["the blue house .", "the little dog does not sleep in the house ."], ["a house", "", "xyz sleeps"], [""]]

TEXT = "la maison bleue .\nle petit chien ne dort pas dans la maison .\n\n\nune maison\n\nxyz dort\n"
IDS = ["a", "a", "b", "b", "b", "c"]
TSV = "doc_id\tseg_id\ttext\na\t1\tla maison bleue .\na\t2\tle petit chien ne dort pas dans la maison .\n"
JSONL = "".join(
    json.dumps({"doc_id": name, "note": 7, "segments": [{"src": text, "kept": True} for text in document]}) + "\n"
    for name, document in zip("abc", SOURCES, strict=True)
)
WMT = """<?xml version='1.0' encoding='utf-8'?>
<dataset id="t">
  <doc id="a" origlang="fr">
    <src lang="fr"><p><seg id="1">la maison bleue .</seg><seg id="2">une maison</seg></p></src>
  </doc>
</dataset>
"""
MTEVAL = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE mteval SYSTEM "ftp://jaguar.ncsl.nist.gov/mt/resources/mteval-xml-v1.3.dtd">
<mteval>
<srcset setid="t" srclang="fr">
<doc docid="a" genre="x"><hl><seg id="1">la maison bleue .</seg></hl><p><seg id="2">une maison</seg></p></doc>
</srcset>
</mteval>
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def decode(*arguments: str | Path) -> int:
    return run(["decode", "-c", str(TINY), "--threads", "1", *with_chains(8, *map(str, arguments))])


def decoded(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """Standard output of a command that succeeds."""
    assert decode(*arguments) == 0
    return capsys.readouterr().out


@pytest.mark.complaint(7)
def test_text_with_borders(capsys: pytest.CaptureFixture[str]) -> None:
    """Blank lines are borders of documents; every input line has its output line, one border or two."""
    Path("in").write_text(TEXT, encoding="utf-8")
    expected = "the blue house .\nthe little dog does not sleep in the house .\n\n\na house\n\nxyz sleeps\n"
    assert decoded(capsys, "in") == expected


def test_attributes_with_the_names_of_ours_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    """What the input says under the names that the output uses moves into an object "input"; all else stays."""
    segment = {"seg_id": "s", "src": "la maison", "score": 7, "hyp": "x", "features": [], "phrases": 1, "kept": 2}
    document = {"doc_id": "a", "score": "good", "nbest": 3, "input": 4, "segments": [segment]}
    Path("in.jsonl").write_text(json.dumps(document) + "\n")
    once = json.loads(decoded(capsys, "in.jsonl", "--nbest", "1"))
    assert once["input"] == {"input": 4, "score": "good", "nbest": 3} and isinstance(once["score"], float)
    (found,) = once["segments"]
    assert found["input"] == {"score": 7, "hyp": "x", "features": [], "phrases": 1}
    assert (found["kept"], found["hyp"], found["seg_id"]) == (2, "the house", "s")
    plain = json.loads(decoded(capsys, "in.jsonl"))
    assert plain["nbest"] == 3 and plain["input"] == {"input": 4, "score": "good"}


EMPTY = {
    "text": "la maison\n\n \n\nune maison\n",
    "tsv": "a\t1\tla maison\na\t2\t\nb\t1\t\nb\t2\t \n",
    "jsonl": '{"doc_id": "a", "segments": [{"src": ""}, {"src": "la maison"}]}\n{"doc_id": "b", "segments": []}\n'
    '{"doc_id": "c", "segments": [{"src": ""}]}\n',
    "wmt-xml": '<dataset><doc id="a"><src><p><seg id="1"/><seg id="2">la maison</seg></p></src></doc>'
    '<doc id="b"><src/></doc><doc id="c"><src><p><seg id="1"></seg></p></src></doc></dataset>',
    "mteval": '<mteval><srcset setid="t" srclang="fr"><doc docid="a"><seg id="1"/><seg id="2">la maison</seg></doc>'
    '<doc docid="b"/><doc docid="c"><seg id="1"> </seg></doc></srcset></mteval>',
    "conllu": "# newdoc id = a\n# text =\n1\t_\t_\t_\t_\t_\t_\t_\t_\t_\n\n",
}


@pytest.mark.complaint(7)
@pytest.mark.complaint(8)
@pytest.mark.parametrize("more", [[], ["--set", "search.target_score=0.0"], ["--method", "beam"]])
@pytest.mark.parametrize("form", EMPTY)
def test_empty_documents_and_segments_in_every_form(
    form: str, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Each segment and document has its place in the output, whatever is searched; so has nothing at all."""
    Path("in").write_text(EMPTY[form], encoding="utf-8")
    corpus = read_documents("in", form)
    assert decode("in", "--input-format", form, *more, "-o", "out") == 0
    back = Path("out").read_text(encoding="utf-8")
    filled = {"la maison": "the house", "une maison": "a house"}
    if form in ("text", "tsv"):
        for source, target in filled.items():
            back = back.replace(target, source)
        assert [line.rstrip(" ") for line in back.split("\n")] == [line.rstrip(" ") for line in EMPTY[form].split("\n")]
    elif form in ("jsonl", "conllu"):
        rows = [json.loads(line) for line in back.split("\n")[:-1]]
        assert [[s["hyp"] for s in row["segments"]] for row in rows] == [
            [filled.get(s.source, s.source.strip()) for s in document.segments] for document in corpus.documents
        ]
    else:
        translated = read_translations("out")
        assert [[s.source for s in document.segments] for document in translated.documents] == [
            [filled.get(s.source, "") for s in document.segments] for document in corpus.documents
        ]


@pytest.mark.complaint(7)
@pytest.mark.parametrize("form", ["text", "tsv", "jsonl", "conllu"])
def test_an_empty_file(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("in").write_text("")
    assert decoded(capsys, "in", "--input-format", form) == ""


@pytest.mark.complaint(7)
def test_text_with_document_ids(capsys: pytest.CaptureFixture[str]) -> None:
    """A blank line is then an empty segment, at the end as well."""
    Path("in").write_text("\n".join(line for document in SOURCES for line in document) + "\n", encoding="utf-8")
    Path("ids").write_text("\n".join(IDS) + "\n", encoding="utf-8")
    out = decoded(capsys, "in", "--docids", "ids")
    assert out == "\n".join(line for document in TARGETS for line in document) + "\n"


def test_standard_input_and_the_model_of_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copy_tiny(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"la maison\n")))
    assert run(["decode", "--chains", "2"]) == 0
    assert capsys.readouterr().out == "the house\n"


def test_tsv(capsys: pytest.CaptureFixture[str]) -> None:
    Path("in.tsv").write_text(TSV, encoding="utf-8")
    rows = [line.split("\t") for line in decoded(capsys, "in.tsv").split("\n")[:-1]]
    assert rows[0][:2] == ["doc_id", "seg_id"]
    assert [row[:3] for row in rows[1:]] == [["a", "1", TARGETS[0][0]], ["a", "2", TARGETS[0][1]]]


@pytest.mark.parametrize(("name", "content"), [("in.xml", WMT), ("in.sgm", MTEVAL)])
def test_xml_keeps_its_form(name: str, content: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What comes out is read again as documents of the same form, ids and segments, with the translations."""
    from gpusearch.io.translations import read_translations

    Path(name).write_text(content, encoding="utf-8")
    Path(f"out-{name}").write_text(decoded(capsys, name), encoding="utf-8")
    corpus = read_translations(f"out-{name}")
    assert corpus.format == read_documents(name).format == ("wmt-xml" if name == "in.xml" else "mteval")
    assert [document.id for document in corpus.documents] == ["a"]
    assert [segment.source for segment in corpus.documents[0].segments] == [TARGETS[0][0], TARGETS[1][0]]


@pytest.mark.parametrize("name", ["text", "tsv", "jsonl", "wmt-xml", "mteval"])
def test_any_form_from_jsonl(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The output, read again, has the translations in the same documents."""
    from gpusearch.io.translations import read_translations

    Path("in.jsonl").write_text(JSONL, encoding="utf-8")
    out = decoded(capsys, "in.jsonl", "--format", name)
    Path("out").write_text(out, encoding="utf-8")
    if name == "text":
        assert out == "".join(f"{line}\n" for document in TARGETS for line in document)
        return
    corpus = read_translations("out")
    assert corpus.format == name
    found = [[segment.source for segment in document.segments] for document in corpus.documents]
    assert found == TARGETS
    assert [document.id for document in corpus.documents] == ["a", "b", "c"]


def rows_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.split("\n")[:-1]]


def check_segment(segment: dict[str, Any], source: str, features: dict[str, Any]) -> None:
    """Phrases cover the source and say the words; scores are features times weights; points lie where they belong."""
    spans = [range(phrase["span"][0], phrase["span"][1] + 1) for phrase in segment["phrases"]]
    assert sorted(word for span in spans for word in span) == list(range(len(source.split())))
    words = " ".join(phrase["words"] for phrase in segment["phrases"] if phrase["words"]).split()
    assert " ".join(words) == segment["hyp"]
    assert list(segment["features"]) == list(features)
    total = 0.0
    for name, weight in features.items():
        values = segment["features"][name]
        pairs = zip(values, weight, strict=True) if isinstance(weight, list) else [(values, weight)]
        total += sum(value * factor for value, factor in pairs)
    assert segment["score"] == pytest.approx(total, abs=1e-6)
    of_target = {
        place: span
        for place, span in enumerate(span for span, p in zip(spans, segment["phrases"], strict=True)
                                     for _ in p["words"].split())
    }  # fmt: skip
    for point in segment["alignment"].split():
        left, right = (int(place) for place in point.split("-"))
        assert left in of_target[right]


WEIGHTS = {
    "TranslationModel0": [0.1, 0.1, 0.2, 0.1],
    "WordPenalty": -0.3,
    "PhrasePenalty": 0.1,
    "UnknownWord": 100.0,
    "Distortion": 0.2,
    "LM0": 0.5,
}


@pytest.mark.complaint(15)
def test_jsonl_has_segmentation_and_alignment_of_best_and_n_best(capsys: pytest.CaptureFixture[str]) -> None:
    """Scores, features, phrases and alignment are there for the best translation, and just so for the n best."""
    Path("in.jsonl").write_text(JSONL, encoding="utf-8")
    rows = rows_of(decoded(capsys, "in.jsonl", "--nbest", "3", "--format", "jsonl", "--steps", "40"))
    assert [row["doc_id"] for row in rows] == ["a", "b", "c"]
    for row, sources in zip(rows, SOURCES, strict=True):
        assert row["note"] == 7
        assert row["score"] == pytest.approx(sum(segment["score"] for segment in row["segments"]), abs=1e-6)
        assert len(row["chain_scores"]) == 8
        assert len(row["nbest"]) == 3
        assert [one["score"] for one in row["nbest"]] == pytest.approx(sorted(row["chain_scores"])[:-4:-1], abs=1e-3)
        for translation in (row, *row["nbest"]):
            assert len(translation["segments"]) == len(sources)
            for segment, source in zip(translation["segments"], sources, strict=True):
                check_segment(segment, source, WEIGHTS)
        for segment, source in zip(row["segments"], sources, strict=True):
            assert (segment["src"], segment["kept"]) == (source, True)


@pytest.mark.complaint(16)
def test_alignment_points_count_through_the_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Offsets of the second and later phrases, reordered ones among them, are those of the sentence."""
    Path("in.jsonl").write_text(JSONL, encoding="utf-8")
    rows = rows_of(decoded(capsys, "in.jsonl"))
    by_text = {segment["hyp"]: segment["alignment"] for row in rows for segment in row["segments"]}
    # la maison bleue . -> the | blue house | . with maison bleue aligned crosswise inside of its phrase
    assert by_text["the blue house ."] == "0-0 1-2 2-1 3-3"
    assert by_text["the little dog does not sleep in the house ."] == "0-0 1-1 2-2 3-3 4-5 5-4 6-6 7-7 8-8 9-9"
    # Without the pair for both words a jump is cheap enough to put them in order: the same points from two phrases.
    row = "maison bleue ||| blue house ||| 0.2 0.1 0.3 0.2 ||| 0-1 1-0\n"
    copy_tiny(tmp_path / "m", {"phrase-table": (row, ""), "model.toml": ("distortion = 0.2", "distortion = 0.01")})
    Path("in").write_text("la maison bleue .\n", encoding="utf-8")
    arguments = ["decode", "-c", "m/model.toml", "in", "--format", "jsonl", "--chains", "32"]
    assert run([*arguments, "--set", "search.operations.swap=100"]) == 0
    segment = rows_of(capsys.readouterr().out)[0]["segments"][0]
    assert segment["hyp"] == "the blue house ."
    assert [phrase["span"] for phrase in segment["phrases"]] == [[0, 0], [2, 2], [1, 1], [3, 3]]
    assert segment["alignment"] == "0-0 2-1 1-2 3-3"


@pytest.mark.complaint(17)
def test_every_segment_has_its_own_alignment(capsys: pytest.CaptureFixture[str]) -> None:
    """One for each segment, an empty one for an empty segment: nothing runs together."""
    Path("in.jsonl").write_text(JSONL, encoding="utf-8")
    rows = rows_of(decoded(capsys, "in.jsonl"))
    points = [[segment["alignment"] for segment in row["segments"]] for row in rows]
    assert [len(document) for document in points] == [2, 3, 1]
    assert points[1] == ["0-0 1-1", "", "0-0 1-1"]


def test_trace_form_comes_back(capsys: pytest.CaptureFixture[str]) -> None:
    """--format trace is what initial = file reads: without a step more it is the same translation."""
    Path("in").write_text(TEXT, encoding="utf-8")
    out = decoded(capsys, "in", "--format", "trace")
    assert out.count("\n") == TEXT.count("\n")
    Path("out").write_text(out, encoding="utf-8")
    assert read_trace("out")[0] == [(0, 1, ["the"]), (1, 3, ["blue", "house"]), (3, 4, ["."])]
    again = decoded(capsys, "in", "--initial-file", "out", "--initial", "file", "--steps", "0", "--format", "trace")
    assert again == out


def test_a_word_that_looks_like_a_span_has_no_trace_form(capsys: pytest.CaptureFixture[str]) -> None:
    """Any token is a word, but this form could not be read again."""
    Path("in").write_text("la |0-1| maison\n", encoding="utf-8")
    assert decoded(capsys, "in") == "the |0-1| house\n"
    assert decode("in", "--format", "trace") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "|0-1|" in captured.err and "jsonl" in captured.err


def test_saved_state_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    """--save-state, and a second run from it, come where one run comes."""
    Path("in").write_text(TEXT, encoding="utf-8")
    decoded(capsys, "in", "--steps", "5", "--save-state", "half.gz")
    decoded(capsys, "in", "--steps", "9", "--save-state", "one.gz")
    again = ["--initial", "saved", "--initial-file", "half.gz"]
    decoded(capsys, "in", "--steps", "9", "--save-state", "two.gz", *again)
    assert Path("one.gz").read_bytes() == Path("two.gz").read_bytes() != Path("half.gz").read_bytes()


def test_scores_and_learning_curves(capsys: pytest.CaptureFixture[str]) -> None:
    """--score-file: a row a document. --trace: a row for each power of two of the steps, the scores of all chains."""
    Path("in.jsonl").write_text(JSONL, encoding="utf-8")
    rows = rows_of(decoded(capsys, "in.jsonl", "--steps", "20", "--trace", "curve", "--score-file", "scores"))
    scores = rows_of(Path("scores").read_text())
    assert [row["doc"] for row in scores] == ["a", "b", "c"]
    assert [row["score"] for row in scores] == [row["score"] for row in rows]
    assert [row["best_chain"] for row in scores] == [max(row["chain_scores"]) for row in rows]
    curve = rows_of(Path("curve").read_text())
    assert [row["step"] for row in curve if row["doc"] == "a"] == [0, 1, 2, 4, 8, 16, 20]
    last = {row["doc"]: row["scores"] for row in curve if row["step"] == 20}
    assert last == {row["doc_id"]: row["chain_scores"] for row in rows}


def test_standard_output_has_the_result_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """Timing, proposals by operation, scores and signature go to standard error; with -o nothing is left for it."""
    Path("in").write_text(TEXT, encoding="utf-8")
    assert decode("in", "-o", "out.txt") == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert Path("out.txt").read_text() == decoded(capsys, "in")
    lines = err.split("\n")
    for stage in ("load", "options", "search", "output", "total"):
        assert any(line.split()[:1] == [stage] for line in lines)
    assert any(line.startswith("operation") and "accepted" in line for line in lines)
    for operation in ("change", "swap", "resegment", "all"):
        assert any(line.startswith(operation) for line in lines)
    assert any(line.startswith("score -") for line in lines)
    assert lines[-2].startswith(f"gpusearch:{gpusearch.__version__}|model:") and lines[-2].endswith("|exact")
    assert decode("in", "--quiet") == 0
    assert "operation" not in capsys.readouterr().err


def test_the_signature_names_what_shaped_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    """Settings that matter are there, devices and threads are not; another weight is another model."""
    Path("in").write_text("la maison\n", encoding="utf-8")

    def signature(*arguments: str) -> dict[str, str]:
        assert decode("in", *arguments) == 0
        line = capsys.readouterr().err.split("\n")[-2]
        return dict(part.partition(":")[::2] for part in line.split("|"))

    plain = signature()
    assert signature("--threads", "2", "--device", "cpu", "--set", "search.max_lanes=3") == plain
    other = signature("--seed", "9", "--steps", "11", "--set", "search.compat=docent")
    assert (other["seed"], other["steps"], other["compat"]) == ("9", "11", "docent")
    assert signature("--set", "language_model.LM0.weight=0.25")["model"] != plain["model"]
    assert "time-limited" in signature("--time-limit", "100")
    assert signature("--set", "search.operations.swap=0")["operations.swap"] == "0"


def test_python_gives_what_the_command_gives(capsys: pytest.CaptureFixture[str]) -> None:
    Path("in").write_text(TEXT, encoding="utf-8")
    out = decoded(capsys, "in", "--seed", "5", "--steps", "20")
    found = gpusearch.load(TINY).decode(read_documents("in"), chains=8, seed=5, steps=20)
    assert [text for document in found.texts for text in document] == [line for line in out.split("\n") if line]
