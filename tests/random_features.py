"""Features of the document on random problems: their material, and a short way to write them.

A feature is written ``name`` or ``name:option=value,option=value``, as in ``Case(1, features=("type-token-ratio",))``.
Needs no more than numpy and numba, like ``random_problem.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any
from zlib import crc32

import numpy as np

from gpusearch.features.automata import Words
from gpusearch.features.bleu import Bleu
from gpusearch.features.builtin import BUILT_IN, COHESION
from gpusearch.features.cohesive import Cohesion
from gpusearch.features.compiled import compiled_feature
from gpusearch.features.consensus import Consensus
from gpusearch.features.gappy_lm import GappyLanguageModel
from gpusearch.features.glossary import Glossary
from gpusearch.features.material import Material, Points
from gpusearch.features.protocol import Feature, OfTexts
from gpusearch.features.record import make_document
from gpusearch.features.reverse_lm import ReverseLanguageModel
from gpusearch.features.semantic import SemanticSpace
from gpusearch.features.semantic_lm import SemanticLanguageModel
from gpusearch.features.sequence_lm import OwnModel
from gpusearch.features.simple import Bracketing
from gpusearch.features.trees import SourceTrees, TokenTree
from gpusearch.features.well_formedness import Tag, WellFormedness
from gpusearch.kernels.records import (
    OPTION_LENGTH,
    OPTION_START,
    OPTION_WORDS,
    SENTENCE_WORDS,
    UNIT_FIRST_SENTENCE,
    UNIT_SENTENCES,
    Problem,
)
from gpusearch.kernels.semantic import BINS, VECTOR_BITS
from gpusearch.model.entries import offsets_of
from gpusearch.model.language_model import LanguageModel
from tests.feature_forms import PAGE, VARIETY
from tests.features.page import page_module
from tests.features.variety import Variety
from tests.random_language import random_arpa

# Large: scores of random problems are hundreds of nats apart, most values of features are not.
WEIGHT = 1 << 30


def feature(written: str) -> Feature:
    """The feature that is written so."""
    name, _, options = written.partition(":")
    given: dict[str, Any] = {}
    for option in filter(None, options.split(",")):
        key, _, value = option.partition("=")
        try:
            given[key] = int(value) if value.isdecimal() else float(value)
        except ValueError:
            given[key] = value
    made = MADE_UP[name](**given) if name in MADE_UP else BUILT_IN[name](**given)
    assert not isinstance(made, OfTexts)
    return made


def random_own_model(order: int = 3) -> OwnModel:
    """Words that the model lacks are among those of random problems."""
    return OwnModel(LanguageModel.from_arpa(random_arpa(17, order)))


def gappy_model(order: int = 3, share: int = 2, inside: int = 0) -> Feature:
    """Every `share`-th word is selected; with `inside` no history leaves its sentence."""
    selected = frozenset(f"w{k}" for k in range(0, 100, share))
    return GappyLanguageModel(random_own_model(order), selected, sentence_internal=bool(inside))


class RandomTags(WellFormedness):
    """Two thirds of the words are tags, of two names."""

    def tag_of(self, word: str) -> Tag | None:
        """By the number of the word."""
        number = int(word.removeprefix("w")) % 6
        return (f"{number // 2}", number % 2 == 1) if number < 4 else None


@cache
def random_space(history: int = 3, dimensions: int = 4) -> SemanticSpace:
    """A semantic language model on the words of random problems."""
    rng = np.random.default_rng(7)
    content, stop = [f"w{k}" for k in range(100) if k % 4 > 1], [f"w{k}" for k in range(100) if k % 4 == 1]
    vector = rng.normal(size=(len(content), dimensions))
    vector *= (1 << VECTOR_BITS) / np.linalg.norm(vector, axis=1, keepdims=True)
    return SemanticSpace(
        content=tuple(content),
        stop=tuple(stop),
        vector=np.rint(vector).astype(np.int16),
        stop_value=rng.uniform(-9, -3, len(stop)),
        histogram=rng.uniform(-9, -3, BINS),
        first=-5.0,
        unknown=-12.0,
        history=history,
        lowercase=False,
    )


def random_trees(kind: type[Cohesion], trees: int = 0) -> Feature:
    """A feature of cohesion whose trees are made up, the same for equal words of a sentence and equal `trees`."""

    return kind(RandomTrees({}, f"{trees}"))


class RandomTrees(SourceTrees):
    """A tree for any sentence; `path` is a number that they depend on."""

    def of(self, tokens: Sequence[str]) -> TokenTree:
        """By the words of the sentence."""
        return random_tree(len(tokens), crc32(" ".join(tokens).encode(), int(self.path)))


def random_tree(tokens: int, seed: int) -> TokenTree:
    """Some words a token, or two tokens a word; one root or several; projective or not."""
    rng = np.random.default_rng((seed, tokens))
    words = tokens + int(rng.integers(0, 3))
    head = [-1] * words
    order = rng.permutation(words).tolist()
    for place in range(1, words):
        head[order[place]] = order[int(rng.integers(0, place))] if rng.random() < 0.95 else -1
    extra = sorted(rng.integers(0, tokens, words - tokens).tolist())  # tokens with a word more than the others
    first, of_token = 0, []
    for token in range(tokens):
        last = first + extra.count(token)
        shares = token > 0 and rng.random() < 0.1  # the last word of the token before it goes on here
        of_token.append(tuple(range(first - int(shares), last + 1)))
        first = last + 1
    return TokenTree(tuple(head), tuple(rng.integers(0, 3, words).tolist()), tuple(of_token))


class RandomReferences(dict[Words, tuple[Words, ...]]):
    """A few translations of any sentence, the same for equal words; of three words."""

    def get(self, source: Any, default: Any = None) -> Any:
        """Never the default."""
        rng = np.random.default_rng((crc32(" ".join(source).encode()), len(source)))
        lengths = rng.integers(0, 2 * len(source) + 2, int(rng.integers(1, 4)))
        return tuple(tuple(f"w{k}" for k in rng.integers(0, 3, length)) for length in lengths)


class RandomlyKnown(RandomReferences):
    """The same with weights."""

    def get(self, source: Any, default: Any = None) -> Any:
        """Weights that fall."""
        texts = dict.fromkeys(super().get(source))
        total = len(texts) * (len(texts) + 1) / 2
        return tuple((text, (len(texts) - k) / total) for k, text in enumerate(texts))


# Terms that overlap, translations that are ends of each other, a translation of two terms.
TERMS = {
    ("s0",): (("w3",), ("w0", "w3")),
    ("s5",): (("w1",),),
    ("s5", "s3"): (("w0", "w3"), ("w2",), ("w1", "w1", "w3")),
    ("s6", "s4", "s2"): (("w3",),),
    ("s1",): (("w1", "w2"), ("nowhere",)),
}
OF_TEXTS: dict[str, Callable[..., Feature]] = {
    "bleu-oracle": partial(Bleu, RandomReferences()),
    "consensus": partial(Consensus, RandomlyKnown(), (-0.75, 0.3, 0.5, 0.75, 1.25)),
    "glossary": partial(Glossary, TERMS),
}
# What a configuration gives these is made up; `PAGE` and `VARIETY` are compiled features of users.
MADE_UP: dict[str, Callable[..., Feature]] = {
    **{name: partial(random_trees, kind) for name, kind in COHESION.items()},
    **OF_TEXTS,
    "bracketing": partial(Bracketing, (("w0", "w1"), ("w2", "w5"))),
    "gappy-lm": gappy_model,
    "reverse-lm": lambda order=3: ReverseLanguageModel(random_own_model(order)),
    "semantic-lm": lambda **given: SemanticLanguageModel(random_space(**given)),
    "well-formedness": RandomTags,
    PAGE: lambda: compiled_feature(PAGE, page_module().LongWordsCompiled(), b"page"),
    VARIETY: lambda: compiled_feature(VARIETY, Variety(), b"variety"),
}


def with_features(problem: Problem, written: Sequence[str], seed: int = 0) -> tuple[Problem, int]:
    """The problem with features of weights of either sign, and how many values they add to a state."""
    signs = np.random.default_rng((seed, 4)).choice([-1, 1], len(written))
    features = [feature(one) for one in written]
    counts = [max(1, len(one.names)) for one in features]
    chosen = [(one, [int(sign) * WEIGHT] * count) for one, sign, count in zip(features, signs, counts, strict=True)]
    material = random_material(problem)
    if any(one.partition(":")[0] in OF_TEXTS for one in written):
        material = of_few_words(material)
    if PAGE in written:
        material = of_long_words(material)
    return problem._replace(document=make_document(material, chosen)), sum(counts)


def of_few_words(material: Material) -> Material:
    """The same with four different target words, so that n-grams of four words are found."""
    return replace(material, word=material.word % 4, words=[f"w{k}" for k in range(4)])


def of_long_words(material: Material) -> Material:
    """The same with words of more than six letters among the others."""
    words = [f"w{k:06}" if k % 6 in (3, 4) else word for k, word in enumerate(material.words)]
    return replace(material, words=words)


def random_material(problem: Problem) -> Material:
    """Target words are those of the first language model; the rest is made up, the same for a unit alone."""
    source: list[int] = []
    for unit in problem.unit:
        for local in range(int(unit[UNIT_SENTENCES])):
            words = int(problem.sentence[int(unit[UNIT_FIRST_SENTENCE]) + local, SENTENCE_WORDS])
            source += [(5 * position + 3 * local) % 7 for position in range(words)]
    place = problem.option_place
    points, many = [], []
    for option in place:
        start, length, words = int(option[OPTION_START]), int(option[OPTION_LENGTH]), int(option[OPTION_WORDS])
        here = [(min(j, length - 1), j) for j in range(words) if (start + j) % 3]
        here += [(length - 1, 0)] if length > 1 and words else []
        points += here
        many.append(len(here))
    found = Points(offsets_of(np.array(many, np.int64)), np.array(points, np.int64).reshape(-1, 2))
    word = problem.target_word[0].astype(np.int64)
    names = [f"w{k}" for k in range(int(word.max(initial=0)) + 1)]
    return Material(problem, word, names, np.array(source, np.int64), [f"s{k}" for k in range(7)], lambda: found)
