"""Options and their scores on real models against what Moses printed for the same ones."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from gpusearch.model.model import Model
from gpusearch.model.problem import Batch, build_problem
from gpusearch.model.weights import PHRASE_PENALTY, WORD_PENALTY
from tests.parity_model import (
    LAWS,
    NEWSTEST,
    Derivation,
    laws_documents,
    newstest_documents,
    read_nbest,
    read_trace,
)


@pytest.fixture(scope="module")
def newstest(newstest_model: Model, parity: Path) -> Batch:
    return build_problem(newstest_model, newstest_documents(parity))


def check_features(batch: Batch, derivations: list[Derivation]) -> None:
    """All features that options alone decide are within 1e-3 of Moses' figures."""
    features = batch.options.model.features
    for derivation in derivations:
        options = batch.options.find(derivation.sentence, derivation.phrases)
        values = batch.options.values(options).sum(axis=0)
        expected = [
            *derivation.features["TranslationModel0"],
            *derivation.features["WordPenalty0"],
            *derivation.features["PhrasePenalty0"],
        ]
        assert list(features.groups)[:3] == ["TranslationModel0", WORD_PENALTY, PHRASE_PENALTY]
        np.testing.assert_allclose(values[: len(expected)], expected, atol=1e-3)


def test_the_newstest_documents_have_the_options_of_the_table(newstest: Batch, parity: Path) -> None:
    """Counted by hand: no source phrase has more than 30 rows, so the limit leaves none out."""
    rows: Counter[str] = Counter()
    for line in gzip.decompress((parity / NEWSTEST / "phrase-table.gz").read_bytes()).decode().split("\n")[:-1]:
        rows[line.split(" ||| ")[0]] += 1
    assert max(rows.values()) == 30
    sentences = [sentence for document in newstest_documents(parity) for sentence in document]
    spans = [" ".join(s[i:j]) for s in sentences for i in range(len(s)) for j in range(i + 1, len(s) + 1)]
    unknown = [word for sentence in sentences for word in sentence if word not in rows]
    assert len(newstest.options) == sum(rows[span] for span in spans) + len(unknown) == 299_388
    assert set(newstest.options.tableless.copied) == set(unknown)
    assert len(newstest.problem.unit) == 311
    assert len(newstest.problem.word) == 6507
    assert newstest.options.longest == 7


def test_moses_derivations_of_newstest_are_among_the_options(newstest: Batch, parity: Path) -> None:
    """Each phrase of Moses' 5-best is an option at its table limit, 30, and its features sum to Moses' figures."""
    derivations = read_nbest(parity / NEWSTEST / "moses.nolr.nbest.gz")
    assert len(derivations) == 863
    check_features(newstest, derivations)
    for sentence, phrases in enumerate(read_trace(parity / NEWSTEST / "moses.nolr.trace.txt")):
        newstest.options.find(sentence, phrases)


def test_moses_derivations_of_laws_are_among_the_options(laws_model: Model, parity: Path) -> None:
    """Up to a hundred rows a source phrase are cut to the twenty that Moses kept, in 2,369 sentences."""
    batch = build_problem(laws_model, laws_documents(parity))
    check_features(batch, read_nbest(parity / LAWS / "moses.cube500.first300.nbest.gz"))
    unknown = 0
    for sentence, phrases in enumerate(read_trace(parity / LAWS / "moses.cube500.trace.txt")):
        options = batch.options.find(sentence, phrases)
        unknown += sum(batch.options.table_name(option) is None for option in options)
    assert unknown == 544
