"""The aligners of SIL Thot: what they find, and that nothing but the seed matters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpusearch.errors import GpusearchError
from gpusearch.train.alignment import LONGEST_SENTENCE, align
from gpusearch.train.corpus import Array, ParallelCorpus, number_words


@pytest.fixture(scope="module")
def corpus() -> tuple[ParallelCorpus, list[Array]]:
    """Sentences whose translation has the words of a dictionary, with neighbours swapped here and there."""
    generator = np.random.default_rng(11)
    source, target, truth = [], [], []
    for _ in range(250):
        words = generator.choice(40, generator.integers(3, 12), replace=False)
        order = np.arange(len(words))
        for place in range(0, len(words) - 1, 2):
            if generator.random() < 0.3:
                order[place : place + 2] = order[place : place + 2][::-1]
        source.append([f"f{word}" for word in words])
        target.append([f"e{word}" for word in words[order]])
        truth.append(order)
    sides = number_words(source), number_words(target)
    return ParallelCorpus(*sides, np.arange(len(source)), len(source), 0, 0), truth


@pytest.mark.parametrize("aligner", LONGEST_SENTENCE)
def test_finds_the_dictionary_and_does_not_depend_on_threads(
    aligner: str, corpus: tuple[ParallelCorpus, list[Array]], tmp_path: Path
) -> None:
    text, truth = corpus
    text.save(tmp_path)
    forward, backward = align(text, tmp_path, aligner=aligner, threads=1)
    expected = np.concatenate(truth)
    assert np.mean(forward == expected) > 0.95
    assert np.mean(backward == np.concatenate([np.argsort(order) for order in truth])) > 0.95
    again = align(text, tmp_path, aligner=aligner, threads=2)
    assert np.array_equal(again[0], forward) and np.array_equal(again[1], backward)


def test_another_seed_gives_other_samples(corpus: tuple[ParallelCorpus, list[Array]], tmp_path: Path) -> None:
    """Of words that occur once nothing can be known, so the draws decide."""
    generator = np.random.default_rng(3)
    words = [[f"{letter}{number}" for number in generator.integers(0, 900, 9)] for letter in "fe" for _ in range(40)]
    text = ParallelCorpus(number_words(words[:40]), number_words(words[40:]), np.arange(40), 40, 0, 0)
    text.save(tmp_path)
    results = [align(text, tmp_path, aligner="eflomal", seed=seed, threads=2)[0] for seed in (1, 1, 2)]
    assert np.array_equal(results[0], results[1])
    assert not np.array_equal(results[0], results[2])


def test_an_aligner_that_dies_is_an_error(
    corpus: tuple[ParallelCorpus, list[Array]], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(GpusearchError, match="word alignment ended early"):
        align(corpus[0], tmp_path / "nothing is here", aligner="fast_align", threads=2)
    assert "nothing is here" in capfd.readouterr().err  # the traceback of the process that failed
