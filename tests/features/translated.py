"""Random problems with features, and what their translations are to the features' own values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gpusearch.features.material import Material
from gpusearch.features.text import Phrase, Sentence
from gpusearch.kernels import reference
from gpusearch.kernels.commit import commit
from gpusearch.kernels.records import Problem
from tests.kernels.test_step import steps_of
from tests.paths import Case
from tests.random_features import of_few_words, random_material


def described(problem: Problem, material: Material, sentences: Sequence[Sequence[int]], first: int) -> list[Sentence]:
    """The sentences from `first` on, given by their options."""
    found = []
    for number, phrases in enumerate(sentences, first):
        made = []
        for option in phrases:
            start, length, target, words = (int(k) for k in problem.option_place[option])
            here = tuple(material.words[int(k)] for k in material.word[target : target + words])
            made.append(Phrase(start, start + length, here, ()))
        found.append(Sentence(tuple(material.sentences[number]), made))
    return found


def translations(case: Case, proposals: int) -> Iterator[tuple[list[Sentence], list[int]]]:
    """Translations of the first unit as proposals change it, and the values of the case's features there, 2^-20."""
    problem = replace(case, features=()).problem()[0]
    material = of_few_words(random_material(problem))
    for step in steps_of(case, proposals):
        problem, search, state = step.arguments[:3]
        if not reference.is_allowed(problem, search, step.phrases, step.proposal):
            continue
        commit(*step.arguments, 0, step.local, step.sentence, step.proposal.first, step.proposal.replaced,
               len(step.proposal.options))  # fmt: skip
        values = [int(state.feature[0, k]) for k in range(state.feature.shape[1])][-len(case.features) :]
        sentences = reference.translation(problem, state, 0)
        yield described(problem, material, sentences, 0), values
