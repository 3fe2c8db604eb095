"""Samples: written round by round, read while they grow, gone on with, merged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare

from gpusearch.candidates.sample_options import merged
from gpusearch.candidates.sampled import read_sampled
from gpusearch.candidates.samples import (
    HEADER,
    read_samples,
    unit_paths,
)
from gpusearch.cli.main import run
from gpusearch.config import SampleConfig
from gpusearch.errors import InputError
from gpusearch.io.trace import Phrase
from gpusearch.kernels import reference
from gpusearch.kernels.target import exact
from gpusearch.model.model import Model, load_model
from gpusearch.model.problem import build_problem
from gpusearch.search.beam_run import Wanted, run_beam
from gpusearch.search.driver import CpuDriver
from gpusearch.search.initial import best_derivations
from gpusearch.search.run import search_settings
from gpusearch.search.samplers import make_sampler
from gpusearch.search.sampling import superchain
from gpusearch.search.saved import Given
from tests.search.sampling import TEMPERING, TOKENS, content, model, sample, settings
from tests.tiny import copy_tiny

__all__ = ["model"]  # a fixture


@pytest.mark.parametrize("unit", ["sentence", "document"])
def test_samples_are_what_they_say(model: Model, tmp_path: Path, unit: str) -> None:
    """Phrases cover the source; scores and features are those of the phrases, by the readable twin; thinned rounds."""
    config = settings(f'sample.unit="{unit}"')
    samples = sample(model, config, tmp_path / "s")
    batch = build_problem(model, TOKENS, ["a", None, "b"], config.search, units=unit)
    problem = batch.problem._replace(language=exact(batch.problem.language))
    search = make_sampler(config, model, batch).search
    assert samples.units == len(batch.problem.unit) == (3 if unit == "sentence" else 2)
    assert [row["id"] for row in samples.documents] == ["a", None, "b"]
    for number, unit_samples in enumerate(samples):
        assert unit_samples.rounds["iteration"].tolist() == [4, 6, 8, 10, 12]
        assert unit_samples.score.shape == (4, 5)
        sentences = batch.units.sentences(number)
        document, segment = batch.units.place(sentences.start)
        assert (unit_samples.document, unit_samples.first_segment) == (document, segment)
        first = int(batch.options.first_option[sentences.start])
        for r in range(5):
            for c in range(4):
                derivations = [unit_samples.derivations(s)[r, c] for s in range(len(sentences))]
                phrases = [[first + int(k) for k in row if k >= 0] for row in derivations]
                for sentence, options in zip(sentences, phrases, strict=True):
                    assert reference.is_complete(batch.problem, options, len(batch.options.sentences[sentence]))
                value = reference.full(problem, search, [row for row in phrases if row])
                assert unit_samples.rounds[r]["score"][c] == value.score
                assert tuple(unit_samples.rounds[r]["feature"][c]) == value.features
        for s, sentence in enumerate(sentences):
            found = unit_samples.of_sentence(s)
            assert len(found.texts) == 20 and found.chain.tolist() == [0, 1, 2, 3] * 5
            row = unit_samples.derivations(s).reshape(20, -1)
            for entry, text in enumerate(found.texts):
                words = [word for k in row[entry] if k >= 0 for word in batch.options.target(first + int(k))]
                assert text == " ".join(words)
            assert np.isnan(found.score).all() == (len(sentences) > 1)
            assert [len(batch.options.sentences[sentence])] == [len(unit_samples.sources[s])]


@pytest.mark.parametrize(
    ("method", "unit"),
    [("gibbs", "sentence"), ("gibbs", "document"), ("metropolis", "sentence"), ("tempering", "document")],
)
def test_going_on_comes_to_the_same_bytes(model: Model, tmp_path: Path, method: str, unit: str) -> None:
    """Wherever the files are cut: between rounds, within one, in one unit only, or before a unit has begun."""
    config = settings(f"sample.method={method}", f"sample.unit={unit}", *TEMPERING)
    whole = tmp_path / "whole"
    sample(model, config, whole)
    expected = content(whole)
    rng = np.random.default_rng(1)
    for trial in range(8):
        folder = tmp_path / f"cut{trial}"
        folder.mkdir()
        for name, data in expected.items():
            if name.endswith(".rounds"):
                data = data[: int(rng.integers(0, len(data) + 1))] + (b"" if rng.random() < 0.5 else b"\0" * 3)
            if name == HEADER or rng.random() < 0.8:
                (folder / name).write_bytes(data)
        for number in range(2):  # a unit whose description is not there has not begun
            paths = unit_paths(folder, number)
            if not all(path.exists() for path in paths):
                paths[2].unlink(missing_ok=True)
        paths = unit_paths(folder, 2)
        if unit == "sentence" and not all(path.exists() for path in paths):
            paths[2].unlink(missing_ok=True)
        sample(model, config, folder, resume=True)
        assert content(folder) == expected
    sample(model, config, whole, resume=True)
    assert content(whole) == expected


@pytest.mark.parametrize("method", ["gibbs", "metropolis", "tempering"])
def test_samples_do_not_depend_on_lanes_and_threads(model: Model, tmp_path: Path, method: str) -> None:
    of_method = (f"sample.method={method}", *TEMPERING)
    sample(model, settings("search.threads=1", *of_method), tmp_path / "a")
    sample(model, settings("search.threads=2", "search.max_lanes=4", *of_method), tmp_path / "b")
    assert content(tmp_path / "a") == content(tmp_path / "b")


def test_a_language_model_on_the_host_gives_the_same_samples(model: Model, tmp_path: Path) -> None:
    """A block that lacks an answer is drawn anew when it is there."""
    pytest.importorskip("kenlm")
    config = settings('language_model.LM0.backend="kenlm"')
    with load_model(config) as host:
        there = sample(host, config, tmp_path / "host")
    here = sample(model, settings(), tmp_path / "device")
    for mine, other in zip(there, here, strict=True):
        assert np.array_equal(mine.rounds["option"], other.rounds["option"])
        assert np.abs(mine.score - other.score).max() < 1e-4  # KenLM rounds otherwise


def test_a_growing_folder_can_be_read(model: Model, tmp_path: Path) -> None:
    """What is there as a whole is read; half a round at the end is not there, one in the middle is a fault."""
    sample(model, settings(), tmp_path / "s")
    _, _, rounds = unit_paths(tmp_path / "s", 0)
    data = rounds.read_bytes()
    rounds.write_bytes(data[:-5])
    unit = read_samples(tmp_path / "s").unit(0)
    assert unit is not None and len(unit) == 4
    damaged = bytearray(data)
    damaged[100] ^= 1
    rounds.write_bytes(damaged)
    with pytest.raises(InputError, match="damaged round"):
        read_samples(tmp_path / "s").unit(0)
    rounds.unlink()
    with pytest.raises(InputError, match="texts without samples"):
        read_sampled(tmp_path / "s")


def test_pools_of_other_limits_and_weights_merge(model: Model, tmp_path: Path) -> None:
    """Options that say the same have one number, whatever the limit and the weights of the model that found them."""
    first = sample(model, settings(), tmp_path / "a")
    path = copy_tiny(
        tmp_path, {"model.toml": ("weights = [0.1, 0.1, 0.2, 0.1]", "weights = [0.3, 0.1, 0.1, 0.1]\ntable_limit = 1")}
    )
    config = settings(path=path)
    second = sample(load_model(config), config, tmp_path / "b")
    for number in range(first.units):
        units = [samples.unit(number) for samples in (first, second)]
        tables = [unit.options for unit in units if unit is not None]
        numbers, count = merged(tables)
        assert count == len(tables[0].span) >= len(tables[1].span)
        assert number > 0 or count > len(tables[1].span)
        assert numbers[0].tolist() == list(range(count))
        for mine, option in enumerate(numbers[1].tolist()):
            assert tables[1].target(mine) == tables[0].target(option)
            assert tables[1].span[mine].tolist() == tables[0].span[option].tolist()


def test_whole_documents_are_candidates(model: Model, tmp_path: Path) -> None:
    sample(model, settings('sample.unit="document"'), tmp_path / "s")
    listed = read_sampled(tmp_path / "s")
    assert [len(document.segments) for document in listed.draws] == [3, 1, 1]
    first, empty, last = listed.draws
    assert first.scores is not None and len(first.scores) == 20 and empty.scores is None
    assert [len(segment.texts) for segment in first.segments] == [20, 20, 20]
    assert set(first.segments[1].texts) == {""} and last.scores is not None
    assert first.chains is not None and first.chains.tolist() == [0, 1, 2, 3] * 5


@pytest.mark.parametrize("unit", ["sentence", "document"])
def test_what_is_not_sampled_needs_no_chains(
    model: Model, tmp_path: Path, unit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Empty segments and documents are decided under weights by effective size, too."""
    sample(model, settings(f'sample.unit="{unit}"'), tmp_path / "s")
    assert run(["mbr", str(tmp_path / "s"), "--weights", "ess", "--unit", unit, "-q"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [bool(line) for line in lines] == [True, False, True, False, False, True]


def test_superchains_are_of_equal_size() -> None:
    """Where the chains do not come out even, each is a superchain."""
    of = SampleConfig(superchains=4)
    assert superchain(of, 8).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert superchain(of, 6).tolist() == [0, 1, 2, 3, 4, 5]
    assert superchain(of, 2).tolist() == [0, 1]


def test_chains_of_a_superchain_begin_alike(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their first translation is that of the chain with the superchain's number."""
    starts = []
    start = CpuDriver.start

    def noted(driver: CpuDriver, lanes: NDArray[np.int64]) -> None:
        start(driver, lanes)
        starts.append(driver.state.option[lanes].tolist())

    monkeypatch.setattr(CpuDriver, "start", noted)
    sample(model, settings("search.chains=8", "sample.superchains=4"), tmp_path / "s")
    assert len(starts) == 3
    for options in starts:
        assert options[::2] == options[1::2]
    assert any(options[0] != options[2] for options in starts)


def test_no_sample_is_a_fault_of_the_settings() -> None:
    with pytest.raises(InputError, match="no sample in 12 iterations"):
        settings("sample.burn_in=12")
    assert settings("sample.burn_in=0", "sample.thin=5").sample.rounds == 2


def test_ladders_are_kept_whole(model: Model, tmp_path: Path) -> None:
    """A round has all chains of each ladder; the samples are the cold ones; exchanges are reported."""
    from gpusearch.search.sample_report import report

    samples = sample(model, settings("sample.method=tempering", *TEMPERING), tmp_path / "s")
    assert samples.chains == 4 and samples.operators[0] == "change"
    for unit in samples:
        for row in unit.rounds:
            assert sorted(row["level"].tolist()) == [0] * 4 + [1] * 4 + [2] * 4
            assert (row["level"].reshape(4, 3).sum(axis=1) == 3).all()
            assert row["replica"][row["level"] == 0].tolist() == row["option"].tolist()
            assert (np.diff(row["temperature"], axis=1) > 0).all() and (row["temperature"][:, 0] == 2.0).all()
        offered, accepted = unit.rounds[-1]["swaps"]
        assert (offered > 0).all() and (accepted <= offered).all()
    found = report(samples, np.arange(4))
    assert len(found.swaps) == 2 and "exchanges of temperatures" in "\n".join(found.lines())
    assert set(found.acceptance) == {"change", "swap", "resegment"}


@pytest.mark.parametrize("method", ["metropolis", "tempering"])
def test_chains_begin_with_what_is_given(model: Model, tmp_path: Path, method: str) -> None:
    """By spans and their order, which changes of translations leave as they are; of two translations that are given
    the even chains have the first and the odd ones the second."""
    alone = [f"search.operations.{name}=0" for name in ("swap", "resegment")]
    config = settings(f"sample.method={method}", *alone, *TEMPERING)
    ways: list[list[Phrase]] = [
        [(1, 3, ["blue", "house"]), (0, 1, ["her"])],
        [(0, 1, ["the"]), (1, 2, ["home"]), (2, 3, ["blue"])],
    ]
    house: Phrase = (0, 2, ["a", "house"])
    cat: list[Phrase] = [(0, 1, ["the"]), (1, 2, ["chat"])]
    given = Given([[[way, [], [house]] for way in ways], [[[]], [[]]], [[cat], [cat[::-1]]]])
    samples = sample(model, config, tmp_path / "given", given=given)
    for number, expected in ((0, ways), (1, [[house], [house]]), (2, [cat, cat[::-1]])):
        unit = samples.unit(number)
        assert unit is not None and len(unit) == 5
        for of_chains in unit.derivations(0).tolist():
            for chain, row in enumerate(of_chains):
                spans = [tuple(unit.options.span[option]) for option in row if option >= 0]
                assert spans == [(start, stop) for start, stop, _ in expected[chain % 2]]
    with pytest.raises(InputError, match=r"of another run \(start differs\)"):
        sample(model, config, tmp_path / "given", resume=True)
    far = settings(f"sample.method={method}", "search.distortion_limit=0", *TEMPERING)
    with pytest.raises(InputError, match="breaks the distortion limit"):
        sample(model, far, tmp_path / "far", given=given)


@pytest.mark.parametrize("initial", ["best", "beam"])
def test_chains_begin_as_search_initial_says(model: Model, tmp_path: Path, initial: str) -> None:
    """By spans and their order, as above, of all chains of every document; a run that was broken off goes on with the
    same start alone."""
    alone = [f"search.operations.{name}=0" for name in ("swap", "resegment")]
    config = settings("sample.method=metropolis", f"search.initial={initial}", *alone)
    samples = sample(model, config, tmp_path / "s")
    batch = build_problem(model, TOKENS, ["a", None, "b"], config.search)
    if initial == "best":
        derivations = best_derivations(batch)
    else:
        search = search_settings(config, model, batch)
        derivations = run_beam(batch, config.search, search, lambda done: None, Wanted()).options
    filled = [derivation for derivation in derivations if len(derivation)]
    assert len(filled) == samples.units == 3 and any(len(derivation) > 1 for derivation in filled)
    for unit, derivation in zip(samples, filled, strict=True):
        expected = [batch.options.span_of(int(option)) for option in derivation]
        for row in unit.derivations(0).reshape(-1, unit.derivations(0).shape[-1]):
            assert [tuple(unit.options.span[option].tolist()) for option in row if option >= 0] == expected
    expected_bytes = content(tmp_path / "s")
    unit_paths(tmp_path / "s", 1)[2].unlink()
    sample(model, config, tmp_path / "s", resume=True)
    assert content(tmp_path / "s") == expected_bytes
    with pytest.raises(InputError, match=r"of another run \(search differs\)"):
        sample(model, settings("sample.method=metropolis", *alone), tmp_path / "s", resume=True)


def test_a_start_that_does_not_come_is_a_fault(model: Model, tmp_path: Path) -> None:
    config = settings("search.initial=file", "search.initial_file=x")
    with pytest.raises(InputError, match="without the translations to begin with"):
        sample(model, config, tmp_path / "s")


@pytest.mark.parametrize("method", ["metropolis", "tempering"])
def test_samplers_without_inverses_are_refused(method: str) -> None:
    with pytest.raises(InputError, match="give linearise the share 0"):
        settings(f"sample.method={method}", "search.operations.linearise=1")
    with pytest.raises(InputError, match='which compat = "docent" does not'):
        settings(f"sample.method={method}", "search.compat=docent")
    assert settings("search.compat=docent").sample.method == "gibbs"  # whose draws are of blocks


@pytest.mark.stat
@pytest.mark.parametrize("method", ["gibbs", "metropolis", "tempering"])
def test_translations_come_as_often_as_their_derivations_weigh(model: Model, tmp_path: Path, method: str) -> None:
    """Of a sentence of two words, after burn-in, all chains together: the sums of the enumerated derivations."""
    from gpusearch.search.enumeration import derivations

    config = settings(
        "search.chains=500",
        "sample.superchains=500",
        "sample.iterations=31",
        "sample.burn_in=30",
        "sample.thin=1",
        "sample.scale=0.05",
        f"sample.method={method}",
        *TEMPERING,
    )
    samples = sample(model, config, tmp_path / "s")
    batch = build_problem(model, TOKENS, ["a", None, "b"], config.search)
    search = make_sampler(config, model, batch).search
    unit = samples.unit(2)
    assert unit is not None
    weight: dict[str, float] = {}
    for score, options in derivations(batch.problem, search, 4):
        text = " ".join(word for option in options for word in batch.options.target(option))
        weight[text] = weight.get(text, 0.0) + float(np.exp(0.05 * score / 2**40))
    texts = unit.of_sentence(0).texts
    names = sorted(weight)
    expected = np.array([weight[name] for name in names])
    counts = [texts.count(name) for name in names]
    assert sum(counts) == 500
    assert chisquare(counts, expected / expected.sum() * 500).pvalue > 1e-3
