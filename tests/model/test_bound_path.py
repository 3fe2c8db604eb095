"""Bounds of a KenLM binary from the ARPA file that it was built from, and from no other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gpusearch.config import LanguageModelConfig
from gpusearch.errors import InputError
from gpusearch.io.arpa import Arpa, read_arpa, write_arpa
from gpusearch.model.backends import open_language_model
from gpusearch.model.bound_check import sample_ngrams
from gpusearch.model.kenlm_host import HostLanguageModel
from gpusearch.model.language_model import LanguageModel

pytest.importorskip("kenlm")

DATA = Path(__file__).parent / "data"


@pytest.mark.parametrize("form", ["probing", "trie"])
@pytest.mark.parametrize("order", [1, 2, 4])
def test_a_binary_is_bounded_by_its_arpa_file(form, order):
    """The bounds are those that the ARPA file itself has; so are the values."""
    entry = {
        "path": str(DATA / f"small.{form}"),
        "weight": 0.5,
        "backend": "kenlm",
        "bound_order": order,
        "bound_path": str(DATA / "small.arpa"),
    }
    words, offsets = ["le", "chat", "zz", "dort", "sur"], np.array([0, 3, 5])
    with (
        open_language_model(LanguageModelConfig.model_validate(entry)) as model,
        HostLanguageModel.open(DATA / "small.arpa", bound_order=order) as expected,
    ):
        assert isinstance(model, HostLanguageModel)
        for mine, theirs in zip(
            model.phrase_bounds(model.index(words), offsets),
            expected.phrase_bounds(expected.index(words), offsets),
            strict=True,
        ):
            np.testing.assert_array_equal(mine, theirs)
        lengths = np.array([5])
        assert model.score(model.index(words)[None], lengths) == expected.score(expected.index(words)[None], lengths)


def error_of(path: Path, arpa: Path) -> str:
    with pytest.raises(InputError) as caught:
        HostLanguageModel.open(path, bound_order=2, bound_path=arpa)
    return str(caught.value)


def test_bounds_of_another_model_are_an_error(tmp_path):
    """A quantised model has other values than its ARPA file; other figures, words, orders."""
    arpa = DATA / "small.arpa"
    message = error_of(DATA / "small.quantised", arpa)
    assert message.startswith(f"{arpa}: bounds are computed from another language model than the one that is asked")
    assert "found ln P of the last word of '" in message and "where that is quantised, leave bound_order out" in message
    text = arpa.read_text()
    (tmp_path / "figure.arpa").write_text(text.replace("-0.0785\tla table", "-0.0795\tla table"))
    assert "'la table' = -0.18" in error_of(DATA / "small.trie", tmp_path / "figure.arpa")
    (tmp_path / "word.arpa").write_text(text.replace("été", "hiver"))
    assert "found 1 words that" in error_of(DATA / "small.trie", tmp_path / "word.arpa")
    whole = read_arpa(arpa, cache=False)
    backoff = (*whole.log10_backoff[:2], np.zeros(len(whole.ids[2]), np.float32))
    write_arpa(Arpa(whole.vocabulary, whole.ids[:3], whole.log10_probability[:3], backoff), tmp_path / "order.arpa")
    assert "found order 3; expected order 4" in error_of(DATA / "small.trie", tmp_path / "order.arpa")
    assert "found bound_order = 2 with a KenLM binary; name the ARPA file" in error_of(arpa, DATA / "small.trie")


def test_all_ngrams_of_a_model_are_sampled_where_it_is_small():
    arpa = read_arpa(DATA / "small.arpa", cache=False)
    expected = {tuple(row) for ids in arpa.ids for row in ids.tolist()}
    found = sample_ngrams(LanguageModel.from_arpa(arpa), 1 << 10)
    assert {tuple(word for word in row if word >= 0) for row in found.tolist()} == expected
    assert 20 <= len(sample_ngrams(LanguageModel.from_arpa(arpa), 30)) <= 30
