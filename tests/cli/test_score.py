"""`gpusearch score`: translations with their segmentation, and plain ones."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpusearch
from gpusearch.cli.main import run
from gpusearch.config import SearchConfig
from gpusearch.decoder import Decoder
from gpusearch.model.problem import build_problem
from gpusearch.search.force import score_plain, segment
from gpusearch.search.translation import describe
from tests.tiny import TINY, copy_tiny

SOURCE = ["la maison bleue .", "", "le petit chien ne dort pas ."]
TRACE = ["the |0-0| blue house |1-2| . |3-3|", "the |0-0| little |1-1| dog |2-2| does not sleep |3-5| . |6-6|"]
PLAIN = ["the blue house .", "", "the little dog does not sleep ."]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, lines in (("in", SOURCE), ("trace", TRACE), ("plain", PLAIN), ("ids", ["x", "x", "y"])):
        Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def decoder() -> Decoder:
    return gpusearch.load(TINY)


def score(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert run(["score", "-c", str(TINY), *arguments]) == 0
    captured = capsys.readouterr()
    return [json.loads(line) for line in captured.out.split("\n")[:-1]]


def test_a_segmented_translation(capsys: pytest.CaptureFixture[str]) -> None:
    """A JSON object a sentence; features by hand: ln of the table's columns, counts, the language model."""
    rows = score(capsys, "--translation", "trace", "in", "--docids", "ids")
    assert [(row["doc"], row["seg"]) for row in rows] == [("x", 1), ("x", 2), ("y", 1)]
    first = rows[0]["features"]
    columns = np.log([[0.6, 0.5, 0.5, 0.5], [0.2, 0.1, 0.3, 0.2], [0.9, 0.9, 0.9, 0.9]]).sum(axis=0)
    assert first["TranslationModel0"] == pytest.approx(columns.tolist(), abs=1e-5)
    assert (first["WordPenalty"], first["PhrasePenalty"], first["UnknownWord"], first["Distortion"]) == (-4, 3, 0, 0)
    # <s> the | the blue | the blue house | (blue house) house . | . </s>: values of the longest n-grams, backoffs.
    log10 = -0.6 + (-0.2 - 1.1) + -0.5 + (-0.2 - 0.4) + (-0.1 - 0.1)
    assert first["LM0"] == pytest.approx(log10 * np.log(10), abs=1e-5)
    weights = [0.1, 0.1, 0.2, 0.1]
    expected = columns @ weights + 0.3 * 4 + 0.1 * 3 + 0.5 * first["LM0"]
    assert rows[0]["score"] == pytest.approx(float(expected), abs=1e-5)
    assert rows[1] == {"doc": "x", "seg": 2, "score": 0.0, "features": dict.fromkeys(first, 0.0) |
                       {"TranslationModel0": [0.0] * 4}}  # fmt: skip


def test_plain_text_gets_its_best_segmentation(capsys: pytest.CaptureFixture[str]) -> None:
    """Here it is the one of the segmented translation."""
    segmented = score(capsys, "--translation", "trace", "in", "--docids", "ids")
    assert score(capsys, "--translation", "plain", "in", "--docids", "ids") == segmented


def test_what_no_segmentation_reaches_is_null(capsys: pytest.CaptureFixture[str]) -> None:
    Path("plain").write_text("the blue house\n\nthe small puppy does not sleep .\n", encoding="utf-8")
    rows = score(capsys, "--translation", "plain", "in", "--docids", "ids")
    assert [(row["score"] is None, row["features"] is None) for row in rows] == [(True, True), (False, False),
                                                                               (True, True)]  # fmt: skip


def test_other_weights(capsys: pytest.CaptureFixture[str]) -> None:
    """--set changes the score by exactly what the weight says, and no feature."""
    plain = score(capsys, "--translation", "trace", "in", "--docids", "ids")
    other = score(capsys, "--translation", "trace", "in", "--docids", "ids", "--set", "weights.word_penalty=0.2")
    for one, two in zip(plain, other, strict=True):
        assert one["features"] == two["features"]
        assert two["score"] - one["score"] == pytest.approx(0.5 * one["features"]["WordPenalty"], abs=1e-5)


def test_documents_with_ids_of_their_own(capsys: pytest.CaptureFixture[str]) -> None:
    """Documents and segments are named as their file names them, by their places where it does not."""
    segments = [{"src": text, "seg_id": name} for text, name in zip(SOURCE, ("s1", "s2", "s3"), strict=True)]
    Path("in.jsonl").write_text(json.dumps({"doc_id": "d", "segments": segments}) + "\n")
    rows = score(capsys, "--translation", "trace", "in.jsonl")
    assert [(row["doc"], row["seg"]) for row in rows] == [("d", "s1"), ("d", "s2"), ("d", "s3")]
    rows = score(capsys, "--translation", "plain", "in")
    assert [(row["doc"], row["seg"]) for row in rows] == [(1, 1), (2, 1)]
    rows = score(capsys, "--translation", "trace", "in.jsonl", "--set", "search.first_jump=false")
    assert len(rows) == 3


def test_decoded_translations_score_what_the_search_said(capsys: pytest.CaptureFixture[str]) -> None:
    """`decode --format trace` and `score` agree on every figure."""
    assert run(["decode", "-c", str(TINY), "in", "--docids", "ids", "--format", "trace", "--chains", "4"]) == 0
    Path("out").write_text(capsys.readouterr().out, encoding="utf-8")
    arguments = ["decode", "-c", str(TINY), "in", "--docids", "ids", "--format", "jsonl", "--chains", "4"]
    assert run(arguments) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.split("\n")[:-1]]
    expected = [
        {"doc": row["doc_id"], "seg": place, "score": segment["score"], "features": segment["features"]}
        for row in found
        for place, segment in enumerate(row["segments"], 1)
    ]
    assert score(capsys, "--translation", "out", "in", "--docids", "ids") == expected


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"trace": "the |0-0|\n"}, r"another number of sentences"),
        ({"trace": "the |0-0| home |1-1| . |3-3|\n" + TRACE[1] + "\n"}, "do not cover each source word once"),
        ({"trace": TRACE[0].replace("blue", "azure") + "\n" + TRACE[1] + "\n"}, "no translation option of document 1"),
        ({"trace": TRACE[0] + "\n" + TRACE[1] + " again\n"}, "trace:2: no source span behind the last words"),
        ({"trace": "one\ntwo\nthree\n"}, "trace"),
        ({"in": ""}, "trace"),
    ],
)
def test_translations_that_do_not_fit(files: dict[str, str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")
    assert run(["score", "-c", str(TINY), "--translation", "trace", "in"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err and "Traceback" not in err


@pytest.fixture(scope="module")
def ordered(tmp_path_factory: pytest.TempPathFactory) -> Decoder:
    """The model with a reordering table of a row for each of its phrase pairs."""
    folder = tmp_path_factory.mktemp("ordered")
    rng = np.random.default_rng(1)
    pairs = [line.split(" |||")[:2] for line in (TINY.parent / "phrase-table").read_text().split("\n")[:-1]]
    rows = [f"{s} |||{t} ||| {' '.join(map(str, rng.integers(1, 99, 6) / 100))}\n" for s, t in pairs]
    (folder / "orders").write_text("".join(rows), encoding="utf-8")
    more = '[[reordering_model]]\npath = "orders"\nweights = [0.5, 0.9, 0.4, 0.6, 0.3, -0.5]\n\n[weights]'
    return gpusearch.load(copy_tiny(folder, {"model.toml": ("[weights]", more)}))


@pytest.mark.parametrize("model", ["decoder", "ordered"])
def test_the_best_of_all_segmentations_is_found(model: str, request: pytest.FixtureRequest) -> None:
    """Against all orders of all segmentations of a sentence, under several limits and first jumps."""
    decoder = request.getfixturevalue(model)
    sources = [["la", "maison", "bleue"], ["une", "maison", "dans", "la"], ["ne", "dort", "pas", "ne"]]
    batch = build_problem(decoder.model, [sources])
    for number, source in enumerate(sources):
        for limit, first_jump in ((-1, True), (6, True), (2, True), (1, False), (0, True)):
            settings = SearchConfig(distortion_limit=limit, first_jump=first_jump)
            best: dict[tuple[str, ...], float] = {}
            for derivation in _derivations(batch, number, len(source)):
                for order in permutations(derivation):
                    starts = [batch.options.span_of(option)[0] for option in order]
                    stops = [0, *(batch.options.span_of(option)[1] for option in order)]
                    jumps = [abs(start - stop) for start, stop in zip(starts, stops, strict=False)]
                    if limit >= 0 and max(jumps[0 if first_jump else 1 :], default=0) > limit:
                        continue
                    found = describe(batch, [np.array(order, np.int32)], first_jump)[0]
                    text = tuple(found.words)
                    best[text] = max(best.get(text, -np.inf), found.score)
            assert len(best) > 1
            for text, expected in best.items():
                options = segment(batch, settings, number, list(text))
                assert options is not None, (text, limit)
                score = describe(batch, [options], first_jump)[0]
                assert tuple(score.words) == text
                assert score.score == pytest.approx(expected, abs=1e-5)


def _derivations(batch: Any, sentence: int, words: int, start: int = 0) -> list[list[int]]:
    """All monotone derivations of a sentence from a position on."""
    if start == words:
        return [[]]
    return [
        [option, *rest]
        for stop in range(start + 1, min(words, start + batch.options.longest) + 1)
        for option in batch.options.in_span(sentence, start, stop)
        for rest in _derivations(batch, sentence, words, stop)
    ]


def test_words_that_the_table_limit_leaves_out_count_in_plain_text(decoder: Decoder) -> None:
    """A limit of one leaves `home` out of the search, not out of what may be scored."""
    narrow = gpusearch.load(TINY, ["phrase_table.0.table_limit=1"])
    scored = score_plain(narrow.model, narrow.config.search, [[["la", "maison"]]], [[["her", "home"]]])
    assert scored[0][0] is not None
    assert narrow.decode([["la maison"]], chains=1).texts == [["the house"]]
