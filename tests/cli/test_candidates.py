"""`decode --candidates`: translations of whole segments by any system, and segments that keep theirs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import gpusearch
from gpusearch.cli.main import run
from gpusearch.decoder import Decoder
from gpusearch.errors import InputError
from gpusearch.io.candidates import Candidate
from gpusearch.io.documents import read_documents
from gpusearch.kernels.records import SENTENCE_LONGEST, SENTENCE_WORDS
from gpusearch.model.problem import build_problem
from tests.tiny import TINY, copy_tiny, with_chains

SOURCES = ["la maison bleue .", "", "le chien xyz dort ."]
TEXTS = {0: ["my blue castle .", "the house is blue ."], 2: ["the dog sleeps .", "a dog  named xyz is asleep ."]}
ROWS: list[dict[str, Any]] = [
    {"id": segment, "text": text, "scores": {"nmt": -float(place + 1), "rank": float(place)}}
    for segment, texts in TEXTS.items()
    for place, text in enumerate(texts)
]
LISTED = [
    f"{row['id']} ||| {row['text']} ||| nmt= {row['scores']['nmt']} rank= {row['scores']['rank']} ||| 0" for row in ROWS
]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in").write_text("\n".join(SOURCES) + "\n", encoding="utf-8")
    Path("ids").write_text("x\nx\ny\n")
    Path("c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    Path("c.nbest").write_text("\n".join(LISTED) + "\n", encoding="utf-8")


def decoded(*more: str, config: Path = TINY, source: str = "in") -> list[str]:
    ids = ["--docids", "ids"] if source == "in" else []
    assert run(["decode", "-c", str(config), source, *ids, "-o", "out", "-q", *with_chains(8, *more)]) == 0
    return Path("out").read_text(encoding="utf-8").split("\n")[:-1]


def weights(**scores: float) -> list[str]:
    return [part for name, value in scores.items() for part in ("--set", f"candidates.weights.{name}={value}")]


@pytest.mark.parametrize("method", ["search", "beam"])
@pytest.mark.parametrize("file", ["c.jsonl", "c.nbest"])
@pytest.mark.parametrize(("weight", "place"), [(30.0, 0), (-30.0, 1)])
def test_scores_choose_among_candidates(file: str, method: str, weight: float, place: int) -> None:
    """The text is that of the file to the letter (a list has single blanks); an empty segment stays empty."""
    found = decoded("--candidates", file, "--candidates-alone", "--method", method, *weights(nmt=weight, rank=0))
    last = TEXTS[2][place]
    assert found == [TEXTS[0][place], "", last if file == "c.jsonl" else last.replace("  ", " ")]


def test_what_the_readme_says_of_candidates(repository: Path) -> None:
    """Its command, with its line of JSON as the file of candidates."""
    lines = (repository / "configs" / "README.md").read_text(encoding="utf-8").split("\n")
    command = next(line for line in lines if "--candidates nbest.jsonl" in line).split()[1:]
    row = next(line.strip() for line in lines if line.strip().startswith('{"id": 0, '))
    copy_tiny(Path())
    Path("nbest.jsonl").write_text(row + "\n")
    Path("in.txt").write_text("la maison bleue\n")
    assert run([*command, "-o", "out", "-q", "--chains", "8"]) == 0
    assert Path("out").read_text(encoding="utf-8") == json.loads(row)["text"] + "\n"


def test_a_candidate_beside_phrases_wins_by_its_score() -> None:
    """Without a score of its own it stands behind what the phrases make of the words, or before it."""
    plain = decoded()
    assert decoded("--candidates", "c.jsonl", *weights(nmt=300, rank=0)) == plain, "their scores are below 0"
    assert decoded("--candidates", "c.jsonl", *weights(nmt=0, rank=300)) == [TEXTS[0][1], "", TEXTS[2][1]]


def test_the_score_is_that_of_the_features(capsys: pytest.CaptureFixture[str]) -> None:
    """One phrase of the whole segment: its words, its scores, the language model, nothing of the phrase table."""
    more = ["--candidates", "c.jsonl", "--candidates-alone", "--format", "jsonl", *weights(nmt=0.5, rank=2.0)]
    documents = [json.loads(line) for line in decoded(*more)]
    segment = documents[0]["segments"][0]
    assert segment["hyp"] == TEXTS[0][1]
    features = segment["features"]
    assert features["Candidates"] == [-2.0, 1.0] and features["TranslationModel0"] == [0, 0, 0, 0]
    assert features["WordPenalty"] == -5 and features["PhrasePenalty"] == 1 and features["Distortion"] == 0
    assert features["UnknownWord"] == 0
    expected = 0.5 * features["LM0"] - 0.3 * -5 + 0.1 + 0.5 * -2.0 + 2.0
    assert segment["score"] == pytest.approx(expected)


def test_a_model_of_candidates_needs_no_phrase_table(tmp_path: Path) -> None:
    text = TINY.read_text(encoding="utf-8")
    begin, end = text.index("[[phrase_table]]"), text.index("[[language_model]]")
    alone = "[candidates]\nalone = true\nweights = { nmt = 30.0 }\n\n"
    path = copy_tiny(tmp_path / "model", {"model.toml": (text[begin:end], alone)})
    assert decoded("--candidates", "c.jsonl", config=path) == [TEXTS[0][0], "", TEXTS[2][0]]
    Path("c.jsonl").write_text(json.dumps(ROWS[0]) + "\n")
    assert decoded("--candidates", "c.jsonl", config=path) == [TEXTS[0][0], "", SOURCES[2]], "words are copied"


def alone(repository: Path) -> Decoder:
    """The example's model, of candidates and nothing else."""
    return gpusearch.load(repository / "examples" / "candidates" / "model.toml")


def test_without_candidates_a_model_of_nothing_else_translates_nothing(
    repository: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Copies of the source are no translation: an error for all, a warning with the numbers of some."""
    decoder, corpus = alone(repository), read_documents("in", "text", "ids")
    with pytest.raises(InputError, match=r"in: nothing translates these documents: .* --candidates FILE"):
        decoder.prepare(corpus)
    decoder.prepare(corpus, [Candidate(0, "the house", {"nmt": 0.0})])
    assert "without a candidate, whose words are copied (numbers from 0): 2" in caplog.text
    caplog.clear()
    decoder.prepare(corpus, [Candidate(place, "the house", {"nmt": 0.0}) for place in (0, 2)])
    assert not caplog.text


def test_only_sentences_with_candidates_have_rows_for_long_spans() -> None:
    """A span has a row for each start and length: a candidate of 100 words must not widen all other sentences."""
    decoder = gpusearch.load(TINY)
    long = ["la"] * 100
    candidates = [Candidate(1, "the house")]
    corpus = [["la maison bleue .", " ".join(long), "le chien"]]
    prepared = decoder.prepare(_corpus(corpus), candidates)
    batch = build_problem(decoder.model, prepared.tokens, constraints=prepared.constraints)
    assert batch.problem.sentence[:, SENTENCE_WORDS].tolist() == [4, 100, 2]
    longest = batch.problem.sentence[:, SENTENCE_LONGEST].tolist()
    assert longest[1] == 100 and max(longest[0], longest[2]) <= 3
    assert len(batch.problem.span) == 1 + 4 * longest[0] + 100 * 100 + 2 * longest[2]
    best = decoder.decode(corpus, candidates=candidates, chains=4, initial="best")
    assert best.texts[0][1] == "the house", "a hundred times the word penalty is what phrases cost"


def _corpus(documents: Sequence[Sequence[str]]) -> Any:
    from gpusearch.decoder import _corpus as made

    return made(documents)


FAULTS = {
    '{"id": 0, "text": "a", "scores": {"nmt": null}}': "c.jsonl:1: not a candidate (None is no finite number",
    f'{{"id": 0, "text": "a", "score": {"1" * 5000}}}': "not a candidate (an integer of more than 4300 digits)",
    f'{{"id": 0, "text": "a", "score": {"1" * 400}}}': "not a candidate (int too large to convert to float)",
    '{"id": -1, "text": "a"}': "not a candidate (the id is no number of a segment)",
    '{"id": 0}': "not a candidate",
    '{"id": 0, "text": "a", "score": 1, "other": 2}': "not an object with these keys alone",
    '{"id": 1, "text": "a", "scores": {"nmt": 1}}': "a candidate of no segment with words; found id 1",
    '{"id": 3, "text": "a", "scores": {"nmt": 1}}': "found id 3; expected within 0 to 2",
    '{"id": 0, "text": "a", "scores": {"rank": 1}}': "a candidate without the score nmt; found rank",
    '{"id": 0, "text": "a", "scores": {"nmt": 1e9}}': "c.jsonl:1: the score nmt of a candidate is out of range; found",
}


@pytest.mark.parametrize("row", FAULTS, ids=[row[:60] for row in FAULTS])
def test_faults(row: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("c.jsonl").write_text(row + "\n")
    command = ["decode", "-c", str(TINY), "in", "--docids", "ids", "--candidates", "c.jsonl", *weights(nmt=1.0)]
    assert run(command) == 2
    assert FAULTS[row] in capsys.readouterr().err


def test_scores_without_a_weight_are_named(caplog: pytest.LogCaptureFixture) -> None:
    decoded("--candidates", "c.nbest", "--candidates-alone", *weights(nmt=1.0))
    assert "without a weight in [candidates.weights]: rank" in caplog.text


def test_a_candidate_that_the_output_cannot_hold_is_refused_before_the_search(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its file and line; so is a frozen segment. JSONL holds them."""
    monkeypatch.setattr("gpusearch.decoder.load", _loaded)
    Path("c.jsonl").write_text('{"id": 0, "text": "a"}\n{"id": 2, "text": "a\\nb"}\n')
    command = ["decode", "-c", str(TINY), "--candidates", "c.jsonl", "in", "--docids", "ids"]
    assert run(command) == 2
    expected = "c.jsonl:2: a candidate of segment 2 has a character that the format text cannot hold; found U+000A"
    assert expected in capsys.readouterr().err
    frozen_document(frozen="a\nb")
    assert run(["decode", "-c", str(TINY), "d.jsonl", "--format", "text"]) == 2
    assert "d.jsonl: the frozen translation of document 'd', segment 2 has a" in capsys.readouterr().err
    with pytest.raises(LookupError):
        run([*command, "--format", "jsonl"])


def _loaded(*_: Any, **__: Any) -> None:
    raise LookupError("the model is loaded")


def frozen_document(**segment: Any) -> None:
    segments = [{"src": SOURCES[0]}, {"src": SOURCES[2], **segment}]
    Path("d.jsonl").write_text(json.dumps({"doc_id": "d", "segments": segments}) + "\n")


@pytest.mark.parametrize("method", ["search", "beam", "gibbs"])
@pytest.mark.parametrize("keys", [{"frozen": "My dog  sleeps ."}, {"frozen": True, "hyp": "My dog  sleeps ."}])
def test_a_frozen_segment_keeps_its_translation(keys: dict[str, Any], method: str) -> None:
    """To the letter, and its words count in the language model and the word penalty."""
    frozen_document(**keys)
    (document,) = [json.loads(line) for line in decoded("--method", method, source="d.jsonl")]
    assert [segment["hyp"] for segment in document["segments"]] == [decoded()[0], "My dog  sleeps ."]
    features = document["segments"][1]["features"]
    assert features["WordPenalty"] == -4 and features["LM0"] < 0 and features["PhrasePenalty"] == 1


def test_output_that_is_frozen_and_given_again_stays_as_it_is() -> None:
    """What a user corrects in the output of a run goes back in as it is."""
    frozen_document()
    document = json.loads(decoded(source="d.jsonl")[0])
    document["segments"][0] |= {"hyp": "Corrected by hand .", "frozen": True}
    Path("again.jsonl").write_text(json.dumps(document) + "\n")
    again = json.loads(decoded(source="again.jsonl")[0])
    assert again["segments"][0]["hyp"] == "Corrected by hand ."
    assert again["segments"][0]["alignment"] == "", "it was that of other words"
    assert again["segments"][1]["hyp"] == document["segments"][1]["hyp"]


def test_a_frozen_segment_is_aligned_as_it_says() -> None:
    """And so it is in the output, and when that is frozen."""
    frozen_document(frozen="the dog xyz sleeps .", alignment="0-0 1-1 4-4 3-3")
    (document,) = [json.loads(line) for line in decoded(source="d.jsonl")]
    document["segments"][0]["frozen"] = True
    Path("again.jsonl").write_text(json.dumps(document) + "\n")
    again = json.loads(decoded(source="again.jsonl")[0])
    assert [segment["alignment"] for segment in again["segments"]] == ["0-0 1-2 2-1 3-3", "0-0 1-1 4-4 3-3"]
    assert [segment["alignment"] for segment in document["segments"]] == ["0-0 1-2 2-1 3-3", "0-0 1-1 4-4 3-3"]


@pytest.mark.parametrize("alignment", ["0-3", "5-0", "0", "0-0 -1-1", 7, ["0-0"]])
def test_an_alignment_outside_a_frozen_segment_is_an_error(alignment: Any, capsys: pytest.CaptureFixture[str]) -> None:
    frozen_document(frozen="the dog sleeps", alignment=alignment)
    assert run(["decode", "-c", str(TINY), "d.jsonl"]) == 2
    error = capsys.readouterr().err
    assert f"unusable \"alignment\" of document 'd', segment 2; found {alignment!r}" in error.replace("\n", " ")
    assert "within 5 source and 3 target tokens" in error


def test_what_stands_beside_a_frozen_translation_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    decoder, candidates = gpusearch.load(TINY), [Candidate(1, "a dog")]
    frozen_document(frozen="a dog", hyp="a dog")
    decoder.prepare(read_documents("d.jsonl"))
    assert not caplog.text
    frozen_document(frozen="a dog", hyp="the dog", constraints=[{"span": [0, 0], "translations": ["one"]}])
    decoder.prepare(read_documents("d.jsonl"), candidates)
    named = "document 'd', segment 2 is frozen: its candidates and constraints and \"hyp\" and what is beside it do not"
    assert named in caplog.text


@pytest.mark.parametrize("keys", [{"frozen": True}, {"frozen": 7}, {"frozen": True, "hyp": None}])
def test_frozen_to_nothing_is_an_error(keys: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    frozen_document(**keys)
    assert run(["decode", "-c", str(TINY), "d.jsonl"]) == 2
    assert "unusable \"frozen\" of document 'd', segment 2" in capsys.readouterr().err


def test_an_empty_segment_is_frozen_to_nothing_only(capsys: pytest.CaptureFixture[str]) -> None:
    Path("d.jsonl").write_text(json.dumps({"doc_id": "d", "segments": [{"src": "", "frozen": "a"}]}) + "\n")
    assert run(["decode", "-c", str(TINY), "d.jsonl"]) == 2
    assert "has no words to translate; found frozen: 'a'" in capsys.readouterr().err
