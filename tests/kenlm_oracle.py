"""KenLM as the oracle of language-model tests."""

from __future__ import annotations

import math

import numpy as np
import pytest

kenlm = pytest.importorskip("kenlm")

TOLERANCE = 1e-5  # nats a word


def quiet(path):
    config = kenlm.Config()
    config.show_progress = False
    config.arpa_complain = kenlm.ARPALoadComplain.NONE
    return kenlm.Model(str(path), config)


def matrix(model, texts):
    """(ids, lengths) of texts."""
    lengths = np.array([len(text) for text in texts])
    ids = np.zeros((len(texts), max(lengths, default=0)), np.int32)
    ids[np.arange(ids.shape[1]) < lengths[:, None]] = model.index([word for text in texts for word in text])
    return ids, lengths


def assert_as_kenlm(model, oracle, texts, *, bos=True, eos=True):
    values = model.score_words(*matrix(model, texts), bos=bos, eos=eos)
    for text, row in zip(texts, values, strict=True):
        expected = [p * math.log(10) for p, _, _ in oracle.full_scores(" ".join(text), bos=bos, eos=eos)]
        np.testing.assert_allclose(row[: len(expected)], expected, rtol=0, atol=TOLERANCE)
        assert not row[len(expected) :].any()
