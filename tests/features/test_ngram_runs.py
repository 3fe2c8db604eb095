"""Glossary, BLEU and consensus in searches: what they ask for is what comes out, and what is reported of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sacrebleu.metrics import BLEU

import gpusearch
from gpusearch.cli.main import run
from gpusearch.decoder import Decoder
from gpusearch.errors import InputError
from gpusearch.features.consensus import Consensus
from gpusearch.features.load import with_document
from gpusearch.model.problem import Batch, build_problem
from tests.features.test_consensus import folder_of_samples
from tests.tiny import TINY

SOURCES = ("la maison bleue", "une maison", "le petit chien ne dort pas .", "la maison")
REFERENCES = ("her blue house", "one home", "the puppy does not sleep .", "her home")
SAMPLES = (["the blue house", "the house blue", "her blue house"], ["one house", "one home"], ["the little dog not ."],
           ["the home", "the home", "the house"])  # fmt: skip
TERMS = """\
# of houses and dogs
maison ||| home
petit chien ||| puppy
petit chien ||| small dog
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Documents, references, terms and samples, in the working folder."""
    monkeypatch.chdir(tmp_path)
    Path("in").write_text("\n".join(SOURCES) + "\n", encoding="utf-8")
    Path("references").write_text("\n".join(REFERENCES) + "\n", encoding="utf-8")
    Path("terms").write_text(TERMS, encoding="utf-8")
    Path("short").write_text("her home\n", encoding="utf-8")
    folder_of_samples(tmp_path / "samples", SOURCES, SAMPLES)
    return tmp_path


def settings(consensus: float = 0, bleu: float = 0, glossary: float = 0, samples: str = "samples") -> list[str]:
    """All three features with their weights: one kernel for all tests."""
    return [
        "features.consensus.use=consensus",
        f"features.consensus.path={samples}",
        f"features.consensus.weights={consensus}",
        "features.bleu.use=bleu-oracle",
        "features.bleu.path=references",
        "features.bleu.source=in",
        f"features.bleu.weights={bleu}",
        "features.terms.use=glossary",
        "features.terms.path=terms",
        f"features.terms.weights={glossary}",
        "search.recombine=best-unit",
    ]


def decoded(*more: str) -> tuple[list[str], dict[str, Any]]:
    """Texts, and what is reported of the document."""
    given = [f"--set={setting}" for setting in more]
    command = ["decode", "-c", str(TINY), *given, "in", "--chains", "8", "--set=search.steps_per_word=200"]
    assert run([*command, "--quiet", "-o", "out.jsonl", "--format", "jsonl"]) == 0
    row = json.loads(Path("out.jsonl").read_text(encoding="utf-8"))
    return [segment["hyp"] for segment in row["segments"]], row


@pytest.mark.slow  # compiles the kernels with these features
def test_a_glossary_changes_the_translation(folder: Path) -> None:
    plain, report = decoded(*settings())
    assert " ".join(plain).count("house") == 3 and report["features"]["terms"] == 0
    for more in ([], ["features.terms.options={form='hard'}"]):
        texts, report = decoded(*settings(glossary=30), *more)
        assert " ".join(texts).count("home") == 3 and "house" not in " ".join(texts)
        assert "puppy" in texts[2] or "small dog" in texts[2]
        assert report["features"]["terms"] == (0 if more else 4)


@pytest.mark.slow
def test_the_oracle_reaches_the_references(folder: Path) -> None:
    """And says what sacreBLEU says, there and on the way."""
    metric = BLEU(tokenize="none", smooth_method="none")
    found = []
    for weight in (0, 20, 2000):
        texts, report = decoded(*settings(bleu=weight))
        expected = metric.corpus_score(texts, [list(REFERENCES)]).score / 100
        assert report["features"]["bleu"] == pytest.approx(expected)
        found.append(report["features"]["bleu"])
    assert texts == list(REFERENCES) and found[2] == 1
    assert found[0] < found[2]


@pytest.mark.slow
def test_smoothing_leads_off_the_plain(folder: Path) -> None:
    """Where no four words in a row can match, three or two of them still count."""
    Path("in").write_text("la maison bleue\nune maison\n", encoding="utf-8")
    Path("references").write_text("her blue house\none home\n", encoding="utf-8")
    smooth = "features.bleu.options={smooth=0.01}"
    texts, report = decoded(*settings(bleu=2000))
    assert texts != ["her blue house", "one home"] and report["features"]["bleu"] == 0
    texts, report = decoded(*settings(bleu=2000), smooth)
    assert texts == ["her blue house", "one home"]
    assert report["features"]["bleu"] == pytest.approx(1)


@pytest.mark.slow  # compiles the sampler as well
def test_consensus_with_samples(folder: Path) -> None:
    """No sample has more of it than what a search for nothing else finds."""
    command = ["sample", "-c", str(TINY), "in", "-o", "drawn", "--chains", "4", "--iterations", "60", "--burn-in", "10"]
    assert run([*command, "--set=sample.scale=0.3", "--quiet"]) == 0
    given = settings(consensus=1000, samples="drawn")
    decoder = gpusearch.load(TINY, given)
    (feature,) = [named.feature for named in decoder.model.document if named.name == "consensus"]
    assert isinstance(feature, Consensus)
    result = decoder.decode([list(SOURCES)], chains=8, steps_per_word=200.0).result.documents[0]
    total = 0.0
    for source, sentence in zip(SOURCES, result.best.sentences, strict=True):
        drawn = feature.known[tuple(source.split())]
        assert len(drawn) > 1
        best = max(_linear(feature, source, text) for text, _ in drawn)
        here = _linear(feature, source, sentence.words)
        assert here >= best - 1e-9
        total += here
    assert result.best.features[decoder.model.features.index("consensus")] == pytest.approx(total)


def _linear(feature: Consensus, source: str, words: Any) -> float:
    """Linear BLEU as it is defined, n-gram by n-gram."""
    total, words = feature.thetas[0] * len(words), tuple(words)
    for n in range(1, 5):
        for place in range(len(words) - n + 1):
            ngram = words[place : place + n]
            known = feature.known[tuple(source.split())]
            total += feature.thetas[n] * sum(
                weight for text, weight in known if any(text[k : k + n] == ngram for k in range(len(text) - n + 1))
            )
    return total


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["features.consensus.path=none"], "none: cannot read"),
        (["features.terms.path=references"], "references:1: not a line of a glossary; found 'her blue house'"),
        (["features.bleu.path=short"], "short: the reference of document 1 has another number of segments"),
        (["features.bleu.options={smooth=-1}"], "unusable smooth of bleu-oracle"),
        (["features.terms.source=in"], "unknown option of feature terms; found source; expected one of path, form"),
    ],
)
def test_faults_of_the_configuration(folder: Path, change: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        gpusearch.load(TINY, [*settings(), *change])


def test_a_sentence_without_its_reference(folder: Path) -> None:
    """Said before anything is searched; equal words are the same sentence wherever they stand."""
    decoder = gpusearch.load(TINY, [one for one in settings() if "features.consensus" not in one])
    assert _problem(decoder, "une maison").problem.document
    with pytest.raises(InputError, match=r"references: no reference of a sentence that is translated; found '.*'; exp"):
        _problem(decoder, "le chien")


def test_references_of_marked_sources(folder: Path) -> None:
    """Tags are no words of a source where the input may have any."""
    Path("in").write_text('la <np translation="home">maison</np> bleue\n', encoding="utf-8")
    Path("references").write_text("the blue home\n", encoding="utf-8")
    given = [one for one in settings() if "features.consensus" not in one]
    _problem(gpusearch.load(TINY, [*given, "text.xml_input=inclusive"]), "la maison bleue")
    with pytest.raises(InputError, match="found 'la <np"):
        _problem(gpusearch.load(TINY, given), "la maison bleue")


def _problem(decoder: Decoder, text: str) -> Batch:
    return with_document(build_problem(decoder.model, [[text.split()]], units="document"))
