"""Small random models, and their translation options in plain Python: slow, simple, all in one place to read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from gpusearch.config import Config, parse_config
from gpusearch.model.model import Model, load_model

UNIT = 1 << 20
SOURCE_WORDS = ("a", "b", "c", "d")
TARGET_WORDS = ("x", "y", "z")
Words = tuple[str, ...]


@dataclass
class PlainTable:
    weights: list[float]
    limit: int
    rows: list[tuple[Words, Words, list[float]]]  # source, target, probabilities


@dataclass
class PlainLanguageModel:
    weight: float
    order: int
    log10: dict[Words, tuple[float, float]]  # n-gram -> probability, backoff

    def value(self, context: Words, word: str) -> int:
        """ln P(word | context) in 2^-20 nat; each figure of the file is rounded by itself."""
        word = word if (word,) in self.log10 else "<unk>"
        context = tuple(w if (w,) in self.log10 else "<unk>" for w in context)[max(0, len(context) - self.order + 1) :]
        backoff = 0
        while context:
            if (*context, word) in self.log10:
                break
            if context in self.log10:
                backoff += rounded(self.log10[context][1] * math.log(10))
            context = context[1:]
        return backoff + rounded(self.log10[(*context, word)][0] * math.log(10))

    def estimate(self, words: Words) -> int:
        return sum(self.value(words[:place], word) for place, word in enumerate(words))


@dataclass
class PlainModel:
    tables: list[PlainTable]
    language_models: list[PlainLanguageModel]
    weights: dict[str, float] = field(
        default_factory=lambda: {
            "word_penalty": -0.3,
            "phrase_penalty": 0.2,
            "unknown_word": 100.0,
            "distortion": 0.1,
        }
    )

    def values(self, table: int | None, target: Words, probabilities: Sequence[float]) -> list[int]:
        values = []
        for number, other in enumerate(self.tables):
            if number == table:
                values += [rounded(float(np.float32(max(math.log(p), -100.0) if p else -100.0))) for p in probabilities]
            else:
                values += [0] * len(other.weights)
        return [*values, -len(target) * UNIT, UNIT, 0 if table is not None else -UNIT]

    def isolated(self, values: Sequence[int], target: Words) -> tuple[int, int]:
        """Weighted sum of the values, and the isolated score: the same with the LM estimates."""
        names = ("word_penalty", "phrase_penalty", "unknown_word")
        weights = [w for table in self.tables for w in table.weights] + [self.weights[name] for name in names]
        score = sum(rounded(w) * value for w, value in zip(weights, values, strict=True))
        return score, score + sum(rounded(lm.weight) * lm.estimate(target) for lm in self.language_models)

    def options(self, words: Words) -> list[tuple[int, Words, list[int], int, int]]:
        """(table, target, values, weighted sum, isolated score) of a span, best first."""
        kept = []
        for number, table in enumerate(self.tables):
            ranked = []
            for row, (source, target, probabilities) in enumerate(table.rows):
                if source == words:
                    values = self.values(number, target, probabilities)
                    score, isolated = self.isolated(values, target)
                    ranked.append((-isolated, number, row, target, values, score))
            ranked.sort(key=lambda option: option[:3])
            kept += ranked[: table.limit or None]
        if len(words) == 1 and not kept:
            values = self.values(None, words, ())
            score, isolated = self.isolated(values, words)
            kept.append((-isolated, len(self.tables), 0, words, values, score))
        kept.sort(key=lambda option: option[:3])
        return [
            (number if number < len(self.tables) else -1, target, values, score, -negative)
            for negative, number, _, target, values, score in kept
        ]

    def load(self, folder: Path) -> Model:
        return load_model(self.config(folder))

    def config(self, folder: Path) -> Config:
        """Write the model's files to a folder."""
        text = ""
        for number, table in enumerate(self.tables):
            path = folder / f"table{number}"
            path.write_text(
                "".join(
                    f"{' '.join(source)} ||| {' '.join(target)} ||| {' '.join(map(repr, p))} ||| 0-0\n"
                    if target
                    else f"{' '.join(source)} |||  ||| {' '.join(map(repr, p))} |||\n"
                    for source, target, p in table.rows
                )
            )
            text += f'[[phrase_table]]\npath = "{path}"\nweights = {table.weights}\n'
            text += f"table_limit = {table.limit}\ncache = false\n"
        for number, model in enumerate(self.language_models):
            path = folder / f"lm{number}.arpa"
            path.write_text(arpa(model))
            text += f'[[language_model]]\npath = "{path}"\nweight = {model.weight}\n'
        text += "[weights]\n" + "".join(f"{name} = {weight}\n" for name, weight in self.weights.items())
        return parse_config(text)


def rounded(number: float) -> int:
    return round(number * UNIT)


def arpa(model: PlainLanguageModel) -> str:
    by_order = [[ngram for ngram in model.log10 if len(ngram) == n] for n in range(1, model.order + 1)]
    lines = ["\\data\\", *(f"ngram {n}={len(part)}" for n, part in enumerate(by_order, 1))]
    for n, part in enumerate(by_order, 1):
        lines += ["", f"\\{n}-grams:"]
        for ngram in part:
            probability, backoff = model.log10[ngram]
            lines.append(f"{probability!r}\t{' '.join(ngram)}" + (f"\t{backoff!r}" if n < model.order else ""))
    return "\n".join([*lines, "", "\\end\\", ""])


# Figures that single precision holds exactly, so that file, model and oracle mean the same number.
quarters = st.integers(-12, -1).map(lambda k: k / 4)
probabilities = st.sampled_from([1.0, 0.5, 0.25, 0.125, 0.75, 0.0])
weights = st.integers(-8, 16).map(lambda k: k / 16)


def phrases(words: Sequence[str], least: int, most: int) -> st.SearchStrategy[Words]:
    return st.lists(st.sampled_from(words), min_size=least, max_size=most).map(tuple)


@st.composite
def language_models(draw: st.DrawFn) -> PlainLanguageModel:
    order = draw(st.integers(1, 3))
    words = ("<unk>", "<s>", "</s>", *TARGET_WORDS[: draw(st.integers(1, 3))])
    log10 = {(word,): (draw(quarters), draw(quarters) if order > 1 else 0.0) for word in words}
    known = [word for word in words if word not in ("<s>", "</s>", "<unk>")]
    for n in range(2, order + 1):
        for ngram in draw(st.lists(phrases(known, n, n), max_size=6, unique=True)):
            if ngram[:-1] in log10 and ngram[1:] in log10:
                log10[ngram] = (draw(quarters), draw(quarters) if n < order else 0.0)
    return PlainLanguageModel(draw(weights), order, log10)


@st.composite
def models(draw: st.DrawFn, most_rows: int = 25) -> PlainModel:
    tables = []
    for _ in range(draw(st.integers(1, 3))):
        columns = draw(st.integers(1, 3))
        scores = st.lists(probabilities, min_size=columns, max_size=columns)
        row = st.tuples(phrases(SOURCE_WORDS[:3], 1, 3), phrases(TARGET_WORDS, 0, 3), scores)
        # A first row with a word that each language model knows: sharing none is a fault of its own.
        rows = [(("a",), ("x",), [0.5] * columns), *draw(st.lists(row, max_size=most_rows))]
        tables.append(PlainTable([draw(weights) for _ in range(columns)], draw(st.integers(0, 3)), rows))
    return PlainModel(tables, draw(st.lists(language_models(), max_size=2)))
