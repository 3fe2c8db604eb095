"""reverse-lm and gappy-lm against KenLM: a model as it gives P of the turned, or the selected, words."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from gpusearch.features.gappy_lm import gappy_language_model
from gpusearch.features.reverse_lm import reverse_language_model
from gpusearch.train.language_model import train_language_model
from tests.features.documents import document
from tests.kenlm_oracle import TOLERANCE, quiet

SELECTED = [f"w{k}" for k in range(0, 30, 3)]


def random_texts(rng: np.random.Generator, count: int, words: int) -> list[list[str]]:
    return [[f"w{k}" for k in rng.integers(0, words, rng.integers(1, 9))] for _ in range(count)]


@pytest.mark.parametrize("order", [2, 3, 5])
def test_values_are_those_of_kenlm(order: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(order)
    lines = [" ".join(text) + "\n" for text in random_texts(rng, 200, 25)]
    (tmp_path / "text").write_text("".join(lines), encoding="utf-8")
    train_language_model([tmp_path / "text"], order, tmp_path / "back.arpa", reverse=True, threads=1)
    train_language_model([tmp_path / "text"], order, tmp_path / "lm.arpa", threads=1)
    turned, plain = quiet(tmp_path / "back.arpa"), quiet(tmp_path / "lm.arpa")
    back = reverse_language_model(tmp_path / "back.arpa")
    gap = gappy_language_model(tmp_path / "lm.arpa", SELECTED)
    for _ in range(30):
        texts = random_texts(rng, int(rng.integers(1, 6)), 30)  # w25 and more are unknown to the models
        text = document(*("x = " + " ".join(words) for words in texts))
        score = sum(turned.score(" ".join(words[::-1]), bos=True, eos=True) for words in texts)
        assert back.value(text) == pytest.approx(score * math.log(10), abs=TOLERANCE * sum(map(len, texts)))
        selected = [word for words in texts for word in words if word in SELECTED]
        score = plain.score(" ".join(selected), bos=True, eos=False)
        values = [score * math.log(10), len(selected)]
        assert gap.values(text) == pytest.approx(values, abs=TOLERANCE * (1 + len(selected)))
