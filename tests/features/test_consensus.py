"""Consensus: linear BLEU of Tromble et al. (2008), and the samples and lists that it is made of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpusearch.candidates.sample_options import OptionTable, write_options
from gpusearch.candidates.samples import HEADER, VERSION, RoundWriter, round_type, unit_paths
from gpusearch.errors import InputError
from gpusearch.features.consensus import Consensus, ConsensusOptions
from gpusearch.features.sampled import Known
from gpusearch.io.json_files import write_json
from gpusearch.mbr.grams import count_grams, words
from tests.features.documents import document

THETAS = (-1.0, 0.5, 0.75, 1.5, 2.0)


def known(*several: tuple[str, float]) -> Known:
    return tuple((tuple(text.split()), weight) for text, weight in several)


def test_worked_by_hand() -> None:
    """-3 words; a 0.75 + 1, b 1; "a b" 0.75, "b a" 0; nothing of three words."""
    made = Consensus({("s",): known(("a b", 0.75), ("b", 0.25))}, THETAS)
    assert made.posteriors(["s"]) == {("a",): 0.75, ("b",): 1.0, ("a", "b"): 0.75}
    assert made.value(document("s = a b a")) == -3 + 0.5 * (0.75 + 1 + 0.75) + 0.75 * 0.75
    assert made.value(document("s =")) == 0
    assert made.value(document("")) == 0


def test_thetas_are_those_of_the_paper(tmp_path: Path) -> None:
    """theta_0 = -1 / T, theta_n = 1 / (4 T p r^(n-1)); p = 0.85 and r = 0.72."""
    path = jsonl(tmp_path / "list")
    made = ConsensusOptions(path).of_texts(str.split, str.split)
    assert made.thetas == pytest.approx((-1, 0.294118, 0.408497, 0.567357, 0.787996), abs=1e-6)
    made = ConsensusOptions(path, precision=0.5, ratio=0.25, words=10.0).of_texts(str.split, str.split)
    assert made.thetas == pytest.approx((-0.1, 0.05, 0.2, 0.8, 3.2))
    assert ConsensusOptions(path, thetas=list(THETAS)).of_texts(str.split, str.split).thetas == THETAS


def test_posteriors_are_those_that_mbr_counts() -> None:
    """Of random texts; counted by its sorting, of each text once."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        texts = list({tuple(rng.choice(list("abc"), int(rng.integers(0, 12))).tolist()) for _ in range(8)})
        weights = rng.dirichlet(np.ones(len(texts)))
        one = rng.choice(list("abcd"), 10).tolist()
        expected = THETAS[0] * len(one)
        for order, counts in enumerate(count_grams(words([one, *texts]), 4), 1):
            of_gram = np.bincount(counts.gram, np.append(0, weights)[counts.text], minlength=counts.grams)
            here = counts.text == 0
            expected += THETAS[order] * float(of_gram[counts.gram[here]] @ counts.count[here])
        made = Consensus({("s",): tuple(zip(texts, weights.tolist(), strict=True))}, THETAS)
        assert made.value(document(f"s = {' '.join(one)}")) == pytest.approx(expected)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def jsonl(path: Path) -> Path:
    """As decode writes it: two sentences with lists of their own, and a document with samples as a whole."""
    rows: list[dict[str, Any]] = [
        {"doc_id": "x", "segments": [
            {"src": "La maison", "nbest": [{"hyp": "The house", "score": 0.0}, {"hyp": "a House", "score": 0.0}]},
            {"src": "", "nbest": [{"hyp": "", "score": 0.0}]},
            {"src": "une", "nbest": [{"hyp": "a", "score": -1.0}, {"hyp": "one", "score": -1.0 - np.log(3)}]},
        ]},
        {"doc_id": "y", "segments": [{"src": "la maison"}, {"src": "deux"}],
         "nbest": [
             {"score": 0.0, "segments": [{"hyp": "the house"}, {"hyp": "two"}]},
             {"score": 0.0, "segments": [{"hyp": "the house"}, {"hyp": "deuce"}]},
         ]},
    ]  # fmt: skip
    return write(path, "".join(json.dumps(row) + "\n" for row in rows))


def lower(text: str) -> list[str]:
    return text.lower().split()


def test_jsonl(tmp_path: Path) -> None:
    """Raw text becomes tokens; equal sources are put together, and each counts alike."""
    made = ConsensusOptions(jsonl(tmp_path / "list")).of_texts(lower, lower)
    assert set(made.known) == {("la", "maison"), ("une",), ("deux",)}
    assert dict(made.known["la", "maison"]) == {("the", "house"): 0.75, ("a", "house"): 0.25}
    assert dict(made.known["une",]) == pytest.approx({("a",): 0.75, ("one",): 0.25})
    assert dict(made.known["deux",]) == {("two",): 0.5, ("deuce",): 0.5}
    alike = ConsensusOptions(tmp_path / "list", weighting="multiplicity").of_texts(lower, lower)
    assert dict(alike.known["une",]) == {("a",): 0.5, ("one",): 0.5}
    flatter = ConsensusOptions(tmp_path / "list", scale=0.5).of_texts(lower, lower)
    assert dict(flatter.known["une",])["a",] == pytest.approx(3**0.5 / (1 + 3**0.5))


def test_a_list_needs_the_sources_beside_it(tmp_path: Path) -> None:
    """Which are counted by the lines of the input, as the list is: a border of documents is a line."""
    path = write(tmp_path / "list", "0 ||| the house  ||| LM0= -1 ||| 0\n2 ||| one  ||| LM0= -1 ||| 0\n")
    with pytest.raises(InputError, match=r"list: candidates without sources; expected the option source"):
        ConsensusOptions(path).of_texts(lower, lower)
    sources = write(tmp_path / "source", "La maison\n\nune\n")
    made = ConsensusOptions(path, sources).of_texts(lower, lower)
    assert made.known == {("la", "maison"): known(("the house", 1.0)), ("une",): known(("one", 1.0))}
    with pytest.raises(InputError, match=r"few: fewer sources than sentences; found 1; expected 3 as in .*list"):
        ConsensusOptions(path, write(tmp_path / "few", "La maison\n")).of_texts(lower, lower)
    with pytest.raises(InputError, match="sources for candidates that have their own; leave source out"):
        ConsensusOptions(jsonl(tmp_path / "jsonl"), sources).of_texts(lower, lower)


def folder_of_samples(folder: Path, sources: Sequence[str], texts: Sequence[Sequence[str]]) -> Path:
    """One document, a unit a sentence: sentence s has the texts ``texts[s]``, a round and chain each, as one phrase."""
    folder.mkdir()
    filled = [place for place, source in enumerate(sources) if source]
    header = {
        "version": VERSION, "units": len(filled), "chains": 1, "features": ["x"], "sample": {"unit": "sentence"},
        "documents": [{"id": "d", "segments": [source.upper() for source in sources]}],
    }  # fmt: skip
    write_json(folder / HEADER, header)
    for unit, place in enumerate(filled):
        tokens, several = sources[place].split(), [text.split() for text in texts[place]]
        vocabulary = sorted({word for text in several for word in text})
        many = len(several)
        description, options, rounds = unit_paths(folder, unit)
        table = OptionTable(
            sentence=np.zeros(many, np.int32),
            span=np.tile(np.array([0, len(tokens)], np.int32), (many, 1)),
            table=np.zeros(many, np.int32),
            values=np.zeros((many, 1), np.float32),
            first_word=np.cumsum([0, *map(len, several)]).astype(np.int64),
            word=np.array([vocabulary.index(word) for text in several for word in text], np.int32),
            hash=np.zeros((many, 16), np.uint8),
            vocabulary=vocabulary,
        )
        write_options(options, table)
        slots = len(tokens) + 1
        write_json(description, {"document": 0, "first_segment": place, "slots": slots, "sources": [tokens],
                                 "words": vocabulary})  # fmt: skip
        writer = RoundWriter(rounds, round_type(1, slots, 1))
        for option in range(many):
            writer.append({"option": [[option] + [-1] * (slots - 1)]})
        writer.close()
    return folder


def test_a_folder_of_samples(tmp_path: Path) -> None:
    """Found by its own source tokens, whatever its raw text; each sample counts alike."""
    sources = ["la maison", "", "une"]
    folder = folder_of_samples(tmp_path / "s", sources, [["the house", "the house", "a house", "house"], [], ["a"]])
    made = ConsensusOptions(folder).of_texts(lower, lower)
    assert made.posteriors(["la", "maison"]) == {
        ("house",): 1, ("the",): 0.5, ("a",): 0.25, ("the", "house"): 0.5, ("a", "house"): 0.25,
    }  # fmt: skip
    assert made.posteriors(["une"]) == {("a",): 1}
    with pytest.raises(InputError, match="sources for samples that have their own; leave source out"):
        ConsensusOptions(folder, tmp_path / "x").of_texts(lower, lower)
    with pytest.raises(
        InputError,
        match="s: no translations of a sentence that is translated; found 'la maison'; expected 'la maisons'",
    ):
        made.posteriors(["la", "maisons"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": 0}, "unusable precision of consensus; found 0; expected a number above 0"),
        ({"ratio": "x"}, "unusable ratio of consensus; found 'x'; expected a number above 0"),
        ({"words": -1.0}, "unusable words of consensus; found -1.0; expected a number above 0"),
        ({"thetas": [1, 2]}, r"unusable thetas of consensus; found \[1, 2\]; expected five numbers"),
        (
            {"weighting": "best"},
            "unknown weighting of consensus; found 'best'; expected score, uniform, multiplicity, ess",
        ),
    ],
)
def test_faults_of_options(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ConsensusOptions(jsonl(tmp_path / "list"), **options).of_texts(lower, lower)


def test_the_fingerprint_is_of_content() -> None:
    one, other = ({("s",): known((text, 1.0))} for text in ("a", "b"))
    assert Consensus(one, THETAS).fingerprint() == Consensus(one, THETAS, "elsewhere").fingerprint()
    assert len({Consensus(one, THETAS).fingerprint(), Consensus(other, THETAS).fingerprint(),
                Consensus(one, THETAS[::-1]).fingerprint()}) == 3  # fmt: skip
