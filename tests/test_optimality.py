"""What is said of the beam's derivations: they are called the best where enumeration says so, and only there."""

from __future__ import annotations

import numpy as np
import pytest

from gpusearch.config import Config, load_config
from gpusearch.model.model import load_model
from gpusearch.model.problem import build_problem
from gpusearch.search.enumeration import derivations
from gpusearch.search.run import search_settings
from profiling.optimality import Judged, judged_beam, summary
from tests.tiny import TINY

DOCUMENTS = [["la maison bleue .", "une maison"], ["le chien ne dort pas", "une petite maison bleue ."]]
TOKENS = [[sentence.split() for sentence in document] for document in DOCUMENTS]


def judged(*overrides: str, most: int = 100_000) -> tuple[Config, list[Judged]]:
    config = load_config(TINY, ["search.distortion_check=moses", *overrides])
    return config, list(judged_beam(load_model(config), config, TOKENS, most))


@pytest.mark.parametrize("stack", [1, 200])
def test_the_best_are_those_of_the_list(stack: int) -> None:
    """Of stacks of one hypothesis some are not, and a sweep finds that out where they have better neighbours."""
    config, found = judged(f"search.beam.stack_size={stack}")
    batch = build_problem(load_model(config), TOKENS, search=config.search)
    search = search_settings(config, batch.options.model, batch)
    for sentence, one in enumerate(found):
        scores = [score for score, _ in derivations(batch.problem, search, sentence)]
        assert one.derivations == len(scores)
        assert one.is_best == (abs(max(scores) / 2**40 - one.score) < 1e-5)
        assert one.neighbours or not one.is_best, "nothing scores higher than the best"
    assert all(one.is_best for one in found) == (stack == 200)


def test_longer_sentences_are_left_out() -> None:
    _, every = judged()
    counts = np.array([one.derivations for one in every])
    most = int(np.median(counts))
    _, fewer = judged(most=most)
    assert [one.derivations for one in fewer] == [count if count <= most else None for count in counts.tolist()]
    assert not any(one.is_best for one in fewer if one.derivations is None)
    sums = summary(fewer)
    assert sums["best of all derivations"] == (f"{(counts <= most).sum()} of {(counts <= most).sum()}", "sentences")
    assert sums["certified by a sweep"] == (f"{len(every)} of {len(every)}", "sentences")
