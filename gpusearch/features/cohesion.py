"""Source-tree cohesion as it is printed: algorithms 1 to 5 of Bach, Vogel and Cherry (2009), to the letter.

Kernels compute the same faster (`gpusearch.kernels.cohesion`). The paper's tree has a node for each token. Here a token
may stand for several words, and a word for several tokens: a phrase is in T(n) if all words of its tokens are, a word
is covered when all of its tokens are, and begun (HC_h(f) = 1 in line 2 of algorithms 2 and 4) when one of them is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from gpusearch.features.trees import TokenTree
from gpusearch.kernels.cohesion import NOUN, VERB

Span = tuple[int, int]
"""Tokens of a phrase: the first, and the one behind the last."""


@dataclass(frozen=True)
class Step:
    """The translation of one phrase after another: what the algorithms take."""

    tree: TokenTree
    previous: Span | None
    """The phrase translated before; None for the first of a sentence."""
    current: Span
    covered: frozenset[int]
    """Tokens that were translated before `current`: HC_h."""


def steps(tree: TokenTree, spans: Iterable[Span]) -> Iterator[Step]:
    """The steps of a derivation: its phrases in target order."""
    previous, covered = None, frozenset[int]()
    for current in spans:
        yield Step(tree, previous, current, covered)
        previous, covered = current, covered | set(range(*current))


def interruption_check(step: Step) -> bool:
    """Algorithm 1, Coh1 (Cherry 2008)."""
    interruption = False
    for f in _ends(step):
        n = _highest(step, f)
        if n is not None and not step.tree.subtrees[n] <= _covered(step):
            interruption = True
    return interruption


def exhaustive_interruption_check(step: Step) -> bool:
    """Algorithm 2, Coh2."""
    interruption = False
    for f in _begun(step):
        n = _highest(step, f)
        if n is not None and not step.tree.subtrees[n] <= _covered(step):
            interruption = True
    return interruption


def interruption_count(step: Step) -> int:
    """Algorithm 3, Coh3, with the bit vector of section 2.2: a word counts once."""
    return len(_interrupted(step, _ends(step)))


def exhaustive_interruption_count(step: Step) -> int:
    """Algorithm 4, Coh4, with the bit vector of section 2.2."""
    return len(_interrupted(step, _begun(step)))


def rich_interruption(step: Step) -> tuple[bool, int, int, int]:
    """Algorithm 5, Coh5: interruption, interruption count, verb count, noun count."""
    interruption, count, verbs, nouns = False, 0, 0, 0
    for e in _interrupted(step, _ends(step)):
        interruption = True
        count += 1
        if step.tree.kind[e] == VERB:
            verbs += 1
        elif step.tree.kind[e] == NOUN:
            nouns += 1
    return interruption, count, verbs, nouns


def cohesion(tree: TokenTree, spans: Sequence[Span]) -> dict[str, tuple[int, ...]]:
    """All five of a derivation of a sentence, summed over its steps: ``coh1`` to ``coh5``."""
    all_steps = list(steps(tree, spans))
    return {
        "coh1": (sum(map(interruption_check, all_steps)),),
        "coh2": (sum(map(exhaustive_interruption_check, all_steps)),),
        "coh3": (sum(map(interruption_count, all_steps)),),
        "coh4": (sum(map(exhaustive_interruption_count, all_steps)),),
        "coh5": tuple(sum(column) for column in zip((0, 0, 0, 0), *map(rich_interruption, all_steps), strict=True)),
    }


def _ends(step: Step) -> set[int]:
    """The words of the left and right-most tokens of the previous phrase."""
    if step.previous is None:
        return set()
    start, stop = step.previous
    return {*step.tree.words[start], *step.tree.words[stop - 1]}


def _begun(step: Step) -> set[int]:
    """The words of all tokens translated before."""
    return {word for token in step.covered for word in step.tree.words[token]}


def _covered(step: Step) -> frozenset[int]:
    """HC_{h+1}: words of which all tokens are translated, the current phrase's included."""
    tokens = step.covered | set(range(*step.current))
    return frozenset(word for word, needed in enumerate(step.tree.tokens) if needed <= tokens)


def _highest(step: Step, f: int) -> int | None:
    """The highest node that the climb from f comes to before one whose subtree holds the current phrase."""
    phrase = {word for token in range(*step.current) for word in step.tree.words[token]}
    highest = None
    node = f
    while node >= 0 and not phrase <= step.tree.subtrees[node]:
        highest = node
        node = step.tree.head[node]
    return highest


def _interrupted(step: Step, foci: Collection[int]) -> set[int]:
    """The words that the inner loops come to, each once."""
    covered = _covered(step)
    reached: set[int] = set()
    for f in foci:
        n = _highest(step, f)
        if n is not None:
            reached |= {e for e in step.tree.subtrees[n] if e not in covered}
    return reached
