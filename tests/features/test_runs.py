"""Features of the document in searches, samples and scores, from the configuration to what is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gpusearch
from gpusearch.candidates.samples import read_samples
from gpusearch.cli.main import run
from gpusearch.decoder import Decoder
from gpusearch.errors import InputError
from gpusearch.features.semantic import SemanticSpace, save_space
from gpusearch.io.candidates import read_candidates
from gpusearch.kernels.semantic import BINS, VECTOR_BITS
from tests.search.runs import outcome
from tests.tiny import TINY

DOCUMENTS = [["la maison bleue", "la maison", "une maison .", ""], ["le petit chien ne dort pas ."]]
FEATURES = (
    "features.ttr.use=type-token-ratio",
    "features.length.use=sentence-length",
    "features.q.use=q-value-phrases",
    "features.topic.use=semantic-lm",
    "features.whole.use=coh3",
)
# Chains are scored in units of 2^-20 of each value, outputs in floats.
ROUNDING = 1e-3
# All that is translated here.
SENTENCES = ("la maison bleue", "la maison", "une maison .", "une maison", "le petit chien ne dort pas .")


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Five features, for which kernels are compiled once: those of `tests.random_features.ALL`."""
    path, trees = tmp_path_factory.mktemp("space") / "space.npz", tmp_path_factory.mktemp("trees") / "trees.conllu"
    rows = [
        [f"{k}\t{word}\t_\tX\t_\t_\t{0 if k == 1 else 1}\t_\t_\t_" for k, word in enumerate(text.split(), start=1)]
        for text in SENTENCES
    ]
    trees.write_text("".join("\n".join(lines) + "\n\n" for lines in rows), encoding="utf-8")
    words = ["the", "house", "home", "blue", "little", "small", "dog", "puppy", "sleep", "in"]
    vector = np.zeros((len(words), 4), np.int16)
    vector[np.arange(len(words)), np.arange(len(words)) % 4] = 1 << VECTOR_BITS
    histogram = np.linspace(-12, -4, BINS)
    save_space(
        SemanticSpace(tuple(words), ("a", "."), vector, np.array([-3.0, -2.5]), histogram, -8, -15, 5, False), path
    )
    more = f"features.topic.path={path}", f"features.whole.path={trees}"
    return (*FEATURES, *more, "search.recombine=best-unit")  # for which there is nothing more to compile


@pytest.fixture(scope="module")
def load(settings: tuple[str, ...]) -> Callable[..., Decoder]:
    return lambda *more: gpusearch.load(TINY, [*settings, *more])


@pytest.mark.parametrize("method", ["search", pytest.param("gibbs", marks=pytest.mark.slow)])
def test_the_score_of_the_search_is_the_one_that_is_reported(load: Callable[..., Decoder], method: str) -> None:
    """Exact integers on the one side, floats of the models' own numbers on the other."""
    decoder = load("features.ttr.weights=-3.5", "features.length.weights=0.25", "features.topic.weights=0.1")
    decoded = decoder.decode(DOCUMENTS, chains=4, steps_per_word=20.0, method=method, recombine="best-chain")
    for found in decoded.result.documents:
        assert found.best.score == pytest.approx(found.chain_scores.max(), abs=1e-4)
        names = decoder.model.features
        words = [word for sentence in found.best.sentences for word in sentence.words]
        assert found.best.features[names.index("ttr")] == len(set(words)) / len(words)
        assert found.best.features[names.index("q")] > 0 > found.best.features[names.index("topic")]
        assert found.best.score == pytest.approx(float(names.score(found.best.features)), abs=1e-9)


def test_a_feature_of_the_document_makes_documents_the_units_and_decides(load: Callable[..., Decoder]) -> None:
    """A reward for few different words says "house" again and again; a penalty for them does not."""
    same, different = load("features.ttr.weights=-200"), load("features.ttr.weights=200")
    texts = ["une maison", "une maison", "une maison"]
    found = [
        decoder.decode([texts], chains=8, steps_per_word=100.0).result.documents[0] for decoder in (same, different)
    ]
    assert [one.steps.shape[1] for one in found] == [1, 1]
    ratios = [float(one.best.features[same.model.features.index("ttr")]) for one in found]
    assert ratios[0] == 2 / 6
    assert ratios[1] > ratios[0]


@pytest.mark.parametrize(("weight", "different"), [(200, 6), (-200, 5)])
def test_a_feature_of_the_document_chooses_among_candidates(
    load: Callable[..., Decoder], repository: Path, weight: float, different: int
) -> None:
    """Their own scores are equal: a house that is called a home once is two words more."""
    folder = repository / "examples" / "candidates"
    others = [f"features.{name}.weights=0" for name in ("length", "q", "topic", "whole")]
    of_candidates = ["candidates.alone=true", "candidates.weights.nmt=1"]
    decoder = load(f"features.ttr.weights={weight}", *others, *of_candidates)
    text = (folder / "documents.fr").read_text(encoding="utf-8").split("\n")[:-1]
    candidates = read_candidates(folder / "candidates.jsonl")
    (found,) = decoder.decode([text], candidates=candidates, chains=4).texts
    assert len(set(" ".join(found).split())) == different
    for segment, chosen in enumerate(found):
        assert chosen in [one.text for one in candidates if one.segment == segment]


@pytest.mark.slow  # compiles kernels with this feature alone
@pytest.mark.parametrize(("weight", "different"), [("200", 6), ("-200", 5)])
def test_the_example_of_candidates(
    repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, weight: str, different: int
) -> None:
    """The command that its model names; nothing but candidates in it, not even a language model."""
    monkeypatch.chdir(repository / "examples" / "candidates")
    command = next(line for line in Path("model.toml").read_text(encoding="utf-8").split("\n") if " decode " in line)
    arguments = command.strip("# ").removeprefix("gpusearch ").split()
    out = tmp_path / "out"
    assert run([*arguments, "-o", str(out), "--quiet", f"--set=features.variety.weights={weight}"]) == 0
    assert len(set(out.read_text(encoding="utf-8").split())) == different


@pytest.mark.slow
def test_chains_exchange_sentences_where_a_lattice_cannot_hold_them(load: Callable[..., Decoder]) -> None:
    """Two chains of a few steps: what comes of their sentences and the lattice's is no worse than either, and better
    for some seeds."""
    decoder, gain = load(), 0.0
    for seed in range(1, 6):
        few: dict[str, float] = {"chains": 2, "steps_per_word": 0.3, "seed": seed}
        crossed = decoder.decode(DOCUMENTS, **few, recombine="lattice")
        best = decoder.decode(DOCUMENTS, **few, recombine="best-unit")
        for one, other in zip(crossed.result.documents, best.result.documents, strict=True):
            assert one.best.score >= other.best.score - 1e-9
            assert one.best.score == pytest.approx(float(decoder.model.features.score(one.best.features)), abs=1e-9)
        gain += crossed.score - best.score
    assert gain > 0.1
    assert "recombine:crossover" in crossed.signature and "recombine:best-unit" in best.signature
    assert "feature.ttr:type-token-ratio()" in best.signature


@pytest.mark.slow
def test_sentences_are_exchanged_after_every_round(load: Callable[..., Decoder]) -> None:
    """Chains that are not replaced by what was made of all go their own way; where all are, each goes on from it and
    ends no lower, which chains by themselves do not reach."""
    decoder, short = load(), 0
    for seed in range(1, 4):
        few = {"chains": 3, "seed": seed, "recombine": "lattice", "keep_chains": True}
        joined, whole = (decoder.decode(DOCUMENTS, **few, steps_per_word=steps) for steps in (0.5, 1.0))
        apart, rounds = (
            decoder.decode(DOCUMENTS, **few, steps_per_word=1.0, lattice={"every": 0.5, "replaced": replaced})
            for replaced in (0.01, 1.0)
        )
        assert outcome(apart.result) == outcome(whole.result)
        assert "recombine:crossover" in rounds.signature and "lattice.every:0.5" in rounds.signature
        documents = zip(*(run.result.documents for run in (joined, whole, rounds)), strict=True)
        for before, alone, after in documents:
            assert (after.chain_scores >= before.best.score - ROUNDING).all()
            assert after.best.score >= before.best.score - ROUNDING
            short += (alone.chain_scores < before.best.score - ROUNDING).sum()
    assert short > 0


def test_features_stand_in_what_is_written(
    settings: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in").write_text("la maison bleue\nla maison\n", encoding="utf-8")
    given = [f"--set={setting}" for setting in settings]
    command = ["decode", "-c", str(TINY), *given, "in", "--chains", "2", "--quiet", "-o"]
    assert run([*command, "out.jsonl", "--format", "jsonl", "--nbest", "2", "--nbest-list", "list",
                "--score-file", "scores"]) == 0  # fmt: skip
    row = json.loads(Path("out.jsonl").read_text(encoding="utf-8").split("\n")[0])
    document = row if "nbest" in row else row["document"]
    assert document["features"]["ttr"] == document["nbest"][0]["features"]["ttr"] > 0
    scores = json.loads(Path("scores").read_text(encoding="utf-8"))
    assert scores["features"] == document["features"]
    assert " ttr= 0 length= -" in Path("list").read_text(encoding="utf-8")


def test_a_given_translation_is_scored_with_them(
    settings: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row more for the document, with the features that look at it; null where a sentence is out of reach."""
    monkeypatch.chdir(tmp_path)
    Path("in").write_text("la maison\nune maison\n", encoding="utf-8")
    given = [f"--set={setting}" for setting in (*settings, "features.ttr.weights=2.0")]
    for text, ratio in (("the house\na house\n", 3 / 4), ("the house\na palace\n", None)):
        Path("out").write_text(text, encoding="utf-8")
        assert run(["score", "-c", str(TINY), *given, "--translation", "out", "in"]) == 0
        *sentences, whole = [json.loads(line) for line in capsys.readouterr().out.split("\n")[:-1]]
        assert [row.get("seg") for row in (*sentences, whole)] == [1, 2, None]
        if ratio is None:
            assert whole["score"] is None and whole["features"] is None
            continue
        assert [row["features"]["ttr"] for row in (*sentences, whole)] == [0, 0, ratio]
        assert whole["features"]["length"] == sum(row["features"]["length"] for row in sentences) < 0
        of_document = 2 * ratio + whole["features"]["q"] + whole["features"]["topic"]
        assert whole["score"] == pytest.approx(sum(row["score"] for row in sentences) + of_document)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            ["features.x.use=ttr"],
            r'unknown feature x; found use = "ttr"; expected module:object, or one of .*type-token-ratio',
        ),
        (["features.x.use=type-token-ratio", "features.x.weights=[1, 2]"], "found 2 weights; expected 1"),
        (["features.x.use=type-token-ratio", "features.x.options={size=1}"], "unknown option of feature x; found size"),
        (["features.LM0.use=type-token-ratio"], "two features are called LM0"),
        (["features.WordPenalty.use=type-token-ratio"], "two features are called WordPenalty"),
        (["features.x.use=semantic-lm"], "feature x needs path"),
        (["features.x.use=semantic-lm", "features.x.path=none.npz"], "none.npz"),
        (["features.x.use=type-token-ratio", "features.x.options={form='root'}"], "expected paper or docent"),
    ],
)
def test_faults_of_the_configuration(wrong: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        gpusearch.load(TINY, wrong)


def test_the_short_form() -> None:
    """`[features] ttr = "type-token-ratio"`, with the weight 1."""
    decoder = gpusearch.load(TINY, ["features.ttr=type-token-ratio"])
    assert decoder.model.features.document == ("ttr",)
    assert decoder.model.features.weights[decoder.model.features.index("ttr")] == 1


@pytest.mark.slow  # compiles the sampler with features
def test_samples_are_of_documents_without_being_told_so(settings: tuple[str, ...], tmp_path: Path) -> None:
    """They carry the features: here each sample's ratio follows from its words."""
    (tmp_path / "in").write_text("la maison bleue\nune maison\n", encoding="utf-8")
    # What is of searches has no use here, and is refused.
    given = [f"--set={setting}" for setting in settings if not setting.startswith("search.")]
    chosen = ["--chains", "2", "--iterations", "10", "--burn-in", "2", "--quiet"]
    assert run(["sample", "-c", str(TINY), *given, *chosen, str(tmp_path / "in"), "-o", str(tmp_path / "out")]) == 0
    samples = read_samples(tmp_path / "out")
    assert samples.features[-5:] == ["ttr", "length", "q", "topic", "whole"]
    (unit,) = samples
    texts = [unit.of_sentence(sentence).texts for sentence in range(2)]
    ratios = unit.features[:, :, -5].reshape(-1)
    for number, pair in enumerate(zip(*texts, strict=True)):
        words = " ".join(pair).split()
        assert ratios[number] == pytest.approx(len(set(words)) / len(words), abs=2**-20)
