"""Values of users' features in what a search reports: right for each text, and prepared for all of them at once."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

import gpusearch
from gpusearch.errors import InputError
from gpusearch.features.text import Phrase, Sentence
from gpusearch.features.user import BatchFeature
from gpusearch.search.translation import SentenceTranslation
from tests.features.user_features import MODULE, TEXTS, Write, of, tried, write
from tests.tiny import TINY

__all__ = ["write"]  # a fixture

# Letters of the text, and a thousandth of those of its source.
LETTERS = """
import numpy as np


class Letters:
    scope = "sentence"

    def __init__(self):
        self.prepared = 0

    def prepare(self, preparation):
        self.prepared += 1
        self.letters = np.array([*map(len, preparation.words), 0])
        self.source = [sum(len(word) for sentence in one for word in sentence) for one in preparation.sources]

    def full(self, state):
        return [
            int(self.letters[row].sum()) + self.source[place] / 1000
            for row, place in zip(state.words, state.document.tolist())
        ]


class OfDocument(Letters):
    scope = "document"
"""


def letters(source: Sequence[str], said: Sequence[SentenceTranslation]) -> float:
    """The value of a text, of `source` sentences, from nothing; 0 where nothing is said."""
    if not any(one.phrases for one in said):
        return 0.0
    words = sum(len(word) for one in said for word in one.words)
    return words + sum(map(len, " ".join(source).split())) / 1000


def checked(decoder: gpusearch.Decoder, features: Sequence[str]) -> Iterator[float]:
    """Values of all that is described of a search, each held against its text."""
    decoded = decoder.decode(TEXTS, chains=8, steps_per_word=1.0, n_best=3, list_size=4)
    names = decoder.model.features
    for text, found in zip(TEXTS, decoded.result.documents, strict=True):
        assert len(found.n_best) == 3 and max(map(len, found.lists)) > 1, text
        for whole in (found.best, *found.n_best):
            lists = [[one] for one in whole.sentences]
            for source, several in [*zip(text, lists, strict=True), *zip(text, found.lists, strict=True)]:
                for one in several:
                    assert one.features[names.index("x")] == pytest.approx(letters([source], [one]))
                    yield one.features[names.index("x")]
            if "y" in features:
                assert whole.features[names.index("y")] == pytest.approx(letters(text, whole.sentences))


def written(decoder: gpusearch.Decoder, place: int) -> BatchFeature:
    feature = decoder.model.document[place].feature
    assert isinstance(feature, BatchFeature)
    return feature


def test_a_batch_is_described_as_it_was_prepared(write: Write) -> None:
    """Best translations, n-best entries, lists of sentences: words and sources are those that the search had."""
    write(LETTERS)
    decoder = gpusearch.load(TINY, of("Letters"))
    assert len(set(checked(decoder, ["x"]))) > 6  # filled sentences
    assert written(decoder, 0).written.prepared == 1


def test_sentences_of_documents_are_prepared_once_more(write: Write) -> None:
    """Beside a feature of the document a search is about documents, and a report about their sentences, too."""
    write(LETTERS)
    decoder = gpusearch.load(TINY, [*of("Letters"), f"features.y.use={MODULE}:OfDocument"])
    assert len(set(checked(decoder, ["x", "y"]))) > 6  # filled sentences
    assert [written(decoder, place).written.prepared for place in range(2)] == [2, 1]


def test_other_texts_are_prepared_for_together(write: Write) -> None:
    """Words that a search did not have, more texts than are asked about at once, and none."""
    write(LETTERS)
    feature = written(gpusearch.load(TINY, of("OfDocument")), 0)
    texts: list[list[Sentence]] = [
        [Sentence(("s", f"s{k}"), (Phrase(0, 2, ("ja", f"w{k}", "b" * k), ()),)), Sentence((), ())] for k in range(600)
    ]
    found = feature.values_of(texts)
    expected = [[sum(map(len, one.words)) + sum(map(len, one.source)) / 1000] for one, _ in texts]
    np.testing.assert_allclose(found, expected)
    assert feature.values(texts[5]) == found[5].tolist()
    assert feature.written.prepared == 1
    assert feature.values_of([]).shape == (0, 1)


MODULES = """
import torch


class Network(torch.nn.Module):
    scope = "sentence"

    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(2, 1)

    def forward(self, words):
        many = (words >= 0).sum(dim=1).to(torch.float32)
        return self.inner(torch.stack((many, many.sqrt()), dim=1))

    def full(self, state):
        return self(torch.from_numpy(state.words))


torch.manual_seed(1)
ready = Network()


def made(layers=1):
    return Network()
"""


def test_a_module_of_torch_is_a_feature_as_it_is(write: Write) -> None:
    """It can be called, but it is no class: what it returns is no feature."""
    write(MODULES)
    for name in ("ready", "Network", "made"):
        tried(of(name))
    tried(of("made", "features.x.options={layers=2}"))
    decoder = gpusearch.load(TINY, of("ready"))
    assert written(decoder, 0).written is sys.modules[MODULE].ready
    with pytest.raises(InputError, match="unknown option of feature x; found layers; expected none: it is an object"):
        tried(of("ready", "features.x.options={layers=2}"))
