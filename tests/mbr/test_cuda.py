"""Pairs of texts on a GPU: statistics are those of the CPU, so decisions are too."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from gpusearch.candidates.draws import DocumentDraws, Draws
from gpusearch.candidates.pool import candidates
from gpusearch.mbr.bleu import Bleu
from gpusearch.mbr.chrf import Chrf
from gpusearch.mbr.decide import Selection, Settings, minimum_risk
from gpusearch.mbr.run import Options, decide_document

pytestmark = pytest.mark.gpu

UTILITIES: dict[str, Callable[[str], Bleu | Chrf]] = {
    "bleu": lambda device: Bleu(device=device),
    "bleu-add": lambda device: Bleu("add-k", tokenize="none", device=device),
    "chrf": lambda device: Chrf(device=device),
    "chrf++": lambda device: Chrf(word_order=2, device=device),
}


def many(count: int, seed: int) -> list[str]:
    """Texts that resemble each other, with repeated words; one of them empty, so that orders are missing."""
    generator = np.random.default_rng(seed)
    words = np.array(["the", "a", "cat", "dog", "sat", "lay", "on", "under", "mat", "hat", ".", "!"])
    return ["", *(" ".join([*words[generator.integers(12, size=12)], f"{number}"]) for number in range(1, count))]


@pytest.mark.parametrize("name", UTILITIES)
@pytest.mark.parametrize("selected", [False, True])
def test_statistics_are_equal(name: str, selected: bool) -> None:
    """Integers, bit by bit, of all texts and of some; scores but for the last bits of powers."""
    texts = many(300, 1)
    rows, columns = (np.arange(7, 200, 3), np.arange(0, 300, 2)) if selected else (np.arange(300), np.arange(300))
    on_cpu, on_gpu = UTILITIES[name]("cpu"), UTILITIES[name]("cuda")
    expected = on_cpu.prepare(texts, 0).statistics(rows, columns)
    found = on_gpu.prepare(texts, 0).statistics(rows, columns)
    assert [one.device.type for one in found] == ["cuda"] * 3
    assert all(torch.equal(one.cpu(), other) for one, other in zip(found, expected, strict=True))
    torch.testing.assert_close(on_gpu.score(found).cpu(), on_cpu.score(expected), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", UTILITIES)
@pytest.mark.parametrize("select", ["exact", "aggregate", "fine", "prune"])
def test_decisions_are_equal(name: str, select: Selection) -> None:
    """Expectations, too, where one is left out and where the choice has an interval."""
    texts = many(80, 2)
    found = candidates(Draws(texts * 2, np.zeros(160), np.arange(160)), "multiplicity")
    settings = Settings(select, leave_one_out=True, resamples=0 if select == "aggregate" else 50)
    one, other = (
        minimum_risk(utility, utility.prepare(found.texts, 0), found.pool, settings)
        for utility in (UTILITIES[name]("cuda"), UTILITIES[name]("cpu"))
    )
    assert one.ranking.tolist() == other.ranking.tolist()
    np.testing.assert_allclose(one.values, other.values, rtol=1e-10)


@pytest.mark.parametrize("name", UTILITIES)
@pytest.mark.parametrize("select", ["exact", "aggregate", "recombine"])
def test_documents_are_decided_alike(name: str, select: Selection) -> None:
    segments = [Draws(many(20, seed), np.zeros(20), np.arange(20)) for seed in range(3)]
    document = DocumentDraws(segments, np.zeros(20), np.zeros(20, np.int64))
    options = Options(unit="document", weights="multiplicity", settings=Settings(select))
    one, other = (decide_document(document, UTILITIES[name](device), 0, 0, options) for device in ("cuda", "cpu"))
    assert one.best[0].texts == other.best[0].texts
    assert one.best[0].value == pytest.approx(other.best[0].value, rel=1e-10)
